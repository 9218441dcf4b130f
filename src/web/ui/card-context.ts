import type { ReadonlySignal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { PressAction } from "../../core/cards.ts";

/** What a card on the page may know and do. */
export interface CardContext {
  /** The gateway's time in milliseconds. */
  readonly now: ReadonlySignal<number>;
  readonly connected: ReadonlySignal<boolean>;
  /** Rejects with `RequestError`. */
  press(action: PressAction): Promise<void>;
  /** The end of a run's output as it is now. Rejects with `RequestError`. */
  outputSoFar(runId: string): Promise<string>;
  showLog(run: { readonly runId: string; readonly command: string }): void;
  showReplay(run: { readonly runId: string; readonly command: string }): void;
  /** A chat command for the composer, never sent by itself. */
  suggest(text: string): void;
}

const context = createContext<CardContext | undefined>(undefined);

export const CardContextProvider = context.Provider;

export function useCardContext(): CardContext {
  const value = useContext(context);
  if (value === undefined) throw new Error("a card needs a CardContextProvider around it");
  return value;
}
