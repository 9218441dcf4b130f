/**
 * A Telegram Bot API server for the genuine client library: the product's bot on one side, people on the other.
 * `contract.test.ts` proves it with grammY alone.
 */
import type { InlineKeyboardButton } from "grammy/types";
import type { WebSocket } from "ws";
import type { Fault } from "../shared/faults.ts";
import type { EmulatorReply, EmulatorRequest } from "../shared/http.ts";
import type { PageState } from "../shared/page.ts";
import type { PersonApi } from "../shared/person.ts";
import { CUT, EmulatorServer } from "../shared/server.ts";
import { ApiError, type Call, type CallbackQuery, Methods, tooMany } from "./methods.ts";
import { entitiesToHtml, TELEGRAM_THEME } from "./page.ts";
import { loadSpec, type SpecCheck } from "./spec.ts";
import { UpdateQueue } from "./updates.ts";
import { type ChatState, type StoredMessage, World } from "./world.ts";

/** A press must stop the spinner of the person's app within this time. */
const SPINNER_LIMIT_MS = 10_000;
const DEFAULT_WAIT_MS = 5_000;
const BOT_ID = 7_000_000_001;

export interface TelegramOptions {
  readonly token?: string;
  readonly botName?: string;
  /** Privacy mode, on by default as at BotFather. */
  readonly privacy?: boolean;
  /** Bot-to-Bot Communication Mode, off by default as at BotFather. */
  readonly botToBot?: boolean;
}

export interface SayOptions {
  readonly thread?: string;
  readonly replyTo?: string;
  /** As forwarded from somebody else. */
  readonly forwarded?: boolean;
}

export class TelegramEmulator extends EmulatorServer implements PersonApi<StoredMessage> {
  readonly token: string;
  readonly theme = TELEGRAM_THEME;
  privacy: boolean;
  botToBot: boolean;
  world: World;
  updates: UpdateQueue;
  methods: Methods;
  readonly #botName: string;
  readonly #spec: SpecCheck | undefined = loadSpec();
  #nextQuery = 1;
  #alert: { userId: number; text: string } | undefined;

  constructor(options: TelegramOptions = {}) {
    super();
    this.token = options.token ?? "7000000001:AAEmulatedTokenForTestsOnly000000000";
    this.privacy = options.privacy ?? true;
    this.botToBot = options.botToBot ?? false;
    this.#botName = options.botName ?? "ops_exec_bot";
    this.world = this.#newWorld();
    this.updates = new UpdateQueue(() => this.changed());
    this.methods = this.#newMethods();
  }

  #newWorld(): World {
    return new World({ id: BOT_ID, is_bot: true, first_name: "Ops", username: this.#botName }, () => this.clock.now());
  }

  #newMethods(): Methods {
    const methods = new Methods(this.world, this.updates, () => this.clock.now());
    methods.onChange = () => this.changed();
    return methods;
  }

  protected resetState(): void {
    this.updates.reset();
    this.world = this.#newWorld();
    this.methods = this.#newMethods();
    this.#alert = undefined;
  }

  override async stop(): Promise<void> {
    this.updates.release();
    await super.stop();
  }

  /** Broken rules, spinners that nobody stopped included. */
  override get violations(): string[] {
    const stuck = [...this.methods.queries.values()].filter((one) => {
      const answered = one.answer?.atMs ?? this.clock.now();
      return answered - one.atMs > SPINNER_LIMIT_MS;
    });
    return [...super.violations, ...stuck.map((one) => `press ${one.data} was not answered within 10 s`)];
  }

  protected async handle(request: EmulatorRequest): Promise<EmulatorReply | undefined> {
    const file = /^\/file\/bot([^/]+)\/documents\/(.+)$/.exec(request.path);
    if (file) return this.#download(decodeURIComponent(file[1] ?? ""), file[2] ?? "");
    const match = /^\/bot([^/]+)\/([A-Za-z]+)$/.exec(request.path);
    if (!match) return undefined;
    const [, token = "", method = ""] = match;
    if (decodeURIComponent(token) !== this.token) return failure(new ApiError(401, "Unauthorized"));
    const params = paramsOf(request);
    const entry = this.journal.record({ dir: "in", via: "http", what: method, body: params });
    entry.violations.push(...(this.#spec?.("method", method, params) ?? []));
    this.changed();
    const reply = await this.withFaults(method, request, async () => {
      try {
        const result = await this.methods.call(method, callOf(request, params));
        this.changed();
        return { status: 200, json: { ok: true, result } };
      } catch (error) {
        if (error instanceof ApiError) return failure(error);
        throw error;
      }
    });
    if (reply === "cut") {
      entry.status = 0;
      return CUT;
    }
    entry.status = reply.status;
    return reply;
  }

  #download(token: string, id: string): EmulatorReply {
    const stored = this.world.files.get(id);
    if (token !== this.token || !stored) return failure(new ApiError(404, "Not Found"));
    return { status: 200, headers: { "content-type": "application/octet-stream" }, body: stored.bytes };
  }

  protected unknownRoute(): EmulatorReply {
    return failure(new ApiError(404, "Not Found"));
  }

  protected faultReply(fault: Fault): EmulatorReply {
    if (fault.retryAfterS !== undefined) return failure(tooMany(fault.retryAfterS));
    if (fault.error !== undefined) return failure(new ApiError(fault.status ?? 400, fault.error));
    return { status: fault.status ?? 502, headers: { "content-type": "text/html" }, body: "<h1>Bad Gateway</h1>" };
  }

  protected accept(socket: WebSocket): void {
    socket.close(1008, "Telegram bots have no WebSocket");
  }

  protected override journalPath(path: string): string {
    return path.replace(/\/bot[^/]+/, "/bot(token)");
  }

  /** Ends the open poll as a second program with the same token would. */
  conflict(): void {
    this.updates.conflict("terminated by other getUpdates request; make sure that only one bot instance is running");
  }

  /** Delivers the newest update once more. */
  duplicate(): void {
    this.updates.duplicate();
  }

  /* People */

  addPerson(id: number, name: string, options: Parameters<World["addPerson"]>[2] = {}): string {
    this.world.addPerson(id, name, options);
    this.changed();
    return String(id);
  }

  addGroup(
    id: number,
    title: string,
    members: readonly (number | string)[],
    topics?: Readonly<Record<number, string>>,
  ): string {
    this.world.addChat({
      id,
      type: topics || id < -1_000_000_000_000 ? "supergroup" : "group",
      title,
      members: members.map(Number),
      ...(topics ? { topics } : {}),
    });
    this.changed();
    return String(id);
  }

  /** Resolves to the message's id. */
  async say(user: string, chat: string, text: string, options: SayOptions = {}): Promise<string> {
    const state = this.#chatOf(user, chat);
    const person = this.world.person(Number(user));
    const threadId = options.thread === undefined ? undefined : Number(options.thread);
    const message = this.world.addMessage(state, {
      from: person.user,
      text,
      forwarded: options.forwarded ?? false,
      // Outside forums a reply chain carries a thread id too, which is no topic.
      ...(threadId === undefined ? {} : { threadId, isTopic: state.forum && threadId !== 1 }),
      ...(options.replyTo === undefined ? {} : { replyToId: Number(options.replyTo) }),
    });
    this.#emit(message);
    this.changed();
    return String(message.id);
  }

  /** Telegram has no separate slash interface: a command is a message. */
  slash(user: string, chat: string, command: string, text = ""): Promise<string> {
    const name = command.startsWith("/") ? command : `/${command}`;
    return this.say(user, chat, text === "" ? name : `${name} ${text}`);
  }

  async upload(user: string, chat: string, file: { name: string; text: string; caption?: string }): Promise<string> {
    const message = this.world.addMessage(this.#chatOf(user, chat), {
      from: this.world.person(Number(user)).user,
      text: file.caption ?? "",
      file: this.world.addFile(file.name, Buffer.from(file.text)),
    });
    this.#emit(message);
    this.changed();
    return String(message.id);
  }

  async editOwn(user: string, chat: string, messageId: string, text: string): Promise<void> {
    const message = this.world.message(Number(chat), Number(messageId));
    if (message?.from.id !== Number(user)) throw new Error("only an own message can be edited");
    message.history.push(message.text);
    message.text = text;
    message.editDate = Math.floor(this.clock.now() / 1000);
    if (this.world.reachesBot(message, this))
      this.#push({ edited_message: this.world.messagePayload(message) } as never);
    this.changed();
  }

  /** A post in a channel the bot is a member of. */
  async channelPost(chat: string, text: string): Promise<void> {
    const state = this.world.chat(Number(chat));
    const message = this.world.addMessage(state, { from: this.world.bot, text });
    this.#push({ channel_post: this.world.messagePayload(message) } as never);
    this.changed();
  }

  /** Resolves once the bot answered the press: the spinner stops. */
  async press(user: string, messageId: string, button: string, chat?: string): Promise<CallbackQuery> {
    const message = this.#pressable(Number(user), Number(messageId), chat);
    const found = message.keyboard?.inline_keyboard.flat().find((one) => one.text === button || dataOf(one) === button);
    const data = found ? dataOf(found) : undefined;
    if (data === undefined) throw new Error(`message ${messageId} has no button "${button}"`);
    const query = this.pressRaw(Number(user), message, data);
    return this.waitUntil(() => (query.answer ? query : undefined), SPINNER_LIMIT_MS, "the answer to a press");
  }

  /** A press with any data, as a client with an old keyboard sends it; does not wait. */
  pressRaw(userId: number, message: StoredMessage, data: string): CallbackQuery {
    const query: CallbackQuery = {
      id: `q${this.#nextQuery++}`,
      userId,
      chatId: message.chatId,
      messageId: message.id,
      data,
      atMs: this.clock.now(),
    };
    this.methods.queries.set(query.id, query);
    this.#push({
      callback_query: {
        id: query.id,
        from: this.world.person(userId).user,
        message: this.world.messagePayload(message),
        chat_instance: `ci${message.chatId}`,
        data,
      },
    } as never);
    return query;
  }

  /** Telegram has no modals; a bot asks with a forced reply instead. */
  submitModal(): Promise<never> {
    return Promise.reject(new Error("Telegram has no modals: reply to the bot's question"));
  }

  async waitForMessage(
    accepts: (message: StoredMessage) => boolean,
    ms: number = DEFAULT_WAIT_MS,
  ): Promise<StoredMessage> {
    const probe = (): StoredMessage | undefined => this.#botMessages().find((one) => accepts(one));
    return this.waitUntil(probe, ms, "a message of the bot");
  }

  #botMessages(): StoredMessage[] {
    return [...this.world.chats.values()]
      .flatMap((one) => one.messages)
      .filter((one) => one.from.id === this.world.bot.id && !one.deleted);
  }

  screenText(user: string, chat: string): string {
    return this.#chatOf(user, chat)
      .messages.filter((one) => !one.deleted)
      .map((one) =>
        [
          `${one.from.first_name}: ${one.text}`,
          ...(one.file ? [`(file ${one.file.name}, ${one.file.bytes.length} bytes)`] : []),
          ...(one.keyboard?.inline_keyboard ?? []).map((row) => row.map((button) => `[${button.text}]`).join(" ")),
        ].join("\n"),
      )
      .join("\n\n");
  }

  /** The group becomes a supergroup with a new id; both service messages reach the bot. */
  migrate(chat: string, to: number): string {
    const from = Number(chat);
    const fresh = this.world.migrate(from, to);
    const old = this.world.chat(from);
    const base = { date: Math.floor(this.clock.now() / 1000) };
    this.#push({
      message: { message_id: old.nextMessageId++, chat: this.world.chatPayload(old), ...base, migrate_to_chat_id: to },
    } as never);
    this.#push({
      message: {
        message_id: fresh.nextMessageId++,
        chat: this.world.chatPayload(fresh),
        ...base,
        migrate_from_chat_id: from,
      },
    } as never);
    this.changed();
    return String(to);
  }

  #chatOf(user: string, chat: string): ChatState {
    const state = this.world.chat(Number(chat));
    if (!state.members.has(Number(user))) throw new Error(`${user} is no member of ${chat}`);
    return state;
  }

  #pressable(userId: number, messageId: number, chat: string | undefined): StoredMessage {
    const chats = chat === undefined ? [...this.world.chats.values()] : [this.world.chat(Number(chat))];
    const found = chats
      .filter((one) => one.members.has(userId))
      .flatMap((one) => one.messages)
      .find((one) => one.id === messageId && !one.deleted && one.keyboard !== undefined);
    if (!found) throw new Error(`no message ${messageId} with buttons`);
    return found;
  }

  #emit(message: StoredMessage): void {
    if (this.world.reachesBot(message, this)) this.#push({ message: this.world.messagePayload(message) } as never);
  }

  #push(body: Parameters<UpdateQueue["push"]>[0]): void {
    const update = this.updates.push(body);
    if (!update) return;
    const entry = this.journal.record({
      dir: "out",
      via: "http",
      what: `update:${Object.keys(body)[0]}`,
      body: update,
    });
    entry.violations.push(...(this.#spec?.("type", "Update", update) ?? []).map((one) => `emulator: ${one}`));
  }

  /* The page */

  protected readonly personActs = {
    say: (user: string, chat: string, text: string) => this.#sayOnPage(user, chat, text),
    slash: (user: string, chat: string, command: string, text: string) =>
      this.#sayOnPage(user, chat, text === "" ? command : `${command} ${text}`),
    press: async (user: string, messageId: string, button: string) => {
      const [chat, id] = messageId.split("/");
      const query = await this.press(user, id ?? "", button, chat);
      if (query.answer?.text) this.#alert = { userId: Number(user), text: query.answer.text };
      this.changed();
    },
    upload: (user: string, chat: string, file: { name: string; text: string }) =>
      this.upload(user, chat.split("/")[0] ?? "", file),
  };

  /** `chat` is `<id>` or `<id>/<topic>`; a forced reply answers the bot's newest question. */
  #sayOnPage(user: string, chat: string, text: string): Promise<string> {
    const [id = "", topic] = chat.split("/");
    const last = this.world.chat(Number(id)).messages.at(-1);
    return this.say(user, id, text, {
      ...(topic === undefined ? {} : { thread: topic }),
      ...(last?.forceReply ? { replyTo: String(last.id) } : {}),
    });
  }

  protected pageState(user: string | undefined, chat: string | undefined): PageState {
    const people = [...this.world.people.values()].map((one) => ({
      id: String(one.user.id),
      name: one.user.first_name,
    }));
    const userId = Number(user ?? people[0]?.id ?? 0);
    const chats = [...this.world.chats.values()]
      .filter((one) => one.members.has(userId) && one.migratedTo === undefined)
      .flatMap((one) => [
        { id: String(one.id), name: one.type === "private" ? this.#botName : one.title },
        ...[...one.topics]
          .filter(([id]) => id !== 1)
          .map(([id, topic]) => ({ id: `${one.id}/${id}`, name: `${one.title} › ${topic.name}` })),
      ]);
    const current = chats.find((one) => one.id === chat)?.id ?? chats[0]?.id ?? "";
    const [chatId, topic] = current.split("/");
    const messages = this.world.chats.get(Number(chatId))?.messages ?? [];
    return {
      users: people,
      chats,
      user: String(userId),
      chat: current,
      commands: [...this.methods.commands.values()].flat().map((one) => `/${one.command}`),
      messages: messages
        .filter((one) => !one.deleted && (topic === undefined ? !one.isTopic : one.threadId === Number(topic)))
        .map((one) => ({ ...this.#pageMessage(one), own: one.from.id === userId })),
      ...(this.#alert?.userId === userId ? { toast: this.#alert.text } : {}),
    };
  }

  #pageMessage(message: StoredMessage): PageState["messages"][number] {
    const replied = message.replyToId === undefined ? undefined : this.world.message(message.chatId, message.replyToId);
    const quote = replied ? `<blockquote>${entitiesToHtml(replied.text.slice(0, 80), [])}</blockquote>` : "";
    const file = message.file
      ? `<p><code>${entitiesToHtml(message.file.name, [])}</code> ${message.file.bytes.length} bytes</p>`
      : "";
    return {
      id: `${message.chatId}/${message.id}`,
      author: message.from.first_name,
      bot: message.from.is_bot,
      time: new Date(message.date * 1000).toISOString().slice(11, 16),
      html: quote + entitiesToHtml(message.text, message.entities) + file,
      buttons: (message.keyboard?.inline_keyboard ?? []).map((row) =>
        row.map((one) => ({ id: dataOf(one) ?? "", label: one.text, style: "plain" as const })),
      ),
      edited: message.editDate !== undefined,
    };
  }
}

function dataOf(button: InlineKeyboardButton): string | undefined {
  return "callback_data" in button ? button.callback_data : undefined;
}

function failure(error: ApiError): EmulatorReply {
  return {
    status: error.code,
    json: {
      ok: false,
      error_code: error.code,
      description: error.message,
      ...(error.parameters ? { parameters: error.parameters } : {}),
    },
  };
}

/** Form fields arrive as text; what looks like JSON in them is JSON on the platform too. */
function paramsOf(request: EmulatorRequest): Record<string, unknown> {
  const fields = { ...Object.fromEntries(request.query), ...((request.body as Record<string, unknown>) ?? {}) };
  if (request.parts.length === 0) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (typeof value !== "string") return [name, value];
      if (/^(-?\d+|true|false)$/.test(value) || /^[[{]/.test(value)) return [name, JSON.parse(value) as unknown];
      return [name, value];
    }),
  );
}

function callOf(request: EmulatorRequest, params: Readonly<Record<string, unknown>>): Call {
  return {
    params,
    uploads: new Map(request.parts.map((one) => [one.field, { name: one.filename, bytes: one.bytes }])),
    closed: (drop) => request.signal.addEventListener("abort", drop, { once: true }),
  };
}
