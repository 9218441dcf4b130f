/** One conversation followed from a terminal: turns what changes into text to print, and what is typed into requests. */
import { setTimeout as wait } from "node:timers/promises";
import type { ApprovalCard, Card, PressAction, RunCard } from "../core/cards.ts";
import { ExecError } from "../core/errors.ts";
import type { ChatEntry, CompletionItem, EventFrame } from "../protocol/frames.ts";
import type { GatewayClient } from "./client.ts";
import { barred, DECISION_KEYS, newOutput, renderCard, runEnd, runHead, type TerminalStyle } from "./terminal-cards.ts";

/** Messages shown when a conversation is opened. */
const SHOWN_AT_START = 20;
const BUSY_RETRY_MS = 500;

export interface ChatSessionOptions {
  readonly client: GatewayClient;
  readonly chatId: string;
  readonly style: () => TerminalStyle;
  readonly print: (text: string) => void;
  readonly newId: () => string;
  /** Print what is there at the start, and leave out the echo of what was typed here. */
  readonly atTerminal: boolean;
}

export class ChatSession {
  readonly #options: ChatSessionOptions;
  readonly #messages = new Map<string, ChatEntry>();
  /** Output printed of each run, by message: whole lines only. */
  readonly #printed = new Map<string, string>();
  readonly #typed: string[] = [];
  #seq: number | undefined;
  #answers = 0;
  /** Approvals that were allowed here and whose run has not ended. */
  readonly #allowed = new Set<string>();
  #lastChangeMs = performance.now();

  constructor(options: ChatSessionOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { client, print } = this.#options;
    client.on("event", (frame) => this.#event(frame));
    client.on("up", ({ again }) => {
      if (!again) return;
      this.#open().then(
        () => print("Connected again."),
        (error: Error) => print(error.message),
      );
    });
    client.on("down", ({ retryInMs }) => {
      print(`The connection to the gateway is lost. Trying again in ${Math.ceil(retryInMs / 1000)} s.`);
    });
    await this.#open();
  }

  /** What people said here before, oldest first. */
  history(): string[] {
    return this.#inOrder().flatMap(({ card }) => (card.kind === "said" ? [card.text] : []));
  }

  /** A line as it was typed: a number answers the approval that waits, everything else is said. */
  async take(line: string): Promise<void> {
    const key = DECISION_KEYS.find((one) => one.key === line.trim());
    const waiting = this.pendingApprovals();
    if (!key || waiting.length === 0) return this.say(line);
    const [approval, second] = waiting;
    if (second) {
      const forms = waiting.map(({ slug }) => `/approve ${slug} ${key.decision}`);
      this.#options.print(`Several approvals wait. Say which one: ${forms.join(" or ")}`);
    } else if (approval && !approval.offered.includes(key.decision)) {
      this.#options.print(`${key.decision} is not offered here.`);
    } else if (approval) {
      await this.press({ kind: "approval", approvalId: approval.approvalId, decision: key.decision });
    }
  }

  async say(text: string): Promise<void> {
    const { client, chatId, newId, atTerminal } = this.#options;
    const clientId = newId();
    if (atTerminal) this.#typed.push(text);
    await this.#reliably(() => client.request("chat.send", { chatId, clientId, text }));
  }

  async press(action: PressAction): Promise<void> {
    const { client, chatId, newId } = this.#options;
    const clientId = newId();
    await this.#reliably(() => client.request("chat.press", { chatId, clientId, action }));
  }

  async complete(text: string): Promise<readonly CompletionItem[]> {
    return (await this.#options.client.request("chat.complete", { text })).items;
  }

  /** The newest first. */
  runningRuns(): RunCard[] {
    return this.#inOrder()
      .reverse()
      .flatMap(({ card }) => (card.kind === "run" && card.state === "running" ? [card] : []));
  }

  /** Something that was allowed while this session watched has not ended yet; its card may not even be there. */
  get underWay(): boolean {
    return this.#allowed.size > 0 || this.runningRuns().length > 0;
  }

  pendingApprovals(): ApprovalCard[] {
    return this.#inOrder().flatMap(({ card }) => (card.kind === "approval" && card.state === "pending" ? [card] : []));
  }

  /** Grows with everything the gateway answers; echoes of what people say do not count. */
  get answers(): number {
    return this.#answers;
  }

  quietForMs(): number {
    return performance.now() - this.#lastChangeMs;
  }

  async #open(): Promise<void> {
    const { client, chatId, atTerminal, print } = this.#options;
    const first = this.#seq === undefined;
    const opened = await client.request("chat.open", {
      chatId,
      ...(this.#seq === undefined ? {} : { afterSeq: this.#seq }),
    });
    if (opened.reset) {
      this.#messages.clear();
      print("More has happened than can be shown one by one; these are the newest messages.");
    }
    const entries = [...opened.entries];
    const hidden = first ? (atTerminal ? Math.max(0, entries.length - SHOWN_AT_START) : entries.length) : 0;
    for (const entry of entries.slice(0, hidden)) this.#remember(entry);
    for (const entry of entries.slice(hidden)) this.#show(entry);
    this.#seq = opened.seq;
  }

  /** Until the gateway has it: the client id makes a second try harmless. */
  async #reliably(request: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await request();
        return;
      } catch (error) {
        if (!(error instanceof ExecError)) throw error;
        if (error.code === "gateway-unreachable") await this.#options.client.connected();
        else if (error.details?.retryAfterMs !== undefined || error.code === "draining") {
          await wait(Number(error.details?.retryAfterMs ?? BUSY_RETRY_MS));
        } else {
          this.#options.print(error.message);
          return;
        }
      }
    }
  }

  #event(frame: EventFrame): void {
    switch (frame.event) {
      case "chat.entry":
        if (frame.payload.chatId !== this.#options.chatId) return;
        this.#seq = frame.payload.entry.seq;
        this.#show(frame.payload.entry);
        return;
      case "chat.live": {
        const { chatId, messageId, card } = frame.payload;
        const known = this.#messages.get(messageId)?.card;
        // A tail that was on its way when the run ended is old news.
        if (chatId !== this.#options.chatId || known?.kind !== "run" || known.state !== "running") return;
        if (card.kind === "run") this.#progress(messageId, card);
        return;
      }
      case "shutdown":
        this.#options.print(frame.payload.reason);
        return;
      case "tick":
        return;
    }
  }

  #follow(before: Card | undefined, card: Card): void {
    const wasPending = before?.kind === "approval" && before.state === "pending";
    if (card.kind === "approval" && card.state === "allowed" && wasPending) this.#allowed.add(card.approvalId);
    if (card.kind === "run" && card.state === "finished" && card.approvalId) this.#allowed.delete(card.approvalId);
  }

  #remember(entry: ChatEntry): ChatEntry | undefined {
    const before = this.#messages.get(entry.messageId);
    if (before && before.seq >= entry.seq) return entry;
    this.#messages.set(entry.messageId, entry);
    return before;
  }

  #show(entry: ChatEntry): void {
    const before = this.#remember(entry);
    if (before === entry) return;
    this.#lastChangeMs = performance.now();
    const { card, messageId } = entry;
    this.#follow(before?.card, card);
    if (card.kind !== "said") this.#answers += 1;
    const { print } = this.#options;
    const style = this.#options.style();
    switch (card.kind) {
      case "said": {
        const own = this.#typed.indexOf(card.text);
        if (own < 0) print(renderCard(card, style));
        else this.#typed.splice(own, 1);
        return;
      }
      case "text":
      case "menu":
        print(renderCard(card, style));
        return;
      case "approval": {
        // Only a change of state is news; its status line is told by the run's own card.
        const shown = before?.card.kind === "approval" ? before.card.state : undefined;
        if (shown !== card.state) print(renderCard(card, style));
        return;
      }
      case "run":
        if (before?.card.kind !== "run") print(runHead(card, style));
        this.#progress(messageId, card);
        if (card.state === "finished") print(runEnd(card, style));
        return;
    }
  }

  /** Prints whole new lines; a line that is still growing waits, unless the run has ended. */
  #progress(messageId: string, card: RunCard): void {
    const shown = this.#printed.get(messageId) ?? "";
    const ready = card.state === "finished" ? card.tail : card.tail.slice(0, card.tail.lastIndexOf("\n") + 1);
    if (ready.length === 0 && shown.length > 0) return;
    const { text, skipped } = newOutput(shown, ready);
    this.#printed.set(messageId, ready);
    if (text.trim() === "") return;
    this.#lastChangeMs = performance.now();
    const { colour } = this.#options.style();
    this.#options.print(barred(`${skipped && shown !== "" ? "…\n" : ""}${text.replace(/\n$/, "")}`, colour));
  }

  #inOrder(): ChatEntry[] {
    return [...this.#messages.values()].sort((a, b) => a.order - b.order);
  }
}
