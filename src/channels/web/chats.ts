/** What the web channel offers to the server that carries it to browsers and terminals. */
import type { Card, PressAction } from "../../core/cards.ts";
import type { ChatEntry, MethodResults } from "../../protocol/frames.ts";

export interface ChatWatcher {
  /** In `seq` order, without gaps from the opened snapshot on. */
  entry(entry: ChatEntry): void;
  live(messageId: string, card: Card): void;
}

export interface OpenedChat {
  readonly result: MethodResults["chat.open"];
  /** Starts delivery to the watcher; called once the result is on its way, so that nothing overtakes it. */
  start(): void;
  stop(): Promise<void>;
}

export interface WebChats {
  /** Snapshot and subscription in one, without a gap between them. */
  open(
    request: { readonly chatId: string; readonly afterSeq?: number | undefined; readonly limit: number },
    watcher: ChatWatcher,
  ): Promise<OpenedChat>;
  older(request: {
    readonly chatId: string;
    readonly beforeOrder: number;
    readonly limit: number;
  }): Promise<MethodResults["chat.older"]>;
  /** Resolves once the words are stored and the gateway has durably taken them. The same `clientId` again does nothing. */
  say(request: {
    readonly chatId: string;
    readonly clientId: string;
    readonly text: string;
    /** Of whoever said it. */
    readonly locale?: string | undefined;
  }): Promise<void>;
  press(request: {
    readonly chatId: string;
    readonly clientId: string;
    readonly action: PressAction;
    readonly locale?: string | undefined;
  }): Promise<void>;
}
