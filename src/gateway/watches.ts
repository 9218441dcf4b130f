/** The conversations one connection watches; opening one again replaces the earlier subscription. */
import type { OpenedChat, WebChats } from "../channels/web/chats.ts";
import type { Card } from "../core/cards.ts";
import { ExecError } from "../core/errors.ts";
import type { ChatEntry, MethodResults } from "../protocol/frames.ts";

export interface WatchSink {
  entry(chatId: string, entry: ChatEntry): void;
  live(chatId: string, messageId: string, card: Card): void;
}

export class Watches {
  readonly #chats: WebChats;
  readonly #max: number;
  readonly #sink: WatchSink;
  readonly #open = new Map<string, OpenedChat>();
  #stopped = false;

  constructor(chats: WebChats, max: number, sink: WatchSink) {
    this.#chats = chats;
    this.#max = max;
    this.#sink = sink;
  }

  async open(request: {
    readonly chatId: string;
    readonly afterSeq?: number | undefined;
    readonly limit: number;
  }): Promise<{ readonly result: MethodResults["chat.open"]; readonly start: () => void }> {
    const { chatId } = request;
    if (!this.#open.has(chatId) && this.#open.size >= this.#max) {
      throw new ExecError("invalid-argument", `One connection watches at most ${this.#max} chats. Close one first.`);
    }
    const opened = await this.#chats.open(request, {
      entry: (entry) => this.#sink.entry(chatId, entry),
      live: (messageId, card) => this.#sink.live(chatId, messageId, card),
    });
    const earlier = this.#open.get(chatId);
    this.#open.set(chatId, opened);
    await earlier?.stop();
    // The client may have gone while the snapshot was read.
    if (this.#stopped) await opened.stop();
    return { result: opened.result, start: () => opened.start() };
  }

  async close(chatId: string): Promise<void> {
    const opened = this.#open.get(chatId);
    this.#open.delete(chatId);
    await opened?.stop();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const all = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(all.map((opened) => opened.stop()));
  }
}
