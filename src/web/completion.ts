/** What the keys do while a list of completions is open. Pure. */
import type { CompletionItem } from "../protocol/frames.ts";

export interface CompletionList {
  /** The text the items were made for; they are of no use for any other. */
  readonly forText: string;
  readonly items: readonly CompletionItem[];
  /** -1: nothing chosen yet. */
  readonly chosen: number;
}

/** Completions are asked for commands only: a line that starts with `/`. */
export function wantsCompletion(text: string): boolean {
  return text.startsWith("/") && !text.includes("\n");
}

export function moveChoice(list: CompletionList, step: 1 | -1): CompletionList {
  const count = list.items.length;
  if (count === 0) return list;
  const from = list.chosen === -1 && step === -1 ? 0 : list.chosen;
  return { ...list, chosen: (from + step + count) % count };
}

/** Tab takes the chosen item, else the first. */
export function tabItem(list: CompletionList): CompletionItem | undefined {
  return list.items[Math.max(0, list.chosen)];
}

/**
 * Enter takes what was chosen on purpose. Without a choice it finishes a command's half-typed name, where sending could
 * only fail; anything else is sent as typed.
 */
export function enterItem(list: CompletionList, text: string): CompletionItem | undefined {
  const chosen = list.items[list.chosen];
  if (chosen !== undefined) return chosen;
  const first = list.items[0];
  const nameOnly = /^\/\S+$/.test(text);
  if (first === undefined || !nameOnly) return undefined;
  const complete = list.items.some((item) => item.insert.trimEnd() === text);
  return complete || !first.insert.startsWith(text) ? undefined : first;
}
