import { setImmediate as turn } from "node:timers/promises";
import type { ChatWatcher, OpenedChat, WebChats } from "../../../src/channels/web/chats.ts";
import type { Card } from "../../../src/core/cards.ts";
import type { ChatEntry } from "../../../src/protocol/frames.ts";

/** A client as the protocol describes it: keeps the newest state by message, asks for what came after its `seq`. */
export class ChatClient implements ChatWatcher {
  readonly #chatId: string;
  readonly #messages = new Map<string, ChatEntry>();
  readonly lives: { messageId: string; card: Card }[] = [];
  /** What must never happen. */
  readonly faults: string[] = [];
  seq = 0;
  #ever = false;
  #opened: OpenedChat | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting: (() => void)[] = [];

  constructor(chatId: string) {
    this.#chatId = chatId;
  }

  static async open(chats: WebChats, chatId: string): Promise<ChatClient> {
    const client = new ChatClient(chatId);
    await client.connect(chats);
    return client;
  }

  get connected(): boolean {
    return this.#opened !== undefined;
  }

  /** `lateBy`: turns of the event loop until the answer has been written and delivery starts. */
  connect(chats: WebChats, lateBy = 1): Promise<void> {
    return this.#inTurn(async () => {
      await this.#opened?.stop();
      const opened = await chats.open(
        { chatId: this.#chatId, limit: 200, ...(this.#ever ? { afterSeq: this.seq } : {}) },
        this,
      );
      this.#opened = opened;
      const { entries, seq, reset } = opened.result;
      if (reset) this.#messages.clear();
      for (const entry of entries) this.#keep(entry);
      this.seq = seq;
      this.#ever = true;
      for (let left = lateBy; left > 0; left -= 1) await turn();
      opened.start();
      this.#tell();
    });
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#opened?.stop();
      this.#opened = undefined;
    });
  }

  entry(entry: ChatEntry): void {
    if (entry.seq !== this.seq + 1) this.faults.push(`after ${this.seq} came ${entry.seq}`);
    this.seq = entry.seq;
    this.#keep(entry);
    this.#tell();
  }

  live(messageId: string, card: Card): void {
    this.lives.push({ messageId, card });
    this.#tell();
  }

  shown(): ChatEntry[] {
    return [...this.#messages.values()].sort((a, b) => a.order - b.order);
  }

  /** Resolves when `condition` holds; it is looked at after every change. The test's own timeout is the limit. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #keep(entry: ChatEntry): void {
    const known = this.#messages.get(entry.messageId);
    if (known && known.order !== entry.order) this.faults.push(`${entry.messageId} moved`);
    if (!known || known.seq < entry.seq) this.#messages.set(entry.messageId, entry);
  }

  #tell(): void {
    for (const tell of this.#waiting.splice(0)) tell();
  }

  #inTurn(task: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(task);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}
