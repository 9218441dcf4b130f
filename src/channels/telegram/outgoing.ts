/** Sending and editing: one neutral message, the calls it takes, and what became of it. */
import { type Api, InputFile } from "grammy";
import type { InlineKeyboardMarkup, Message } from "grammy/types";
import type { Card } from "../../core/cards.ts";
import type { MessageRef, Outbound, SendResult } from "../../core/outbound.ts";
import type { Route } from "../../core/route.ts";
import { type AdapterDeps, describeError } from "../adapter-deps.ts";
import { messagesFor } from "../cards/messages/catalogue.ts";
import { type LogForChat, readLogForChat } from "../log-file.ts";
import { Pauses } from "../pauses.ts";
import { Recent } from "../recent.ts";
import { Turns } from "../turns.ts";
import { Calls, Failed, replyOf, type Target, targetOf, threadOf, timeout } from "./calls.ts";
import { type Rendered, renderCard } from "./cards.ts";
import { failureOf } from "./errors.ts";
import { MAX_CAPTION, MAX_PARTIAL_SENDS, MIN_GROUP_EDIT_MS, RETRY_MIN_MS, TEXT_BUDGET } from "./limits.ts";
import { italic, lines, type Rich, text } from "./markup.ts";

/** One call of a message that takes several; what was sent is not sent again. */
interface Progress {
  readonly done: Set<string>;
  ref?: MessageRef;
  withholdAllow?: boolean;
}

export interface OutgoingOptions extends AdapterDeps {
  readonly api: Api;
  readonly accountId: string;
  /** Most characters of one message, at most Telegram's own limit. */
  readonly textLimit?: number;
  readonly onMigrated: (fromChatId: string, toChatId: string) => void;
}

export class Outgoing {
  readonly #options: OutgoingOptions;
  readonly #progress = new Recent<Progress>(MAX_PARTIAL_SENDS);
  /** Edits of one message never overtake each other: a late live tail must not cover the final card. */
  readonly #edits = new Turns();
  readonly #lastLive = new Recent<number>(MAX_PARTIAL_SENDS);
  readonly #calls: Calls;
  readonly #pauses: Pauses;

  constructor(options: OutgoingOptions) {
    this.#options = options;
    this.#calls = new Calls(options.log, options.onMigrated);
    this.#pauses = new Pauses(options.clock);
  }

  /** A group became a supergroup: what is still addressed to the old id goes to the new one. */
  migrated(from: string, to: string): void {
    this.#calls.migrated(from, to);
  }

  render(card: Card, more: { attached?: string; withholdAllow?: boolean; locale?: string | undefined } = {}): Rendered {
    return renderCard(card, {
      messages: messagesFor(more.locale, this.#options.locale),
      redactor: this.#options.redactor,
      nowMs: this.#options.clock.now(),
      budget: Math.min(this.#options.textLimit ?? TEXT_BUDGET, TEXT_BUDGET),
      ...(more.attached === undefined ? {} : { attached: more.attached }),
      ...(more.withholdAllow === undefined ? {} : { withholdAllow: more.withholdAllow }),
    });
  }

  async send(message: Outbound): Promise<SendResult> {
    const wait = this.#waitFor(message.route.chatId);
    if (wait > 0) return { kind: "retry", afterMs: wait, why: "Telegram asked for a pause in this chat." };
    const progress = this.#progress.getOrAdd(message.key, () => ({ done: new Set() }));
    try {
      const ref = await this.#sendAll(message, progress);
      this.#progress.delete(message.key);
      return { kind: "sent", ref };
    } catch (error) {
      return this.#result(error, message.route.chatId, "send");
    }
  }

  edit(ref: MessageRef, message: Outbound): Promise<SendResult> {
    return this.#edits.run(editKey(ref), () => this.#edit(ref, message));
  }

  async #edit(ref: MessageRef, message: Outbound): Promise<SendResult> {
    const wait = this.#waitFor(ref.chatId);
    if (wait > 0) return { kind: "retry", afterMs: wait, why: "Telegram asked for a pause in this chat." };
    const rendered = this.render(message.card, { locale: localeOf(message) });
    const body = rendered.parts.at(-1);
    if (!body) return { kind: "sent", ref };
    try {
      await this.#editText(ref, body, rendered.keyboard);
      return { kind: "sent", ref };
    } catch (error) {
      const failure = error instanceof Failed ? error.failure : failureOf(error);
      if (failure.kind === "message-gone") return { kind: "sent", ref };
      if (failure.kind !== "not-editable") return this.#result(error, ref.chatId, "edit");
      // An old card keeps no dead buttons, and the news goes out as a message of its own.
      await this.#stripKeyboard(ref);
      return this.send(message);
    }
  }

  /** Dropped when the chat is paused or was edited a moment ago. */
  async live(ref: MessageRef, card: Card): Promise<void> {
    const now = this.#options.clock.monotonic();
    const isGroup = ref.chatId.startsWith("-");
    const last = this.#lastLive.get(ref.chatId) ?? Number.NEGATIVE_INFINITY;
    if (this.#edits.busy(editKey(ref)) || this.#waitFor(ref.chatId) > 0) return;
    if (isGroup && now - last < MIN_GROUP_EDIT_MS) return;
    this.#lastLive.set(ref.chatId, now);
    const rendered = this.render(card);
    const body = rendered.parts.at(-1);
    if (!body) return;
    try {
      await this.#edits.run(editKey(ref), () => this.#editText(ref, body, rendered.keyboard));
    } catch (error) {
      // A pause that Telegram asks for here holds for everything else in this chat too.
      this.#result(error, ref.chatId, "edit");
    }
  }

  /** Asks a person for words: their answer is a reply to this message. */
  async ask(route: Route, body: Rich, cardMessageId: string | undefined): Promise<void> {
    const replyTo = cardMessageId === undefined ? undefined : Number(cardMessageId);
    const target: Target = { ...targetOf(route), replyToId: replyTo };
    await this.#calls.run(target, (at) =>
      this.#options.api.sendMessage(at.chatId, body.html, {
        parse_mode: "HTML",
        ...threadOf(at),
        ...replyOf(at),
        link_preview_options: { is_disabled: true },
        reply_markup: { force_reply: true, selective: true },
      }),
    );
  }

  async #sendAll(message: Outbound, progress: Progress): Promise<MessageRef> {
    const { card, route, file } = message;
    const locale = localeOf(message);
    const log: LogForChat = file ? await readLogForChat(file, this.#options.redactor) : { kind: "empty" };
    const render = (): Rendered =>
      this.render(card, {
        locale,
        ...(log.kind === "log" ? { attached: log.name } : {}),
        ...(progress.withholdAllow ? { withholdAllow: true } : {}),
      });
    let rendered = render();
    const target = targetOf(route);
    if (rendered.command && !(await this.#sendCommand(target, rendered.command, progress))) {
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
      const body = lines([part, italic(text(missing))]);
      const sent = await this.#sendText(target, body, isLast ? rendered.keyboard : undefined);
      progress.ref = this.#refOf(sent);
      progress.done.add(step);
    }
    if (log.kind === "log" && !progress.done.has("file")) {
      await this.#sendFile(target, new InputFile(Buffer.from(log.content, "utf8"), log.name));
      progress.done.add("file");
    }
    if (!progress.ref) throw new Error("a message without parts");
    return progress.ref;
  }

  /** The whole command as a file, before the card that refers to it. False: Telegram will not take it. */
  async #sendCommand(target: Target, command: NonNullable<Rendered["command"]>, progress: Progress): Promise<boolean> {
    if (progress.done.has("command")) return true;
    try {
      const file = new InputFile(Buffer.from(command.content, "utf8"), command.name);
      await this.#sendFile(target, file, command.caption);
      progress.done.add("command");
      return true;
    } catch (error) {
      const kind = error instanceof Failed ? error.failure.kind : undefined;
      if (kind === "refused") return false;
      throw error;
    }
  }

  #sendFile(target: Target, file: InputFile, caption?: string): Promise<Message> {
    return this.#calls.run(target, (at) =>
      this.#options.api.sendDocument(
        at.chatId,
        file,
        {
          ...threadOf(at),
          ...replyOf(at),
          ...(caption === undefined ? {} : { caption: caption.slice(0, MAX_CAPTION) }),
          disable_content_type_detection: true,
        },
        timeout(),
      ),
    );
  }

  async #sendText(target: Target, body: Rich, keyboard: InlineKeyboardMarkup | undefined): Promise<Message> {
    const send = (html: boolean): Promise<Message> =>
      this.#calls.run(target, (at) => {
        const shown = at.topicGone ? lines([body, italic(text(this.#topicGone()))]) : body;
        return this.#options.api.sendMessage(
          at.chatId,
          html ? shown.html : shown.plain,
          {
            ...(html ? { parse_mode: "HTML" as const } : {}),
            ...threadOf(at),
            ...replyOf(at),
            ...(keyboard ? { reply_markup: keyboard } : {}),
            link_preview_options: { is_disabled: true },
          },
          timeout(),
        );
      });
    try {
      return await send(true);
    } catch (error) {
      if (!(error instanceof Failed) || error.failure.kind !== "markup-refused") throw error;
      return send(false);
    }
  }

  #topicGone(): string {
    return messagesFor(this.#options.locale).notice.topicGone;
  }

  async #editText(ref: MessageRef, body: Rich, keyboard: InlineKeyboardMarkup | undefined): Promise<void> {
    const target: Target = { chatId: ref.chatId, threadId: undefined, replyToId: undefined };
    const edit = (text: string, html: boolean) =>
      this.#calls.run(target, (at) =>
        this.#options.api.editMessageText(
          at.chatId,
          Number(ref.messageId),
          text,
          {
            ...(html ? { parse_mode: "HTML" as const } : {}),
            ...(keyboard ? { reply_markup: keyboard } : {}),
            link_preview_options: { is_disabled: true },
          },
          timeout(),
        ),
      );
    try {
      await edit(body.html, true);
    } catch (error) {
      const kind = error instanceof Failed ? error.failure.kind : undefined;
      if (kind === "unchanged") return;
      if (kind !== "markup-refused") throw error;
      await edit(body.plain, false);
    }
  }

  async #stripKeyboard(ref: MessageRef): Promise<void> {
    const target: Target = { chatId: ref.chatId, threadId: undefined, replyToId: undefined };
    try {
      await this.#calls.run(target, (at) =>
        this.#options.api.editMessageReplyMarkup(at.chatId, Number(ref.messageId), {}),
      );
    } catch (error) {
      this.#options.log.info(
        { channel: "telegram", error: describeError(error, this.#options.redactor) },
        "The buttons of an old card could not be removed.",
      );
    }
  }

  #result(error: unknown, chatId: string, doing: "send" | "edit"): SendResult {
    const failure = error instanceof Failed ? error.failure : failureOf(error);
    const why = describeError(error instanceof Failed ? error.cause : error, this.#options.redactor);
    switch (failure.kind) {
      case "rate-limited":
        this.#pauses.set(this.#calls.currentId(chatId), failure.afterMs);
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

  #waitFor(chatId: string): number {
    return this.#pauses.left(this.#calls.currentId(chatId));
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

function localeOf(message: Outbound): string | undefined {
  if (message.onlyFor?.locale !== undefined) return message.onlyFor.locale;
  return message.card.kind === "approval" ? message.card.requester.locale : undefined;
}

function editKey(ref: MessageRef): string {
  return `${ref.chatId}|${ref.messageId}`;
}
