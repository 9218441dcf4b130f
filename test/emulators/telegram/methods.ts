/** The Bot API methods: each checks what Telegram checks and answers with Telegram's own words. */
import type { BotCommand, InlineKeyboardMarkup, Update } from "grammy/types";
import { type Entity, EntityError, type ParsedText, parseHtml, parseMarkdownV2 } from "./entities.ts";
import { Conflict, type UpdateQueue } from "./updates.ts";
import { type ChatState, GENERAL_TOPIC_ID, type StoredMessage, type World } from "./world.ts";

export class ApiError extends Error {
  readonly code: number;
  readonly parameters: { retry_after?: number; migrate_to_chat_id?: number } | undefined;
  constructor(code: number, description: string, parameters?: ApiError["parameters"]) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

export interface Upload {
  readonly name: string;
  readonly bytes: Buffer;
}

export interface Call {
  readonly params: Readonly<Record<string, unknown>>;
  readonly uploads: ReadonlyMap<string, Upload>;
  /** Told when the client went away: an open poll is dropped. */
  readonly closed: (drop: () => void) => void;
}

export interface CallbackQuery {
  readonly id: string;
  readonly userId: number;
  readonly chatId: number;
  readonly messageId: number;
  readonly data: string;
  readonly atMs: number;
  answer?: { readonly text: string; readonly alert: boolean; readonly atMs: number };
}

export interface RateLimits {
  /** Messages per second to one chat (and as many edits); per minute in one group and per second overall, both together. */
  readonly perChatPerSecond?: number;
  /** So many seconds of {@link perChatPerSecond} may be used at once. Default 1. */
  readonly chatBurst?: number;
  readonly perGroupPerMinute?: number;
  readonly overallPerSecond?: number;
}

const MAX_TEXT = 4096;
const MAX_CAPTION = 1024;
const MAX_CALLBACK_DATA_BYTES = 64;
const MAX_ALERT = 200;
/** Telegram forgets a callback query after about fifteen seconds. */
export const QUERY_LIFETIME_MS = 15_000;

const bad = (description: string): ApiError => new ApiError(400, `Bad Request: ${description}`);

export class Methods {
  readonly #world: World;
  readonly #updates: UpdateQueue;
  readonly #now: () => number;
  readonly #sent: { chatId: number; doing: "send" | "edit"; atMs: number }[] = [];
  readonly queries = new Map<string, CallbackQuery>();
  readonly actions: { chatId: number; action: string; threadId: number | undefined }[] = [];
  commands = new Map<string, readonly BotCommand[]>();
  /** Told about every change a person could see. */
  onChange: (message: StoredMessage) => void = () => undefined;
  limits: RateLimits = {};

  constructor(world: World, updates: UpdateQueue, now: () => number) {
    this.#world = world;
    this.#updates = updates;
    this.#now = now;
  }

  /** Method names are case-insensitive on the platform. */
  async call(method: string, call: Call): Promise<unknown> {
    switch (method.toLowerCase()) {
      case "getme":
        return {
          ...this.#world.bot,
          can_join_groups: true,
          can_read_all_group_messages: false,
          supports_inline_queries: false,
          can_connect_to_business: false,
          has_main_web_app: false,
          has_topics_enabled: false,
          allows_users_to_create_topics: false,
        };
      case "getupdates":
        return this.#getUpdates(call);
      case "setwebhook":
        return this.#setWebhook(call);
      case "deletewebhook":
        this.#updates.setWebhook(undefined, {
          dropPending: call.params.drop_pending_updates === true,
          allowed: undefined,
        });
        return true;
      case "getwebhookinfo": {
        const { hook, lastError } = this.#updates.webhook();
        return {
          url: hook?.url ?? "",
          has_custom_certificate: false,
          ...(hook ? { max_connections: hook.connections ?? 40 } : {}),
          pending_update_count: this.#updates.pendingCount(),
          ...(lastError === undefined ? {} : { last_error_message: lastError }),
        };
      }
      case "setmycommands":
        return this.#setMyCommands(call);
      case "deletemycommands":
        this.commands.delete(commandKey(call.params));
        return true;
      case "getmycommands":
        return this.commands.get(commandKey(call.params)) ?? [];
      case "sendmessage":
        return this.#sendMessage(call);
      case "senddocument":
        return this.#sendDocument(call);
      case "editmessagetext":
        return this.#editMessageText(call);
      case "editmessagereplymarkup":
        return this.#editMessageReplyMarkup(call);
      case "deletemessage":
        return this.#deleteMessage(call);
      case "answercallbackquery":
        return this.#answerCallbackQuery(call);
      case "sendchataction": {
        const chat = this.#target(call);
        this.actions.push({
          chatId: chat.id,
          action: requireText(call, "action"),
          threadId: integer(call, "message_thread_id"),
        });
        return true;
      }
      case "setmessagereaction":
        if (!this.#world.message(this.#target(call).id, integer(call, "message_id") ?? 0))
          throw bad("message to react not found");
        return true;
      case "getfile": {
        const file = this.#world.files.get(requireText(call, "file_id"));
        if (!file) throw bad("wrong file_id or the file is temporarily unavailable");
        return {
          file_id: file.id,
          file_unique_id: `u_${file.id}`,
          file_size: file.bytes.length,
          file_path: `documents/${file.id}`,
        };
      }
      default:
        throw new ApiError(404, "Not Found");
    }
  }

  async #getUpdates(call: Call): Promise<readonly Update[]> {
    try {
      return await this.#updates.poll({
        offset: integer(call, "offset"),
        limit: integer(call, "limit"),
        timeoutSeconds: integer(call, "timeout") ?? 0,
        allowed: call.params.allowed_updates as readonly string[] | undefined,
        closed: call.closed,
      });
    } catch (error) {
      if (error instanceof Conflict) throw new ApiError(409, `Conflict: ${error.message}`);
      throw error;
    }
  }

  #setWebhook(call: Call): true {
    const url = String(call.params.url ?? "");
    const secret = call.params.secret_token;
    if (secret !== undefined && !/^[A-Za-z0-9_-]{1,256}$/.test(String(secret)))
      throw bad("secret token contains unallowed characters");
    if (url !== "" && !URL.canParse(url)) throw bad("bad webhook: invalid URL");
    const connections = integer(call, "max_connections");
    this.#updates.setWebhook(
      url === "" ? undefined : { url, connections, secret: secret === undefined ? undefined : String(secret) },
      {
        dropPending: call.params.drop_pending_updates === true,
        allowed: call.params.allowed_updates as readonly string[] | undefined,
      },
    );
    return true;
  }

  #setMyCommands(call: Call): true {
    const commands = call.params.commands as readonly BotCommand[] | undefined;
    if (!Array.isArray(commands)) throw bad("parameter commands is required");
    if (commands.length > 100) throw bad("BOT_COMMANDS_TOO_MUCH");
    for (const one of commands as readonly BotCommand[]) {
      if (!/^[a-z0-9_]{1,32}$/.test(one.command)) throw bad("BOT_COMMAND_INVALID");
      if (one.description.length < 1 || one.description.length > 256) throw bad("BOT_COMMAND_DESCRIPTION_INVALID");
    }
    this.commands.set(commandKey(call.params), commands);
    return true;
  }

  #sendMessage(call: Call): unknown {
    const chat = this.#sendTarget(call);
    const { text, entities } = parsed(call, "text");
    if (text === "") throw bad("message text is empty");
    if (text.length > MAX_TEXT) throw bad("message is too long");
    return this.#deliver(chat, call, { text, entities });
  }

  #sendDocument(call: Call): unknown {
    const chat = this.#sendTarget(call);
    const field = call.params.document;
    const attached =
      typeof field === "string" && field.startsWith("attach://") ? field.slice("attach://".length) : "document";
    const upload = call.uploads.get(attached);
    if (!upload) throw bad("there is no document in the request");
    if (upload.bytes.length === 0) throw bad("file must be non-empty");
    const { text, entities } = call.params.caption === undefined ? { text: "", entities: [] } : parsed(call, "caption");
    if (text.length > MAX_CAPTION) throw bad("message caption is too long");
    return this.#deliver(chat, call, { text, entities, file: this.#world.addFile(upload.name, upload.bytes) });
  }

  #deliver(
    chat: ChatState,
    call: Call,
    content: { text: string; entities: readonly Entity[]; file?: ReturnType<World["addFile"]> },
  ): unknown {
    const threadId = integer(call, "message_thread_id");
    if (threadId !== undefined) {
      // General is addressed by leaving the thread out; its id 1 is refused like a topic that does not exist.
      const topic = chat.topics.get(threadId);
      if (!chat.forum || threadId === GENERAL_TOPIC_ID || !topic) throw bad("message thread not found");
      if (!topic.open) throw bad("TOPIC_CLOSED");
    }
    const reply = call.params.reply_parameters as
      | { message_id?: number; allow_sending_without_reply?: boolean }
      | undefined;
    const replied = reply?.message_id === undefined ? undefined : this.#world.message(chat.id, reply.message_id);
    if (reply && !replied && reply.allow_sending_without_reply !== true) throw bad("message to be replied not found");
    const markup = keyboard(call);
    this.#charge(chat, "send");
    const message = this.#world.addMessage(chat, {
      from: this.#world.bot,
      ...content,
      ...(threadId === undefined ? {} : { threadId, isTopic: true }),
      ...(replied ? { replyToId: replied.id } : {}),
      ...(markup.inline ? { keyboard: markup.inline } : {}),
      forceReply: markup.forceReply,
    });
    this.onChange(message);
    return this.#world.messagePayload(message);
  }

  #ownMessage(call: Call, verb: "edited" | "deleted"): StoredMessage {
    const chat = this.#target(call);
    const message = this.#world.message(chat.id, integer(call, "message_id") ?? 0);
    if (!message) throw bad(`message to ${verb === "edited" ? "edit" : "delete"} not found`);
    if (message.from.id !== this.#world.bot.id) throw bad(`message can't be ${verb}`);
    return message;
  }

  #editMessageText(call: Call): unknown {
    const message = this.#ownMessage(call, "edited");
    if (message.file) throw bad("there is no text in the message to edit");
    const { text, entities } = parsed(call, "text");
    if (text === "") throw bad("message text is empty");
    if (text.length > MAX_TEXT) throw bad("MESSAGE_TOO_LONG");
    const markup = keyboard(call).inline;
    const same =
      message.text === text &&
      JSON.stringify(message.keyboard ?? null) === JSON.stringify(markup ?? null) &&
      JSON.stringify(formatting(message.entities)) === JSON.stringify(formatting(entities));
    if (same) throw notModified();
    this.#charge(this.#world.chat(message.chatId), "edit");
    message.history.push(message.text);
    message.text = text;
    message.entities = entities;
    this.#setKeyboard(message, markup);
    return this.#changed(message);
  }

  #editMessageReplyMarkup(call: Call): unknown {
    const message = this.#ownMessage(call, "edited");
    const markup = keyboard(call).inline;
    if (JSON.stringify(message.keyboard ?? null) === JSON.stringify(markup ?? null)) throw notModified();
    this.#setKeyboard(message, markup);
    return this.#changed(message);
  }

  /** An edit without markup takes the buttons away. */
  #setKeyboard(message: StoredMessage, markup: InlineKeyboardMarkup | undefined): void {
    if (markup) message.keyboard = markup;
    else delete message.keyboard;
  }

  #changed(message: StoredMessage): unknown {
    message.editDate = Math.floor(this.#now() / 1000);
    this.onChange(message);
    return this.#world.messagePayload(message);
  }

  #deleteMessage(call: Call): true {
    const message = this.#ownMessage(call, "deleted");
    message.deleted = true;
    this.onChange(message);
    return true;
  }

  #answerCallbackQuery(call: Call): true {
    const query = this.queries.get(requireText(call, "callback_query_id"));
    const text = String(call.params.text ?? "");
    if (text.length > MAX_ALERT) throw bad("MESSAGE_TOO_LONG");
    if (!query || query.answer || this.#now() - query.atMs > QUERY_LIFETIME_MS)
      throw bad("query is too old and response timeout expired or query ID is invalid");
    query.answer = { text, alert: call.params.show_alert === true, atMs: this.#now() };
    return true;
  }

  #target(call: Call): ChatState {
    const id = integer(call, "chat_id");
    const chat = id === undefined ? undefined : this.#world.chats.get(id);
    if (!chat) throw bad("chat not found");
    if (chat.migratedTo !== undefined)
      throw new ApiError(400, "Bad Request: group chat was upgraded to a supergroup chat", {
        migrate_to_chat_id: chat.migratedTo,
      });
    return chat;
  }

  #sendTarget(call: Call): ChatState {
    const chat = this.#target(call);
    if (chat.type === "private" && !this.#world.person(chat.id).reachable)
      throw new ApiError(403, "Forbidden: bot was blocked by the user");
    if (!chat.botIsMember) throw new ApiError(403, "Forbidden: bot was kicked from the group chat");
    return chat;
  }

  #charge(chat: ChatState, doing: "send" | "edit"): void {
    const now = this.#now();
    const group = chat.type !== "private";
    const wait = (
      limit: number | undefined,
      windowMs: number,
      counts: (one: { chatId: number; doing: string }) => boolean,
    ): number => {
      if (limit === undefined) return 0;
      const recent = this.#sent.filter((one) => counts(one) && now - one.atMs < windowMs);
      return recent.length < limit ? 0 : windowMs - (now - (recent.at(-limit)?.atMs ?? now));
    };
    const { perChatPerSecond, chatBurst = 1 } = this.limits;
    const inChat = perChatPerSecond === undefined ? undefined : perChatPerSecond * chatBurst;
    const waitMs = Math.max(
      wait(inChat, 1000 * chatBurst, (one) => one.chatId === chat.id && one.doing === doing),
      group ? wait(this.limits.perGroupPerMinute, 60_000, (one) => one.chatId === chat.id) : 0,
      wait(this.limits.overallPerSecond, 1000, () => true),
    );
    if (waitMs > 0) throw tooMany(Math.ceil(waitMs / 1000));
    this.#sent.push({ chatId: chat.id, doing, atMs: now });
    // What is older than the longest window counts for nothing.
    while ((this.#sent[0]?.atMs ?? now) < now - 60_000) this.#sent.shift();
  }
}

export function tooMany(seconds: number): ApiError {
  return new ApiError(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
}

const notModified = (): ApiError =>
  bad(
    "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
  );

function commandKey(params: Readonly<Record<string, unknown>>): string {
  return JSON.stringify([params.scope ?? { type: "default" }, params.language_code ?? ""]);
}

function integer(call: Call, name: string): number | undefined {
  const value = call.params[name];
  const number = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : undefined;
}

function requireText(call: Call, name: string): string {
  const value = call.params[name];
  if (typeof value !== "string" || value === "") throw bad(`parameter "${name}" is required`);
  return value;
}

function parsed(call: Call, field: "text" | "caption"): ParsedText {
  const source = call.params[field];
  if (typeof source !== "string") throw bad(`message ${field} is empty`);
  try {
    switch (call.params.parse_mode) {
      case undefined:
        return { text: source.trim(), entities: [] };
      case "HTML":
        return parseHtml(source);
      case "MarkdownV2":
        return parseMarkdownV2(source);
      default:
        throw new EntityError("unsupported parse_mode");
    }
  } catch (error) {
    if (error instanceof EntityError) throw bad(`can't parse entities: ${error.message}`);
    throw error;
  }
}

function formatting(entities: readonly Entity[]): readonly Entity[] {
  return entities.filter((one) => !["bot_command", "mention", "url"].includes(one.type));
}

function keyboard(call: Call): { inline: InlineKeyboardMarkup | undefined; forceReply: boolean } {
  const raw = call.params.reply_markup;
  const markup = (typeof raw === "string" ? JSON.parse(raw) : raw) as
    | (InlineKeyboardMarkup & { force_reply?: boolean })
    | undefined;
  if (!markup) return { inline: undefined, forceReply: false };
  if (!markup.inline_keyboard) return { inline: undefined, forceReply: markup.force_reply === true };
  for (const button of markup.inline_keyboard.flat()) {
    if (typeof button.text !== "string" || button.text === "")
      throw bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard");
    const data = "callback_data" in button ? button.callback_data : undefined;
    if (data !== undefined && (data === "" || Buffer.byteLength(data) > MAX_CALLBACK_DATA_BYTES))
      throw bad("BUTTON_DATA_INVALID");
    if (data === undefined && !("url" in button)) throw bad("BUTTON_TYPE_INVALID");
  }
  const empty = markup.inline_keyboard.flat().length === 0;
  return { inline: empty ? undefined : { inline_keyboard: markup.inline_keyboard }, forceReply: false };
}
