/** The calls that write to a chat, each within the account's send rate, each once more as plain text when its markup is refused. */
import { type Api, InputFile } from "grammy";
import type { InlineKeyboardMarkup, Message } from "grammy/types";
import { ExecError } from "../../core/errors.ts";
import type { MessageRef } from "../../core/outbound.ts";
import { type ChannelLog, describeError } from "../adapter-deps.ts";
import { paced } from "../pacing/paced.ts";
import type { SendBudget, Urgency } from "../pacing/send-budget.ts";
import type { Redactor } from "../text/redact.ts";
import { Turns } from "../turns.ts";
import { type Calls, Failed, replyOf, type Target, threadOf, timeout } from "./calls.ts";
import { failureOf } from "./errors.ts";
import { MAX_CAPTION, MAX_TEXT } from "./limits.ts";
import { italic, lines, type Rich, text } from "./markup.ts";
import { lanesOf, type TelegramRates } from "./rates.ts";

export interface TransmitOptions {
  readonly api: Api;
  readonly calls: Calls;
  readonly budget: SendBudget;
  readonly rates: TelegramRates;
  readonly log: ChannelLog;
  readonly redactor: Redactor;
  /** Each new message as Telegram has taken it. */
  readonly onSent: (message: Message) => void;
  /** Said under what goes to the chat itself because its topic is gone. */
  readonly topicGone: string;
}

/** Whose call it is: its place in line, and how much somebody waits for it. */
export interface Turn {
  readonly id: string;
  readonly urgency: Urgency;
}

export interface Attachment {
  readonly name: string;
  readonly content: string;
  readonly caption?: string;
}

type MarkedCall<T> = (at: Target, html: boolean) => Promise<T>;

/** Every method throws `Failed`, or `NotYet` when the send rate says to wait. */
export class Transmit {
  readonly #options: TransmitOptions;
  /**
   * Telegram can not be asked whether a message arrived, so one that was on its way when this process was killed is sent
   * again. One at a time is on its way, so that at most one comes twice; a file, which may take long, holds up only files.
   */
  readonly #onTheirWay = new Turns();

  constructor(options: TransmitOptions) {
    this.#options = options;
  }

  /** Milliseconds until this may go out; 0: now. */
  waitFor(chatId: string, doing: "send" | "edit", turn: Turn): number {
    return this.#options.budget.waitFor(turn.id, this.#lanes(chatId, doing), turn.urgency);
  }

  /** Telegram asked for a pause in this chat. */
  refused(chatId: string, afterMs: number): void {
    for (const doing of ["send", "edit"] as const) {
      const [chat] = this.#lanes(chatId, doing);
      if (chat) this.#options.budget.refused(chat, afterMs);
    }
  }

  file(target: Target, attachment: Attachment, turn: Turn): Promise<Message> {
    const { name, content, caption } = attachment;
    return this.#send("file", target, turn, (at) =>
      this.#options.api.sendDocument(
        at.chatId,
        new InputFile(Buffer.from(content, "utf8"), name),
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

  text(target: Target, body: Rich, keyboard: InlineKeyboardMarkup | undefined, turn: Turn): Promise<Message> {
    return this.#send("text", target, turn, (at, html) => {
      const shown = at.topicGone ? lines([body, italic(text(this.#options.topicGone))]) : body;
      assertFits(shown);
      return this.#options.api.sendMessage(
        at.chatId,
        html ? shown.html : shown.plain,
        { ...messageOptions(html, keyboard), ...threadOf(at), ...replyOf(at) },
        timeout(),
      );
    });
  }

  /** Asks a person for words: their answer is a reply to this message. They wait for it, so it does not. */
  async question(target: Target, body: Rich): Promise<void> {
    const { budget, calls, api } = this.#options;
    const done = budget.charge(this.#lanes(target.chatId, "send"));
    try {
      const sent = await calls.run(target, (at) =>
        api.sendMessage(at.chatId, body.html, {
          ...messageOptions(true, undefined),
          ...threadOf(at),
          ...replyOf(at),
          reply_markup: { force_reply: true, selective: true },
        }),
      );
      this.#options.onSent(sent);
    } finally {
      done();
    }
  }

  async edit(ref: MessageRef, body: Rich, keyboard: InlineKeyboardMarkup | undefined, turn: Turn): Promise<void> {
    await unlessUnchanged(this.#paced("edit", chatOf(ref), turn, this.#editCall(ref, body, keyboard)));
  }

  /** False: there is no room for a live change now. */
  async live(ref: MessageRef, body: Rich, keyboard: InlineKeyboardMarkup | undefined): Promise<boolean> {
    const done = this.#options.budget.tryLive(this.#lanes(ref.chatId, "edit"));
    if (!done) return false;
    try {
      await unlessUnchanged(this.#withMarkupOrWithout("edit", chatOf(ref), this.#editCall(ref, body, keyboard)));
      return true;
    } finally {
      done();
    }
  }

  /** An old card keeps no dead buttons. Never throws: the news itself goes out as a message of its own. */
  async stripKeyboard(ref: MessageRef): Promise<void> {
    const { api, budget, calls, log, redactor } = this.#options;
    const done = budget.charge(this.#lanes(ref.chatId, "edit"));
    try {
      await calls.run(chatOf(ref), (at) => api.editMessageReplyMarkup(at.chatId, Number(ref.messageId), {}));
    } catch (error) {
      log.info(
        { channel: "telegram", error: describeError(error, redactor) },
        "The buttons of an old card could not be removed.",
      );
    } finally {
      done();
    }
  }

  #editCall(ref: MessageRef, body: Rich, keyboard: InlineKeyboardMarkup | undefined): MarkedCall<unknown> {
    assertFits(body);
    return (at, html) =>
      this.#options.api.editMessageText(
        at.chatId,
        Number(ref.messageId),
        html ? body.html : body.plain,
        messageOptions(html, keyboard),
        timeout(),
      );
  }

  #send(what: "text" | "file", target: Target, turn: Turn, call: MarkedCall<Message>): Promise<Message> {
    return this.#onTheirWay.run(what, async () => {
      const sent = await this.#paced("send", target, turn, call);
      this.#options.onSent(sent);
      return sent;
    });
  }

  #paced<T>(doing: "send" | "edit", target: Target, turn: Turn, call: MarkedCall<T>): Promise<T> {
    const lanes = this.#lanes(target.chatId, doing);
    return paced(this.#options.budget, { ...turn, lanes }, () => this.#withMarkupOrWithout(doing, target, call));
  }

  async #withMarkupOrWithout<T>(doing: "send" | "edit", target: Target, call: MarkedCall<T>): Promise<T> {
    const { budget, calls } = this.#options;
    try {
      return await calls.run(target, (at) => call(at, true));
    } catch (error) {
      if (kindOf(error) !== "markup-refused") throw error;
      // At once: to put it off would mean to be refused again next time.
      const done = budget.charge(this.#lanes(target.chatId, doing));
      try {
        return await calls.run(target, (at) => call(at, false));
      } finally {
        done();
      }
    }
  }

  #lanes(chatId: string, doing: "send" | "edit") {
    return lanesOf(this.#options.rates, this.#options.calls.currentId(chatId), doing);
  }
}

export function kindOf(error: unknown) {
  return (error instanceof Failed ? error.failure : failureOf(error)).kind;
}

/** An edit that changes nothing is refused, and is as good as done. */
async function unlessUnchanged(edit: Promise<unknown>): Promise<void> {
  try {
    await edit;
  } catch (error) {
    if (kindOf(error) !== "unchanged") throw error;
  }
}

/** Telegram cuts or refuses what is longer; neither may happen unseen (openclaw 95878). */
function assertFits(body: Rich): void {
  if (body.plain.length <= MAX_TEXT) return;
  throw new ExecError("internal", `A message of ${body.plain.length} characters; Telegram takes ${MAX_TEXT}.`);
}

function chatOf(ref: MessageRef): Target {
  return { chatId: ref.chatId, threadId: undefined, replyToId: undefined };
}

function messageOptions(html: boolean, keyboard: InlineKeyboardMarkup | undefined) {
  return {
    ...(html ? { parse_mode: "HTML" as const } : {}),
    ...(keyboard ? { reply_markup: keyboard } : {}),
    link_preview_options: { is_disabled: true },
  };
}
