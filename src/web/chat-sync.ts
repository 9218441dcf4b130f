/**
 * Keeps one chat of this page equal to the gateway's, whatever the connection does: opens it after each connect from
 * the last change known, closes gaps, and sends what waits in the outbox once and in order.
 */
import type { Card, PressAction } from "../core/cards.ts";
import type { ErrorCode } from "../core/errors.ts";
import type { ChatEntry, EventFrame, MethodResults } from "../protocol/frames.ts";
import type { Connection } from "./connection.ts";
import { type Conversation, EMPTY, withEntries, withLive } from "./conversation.ts";
import type { Outbox, OutgoingMessage } from "./outbox.ts";
import { type LostCode, RequestError } from "./request-error.ts";

/** Messages asked for at once. */
const PAGE = 200;
/** A refusal that names no time is tried again after this long. */
const RESEND_MS = 3000;

/** Codes after which the same message can still be taken later. */
const PASSING: ReadonlySet<string> = new Set<ErrorCode | LostCode>([
  "draining",
  "rate-limited",
  "state-unavailable",
  "connection-lost",
  "no-answer",
]);

export interface ChatSyncOptions {
  readonly connection: Connection;
  readonly chatId: string;
  readonly outbox: Outbox;
  newId(): string;
  now(): number;
  later(ms: number, action: () => void): () => void;
  onConversation(conversation: Conversation): void;
  /** Changes told by the gateway while the page looks on; not what `chat.open` and `chat.older` bring. */
  onNews(entries: readonly ChatEntry[]): void;
  /** The chat is as the gateway has it, or could not be opened (`trouble`, for a person); `retryOpen` tries again. */
  onOpened(trouble: string | undefined): void;
}

export class ChatSync {
  private readonly options: ChatSyncOptions;
  private current: Conversation = EMPTY;
  private opening: Promise<void> | undefined;
  private opened = false;
  /** What the gateway tells while the chat is being opened may come before the answer is worked on. */
  private early: ChatEntry[] = [];
  private flushing = false;
  private inFlight: OutgoingMessage | undefined;
  private loadingOlder: Promise<void> | undefined;
  private gatewayId: string | undefined;
  private cancelResend = () => {};

  constructor(options: ChatSyncOptions) {
    this.options = options;
  }

  get conversation(): Conversation {
    return this.current;
  }

  /** To be called after each `connect`. */
  async ready(welcome: MethodResults["connect"]): Promise<void> {
    // Another gateway under the same address has another history: our sequence numbers mean nothing there.
    if (this.gatewayId !== undefined && this.gatewayId !== welcome.server.gatewayId) this.set(EMPTY);
    this.gatewayId = welcome.server.gatewayId;
    this.opened = false;
    this.early = [];
    await this.open();
  }

  event(frame: EventFrame): void {
    switch (frame.event) {
      case "chat.entry":
        if (frame.payload.chatId === this.options.chatId) this.entry(frame.payload.entry);
        return;
      case "chat.live":
        if (frame.payload.chatId === this.options.chatId) this.live(frame.payload.messageId, frame.payload.card);
        return;
      case "tick":
      case "shutdown":
        return;
    }
  }

  retryOpen(): void {
    void this.open();
  }

  /** Kept until the gateway has it. */
  send(text: string): void {
    const { outbox, chatId, newId, now } = this.options;
    outbox.add({ clientId: newId(), chatId, text, queuedAtMs: now() });
    void this.flush();
  }

  resend(clientId: string): void {
    this.options.outbox.retry(clientId);
    void this.flush();
  }

  /** Resolves when the gateway has taken the press; what became of it comes as a changed card. */
  async press(action: PressAction): Promise<void> {
    const { connection, chatId, newId } = this.options;
    await connection.request("chat.press", { chatId, clientId: newId(), action });
  }

  /** Resolves when the page before the oldest message is in. */
  older(): Promise<void> {
    const first = this.current.messages[0];
    if (first === undefined || !this.current.hasOlder) return Promise.resolve();
    this.loadingOlder ??= this.loadOlder(first.order).finally(() => {
      this.loadingOlder = undefined;
    });
    return this.loadingOlder;
  }

  private async loadOlder(beforeOrder: number): Promise<void> {
    const { connection, chatId } = this.options;
    const page = await connection.request("chat.older", { chatId, beforeOrder, limit: PAGE });
    const { seq } = this.current;
    this.set({ ...withEntries(this.current, page.entries), seq, hasOlder: page.hasOlder });
  }

  private open(): Promise<void> {
    this.opening ??= this.catchUp().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async catchUp(): Promise<void> {
    const { connection, chatId, onOpened } = this.options;
    try {
      for (;;) {
        const known = this.current.seq;
        const result = await connection.request("chat.open", {
          chatId,
          limit: PAGE,
          ...(known > 0 ? { afterSeq: known } : {}),
        });
        const fresh = known === 0 || result.reset === true || result.seq < known;
        const next = withEntries(fresh ? { ...EMPTY, hasOlder: result.hasOlder } : this.current, result.entries);
        const done = fresh || next.seq >= result.seq || next.seq === known;
        this.set(done ? { ...next, seq: Math.max(next.seq, result.seq) } : next);
        if (done) break;
      }
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // A lost connection opens the chat again by itself.
      if (error.code !== "connection-lost") onOpened(error.message);
      return;
    }
    this.opened = true;
    onOpened(undefined);
    for (const entry of this.early.splice(0)) this.entry(entry);
    await this.flush();
  }

  private entry(entry: ChatEntry): void {
    if (!this.opened) {
      this.early.push(entry);
      return;
    }
    if (entry.seq <= this.current.seq) return;
    if (entry.seq > this.current.seq + 1) {
      // Something was missed: asked for, and this one comes with it.
      this.opened = false;
      void this.open();
      return;
    }
    // Our words often come back before the answer to sending them: they must not be on the page twice.
    const { card } = entry;
    if (card.kind === "said" && card.text === this.inFlight?.text) this.options.outbox.echoed(this.inFlight.clientId);
    this.set(withEntries(this.current, [entry]));
    this.options.onNews([entry]);
  }

  private live(messageId: string, card: Card): void {
    if (this.opened) this.set(withLive(this.current, messageId, card));
  }

  private async flush(): Promise<void> {
    if (this.flushing || !this.opened) return;
    const { connection, outbox } = this.options;
    this.flushing = true;
    this.cancelResend();
    try {
      for (;;) {
        const next = outbox.messages.find((message) => message.refused === undefined);
        if (next === undefined || connection.state.kind !== "connected") return;
        const { chatId, clientId, text } = next;
        this.inFlight = next;
        await connection.request("chat.send", { chatId, clientId, text }).then(
          () => outbox.remove(clientId),
          (error: RequestError) => {
            if (!PASSING.has(error.code)) outbox.refuse(clientId, error.message);
            else throw error;
          },
        );
      }
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      if (error.code !== "connection-lost") {
        this.cancelResend = this.options.later(error.retryAfterMs ?? RESEND_MS, () => void this.flush());
      }
    } finally {
      this.inFlight = undefined;
      this.flushing = false;
    }
  }

  private set(conversation: Conversation): void {
    if (conversation === this.current) return;
    this.current = conversation;
    this.options.onConversation(conversation);
  }
}
