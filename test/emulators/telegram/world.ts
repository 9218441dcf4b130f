/** The state of the emulated Telegram: people, chats, topics, messages, files. Nothing here speaks HTTP. */
import { createHash } from "node:crypto";
import type { Chat, InlineKeyboardMarkup, Message, MessageEntity, Update, User } from "grammy/types";
import { autoEntities, type Entity } from "./entities.ts";

export interface Person {
  readonly user: User;
  /** The bot may write first: the person pressed Start and did not block it. */
  reachable: boolean;
  /** Of a bot: Bot-to-Bot Communication Mode is on. */
  readonly botToBot: boolean;
}

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly bytes: Buffer;
  readonly sha256: string;
}

export interface StoredMessage {
  readonly id: number;
  readonly chatId: number;
  readonly from: User;
  readonly date: number;
  text: string;
  entities: readonly Entity[];
  readonly threadId?: number;
  /** A topic of a forum; replies outside forums also carry a thread id but are no topic messages. */
  readonly isTopic: boolean;
  readonly replyToId?: number;
  readonly forwarded: boolean;
  keyboard?: InlineKeyboardMarkup;
  readonly forceReply: boolean;
  readonly file?: StoredFile;
  editDate?: number;
  /** Earlier texts, oldest first. */
  readonly history: string[];
  deleted: boolean;
}

export interface ChatState {
  id: number;
  readonly type: "private" | "group" | "supergroup" | "channel";
  readonly title: string;
  readonly forum: boolean;
  readonly topics: Map<number, { name: string; open: boolean }>;
  readonly members: Set<number>;
  botIsMember: boolean;
  migratedTo?: number;
  nextMessageId: number;
  readonly messages: StoredMessage[];
}

export const GENERAL_TOPIC_ID = 1;

export class World {
  readonly bot: User;
  readonly people = new Map<number, Person>();
  readonly chats = new Map<number, ChatState>();
  readonly files = new Map<string, StoredFile>();
  readonly #now: () => number;
  #nextFile = 1;

  constructor(bot: User, now: () => number) {
    this.bot = bot;
    this.#now = now;
  }

  person(id: number): Person {
    const found = this.people.get(id);
    if (!found) throw new Error(`no such person: ${id}`);
    return found;
  }

  chat(id: number): ChatState {
    const found = this.chats.get(id);
    if (!found) throw new Error(`no such chat: ${id}`);
    return found;
  }

  addPerson(
    id: number,
    name: string,
    options: { username?: string; locale?: string; reachable?: boolean; bot?: boolean; botToBot?: boolean } = {},
  ): Person {
    const person: Person = {
      user: {
        id,
        is_bot: options.bot ?? false,
        first_name: name,
        ...(options.username === undefined ? {} : { username: options.username }),
        ...(options.locale === undefined ? {} : { language_code: options.locale }),
      },
      reachable: options.reachable ?? true,
      botToBot: options.botToBot ?? false,
    };
    this.people.set(id, person);
    this.addChat({ id, type: "private", title: name, members: [id] });
    return person;
  }

  addChat(options: {
    id: number;
    type: ChatState["type"];
    title: string;
    members?: readonly number[];
    topics?: Readonly<Record<number, string>>;
  }): ChatState {
    const topics = new Map<number, { name: string; open: boolean }>();
    for (const [id, name] of Object.entries(options.topics ?? {})) topics.set(Number(id), { name, open: true });
    if (options.topics) topics.set(GENERAL_TOPIC_ID, { name: "General", open: true });
    const chat: ChatState = {
      id: options.id,
      type: options.type,
      title: options.title,
      forum: options.topics !== undefined,
      topics,
      members: new Set(options.members ?? []),
      botIsMember: true,
      nextMessageId: 1,
      messages: [],
    };
    this.chats.set(chat.id, chat);
    return chat;
  }

  addFile(name: string, bytes: Buffer): StoredFile {
    const id = `file_${this.#nextFile++}`;
    const file = { id, name, bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
    this.files.set(id, file);
    return file;
  }

  addMessage(
    chat: ChatState,
    content: {
      from: User;
      text: string;
      entities?: readonly Entity[];
      threadId?: number;
      isTopic?: boolean;
      replyToId?: number;
      forwarded?: boolean;
      keyboard?: InlineKeyboardMarkup;
      forceReply?: boolean;
      file?: StoredFile;
    },
  ): StoredMessage {
    const message: StoredMessage = {
      id: chat.nextMessageId++,
      chatId: chat.id,
      from: content.from,
      date: Math.floor(this.#now() / 1000),
      text: content.text,
      entities: autoEntities(content.text, content.entities ?? []),
      ...(content.threadId === undefined ? {} : { threadId: content.threadId }),
      isTopic: content.isTopic ?? false,
      ...(content.replyToId === undefined ? {} : { replyToId: content.replyToId }),
      forwarded: content.forwarded ?? false,
      ...(content.keyboard === undefined ? {} : { keyboard: content.keyboard }),
      forceReply: content.forceReply ?? false,
      ...(content.file === undefined ? {} : { file: content.file }),
      history: [],
      deleted: false,
    };
    chat.messages.push(message);
    return message;
  }

  message(chatId: number, id: number): StoredMessage | undefined {
    return this.chats.get(chatId)?.messages.find((one) => one.id === id && !one.deleted);
  }

  /** A group turns into a supergroup: a new id, the old one answers with `migrate_to_chat_id`. */
  migrate(chatId: number, to: number): ChatState {
    const old = this.chat(chatId);
    const fresh = this.addChat({ id: to, type: "supergroup", title: old.title, members: [...old.members] });
    old.migratedTo = to;
    return fresh;
  }

  chatPayload(chat: ChatState): Chat {
    switch (chat.type) {
      case "private": {
        const { user } = this.person(chat.id);
        return {
          id: chat.id,
          type: "private",
          first_name: user.first_name,
          ...(user.username === undefined ? {} : { username: user.username }),
        };
      }
      case "group":
        return { id: chat.id, type: "group", title: chat.title };
      case "supergroup":
        return {
          id: chat.id,
          type: "supergroup",
          title: chat.title,
          ...(chat.forum ? { is_forum: true as const } : {}),
        };
      case "channel":
        return { id: chat.id, type: "channel", title: chat.title };
    }
  }

  messagePayload(message: StoredMessage, depth = 0): Message {
    const chat = this.chat(message.chatId);
    const replied = message.replyToId === undefined ? undefined : this.message(message.chatId, message.replyToId);
    const entities = this.#entities(message);
    return {
      message_id: message.id,
      date: message.date,
      chat: this.chatPayload(chat),
      ...(chat.type === "channel" ? { sender_chat: this.chatPayload(chat) } : { from: message.from }),
      ...(message.threadId === undefined ? {} : { message_thread_id: message.threadId }),
      ...(message.isTopic ? { is_topic_message: true as const } : {}),
      ...(replied && depth === 0 ? { reply_to_message: this.messagePayload(replied, 1) } : {}),
      ...(message.forwarded
        ? { forward_origin: { type: "hidden_user", sender_user_name: "Someone", date: message.date } }
        : {}),
      ...(message.editDate === undefined ? {} : { edit_date: message.editDate }),
      ...(message.file
        ? {
            document: {
              file_id: message.file.id,
              file_unique_id: `u_${message.file.id}`,
              file_name: message.file.name,
              file_size: message.file.bytes.length,
            },
            ...(message.text === "" ? {} : { caption: message.text, caption_entities: entities }),
          }
        : { text: message.text, ...(entities.length > 0 ? { entities } : {}) }),
      ...(message.keyboard ? { reply_markup: message.keyboard } : {}),
    } as Message;
  }

  /** A mention of somebody the bot does not know is no entity at all. */
  #entities(message: StoredMessage): MessageEntity[] {
    return message.entities.flatMap((one) => {
      if (one.type !== "text_mention") return [one as MessageEntity];
      const person = this.people.get(one.userId ?? 0);
      return person ? [{ type: one.type, offset: one.offset, length: one.length, user: person.user }] : [];
    });
  }

  /**
   * core.telegram.org/api/bots/bot-to-bot: in a group a command that names this bot, or a reply to it, when one of the two has
   * the mode; everything when this one has it and no privacy mode; directly when both have it. Never its own messages.
   */
  #reachesFromBot(
    message: StoredMessage,
    chat: ChatState,
    { privacy, botToBot }: { privacy: boolean; botToBot: boolean },
  ): boolean {
    if (message.from.id === this.bot.id) return false;
    const theirs = this.people.get(message.from.id)?.botToBot ?? false;
    if (chat.type === "private") return botToBot && theirs;
    if (!botToBot && !theirs) return false;
    if (botToBot && !privacy) return true;
    const replied = message.replyToId === undefined ? undefined : this.message(chat.id, message.replyToId);
    const own = `@${this.bot.username ?? ""}`.toLowerCase();
    const named = message.entities.some(
      (one) =>
        one.type === "bot_command" &&
        message.text
          .slice(one.offset, one.offset + one.length)
          .toLowerCase()
          .endsWith(own),
    );
    return named || replied?.from.id === this.bot.id;
  }

  /** Privacy mode: in groups only commands for this bot, mentions and replies reach it; of other bots what their mode allows. */
  reachesBot(message: StoredMessage, { privacy, botToBot }: { privacy: boolean; botToBot: boolean }): boolean {
    const chat = this.chat(message.chatId);
    if (!chat.botIsMember) return false;
    if (message.from.is_bot) return this.#reachesFromBot(message, chat, { privacy, botToBot });
    if (!privacy || chat.type === "private" || chat.type === "channel") return true;
    const own = `@${this.bot.username ?? ""}`.toLowerCase();
    const replied = message.replyToId === undefined ? undefined : this.message(chat.id, message.replyToId);
    if (replied?.from.id === this.bot.id) return true;
    return message.entities.some((one) => {
      const word = message.text.slice(one.offset, one.offset + one.length).toLowerCase();
      if (one.type === "bot_command") return !word.includes("@") || word.endsWith(own);
      return one.type === "mention" && word === own;
    });
  }
}

export type UpdateBody = Omit<Update, "update_id">;
