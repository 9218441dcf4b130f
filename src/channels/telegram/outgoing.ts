/** Sending and editing: one neutral message, the calls it takes, and what became of it. */
import type { Api } from "grammy";
import type { Message } from "grammy/types";
import type { Card } from "../../core/cards.ts";
import { ExecError } from "../../core/errors.ts";
import type { MessageRef, Outbound, SendResult } from "../../core/outbound.ts";
import type { Route } from "../../core/route.ts";
import { messagesFor } from "../../core/words/messages.ts";
import { type AdapterDeps, describeError } from "../adapter-deps.ts";
import { type LogForChat, readLogForChat } from "../log-file.ts";
import { NotYet } from "../pacing/paced.ts";
import type { SendBudget } from "../pacing/send-budget.ts";
import { urgencyOf } from "../pacing/urgency.ts";
import { Recent } from "../recent.ts";
import { Turns } from "../turns.ts";
import { Calls, Failed, GENERAL_TOPIC, type OnMigrated, type Target, targetOf } from "./calls.ts";
import { type Rendered, renderCard } from "./cards.ts";
import { failureOf } from "./errors.ts";
import { MAX_LIVE, MAX_PARTIAL_SENDS, RETRY_MIN_MS, TEXT_BUDGET } from "./limits.ts";
import { italic, lines, type Rich, text } from "./markup.ts";
import type { TelegramRates } from "./rates.ts";
import { type Attachment, kindOf, Transmit, type Turn } from "./transmit.ts";

/** One call of a message that takes several; what was sent is not sent again. */
interface Progress {
  readonly done: Set<string>;
  ref?: MessageRef;
  withholdAllow?: boolean;
}

export interface OutgoingOptions extends AdapterDeps {
  readonly api: Api;
  readonly accountId: string;
  readonly budget: SendBudget;
  readonly rates: TelegramRates;
  /** Cards in this chat have no buttons now. */
  readonly hidesButtons: (chatId: string) => boolean;
  /** Most characters of one message, at most Telegram's own limit. */
  readonly textLimit?: number;
  readonly onMigrated: OnMigrated;
  readonly onSent: (message: Message) => void;
}

export class Outgoing {
  readonly #options: OutgoingOptions;
  readonly #progress = new Recent<Progress>(MAX_PARTIAL_SENDS);
  /** Edits of one message never overtake each other: a late live tail must not cover the final card. */
  readonly #edits = new Turns();
  /** What a live change has drawn: one that draws the same is none, and Telegram refuses it. */
  readonly #lastLive = new Recent<string>(MAX_LIVE);
  readonly #calls: Calls;
  readonly #transmit: Transmit;

  constructor(options: OutgoingOptions) {
    this.#options = options;
    this.#calls = new Calls(options.log, options.onMigrated);
    this.#transmit = new Transmit({
      ...options,
      calls: this.#calls,
      topicGone: messagesFor(options.locale).notice.topicGone,
    });
  }

  /** A group became a supergroup: what is still addressed to the old id goes to the new one. */
  migrated(from: string, to: string): Promise<void> {
    return this.#calls.migrated(from, to);
  }

  render(
    card: Card,
    chatId: string,
    more: { attached?: string; withholdAllow?: boolean; locale?: string | undefined } = {},
  ): Rendered {
    return renderCard(card, {
      messages: messagesFor(more.locale, this.#options.locale),
      redactor: this.#options.redactor,
      nowMs: this.#options.clock.now(),
      budget: Math.min(this.#options.textLimit ?? TEXT_BUDGET, TEXT_BUDGET),
      hidesButtons: this.#options.hidesButtons(chatId),
      ...(more.attached === undefined ? {} : { attached: more.attached }),
      ...(more.withholdAllow === undefined ? {} : { withholdAllow: more.withholdAllow }),
    });
  }

  async send(message: Outbound): Promise<SendResult> {
    const progress = this.#progress.getOrAdd(message.key, () => begunWith(message));
    try {
      const ref = await this.#sendAll(message, progress);
      this.#progress.delete(message.key);
      return { kind: "sent", ref };
    } catch (error) {
      const result = this.#result(error, message.route.chatId, "send");
      return result.kind === "retry" && progress.done.size > 0 ? { ...result, partial: true } : result;
    }
  }

  edit(ref: MessageRef, message: Outbound): Promise<SendResult> {
    return this.#edits.run(editKey(ref), () => this.#edit(ref, message));
  }

  async #edit(ref: MessageRef, message: Outbound): Promise<SendResult> {
    const rendered = this.render(message.card, ref.chatId, { locale: message.locale });
    const body = rendered.parts.at(-1);
    if (!body) return { kind: "sent", ref };
    this.#lastLive.delete(editKey(ref));
    try {
      await this.#transmit.edit(ref, body, rendered.keyboard, turnOf(message));
      return { kind: "sent", ref };
    } catch (error) {
      const kind = error instanceof NotYet ? "not-yet" : kindOf(error);
      if (kind === "message-gone") return { kind: "sent", ref };
      if (kind !== "not-editable") return this.#result(error, ref.chatId, "edit");
      await this.#transmit.stripKeyboard(ref);
      return this.send(message);
    }
  }

  /** Telegram shows it for five seconds, or until the message comes. */
  async typing({ chatId, threadId }: Route, isForum: boolean): Promise<void> {
    // General is left out where messages go, and named here.
    const at = threadId ?? (isForum ? GENERAL_TOPIC : undefined);
    const topic = at === undefined ? {} : { message_thread_id: Number(at) };
    await this.#options.api.sendChatAction(this.#calls.currentId(chatId), "typing", topic);
  }

  /** False while the message is being edited or the chat's rate leaves no room. */
  async live(ref: MessageRef, card: Card, locale?: string): Promise<boolean> {
    if (this.#edits.busy(editKey(ref))) return false;
    const rendered = this.render(card, ref.chatId, { locale });
    const body = rendered.parts.at(-1);
    if (!body) return true;
    const drawn = JSON.stringify([body.html, rendered.keyboard]);
    if (this.#lastLive.get(editKey(ref)) === drawn) return true;
    try {
      const shown = await this.#edits.run(editKey(ref), () => this.#transmit.live(ref, body, rendered.keyboard));
      if (shown) this.#lastLive.set(editKey(ref), drawn);
      return shown;
    } catch (error) {
      // A pause that Telegram asks for here holds for everything else in this chat too.
      return this.#result(error, ref.chatId, "edit").kind !== "retry";
    }
  }

  /** Asks a person for words: their answer is a reply to this message. */
  async ask(route: Route, body: Rich, cardMessageId: string | undefined): Promise<void> {
    const replyToId = cardMessageId === undefined ? undefined : Number(cardMessageId);
    await this.#transmit.question({ ...targetOf(route), replyToId }, body);
  }

  async #sendAll(message: Outbound, progress: Progress): Promise<MessageRef> {
    const { card, route, file } = message;
    const turn = turnOf(message);
    const target = targetOf(route);
    // Before a log is read and cleaned for nothing.
    const wait = this.#transmit.waitFor(target.chatId, "send", turn);
    if (wait > 0) throw new NotYet(wait);
    const { locale } = message;
    const log: LogForChat = file ? await readLogForChat(file, this.#options.redactor) : { kind: "empty" };
    const render = (): Rendered =>
      this.render(card, route.chatId, {
        locale,
        ...(log.kind === "log" ? { attached: log.name } : {}),
        ...(progress.withholdAllow ? { withholdAllow: true } : {}),
      });
    let rendered = render();
    const repeat = new Repeat(message, this.#options.locale);
    const total = rendered.parts.length + (log.kind === "log" ? 1 : 0);
    if (rendered.command && !(await this.#sendCommand(target, rendered.command, progress, message, repeat))) {
      progress.withholdAllow = true;
      rendered = render();
    }
    for (const [index, part] of rendered.parts.entries()) {
      const step = `part-${index}`;
      if (progress.done.has(step)) continue;
      const isLast = index === rendered.parts.length - 1;
      const missing =
        isLast && log.kind === "unreadable"
          ? messagesFor(locale, this.#options.locale).run.logNotAttached(log.why)
          : "";
      const body = lines([part, italic(text(missing)), italic(text(repeat.note()))]);
      const sent = await this.#transmit.text(target, body, isLast ? rendered.keyboard : undefined, turn);
      progress.ref = this.#refOf(sent);
      await done(message, progress, step, index + 1 === total);
    }
    if (log.kind === "log" && !progress.done.has("file")) {
      await this.#transmit.file(target, repeat.file(log), turn);
      progress.done.add("file");
    }
    if (!progress.ref) throw new Error("a message without parts");
    return progress.ref;
  }

  /** The whole command as a file, before the card that refers to it. False: Telegram will not take it. */
  async #sendCommand(
    target: Target,
    command: Attachment,
    progress: Progress,
    message: Outbound,
    repeat: Repeat,
  ): Promise<boolean> {
    if (progress.done.has("command")) return true;
    try {
      await this.#transmit.file(target, repeat.file(command), turnOf(message));
      await done(message, progress, "command", false);
      return true;
    } catch (error) {
      if (error instanceof Failed && error.failure.kind === "refused") return false;
      throw error;
    }
  }

  #result(error: unknown, chatId: string, doing: "send" | "edit"): SendResult {
    if (error instanceof NotYet) return { kind: "retry", afterMs: error.afterMs, why: error.message };
    // A card that can not be drawn as Telegram takes it: whoever can act on it is told, and nothing was sent.
    if (error instanceof ExecError) return { kind: "permanent", why: error.message };
    const failure = error instanceof Failed ? error.failure : failureOf(error);
    const why = describeError(error instanceof Failed ? error.cause : error, this.#options.redactor);
    switch (failure.kind) {
      case "rate-limited":
        this.#transmit.refused(chatId, failure.afterMs);
        return { kind: "retry", afterMs: failure.afterMs, why };
      case "not-sent":
        return { kind: "retry", afterMs: RETRY_MIN_MS, why };
      case "in-doubt":
        // An edit can be repeated without harm; a second message can not be taken back.
        return doing === "edit" ? { kind: "retry", afterMs: RETRY_MIN_MS, why } : { kind: "unknown", why };
      default:
        return { kind: "permanent", why };
    }
  }

  #refOf(message: Message): MessageRef {
    return {
      channel: "telegram",
      accountId: this.#options.accountId,
      chatId: String(message.chat.id),
      messageId: String(message.message_id),
      ...(message.is_topic_message && message.message_thread_id !== undefined
        ? { threadId: String(message.message_thread_id) }
        : {}),
    };
  }
}

/** What an earlier life of this process has sent of it for certain. */
function begunWith({ steps }: Outbound): Progress {
  const refs = Object.values(steps?.done ?? {}).filter((one) => one !== null);
  const ref = refs.at(-1);
  return { done: new Set(Object.keys(steps?.done ?? {})), ...(ref ? { ref } : {}) };
}

/** The last step is recorded with the message itself. */
async function done(message: Outbound, progress: Progress, step: string, isLast: boolean): Promise<void> {
  progress.done.add(step);
  if (!isLast) await message.steps?.record(step, step === "command" ? undefined : progress.ref);
}

/** Says under the first thing that goes out again that it may have been there: once. */
class Repeat {
  #note: string;

  constructor({ mayRepeat, locale }: Outbound, configured: string | undefined) {
    this.#note = mayRepeat ? messagesFor(locale, configured).notice.mayRepeat : "";
  }

  note(): string {
    const note = this.#note;
    this.#note = "";
    return note;
  }

  file(attachment: Attachment): Attachment {
    const note = this.note();
    if (note === "") return attachment;
    return { ...attachment, caption: attachment.caption === undefined ? note : `${attachment.caption}\n${note}` };
  }
}

function turnOf(message: Outbound): Turn {
  return { id: message.key, urgency: urgencyOf(message.card) };
}

function editKey(ref: MessageRef): string {
  return `${ref.chatId}|${ref.messageId}`;
}
