/**
 * A Slack workspace for one app: Web API, Socket Mode, request URLs, response URLs, file uploads, and the people in it.
 * The genuine @slack/bolt connects unchanged with `slackApiUrl: emulator.apiUrl`.
 */
import type { IncomingMessage } from "node:http";
import type { WebSocket } from "ws";
import type { Fault } from "../shared/faults.ts";
import type { EmulatorReply, EmulatorRequest } from "../shared/http.ts";
import type { PageButton, PageModal, PageState, PageTheme } from "../shared/page.ts";
import type { PersonApi } from "../shared/person.ts";
import { CUT, EmulatorServer, type PersonAct, type StartOptions } from "../shared/server.ts";
import { checkSchema, compileSchemas } from "./block-rules.ts";
import { type AckResult, Delivery, type DeliveryOptions, SLACK_DELIVERY } from "./delivery.ts";
import { drawMessage, typedToMrkdwn } from "./markup.ts";
import { slackPageTheme } from "./page.ts";
import { messageJson, SlackApiError, type Tokens, viewHash, WebApi } from "./web-api.ts";
import { APP_ID, BOT, type Conversation, type SlackMessage, TEAM, Workspace } from "./workspace.ts";

type Json = Record<string, unknown>;

export interface SlackEmulatorOptions {
  readonly tokens?: Tokens;
  /** Slash commands of the app's manifest. */
  readonly commands?: readonly string[];
  readonly delivery?: Partial<DeliveryOptions>;
}

/** docs.slack.dev/interactivity/handling-user-interaction: a trigger lives 3 s, a response URL 30 min and 5 uses. */
const TRIGGER_MS = 3000;
const RESPONSE_URL_MS = 30 * 60_000;
const RESPONSE_URL_USES = 5;

interface ResponseUrl {
  readonly channel: string;
  readonly user: string;
  readonly messageTs?: string;
  readonly expiresAtMs: number;
  usesLeft: number;
}

interface OpenView {
  readonly user: string;
  view: Json;
}

export interface PressResult {
  /** What the person sees: nothing special, or Slack's own failure notice. */
  readonly outcome: "ok" | "operation_timeout";
}

const DEFAULT_TOKENS: Tokens = { bot: "xoxb-emulator-0001", app: "xapp-emulator-0001" };
const DEFAULT_COMMANDS = ["/exec", "/approve", "/openclaw"];

export class SlackEmulator extends EmulatorServer implements PersonApi<SlackMessage> {
  readonly workspace = new Workspace(() => this.clock.now());
  readonly tokens: Tokens;
  readonly delivery: Delivery;
  readonly api: WebApi;
  commands: readonly string[];
  protected readonly theme: PageTheme = slackPageTheme;
  private readonly triggers = new Map<string, { readonly user: string; readonly expiresAtMs: number }>();
  private readonly responseUrls = new Map<string, ResponseUrl>();
  private readonly views = new Map<string, OpenView>();

  constructor(options: SlackEmulatorOptions = {}) {
    super();
    this.tokens = options.tokens ?? DEFAULT_TOKENS;
    this.commands = options.commands ?? DEFAULT_COMMANDS;
    this.delivery = new Delivery(this.journal, () => this.clock.now(), { ...SLACK_DELIVERY, ...options.delivery });
    this.api = new WebApi(
      {
        workspace: this.workspace,
        baseUrl: () => this.url,
        socketUrl: () => `${this.wsUrl}/link/?ticket=${this.workspace.newId("W")}&app_id=${APP_ID}`,
        nowMs: () => this.clock.now(),
        takeTrigger: (id) => this.takeTrigger(id),
        openView: (user, view) => this.openView(user, view),
        updateView: (id, view) => this.updateView(id, view),
        changed: () => this.changed(),
      },
      this.tokens,
    );
  }

  /** What goes into `clientOptions.slackApiUrl`. */
  get apiUrl(): string {
    return `${this.url}/api/`;
  }

  override async start(options?: StartOptions): Promise<void> {
    compileSchemas();
    await super.start(options);
  }

  override async stop(): Promise<void> {
    this.delivery.reset();
    await super.stop();
  }

  // --- The person ---

  async say(
    user: string,
    chat: string,
    text: string,
    options: { readonly thread?: string; readonly files?: boolean } = {},
  ): Promise<string> {
    const conversation = this.placeOf(user, chat);
    if (text.startsWith("/")) {
      throw new Error(
        options.thread === undefined
          ? `${text.split(/\s/, 1)[0]} is not a valid command.`
          : "Slack does not run slash commands in threads.",
      );
    }
    const message = this.workspace.add({
      channel: conversation.id,
      user,
      text: typedToMrkdwn(
        text,
        (name) => this.userId(name),
        (name) => this.channelId(name),
      ),
      ...(options.thread === undefined ? {} : { threadTs: options.thread }),
    });
    this.changed();
    await this.announce(message, conversation);
    return message.ts;
  }

  async slash(user: string, chat: string, command: string, text = ""): Promise<AckResult> {
    const conversation = this.placeOf(user, chat);
    if (!this.commands.includes(command)) throw new Error(`${command} is not a valid command.`);
    const escaped = text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
    const payload = {
      token: "verification",
      team_id: TEAM.id,
      team_domain: TEAM.domain,
      channel_id: conversation.id,
      channel_name: conversation.kind === "im" ? "directmessage" : conversation.name,
      user_id: user,
      user_name: this.userName(user),
      command,
      text: escaped,
      api_app_id: APP_ID,
      is_enterprise_install: "false",
      response_url: this.newResponseUrl(conversation.id, user),
      trigger_id: this.newTrigger(user),
    };
    this.checkOutgoing("SlackSlash", payload);
    const result = await this.delivery.interact("slash_commands", payload);
    if (result.kind === "ack" && typeof result.payload.text === "string") {
      const inChannel = result.payload.response_type === "in_channel";
      this.workspace.add({
        channel: conversation.id,
        user: BOT.id,
        text: result.payload.text,
        ...(inChannel ? {} : { onlyFor: user }),
      });
    }
    this.changed();
    return result;
  }

  /** A button by its label or action id; a choice of a menu by its label or value. */
  async press(user: string, messageId: string, button: string): Promise<PressResult> {
    const message = this.workspace.messages.find((m) => m.ts === messageId && !m.deleted);
    if (message === undefined) throw new Error(`No message ${messageId}.`);
    const conversation = this.placeOf(user, message.channel);
    const pressed = findButton(message, button);
    const payload = this.blockActions(user, conversation, message, pressed);
    // The vendor's type says `enterprise?: object`; Slack sends null outside Enterprise Grid.
    const { enterprise: _enterprise, ...typed } = payload;
    if (pressed.option === undefined) this.checkOutgoing("SlackBlockButton", typed);
    const result = await this.delivery.interact("interactive", payload);
    return { outcome: result.kind === "ack" ? "ok" : "operation_timeout" };
  }

  async submitModal(user: string, values: Readonly<Record<string, string>>): Promise<Json> {
    const found = [...this.views.entries()].reverse().find(([, open]) => open.user === user);
    if (found === undefined) throw new Error("No dialog is open.");
    const [id, { view }] = found;
    const inputs = ((view.blocks ?? []) as Json[]).filter((block) => block.type === "input");
    const state: Record<string, Json> = {};
    for (const input of inputs) {
      const element = input.element as Json;
      const value =
        values[String(input.block_id)] ??
        values[String(element.action_id)] ??
        (inputs.length === 1 ? Object.values(values)[0] : undefined);
      if ((value ?? "") === "" && input.optional !== true) throw new Error(`${textOf(input.label)} needs an answer.`);
      if (value !== undefined && value.length > Number(element.max_length ?? 3000))
        throw new Error("That is too long.");
      state[String(input.block_id)] = { [String(element.action_id)]: { type: element.type, value: value ?? null } };
    }
    const result = await this.delivery.interact("interactive", {
      type: "view_submission",
      team: { id: TEAM.id, domain: TEAM.domain },
      user: this.userRef(user),
      api_app_id: APP_ID,
      token: "verification",
      trigger_id: this.newTrigger(user),
      view: { ...view, id, state: { values: state } },
      response_urls: [],
      is_enterprise_install: false,
      enterprise: null,
    });
    const action = result.kind === "ack" ? result.payload.response_action : undefined;
    if (result.kind === "ack" && action !== "errors") this.views.delete(id);
    this.changed();
    return result.kind === "ack" ? result.payload : { error: result.kind };
  }

  closeModal(user: string): void {
    for (const [id, open] of this.views) if (open.user === user) this.views.delete(id);
    this.changed();
  }

  async upload(
    user: string,
    chat: string,
    file: { readonly name: string; readonly text: string },
    comment = "",
  ): Promise<string> {
    const conversation = this.placeOf(user, chat);
    const bytes = Buffer.from(file.text);
    const id = this.workspace.newId("F");
    const stored = { id, name: file.name, expectedLength: bytes.length, bytes, completed: true };
    this.workspace.files.set(id, stored);
    const text = typedToMrkdwn(
      comment,
      (name) => this.userId(name),
      (name) => this.channelId(name),
    );
    const message = this.workspace.add({ channel: conversation.id, user, text, files: [stored] });
    this.changed();
    await this.announce(message, conversation, "file_share");
    return message.ts;
  }

  /** A message of another app, or a system message: what the product must not take for a person's. */
  async sayAs(kind: "other-bot" | "joined" | "changed" | "deleted", chat: string, text: string): Promise<void> {
    const conversation = this.conversation(chat);
    const ts = this.workspace.newTs();
    const base = { type: "message", channel: chat, channel_type: channelType(conversation), ts, event_ts: ts };
    const person = { user: "U0ALICENG", text, ts };
    const event = {
      "other-bot": { ...base, subtype: "bot_message", bot_id: "B0OTHER", text, username: "other" },
      joined: { ...base, subtype: "channel_join", user: "U0ALICENG", text },
      changed: {
        ...base,
        subtype: "message_changed",
        message: { type: "message", ...person },
        previous_message: person,
      },
      deleted: { ...base, subtype: "message_deleted", deleted_ts: ts, previous_message: person },
    }[kind];
    await this.delivery.deliverEvent(this.eventCallback(event));
  }

  /** Opens the app's home tab. */
  async openHome(user: string, tab: "home" | "messages" = "messages"): Promise<AckResult> {
    const { id } = this.workspace.openIm(user);
    return await this.delivery.deliverEvent(
      this.eventCallback({ type: "app_home_opened", user, channel: id, tab, event_ts: this.workspace.newTs() }),
    );
  }

  async waitForMessage(predicate: (message: SlackMessage) => boolean, ms?: number): Promise<SlackMessage> {
    return await this.waitUntil(() => this.workspace.messages.find((m) => !m.deleted && predicate(m)), ms, "a message");
  }

  screenText(user: string, chat: string): string {
    return this.workspace
      .visibleTo(user, chat)
      .map((message) => {
        const drawn = drawMessage(message.text, message.blocks, this.names);
        const buttons = elementsOf(message).map(([, element]) =>
          element.options === undefined
            ? `[${textOf(element.text)}]`
            : `[${menuLabel(element)}: ${(element.options as Json[]).map((one) => textOf(one.text)).join(" | ")}]`,
        );
        const files = message.files.map((file) => `(file ${file.name})`);
        const lead = message.threadTs !== undefined && message.threadTs !== message.ts ? "  " : "";
        const only = message.onlyFor === undefined ? "" : " (only you)";
        const lines = [drawn.text, ...files, ...(buttons.length > 0 ? [buttons.join(" ")] : [])].filter(
          (line) => line !== "",
        );
        return `${lead}${this.userName(message.user)}${only}: ${lines.join("\n")}`;
      })
      .join("\n");
  }

  /** Labels of a message's buttons and of what its lists hold, in order. */
  buttons(message: SlackMessage): string[] {
    return pressablesOf(message).flatMap((one) => (isBehindDots(one.element) ? [] : [one.label]));
  }

  /** Labels of what stands behind a message's three dots, in order. */
  choices(message: SlackMessage): string[] {
    return pressablesOf(message).flatMap((one) => (isBehindDots(one.element) ? [one.label] : []));
  }

  modalOf(user: string): Json | undefined {
    return [...this.views.values()].reverse().find((open) => open.user === user)?.view;
  }

  // --- Faults of Slack ---

  /** Slack asks the app to reconnect. */
  disconnect(reason = "refresh_requested"): void {
    this.delivery.disconnect(reason);
  }

  /** The next connections are ended with this reason before they are greeted. */
  refuseSockets(reason: string, times = 1): void {
    this.delivery.refuseSockets(reason, times);
  }

  noAck(times = 1): void {
    this.delivery.noAck(times);
  }

  async duplicate(): Promise<AckResult> {
    return await this.delivery.duplicateLastEvent();
  }

  get openSockets(): number {
    return this.delivery.sockets.size;
  }

  /** Mentions in the product's messages that would have notified people. */
  get pings(): readonly string[] {
    return this.api.pings;
  }

  // --- The server ---

  protected async handle(request: EmulatorRequest): Promise<EmulatorReply | undefined> {
    if (request.method !== "POST") return undefined;
    const [, area, rest] = /^\/(api|upload\/v1|hooks\/response)\/(.+)$/.exec(request.path) ?? [];
    if (area === undefined || rest === undefined) return undefined;
    const what = area === "api" ? rest : area;
    const entry = this.journal.record({ dir: "in", via: "http", what, body: withoutToken(request.body) });
    const reply = await this.withFaults(what, request, async () => {
      if (area === "api") return this.api.call(rest, request, entry);
      if (area === "upload/v1") return this.api.receiveUpload(rest, request, entry);
      return this.useResponseUrl(rest, request, entry);
    });
    if (reply === "cut") return CUT;
    entry.status = reply.status;
    return reply;
  }

  protected unknownRoute(): EmulatorReply {
    return { status: 404, json: { ok: false, error: "unknown_method" } };
  }

  protected faultReply(fault: Fault): EmulatorReply {
    if (fault.retryAfterS !== undefined) {
      return {
        status: 429,
        headers: { "retry-after": String(fault.retryAfterS) },
        json: { ok: false, error: "ratelimited" },
      };
    }
    if (fault.error !== undefined) return { status: 200, json: { ok: false, error: fault.error } };
    return { status: fault.status ?? 500, body: "<html>upstream error</html>" };
  }

  protected accept(socket: WebSocket, request: IncomingMessage): void {
    if (!(request.url ?? "").startsWith("/link/")) {
      socket.close(1008);
      return;
    }
    this.delivery.accept(socket);
    socket.once("close", () => this.changed());
    this.changed();
  }

  protected resetState(): void {
    this.delivery.reset();
    this.workspace.reset();
    this.api.reset();
    this.triggers.clear();
    this.responseUrls.clear();
    this.views.clear();
  }

  protected readonly personActs: Readonly<Record<string, PersonAct>> = {
    say: (user: string, chat: string, text: string, options?: { thread?: string }) =>
      this.say(user, chat, text, options),
    slash: (user: string, chat: string, command: string, text?: string) => this.slash(user, chat, command, text),
    press: (user: string, message: string, button: string) => this.press(user, message, button),
    submitModal: (user: string, values: Record<string, string>) => this.submitModal(user, values),
    closeModal: (user: string) => this.closeModal(user),
    upload: (user: string, chat: string, file: { name: string; text: string }) => this.upload(user, chat, file),
    screenText: (user: string, chat: string) => this.screenText(user, chat),
  };

  protected pageState(wantedUser: string | undefined, wantedChat: string | undefined): PageState {
    const people = [...this.workspace.users.values()].filter((user) => !user.isBot);
    const user = people.find((person) => person.id === wantedUser)?.id ?? "U0ALICENG";
    const chats = [...this.workspace.conversations.values()].filter((c) => c.members.has(user));
    const chat = chats.find((c) => c.id === wantedChat)?.id ?? chats[0]?.id ?? "";
    const view = this.modalOf(user);
    return {
      users: people.map((person) => ({ id: person.id, name: person.realName })),
      chats: chats.map((c) => ({ id: c.id, name: c.kind === "im" ? BOT.name : `# ${c.name}` })),
      user,
      chat,
      commands: this.commands,
      ...(view === undefined ? {} : { modal: pageModal(view) }),
      messages: this.workspace.visibleTo(user, chat).map((message) => ({
        id: message.ts,
        author: this.userName(message.user),
        bot: message.user === BOT.id,
        time: new Date(Number(message.ts) * 1000).toISOString().slice(11, 16),
        html:
          drawMessage(message.text, message.blocks, this.names).html +
          message.files.map((f) => `<p class="file">${f.name.replace(/[<>&"]/g, "")}</p>`).join(""),
        buttons: buttonRows(message),
        ephemeral: message.onlyFor !== undefined,
        edited: message.edited,
        indent: message.threadTs !== undefined && message.threadTs !== message.ts,
      })),
    };
  }

  // --- Payloads ---

  private async announce(message: SlackMessage, conversation: Conversation, subtype?: string): Promise<void> {
    if (!conversation.members.has(BOT.id)) return;
    const base = {
      user: message.user,
      ts: message.ts,
      text: message.text,
      team: TEAM.id,
      channel: conversation.id,
      event_ts: message.ts,
      client_msg_id: this.workspace.newId("M"),
      ...(message.files.length > 0 ? { files: message.files.map((f) => ({ id: f.id, name: f.name })) } : {}),
      ...this.threadFields(message),
    };
    const event = {
      type: "message",
      channel_type: channelType(conversation),
      ...base,
      ...(subtype === undefined ? {} : { subtype }),
    };
    const mention = message.text.includes(`<@${BOT.id}>`) && conversation.kind !== "im";
    // Both arrive for one mention, with the same ts and different event ids.
    await Promise.all([
      this.delivery.deliverEvent(this.eventCallback(event)),
      ...(mention ? [this.delivery.deliverEvent(this.eventCallback({ type: "app_mention", ...base }))] : []),
    ]);
  }

  private threadFields(message: SlackMessage): Json {
    if (message.threadTs === undefined) return {};
    const root = this.workspace.find(message.channel, message.threadTs);
    return { thread_ts: message.threadTs, ...(root === undefined ? {} : { parent_user_id: root.user }) };
  }

  private eventCallback(event: Json): Json {
    return {
      token: "verification",
      team_id: TEAM.id,
      api_app_id: APP_ID,
      type: "event_callback",
      event_id: this.workspace.newId("Ev"),
      event_time: Math.floor(this.clock.now() / 1000),
      event,
      authorizations: [
        { enterprise_id: null, team_id: TEAM.id, user_id: BOT.id, is_bot: true, is_enterprise_install: false },
      ],
      is_ext_shared_channel: false,
    };
  }

  private blockActions(
    user: string,
    conversation: Conversation,
    message: SlackMessage,
    { block, element, option }: Pressable,
  ): Json {
    return {
      type: "block_actions",
      user: this.userRef(user),
      api_app_id: APP_ID,
      token: "verification",
      container: {
        type: "message",
        message_ts: message.ts,
        channel_id: conversation.id,
        is_ephemeral: message.onlyFor !== undefined,
        ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
      },
      trigger_id: this.newTrigger(user),
      team: { id: TEAM.id, domain: TEAM.domain },
      enterprise: null,
      is_enterprise_install: false,
      channel: { id: conversation.id, name: conversation.kind === "im" ? "directmessage" : conversation.name },
      message: messageJson(message, false),
      state: { values: {} },
      response_url: this.newResponseUrl(conversation.id, user, message.ts),
      actions: [
        {
          type: element.type,
          action_id: element.action_id,
          block_id: block.block_id ?? "generated",
          ...(option === undefined ? { text: element.text } : { selected_option: option }),
          ...(element.value === undefined ? {} : { value: element.value }),
          action_ts: this.workspace.newTs(),
          ...(element.placeholder === undefined ? {} : { placeholder: element.placeholder }),
        },
      ],
    };
  }

  private checkOutgoing(schema: "SlackSlash" | "SlackBlockButton", payload: Json): void {
    for (const problem of checkSchema(schema, payload)) this.journal.violate(`emulator payload: ${problem}`);
  }

  private newTrigger(user: string): string {
    const id = `${this.workspace.newId("T")}.${TEAM.id}`;
    this.triggers.set(id, { user, expiresAtMs: this.clock.now() + TRIGGER_MS });
    return id;
  }

  private takeTrigger(id: string): { readonly user: string } {
    const trigger = this.triggers.get(id);
    if (trigger === undefined) throw new SlackApiError("invalid_trigger_id");
    this.triggers.delete(id);
    if (trigger.expiresAtMs < this.clock.now()) throw new SlackApiError("expired_trigger_id");
    return { user: trigger.user };
  }

  private newResponseUrl(channel: string, user: string, messageTs?: string): string {
    const id = this.workspace.newId("R");
    this.responseUrls.set(id, {
      channel,
      user,
      expiresAtMs: this.clock.now() + RESPONSE_URL_MS,
      usesLeft: RESPONSE_URL_USES,
      ...(messageTs === undefined ? {} : { messageTs }),
    });
    return `${this.url}/hooks/response/${id}`;
  }

  private useResponseUrl(id: string, request: EmulatorRequest, entry: Parameters<WebApi["respond"]>[2]): EmulatorReply {
    const url = this.responseUrls.get(id);
    if (url === undefined || url.usesLeft <= 0) return { status: 404, json: { ok: false, error: "used_url" } };
    if (url.expiresAtMs < this.clock.now()) return { status: 404, json: { ok: false, error: "expired_url" } };
    url.usesLeft -= 1;
    try {
      return this.api.respond(url, (request.body ?? {}) as Json, entry);
    } catch (error) {
      if (!(error instanceof SlackApiError)) throw error;
      entry.violations.push([error.code, ...error.messages].join(": "));
      return { status: 400, body: error.code };
    }
  }

  private openView(user: string, view: Json): Json {
    const id = this.workspace.newId("V");
    const full = {
      ...view,
      id,
      team_id: TEAM.id,
      app_id: APP_ID,
      bot_id: "B0OPENCLAW",
      hash: viewHash(view),
      root_view_id: id,
      previous_view_id: null,
    };
    this.views.set(id, { user, view: full });
    return full;
  }

  private updateView(id: string, view: Json): Json {
    const open = this.views.get(id);
    if (open === undefined) throw new SlackApiError("not_found");
    open.view = { ...open.view, ...view, hash: viewHash(view) };
    return open.view;
  }

  private placeOf(user: string, chat: string): Conversation {
    const conversation = this.conversation(chat);
    if (!conversation.members.has(user)) throw new Error(`${user} is not in ${chat}.`);
    return conversation;
  }

  private conversation(chat: string): Conversation {
    const conversation = this.workspace.conversations.get(chat);
    if (conversation === undefined) throw new Error(`No conversation ${chat}.`);
    return conversation;
  }

  /** Ids as the names people see. */
  readonly names = {
    user: (id: string): string => this.userName(id),
    channel: (id: string): string => this.workspace.conversations.get(id)?.name ?? id,
  };

  private userName(id: string): string {
    return this.workspace.users.get(id)?.name ?? id;
  }

  private userId(name: string): string | undefined {
    const group = [...this.workspace.userGroups].find(([, one]) => one.handle === name)?.[0];
    return group ?? [...this.workspace.users.values()].find((user) => user.name === name)?.id;
  }

  private channelId(name: string): string | undefined {
    return [...this.workspace.conversations.values()].find((c) => c.name === name)?.id;
  }

  private userRef(user: string): Json {
    return { id: user, username: this.userName(user), name: this.userName(user), team_id: TEAM.id };
  }
}

function channelType(conversation: Conversation): string {
  return { channel: "channel", private: "group", mpim: "mpim", im: "im" }[conversation.kind];
}

function textOf(object: unknown): string {
  return String((object as Json | undefined)?.text ?? "");
}

function elementsOf(message: SlackMessage): [block: Json, element: Json][] {
  return message.blocks
    .filter((block) => block.type === "actions")
    .flatMap((block) => ((block.elements ?? []) as Json[]).map((element): [Json, Json] => [block, element]));
}

interface Pressable {
  readonly block: Json;
  readonly element: Json;
  readonly label: string;
  /** What a page presses it by. */
  readonly id: string;
  /** Of a menu. */
  readonly option?: Json;
}

/** Buttons, and what stands in menus. */
function pressablesOf(message: SlackMessage): Pressable[] {
  return elementsOf(message).flatMap(([block, element]): Pressable[] => {
    const options = element.options as Json[] | undefined;
    if (options === undefined) {
      return [{ block, element, label: textOf(element.text), id: String(element.action_id) }];
    }
    return options.map((option) => ({
      ...{ block, element, option },
      label: textOf(option.text),
      id: String(option.value),
    }));
  });
}

function findButton(message: SlackMessage, wanted: string): Pressable {
  const all = pressablesOf(message);
  const found = all.find(({ id, label }) => id === wanted || label === wanted);
  if (found === undefined) {
    throw new Error(`No button "${wanted}"; there is ${all.map(({ label }) => label).join(", ") || "none"}.`);
  }
  return found;
}

function isBehindDots(element: Json): boolean {
  return element.type === "overflow";
}

/** What a closed menu shows. */
function menuLabel(element: Json): string {
  return isBehindDots(element) ? "⋯" : textOf(element.placeholder);
}

function buttonRows(message: SlackMessage): PageState["messages"][number]["buttons"] {
  const all = pressablesOf(message);
  const row = elementsOf(message).map(([, element]): PageButton => {
    const confirm = element.confirm as Json | undefined;
    if (element.options !== undefined) {
      const choices = all.filter((one) => one.element === element);
      const closed = { id: String(element.action_id), label: menuLabel(element), style: "plain" } as const;
      return isBehindDots(element)
        ? { ...closed, menu: choices.map(({ id, label }) => ({ id, label, style: "plain" })) }
        : {
            ...closed,
            options: choices.map(({ id, label, option }) => ({
              id,
              label: [label, textOf(option?.description)].filter(Boolean).join(" · "),
            })),
          };
    }
    return {
      id: String(element.action_id),
      label: textOf(element.text),
      style: element.style === "primary" ? "success" : element.style === "danger" ? "danger" : "plain",
      ...(confirm === undefined ? {} : { confirm: `${textOf(confirm.title)}\n${textOf(confirm.text)}` }),
    };
  });
  return row.length === 0 ? [] : [row];
}

function pageModal(view: Json): PageModal {
  return {
    title: textOf(view.title),
    submit: textOf(view.submit),
    close: textOf(view.close) || "Close",
    fields: ((view.blocks ?? []) as Json[])
      .filter((block) => block.type === "input")
      .map((block) => ({
        id: String(block.block_id),
        label: textOf(block.label),
        multiline: (block.element as Json).multiline === true,
        optional: block.optional === true,
      })),
  };
}

function withoutToken(body: unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  const { token: _token, ...rest } = body as Json;
  return rest;
}
