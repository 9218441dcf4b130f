/** Sending, editing and finding messages. One Outbound makes each of its Slack messages at most once. */
import type { Card } from "../../core/cards.ts";
import { messagesFor } from "../../core/words/messages.ts";
import type { MessageRef, Outbound, Recall, SendResult } from "../channel.ts";
import { NotYet, paced } from "../pacing/paced.ts";
import type { Lane, SendBudget } from "../pacing/send-budget.ts";
import { urgencyOf } from "../pacing/urgency.ts";
import { Recent } from "../recent.ts";
import { Turns } from "../turns.ts";
import type { RenderedCard } from "./cards.ts";
import { findSent, isAttached } from "./delivery-mark.ts";
import { DirectChats } from "./direct-chats.ts";
import { isTs, placeOf } from "./inbound.ts";
import * as limits from "./limits.ts";
import { escapeMrkdwn } from "./markup.ts";
import { type Failure, failureOf, NO_ACCESS, REFUSED_BLOCKS } from "./outcome.ts";
import type { PrivateAnswers } from "./private-answers.ts";
import { editLanes, fileLanes, messageLanes, privateLanes, type SlackRates, sharedOut } from "./rates.ts";
import { Transmit, type TransmitOptions } from "./transmit.ts";
import type { DirectLog } from "./uploads.ts";
import type { WorkingSign } from "./working-sign.ts";

export interface OutboxOptions extends TransmitOptions {
  readonly privately: PrivateAnswers;
  readonly budget: SendBudget;
  readonly rates: SlackRates;
  /** Whose uploads are ours. */
  readonly botUserId: string;
  /** Gateways that post with the same token. */
  readonly gateways: () => number;
  readonly working: Pick<WorkingSign, "answered" | "ended">;
}

/** How far one Outbound has come. Kept in memory; after a crash it is read back from the messages' marks. */
interface Progress {
  readonly refs: MessageRef[];
  /** The command's file is attached and the card can be pressed; true for every other card. */
  ready: boolean;
  done: boolean;
  /** The file that belongs to it is there: an earlier life had uploaded it. */
  attached?: boolean;
  /** What became of the log that goes with a private answer. */
  log?: DirectLog;
}

const PERMANENT_SAID: SendResult = { kind: "permanent", why: "Slack shows what a person typed by itself" };

export class Outbox {
  private readonly options: OutboxOptions;
  private readonly progress = new Recent<Progress>(limits.MAX_REMEMBERED_SENDS);
  /** Messages whose card has reached its last state: a late live update must not overwrite it. */
  private readonly settled = new Recent<true>(limits.MAX_REMEMBERED_SENDS);
  private readonly lastLive = new Recent<string>(500);
  private readonly turns = new Turns();
  private readonly transmit: Transmit;
  private readonly directChats: DirectChats;

  constructor(options: OutboxOptions) {
    this.options = options;
    this.directChats = new DirectChats(options.reads);
    this.transmit = new Transmit(options, this.directChats);
  }

  /** One send per key at a time; a key that is done answers with what it made. */
  async send(message: Outbound): Promise<SendResult> {
    const result = await this.turns.run(`send|${message.key}`, async (): Promise<SendResult> => {
      let addressed: Outbound;
      try {
        addressed = await this.directChats.addressed(message);
      } catch (error) {
        if (error instanceof NotYet) return { kind: "retry", afterMs: error.afterMs, why: error.message };
        const failure = failureOf(error);
        // Opening a conversation sends nothing, so an unknown outcome is simply tried again.
        return failure.kind === "unknown" ? { kind: "retry", afterMs: 2000, why: failure.why } : failure;
      }
      return await this.sendOnce(addressed);
    });
    if (result.kind === "sent") void this.options.working.answered(placeOf(message.route));
    return result;
  }

  async edit(ref: MessageRef, message: Outbound): Promise<SendResult> {
    const result = await this.turns.run(`edit|${ref.chatId}|${ref.messageId}`, () => this.editOnce(ref, message));
    // An edit is no answer to Slack: it leaves the thread's status where it is.
    if (result.kind === "sent" && message.card.kind === "run" && !isOpen(message.card)) {
      void this.options.working.ended(placeOf(ref));
    }
    return result;
  }

  /** False while the message is being edited or the workspace's rate leaves no room. */
  async live(ref: MessageRef, card: Card): Promise<boolean> {
    const key = `${ref.chatId}|${ref.messageId}`;
    if (this.turns.busy(`edit|${key}`)) return false;
    return await this.turns.run(`edit|${key}`, async () => {
      if (this.settled.get(key) !== undefined) return true;
      const rendered = this.transmit.render(card);
      if (rendered === undefined) return true;
      const [first] = rendered.messages;
      const drawn = JSON.stringify(first);
      if (this.lastLive.get(key) === drawn) return true;
      const lanes = editLanes(this.rates);
      const done = this.options.budget.tryLive(lanes);
      if (done === undefined) return false;
      try {
        await this.transmit.update(ref, first);
        this.lastLive.set(key, drawn);
        return true;
      } catch (error) {
        return this.failed(lanes, error).kind !== "retry";
      } finally {
        done();
      }
    });
  }

  async below(ref: MessageRef, atMost: number, how: Recall): Promise<number | undefined> {
    const { newer, reads, gateways } = this.options;
    const seen = newer.below(placeOf(ref), ref.messageId, atMost);
    // Slack hands each event to one of the gateways that share a request URL: what this one saw is a part of it.
    if (seen !== undefined && (gateways() <= 1 || seen >= atMost)) return seen;
    if (how === "remembered" || !isTs(ref.messageId)) return undefined;
    // Limits count the message a thread hangs from too, which Slack always sends along.
    const query = { channel: ref.chatId, oldest: ref.messageId, limit: atMost + 1 };
    const { messages = [] } =
      ref.threadId === undefined ? await reads.history(query) : await reads.replies({ ...query, ts: ref.threadId });
    return Math.min(atMost, messages.filter(({ ts }) => ts !== undefined && ts > ref.messageId).length);
  }

  /** Looks for the message's mark in the conversation. What is missing is sent by the next `send` of the same key. */
  async reconcile(message: Outbound): Promise<MessageRef | undefined> {
    if (isPrivate(message)) return undefined;
    const known = this.progress.get(message.key);
    if (known?.done === true) return known.refs[0];
    const addressed = await this.directChats.addressed(message);
    const found = await findSent(this.options.reads, addressed, this.options.deps.clock.now());
    if (found.refs.length === 0) return undefined;
    const isWhole = found.refs.filter((ref) => ref !== undefined).length >= found.parts;
    const attached = await this.isAttached(addressed, found.refs[0], found.ready);
    const done = found.ready && isWhole && attached;
    this.progress.set(message.key, { refs: found.refs as MessageRef[], ready: found.ready, done, attached });
    return done ? found.refs[0] : undefined;
  }

  /** A log, or the whole command of a card that waits for it; true when it needs neither. */
  private async isAttached(message: Outbound, ref: MessageRef | undefined, ready: boolean): Promise<boolean> {
    const name =
      message.file?.name ?? (ready ? undefined : this.transmit.render(message.card, message)?.commandFile?.name);
    if (name === undefined) return true;
    return ref !== undefined && (await isAttached(this.options.reads, ref, name, this.options.botUserId));
  }

  private async sendOnce(message: Outbound): Promise<SendResult> {
    const rendered = this.transmit.render(message.card, message);
    if (rendered === undefined) return PERMANENT_SAID;
    if (message.route.threadId !== undefined && !isTs(message.route.threadId)) {
      return { kind: "permanent", why: `"${message.route.threadId}" is no Slack thread` };
    }
    const progress = this.progress.get(message.key) ?? {
      refs: [],
      ready: rendered.commandFile === undefined,
      done: false,
    };
    this.progress.set(message.key, progress);
    if (isPrivate(message)) return await this.sendPrivately(message, rendered, progress);
    const lanes = messageLanes(this.rates, message.route.chatId);
    const files = fileLanes(this.options.gateways());
    for (const [part, body] of rendered.messages.entries()) {
      if (progress.refs[part] !== undefined) continue;
      try {
        progress.refs[part] = await this.inTurn(message, lanes, () =>
          this.transmit.post(message, body, part, rendered),
        );
      } catch (error) {
        const failure = this.failed(lanes, error);
        if (part === 0) await this.tellAsker(message, failure);
        return begun(failure, part > 0);
      }
    }
    const ref = progress.refs[0] as MessageRef;
    if (!progress.ready && rendered.commandFile !== undefined) {
      const { commandFile } = rendered;
      try {
        const armed = await this.inTurn(message, files, () =>
          this.transmit.arm(ref, message, commandFile, progress.attached === true),
        );
        if (armed.kind !== "sent") return begun(armed, true);
      } catch (error) {
        return begun(this.failed(files, error), true);
      }
      progress.ready = true;
    }
    if (message.file !== undefined && !progress.done && progress.attached !== true) {
      const { file } = message;
      try {
        const failure = await this.inTurn(message, files, () => this.transmit.attachLog(ref, message, file));
        if (failure?.kind === "retry") this.keepQuiet(files, failure.afterMs);
        if (failure !== undefined) return begun(failure, true);
      } catch (error) {
        return begun(this.failed(files, error), true);
      }
    }
    progress.done = true;
    return { kind: "sent", ref };
  }

  /** Slack took the command although the bot is no member there: who gave it must not wait for nothing. */
  private async tellAsker({ route }: Outbound, failure: Failure): Promise<void> {
    if (failure.kind !== "permanent" || !NO_ACCESS.has(failure.code)) return;
    const { privately, botName, deps } = this.options;
    await privately.tellAsker(route.chatId, escapeMrkdwn(messagesFor(deps.locale).notice.notInChannel(botName)));
  }

  private get rates(): SlackRates {
    return sharedOut(this.options.rates, this.options.gateways());
  }

  /** @throws NotYet */
  private inTurn<T>(message: Outbound, lanes: readonly Lane[], work: () => Promise<T>): Promise<T> {
    return paced(this.options.budget, { id: message.key, lanes, urgency: urgencyOf(message.card) }, work);
  }

  private failed(lanes: readonly Lane[], error: unknown): Failure {
    if (error instanceof NotYet) return { kind: "retry", afterMs: error.afterMs, why: error.message };
    const failure = failureOf(error);
    if (failure.kind === "retry") this.keepQuiet(lanes, failure.afterMs);
    return failure;
  }

  private keepQuiet([narrowest]: readonly Lane[], forMs: number): void {
    if (narrowest !== undefined) this.options.budget.refused(narrowest, forMs);
  }

  private async sendPrivately(message: Outbound, rendered: RenderedCard, progress: Progress): Promise<SendResult> {
    if (progress.done) return { kind: "sent", ref: progress.refs[0] as MessageRef };
    const lanes = privateLanes(this.options.gateways());
    let result: SendResult;
    try {
      result = await this.inTurn(message, lanes, async () => {
        const shown = message.file === undefined ? rendered : await this.withLogSent(message, message.file, progress);
        return await this.options.privately.send(message, shown ?? rendered);
      });
    } catch (error) {
      if (!(error instanceof NotYet)) throw error;
      return this.failed(lanes, error);
    }
    if (result.kind === "retry") this.keepQuiet(lanes, result.afterMs);
    if (result.kind === "sent") {
      progress.refs[0] = result.ref;
      progress.done = true;
    }
    return result;
  }

  /** The private answer to a request for a log says where the log is. */
  private async withLogSent(
    message: Outbound,
    file: NonNullable<Outbound["file"]>,
    progress: Progress,
  ): Promise<RenderedCard | undefined> {
    const { card } = message;
    if (card.kind !== "text") return undefined;
    progress.log ??= await this.transmit.sendLog(message, file);
    const m = messagesFor(message.locale, this.options.deps.locale);
    const hint =
      progress.log.kind === "sent"
        ? m.notice.sentDirectly
        : progress.log.kind === "empty"
          ? m.run.noOutput
          : m.run.logNotAttached(progress.log.why);
    return this.transmit.render({ ...card, hint }, message);
  }

  private async editOnce(ref: MessageRef, message: Outbound): Promise<SendResult> {
    const rendered = this.transmit.render(message.card, message);
    if (rendered === undefined) return PERMANENT_SAID;
    if (isPrivate(message)) return await this.options.privately.replace(ref, rendered.messages[0]);
    if (!isTs(ref.messageId)) return { kind: "permanent", why: "a private answer can not be edited" };
    const key = `${ref.chatId}|${ref.messageId}`;
    this.lastLive.delete(key);
    const open = isOpen(message.card);
    if (open && this.settled.get(key) !== undefined) return { kind: "sent", ref };
    // An approval whose command is in a file keeps its buttons when it is drawn again while pending.
    const body = rendered.commandFile?.armed ?? rendered.messages[0];
    const lanes = editLanes(this.rates);
    try {
      const stale = await this.inTurn(message, lanes, async () => {
        if (open && message.card.kind !== "run" && !(await this.transmit.stillHasButtons(ref))) return true;
        await this.transmit.update(ref, body);
        return false;
      });
      if (stale) return { kind: "sent", ref };
    } catch (error) {
      const failure = this.failed(lanes, error);
      if (failure.kind === "permanent" && REFUSED_BLOCKS.has(failure.code) && rendered.plain !== undefined) {
        return await this.editPlainly(ref, rendered.plain);
      }
      return failure.kind === "unknown" ? { kind: "retry", afterMs: 2000, why: failure.why } : failure;
    }
    if (!open) this.settled.set(key, true);
    if (message.file !== undefined) await this.transmit.attachLog(ref, message, message.file);
    return { kind: "sent", ref };
  }

  private async editPlainly(ref: MessageRef, text: string): Promise<SendResult> {
    try {
      await this.transmit.update(ref, { text, blocks: [] });
      return { kind: "sent", ref };
    } catch (error) {
      return failureOf(error);
    }
  }
}

function begun(result: SendResult, partly: boolean): SendResult {
  return result.kind === "retry" && partly ? { ...result, partial: true } : result;
}

/** In a direct message everything is private already, and an ordinary message can be edited and found again. */
function isPrivate(message: Outbound): boolean {
  return message.onlyFor !== undefined && message.route.chatType !== "dm";
}

/** True while the card can still change by itself or by a press. */
function isOpen(card: Card): boolean {
  if (card.kind === "approval") return card.state === "pending";
  if (card.kind === "menu") return card.choices.length > 0;
  if (card.kind === "text") return (card.actions?.length ?? 0) > 0;
  return card.kind === "run" && card.state === "running";
}
