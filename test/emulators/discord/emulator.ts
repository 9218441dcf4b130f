/**
 * Discord for the genuine client library: REST, gateway and interactions on one side, people on the other.
 * `contract.test.ts` proves it with discord.js alone.
 */
import type { IncomingMessage } from "node:http";
import type { WebSocket } from "ws";
import type { Fault } from "../shared/faults.ts";
import type { EmulatorReply, EmulatorRequest } from "../shared/http.ts";
import type { PageButton, PageMessage, PageState } from "../shared/page.ts";
import type { PersonApi } from "../shared/person.ts";
import { CUT, EmulatorServer } from "../shared/server.ts";
import { Gateway, INTENT } from "./gateway.ts";
import { INTERACTION, type InteractionKind, type InteractionState, Interactions } from "./interactions.ts";
import { DISCORD_THEME, markdownToHtml } from "./page.ts";
import { Rates } from "./rates.ts";
import { Rest, RestError, type Route, textOf } from "./rest.ts";
import { checkedOptions, type OptionValue, optionsFromText } from "./slash.ts";
import { loadSpec, type SpecCheck } from "./spec.ts";
import { FLAG_EPHEMERAL, FLAG_LOADING } from "./validate.ts";
import { type ChannelState, type DiscordPerson, type StoredMessage, World } from "./world.ts";

const DEFAULT_WAIT_MS = 5_000;
const API_PREFIX = "/api/v10";

export interface DiscordEmulatorOptions {
  readonly token?: string;
  /** Privileged intents that are switched on for the application. */
  readonly allowedIntents?: number;
}

interface MatchedRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

export class DiscordEmulator extends EmulatorServer implements PersonApi<StoredMessage> {
  readonly theme = DISCORD_THEME;
  readonly token: string;
  allowedIntents: number;
  world: World;
  interactions: Interactions;
  rates: Rates;
  rest: Rest;
  gateway: Gateway;
  readonly #spec: SpecCheck | undefined = loadSpec();
  readonly #modals = new Map<string, InteractionState>();
  #toast: { userId: string; text: string } | undefined;

  constructor(options: DiscordEmulatorOptions = {}) {
    super();
    this.token = options.token ?? "MTIzNDU2Nzg5MDEyMzQ1Njc4.GEmula.TokenForTestsOnlyTokenForTestsOnly";
    this.allowedIntents = options.allowedIntents ?? INTENT.messageContent;
    const now = (): number => this.clock.now();
    this.world = new World(now);
    this.interactions = this.#newInteractions();
    this.rates = new Rates(now);
    this.rest = this.#newRest();
    this.gateway = this.#newGateway();
  }

  #newInteractions(): Interactions {
    return new Interactions(
      () => this.clock.now(),
      (failed) => {
        if (failed.kind !== "autocomplete") this.#toast = { userId: failed.userId, text: "This interaction failed" };
        this.changed();
      },
    );
  }

  #newRest(): Rest {
    return new Rest(
      this.world,
      this.interactions,
      {
        baseUrl: () => this.url,
        created: (message) => this.#announce("MESSAGE_CREATE", message),
        updated: (message) => this.#announce("MESSAGE_UPDATE", message),
        deleted: (message) => {
          this.gateway.dispatch("MESSAGE_DELETE", () => this.#deletion(message), this.#intentOf(message.channelId));
          this.changed();
        },
        threadCreated: (thread) => {
          this.gateway.dispatch("THREAD_CREATE", () => this.world.channelPayload(thread), INTENT.guilds);
          this.changed();
        },
        violation: (text) => this.journal.violate(text),
      },
      () => this.clock.now(),
    );
  }

  #newGateway(): Gateway {
    return new Gateway({
      token: () => this.token,
      allowedIntents: () => this.allowedIntents,
      newId: () => this.world.snowflake(),
      ready: (sessionId) => ({
        v: 10,
        user: this.world.userPayload(this.world.botId),
        guilds: [...this.world.guilds.keys()].map((id) => ({ id, unavailable: true })),
        session_id: sessionId,
        resume_gateway_url: `${this.wsUrl}/gw`,
        shard: [0, 1],
        application: { id: this.world.applicationId, flags: 0 },
        private_channels: [],
        relationships: [],
        geo_ordered_rtc_regions: [],
        _trace: [],
      }),
      welcome: () =>
        [...this.world.guilds.values()].map((one) => ({ event: "GUILD_CREATE", data: this.world.guildPayload(one) })),
      record: (direction, frame) => {
        this.journal.record({ dir: direction, via: "ws", what: frame.t ?? `op${frame.op}`, body: frame.d });
        this.changed();
      },
      violation: (text) => this.journal.violate(text),
    });
  }

  protected resetState(): void {
    this.interactions.stop();
    this.gateway.forget();
    this.world = new World(() => this.clock.now());
    this.interactions = this.#newInteractions();
    this.rates.reset();
    this.rest = this.#newRest();
    this.#modals.clear();
    this.#toast = undefined;
  }

  override async stop(): Promise<void> {
    this.interactions.stop();
    await super.stop();
  }

  /* Client side */

  protected async handle(request: EmulatorRequest): Promise<EmulatorReply | undefined> {
    const attachment = /^\/attachments\/(\d+)\//.exec(request.path);
    if (attachment) return this.#download(attachment[1] ?? "");
    const matched = this.#match(request);
    if (!matched) return undefined;
    const { route, params } = matched;
    const what = `${route.method} ${route.template}`;
    if (!route.tokenInPath && request.headers.authorization !== `Bot ${this.token}`)
      return { status: 401, json: { message: "401: Unauthorized", code: 0 } };
    const body = bodyOf(request);
    const entry = this.journal.record({ dir: "in", via: "http", what, body });
    entry.violations.push(
      ...(this.#spec?.request(route.method, route.template, body) ?? []).map((one) => `spec: ${one}`),
    );
    this.changed();
    const rate = this.rates.charge(what, params.channel_id ?? params.webhook_token ?? params.guild_id ?? "");
    if (rate.limited) {
      entry.status = 429;
      return limited(rate.retryAfterS, rate.headers);
    }
    const reply = await this.withFaults(what, request, async () => this.#work(route, params, request, body));
    if (reply === "cut") return CUT;
    entry.status = reply.status;
    return { ...reply, headers: { ...rate.headers, ...reply.headers } };
  }

  #work(
    route: Route,
    params: Readonly<Record<string, string>>,
    request: EmulatorRequest,
    body: Record<string, unknown>,
  ): EmulatorReply {
    try {
      const uploads = request.parts.map((one) => ({ name: one.filename, bytes: one.bytes }));
      const reply = route.handler({ params, query: request.query, body, uploads });
      this.changed();
      return reply.body === undefined ? { status: reply.status } : { status: reply.status, json: reply.body };
    } catch (error) {
      if (!(error instanceof RestError)) throw error;
      const { status, code, message, errors } = error;
      return { status, json: { message, code, ...(errors ? { errors } : {}) } };
    }
  }

  #match(request: EmulatorRequest): MatchedRoute | undefined {
    if (!request.path.startsWith(`${API_PREFIX}/`)) return undefined;
    const parts = request.path
      .slice(API_PREFIX.length + 1)
      .split("/")
      .map(decodeURIComponent);
    for (const route of this.rest.routes) {
      if (route.method !== request.method) continue;
      const wanted = route.template.slice(1).split("/");
      if (wanted.length !== parts.length) continue;
      const params: Record<string, string> = {};
      const fits = wanted.every((part, index) => {
        const actual = parts[index] ?? "";
        const name = /^\{(.+)\}$/.exec(part)?.[1];
        if (name !== undefined) params[name] = actual;
        return name !== undefined || part === actual;
      });
      if (fits) return { route, params };
    }
    return undefined;
  }

  #download(id: string): EmulatorReply {
    for (const channel of this.world.channels.values())
      for (const file of channel.messages.flatMap((one) => one.files))
        if (file.id === id)
          return { status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, body: file.bytes };
    return { status: 404, body: "This content is no longer available." };
  }

  protected unknownRoute(): EmulatorReply {
    return { status: 404, json: { message: "404: Not Found", code: 0 } };
  }

  protected faultReply(fault: Fault): EmulatorReply {
    if (fault.retryAfterS !== undefined) return limited(fault.retryAfterS, {});
    if (fault.error === undefined) return { status: fault.status ?? 500, body: "upstream connect error" };
    const [, code = "0", message = fault.error] = /^(\d+) (.*)$/.exec(fault.error) ?? [];
    return { status: fault.status ?? 400, json: { message, code: Number(code) } };
  }

  protected accept(socket: WebSocket, request: IncomingMessage): void {
    if (!request.url?.startsWith("/gw")) socket.close(1008);
    else this.gateway.accept(socket);
  }

  protected override journalPath(path: string): string {
    return path.replace(/(\/(?:webhooks|interactions)\/\d+\/)[^/]+/, "$1(token)");
  }

  /* Gateway events */

  #intentOf(channelId: string): number {
    return this.world.channel(channelId).guildId === undefined ? INTENT.directMessages : INTENT.guildMessages;
  }

  #announce(event: "MESSAGE_CREATE" | "MESSAGE_UPDATE", message: StoredMessage): void {
    const channel = this.world.channel(message.channelId);
    if ((message.flags & FLAG_EPHEMERAL) === 0)
      this.gateway.dispatch(
        event,
        (intents) => {
          const seesContent = channel.guildId === undefined || (intents & INTENT.messageContent) !== 0;
          const payload = this.world.messagePayload(message, this.url, seesContent);
          this.#checkMessage(payload);
          const inGuild =
            channel.guildId === undefined
              ? {}
              : {
                  guild_id: channel.guildId,
                  member: { ...this.world.memberPayload(message.authorId), user: undefined },
                };
          return { ...payload, ...inGuild, channel_type: this.world.channelPayload(channel).type };
        },
        this.#intentOf(message.channelId),
      );
    this.changed();
  }

  #checkMessage(payload: unknown): void {
    for (const one of this.#spec?.response("MessageResponse", payload) ?? [])
      this.journal.violate(`emulator: message ${one}`);
  }

  #deletion(message: StoredMessage): Record<string, unknown> {
    const { guildId } = this.world.channel(message.channelId);
    return { id: message.id, channel_id: message.channelId, ...(guildId === undefined ? {} : { guild_id: guildId }) };
  }

  #interact(
    kind: InteractionKind,
    user: string,
    channelId: string,
    data: Record<string, unknown>,
    source?: StoredMessage,
  ): InteractionState {
    const channel = this.world.channel(channelId);
    const person = this.world.person(user);
    const state = this.interactions.open({
      id: this.world.snowflake(),
      token: `itk${Buffer.from(this.world.snowflake()).toString("base64url")}`,
      kind,
      userId: user,
      channelId,
      ...(source ? { sourceMessageId: source.id } : {}),
    });
    const inGuild = channel.guildId !== undefined;
    const payload = {
      id: state.id,
      application_id: this.world.applicationId,
      type: INTERACTION[kind],
      data,
      ...(inGuild
        ? {
            guild_id: channel.guildId,
            guild: { id: channel.guildId, locale: "en-US", features: [] },
            member: { ...this.world.memberPayload(user), permissions: "2147483647" },
            guild_locale: "en-US",
          }
        : { user: this.world.userPayload(user) }),
      channel_id: channelId,
      channel: this.world.channelPayload(channel),
      ...(source ? { message: this.world.messagePayload(source, this.url) } : {}),
      token: state.token,
      version: 1,
      app_permissions: "2147483647",
      locale: person.locale,
      entitlements: [],
      authorizing_integration_owners: inGuild ? { 0: channel.guildId } : { 1: user },
      context: inGuild ? 0 : 1,
      attachment_size_limit: 10_485_760,
    };
    this.gateway.dispatch("INTERACTION_CREATE", () => payload, 0);
    this.changed();
    return state;
  }

  /* Faults of the gateway */

  /** Asks clients to reconnect (op 7). */
  disconnect(): void {
    this.gateway.reconnect();
  }

  /** Sends the newest interaction, or message, once more. */
  duplicate(event: "INTERACTION_CREATE" | "MESSAGE_CREATE" = "INTERACTION_CREATE"): void {
    this.gateway.duplicate(event);
  }

  /* People */

  addPerson(username: string, options: { locale?: string; acceptsDms?: boolean; isBot?: boolean } = {}): string {
    const person: DiscordPerson = this.world.addPerson(username, options);
    this.changed();
    return person.id;
  }

  addGuild(name: string, memberIds: readonly string[]): string {
    return this.world.addGuild(name, memberIds).id;
  }

  addRole(guildId: string, name: string, options: { permissions?: string; for?: readonly string[] } = {}): string {
    const id = this.world.snowflake();
    this.world.guilds.get(guildId)?.roles.set(id, { name, permissions: options.permissions ?? "0" });
    for (const person of options.for ?? []) this.world.person(person).roles.add(id);
    return id;
  }

  /** What a role or a person may do in this channel besides, or not. */
  overwrite(channelId: string, id: string, change: { allow?: string; deny?: string }): void {
    const type = this.world.people.has(id) ? 1 : 0;
    this.world.channel(channelId).overwrites.push({ id, type, allow: change.allow ?? "0", deny: change.deny ?? "0" });
  }

  addChannel(guildId: string, name: string, kind: "text" | "forum" = "text"): string {
    return this.world.addChannel({ kind, name, guildId }).id;
  }

  addThread(parentId: string, name: string): string {
    const parent = this.world.channel(parentId);
    const thread = this.world.addChannel({
      kind: "thread",
      name,
      parentId,
      ...(parent.guildId === undefined ? {} : { guildId: parent.guildId }),
    });
    this.gateway.dispatch("THREAD_CREATE", () => this.world.channelPayload(thread), INTENT.guilds);
    return thread.id;
  }

  dm(user: string): string {
    return this.world.dmWith(user).id;
  }

  #visible(user: string, channelId: string): ChannelState {
    const channel = this.world.channel(channelId);
    const member =
      channel.guildId === undefined
        ? channel.recipientId === user
        : this.world.guilds.get(channel.guildId)?.memberIds.has(user) === true;
    if (!member) throw new Error(`${user} can not see ${channelId}`);
    return channel;
  }

  /** Resolves to the message's id. `@bot` stands for a mention of the bot. */
  async say(
    user: string,
    chat: string,
    text: string,
    options: { readonly thread?: string; readonly replyTo?: string; readonly webhook?: boolean } = {},
  ): Promise<string> {
    const channel = this.#visible(user, options.thread ?? chat);
    const replied = options.replyTo === undefined ? undefined : this.world.message(channel.id, options.replyTo);
    const content = text.replaceAll("@bot", `<@${this.world.botId}>`);
    const message = this.world.addMessage(channel.id, {
      authorId: user,
      content,
      components: [],
      flags: 0,
      files: [],
      webhook: options.webhook ?? false,
      ...(replied ? { replyToId: replied.id, mentions: [...this.world.mentionsIn(content), replied.authorId] } : {}),
    });
    this.#announce("MESSAGE_CREATE", message);
    return message.id;
  }

  async upload(user: string, chat: string, file: { readonly name: string; readonly text: string }): Promise<string> {
    const message = this.world.addMessage(this.#visible(user, chat).id, {
      authorId: user,
      content: "",
      components: [],
      flags: 0,
      files: [this.world.makeFile(file.name, Buffer.from(file.text))],
    });
    this.#announce("MESSAGE_CREATE", message);
    return message.id;
  }

  async editOwn(user: string, chat: string, messageId: string, text: string): Promise<void> {
    const message = this.world.message(chat, messageId);
    if (message?.authorId !== user) throw new Error("only an own message can be edited");
    message.history.push(message.content);
    message.content = text;
    message.editedAtMs = this.clock.now();
    this.#announce("MESSAGE_UPDATE", message);
  }

  #command(name: string, channel: ChannelState) {
    const bare = name.replace(/^\//, "");
    const registered = [
      ...(this.world.commands.get("global") ?? []),
      ...(channel.guildId === undefined ? [] : (this.world.commands.get(channel.guildId) ?? [])),
    ];
    const found = registered.find((one) => one.name === bare);
    if (!found) throw new Error(`no command /${bare} is registered`);
    return found;
  }

  /** Resolves once the first answer came or the interaction failed for the person. */
  async slash(user: string, chat: string, command: string, text = ""): Promise<InteractionState> {
    const channel = this.#visible(user, chat);
    return this.slashWith(user, chat, command, optionsFromText(this.#command(command, channel), text));
  }

  async slashWith(
    user: string,
    chat: string,
    command: string,
    given: Readonly<Record<string, OptionValue>>,
  ): Promise<InteractionState> {
    return this.interactions.settled(this.startSlash(user, chat, command, given));
  }

  /** Sends the command and does not wait. */
  startSlash(
    user: string,
    chat: string,
    command: string,
    given: Readonly<Record<string, OptionValue>>,
  ): InteractionState {
    const found = this.#command(command, this.#visible(user, chat));
    const options = checkedOptions(found, given);
    return this.#interact("command", user, chat, { id: found.id, name: found.name, type: 1, options });
  }

  /** Suggestions for one option while it is being typed. */
  async autocomplete(
    user: string,
    chat: string,
    command: string,
    option: string,
    typed: string,
  ): Promise<InteractionState> {
    const found = this.#command(command, this.#visible(user, chat));
    const options = [{ name: option, type: 3, value: typed, focused: true }];
    return this.interactions.settled(
      this.#interact("autocomplete", user, chat, { id: found.id, name: found.name, type: 1, options }),
    );
  }

  /** Presses a button by label or custom id. Resolves once the spinner stops; `failed` tells how. */
  async press(user: string, messageId: string, button: string): Promise<InteractionState> {
    const state = await this.interactions.settled(this.startPress(user, messageId, button));
    if (state.modal) this.#modals.set(user, state);
    this.changed();
    return state;
  }

  startPress(user: string, messageId: string, button: string): InteractionState {
    const message = this.#find(messageId);
    this.#visible(user, message.channelId);
    const found = buttonsOf(message.components)
      .flat()
      .flatMap(pressable)
      .find((one) => one.label === button || one.id === button);
    if (!found || found.disabled) throw new Error(`message ${messageId} has no button "${button}"`);
    return found.picks === undefined
      ? this.pressRaw(user, message, found.id)
      : this.#interact(
          "component",
          user,
          message.channelId,
          { custom_id: found.picks, component_type: 3, id: 1, values: [found.id] },
          message,
        );
  }

  /** A press with any custom id, as an old message would send it. */
  pressRaw(user: string, message: StoredMessage, customId: string): InteractionState {
    return this.#interact(
      "component",
      user,
      message.channelId,
      { custom_id: customId, component_type: 2, id: 1 },
      message,
    );
  }

  async submitModal(user: string, values: Readonly<Record<string, string>>): Promise<InteractionState> {
    const opener = this.#modals.get(user);
    if (!opener?.modal) throw new Error(`${user} has no open form`);
    this.#modals.delete(user);
    const { customId, fields } = opener.modal;
    const named = Object.values(values);
    const components = fields.map(({ id }, index) => ({
      type: 18,
      id: index + 1,
      component: { type: 4, id: index + 100, custom_id: id, value: values[id] ?? named[index] ?? "" },
    }));
    const source =
      opener.sourceMessageId === undefined ? undefined : this.world.message(opener.channelId, opener.sourceMessageId);
    const state = this.#interact("modal", user, opener.channelId, { custom_id: customId, components }, source);
    return this.interactions.settled(state);
  }

  closeModal(user: string): void {
    this.#modals.delete(user);
    this.changed();
  }

  #find(messageId: string): StoredMessage {
    for (const channel of this.world.channels.values()) {
      const found = channel.messages.find((one) => one.id === messageId && !one.deleted);
      if (found) return found;
    }
    throw new Error(`no message ${messageId}`);
  }

  /** Newest first among the bot's finished messages. */
  async waitForMessage(
    accepts: (message: StoredMessage) => boolean,
    ms: number = DEFAULT_WAIT_MS,
  ): Promise<StoredMessage> {
    const probe = (): StoredMessage | undefined =>
      [...this.world.channels.values()]
        .flatMap((one) => one.messages)
        .filter((one) => one.authorId === this.world.botId && !one.deleted && (one.flags & FLAG_LOADING) === 0)
        .find((one) => accepts(one));
    return this.waitUntil(probe, ms, "a message of the bot");
  }

  /** Everything a message says, buttons left out. */
  textOf(message: StoredMessage): string {
    return [message.content, textOf(message.components)].filter((one) => one !== "").join("\n");
  }

  screenText(user: string, chat: string): string {
    return this.#visible(user, chat)
      .messages.filter((one) => this.world.sees(one, user))
      .map((one) =>
        [
          `${this.world.person(one.authorId).username}: ${(one.flags & FLAG_LOADING) !== 0 ? "is thinking…" : this.textOf(one)}`,
          ...one.files.map((file) => `(file ${file.name}, ${file.bytes.length} bytes)`),
          ...buttonsOf(one.components).map((row) => row.map((button) => `[${button.label}]`).join(" ")),
          ...((one.flags & FLAG_EPHEMERAL) !== 0 ? ["(only you see this)"] : []),
        ].join("\n"),
      )
      .join("\n\n");
  }

  /* The page */

  protected readonly personActs = {
    say: (user: string, chat: string, text: string) => this.say(user, chat, text),
    slash: async (user: string, chat: string, command: string, text: string) => {
      await this.slash(user, chat, command, text);
    },
    press: async (user: string, messageId: string, button: string) => {
      await this.press(user, messageId, button);
    },
    submitModal: async (user: string, values: Record<string, string>) => {
      await this.submitModal(user, values);
    },
    closeModal: (user: string) => this.closeModal(user),
    upload: (user: string, chat: string, file: { name: string; text: string }) => this.upload(user, chat, file),
  };

  protected pageState(user: string | undefined, chat: string | undefined): PageState {
    const people = [...this.world.people.values()].filter((one) => !one.isBot);
    const me = people.find((one) => one.id === user) ?? people[0];
    const chats = [...this.world.channels.values()]
      .filter((one) => me !== undefined && this.#sees(me.id, one))
      .map((one) => ({
        id: one.id,
        name: one.kind === "dm" ? "opsbot" : one.kind === "thread" ? `› ${one.name}` : `# ${one.name}`,
      }));
    const current = chats.find((one) => one.id === chat)?.id ?? chats[0]?.id ?? "";
    const channel = this.world.channels.get(current);
    const modal = me === undefined ? undefined : this.#modals.get(me.id)?.modal;
    return {
      users: people.map((one) => ({ id: one.id, name: one.username })),
      chats,
      user: me?.id ?? "",
      chat: current,
      commands: [...this.world.commands.values()].flat().map((one) => `/${one.name}`),
      messages: (channel?.messages ?? [])
        .filter((one) => me && this.world.sees(one, me.id))
        .map((one) => this.#pageMessage(one)),
      ...(modal
        ? {
            modal: {
              title: modal.title,
              submit: "Submit",
              close: "Cancel",
              fields: modal.fields.map(({ id, label, required }) => ({
                id,
                label,
                multiline: true,
                optional: !required,
              })),
            },
          }
        : {}),
      ...(this.#toast && this.#toast.userId === me?.id ? { toast: this.#toast.text } : {}),
    };
  }

  #sees(user: string, channel: ChannelState): boolean {
    if (channel.kind === "forum") return false;
    return channel.guildId === undefined
      ? channel.recipientId === user
      : this.world.guilds.get(channel.guildId)?.memberIds.has(user) === true;
  }

  #pageMessage(message: StoredMessage): PageMessage {
    const author = this.world.person(message.authorId);
    const text = (message.flags & FLAG_LOADING) !== 0 ? `${author.username} is thinking…` : this.textOf(message);
    const files = message.files
      .map((one) => `\n\`${one.name.replaceAll("`", "")}\` ${one.bytes.length} bytes`)
      .join("");
    const accent = accentOf(message.components);
    return {
      id: message.id,
      author: author.username,
      bot: author.isBot,
      time: new Date(message.atMs).toISOString().slice(11, 16),
      html: markdownToHtml(text + files, (id) => this.world.people.get(id)?.username),
      buttons: buttonsOf(message.components),
      ephemeral: (message.flags & FLAG_EPHEMERAL) !== 0,
      edited: message.editedAtMs !== undefined,
      ...(accent === undefined ? {} : { accent }),
    };
  }
}

const STYLES: Readonly<Record<number, PageButton["style"]>> = { 1: "primary", 2: "plain", 3: "success", 4: "danger" };

interface Pressable extends Pick<PageButton, "id" | "label" | "disabled"> {
  /** The list that it is an option of. */
  readonly picks?: string;
}

/** Each option of a list is picked as a button is pressed. */
function pressable(button: PageButton): Pressable[] {
  if (button.options === undefined) return [button];
  return button.options.map((option) => ({ ...option, picks: button.id, disabled: button.disabled ?? false }));
}

/** Rows of buttons anywhere in a message, top to bottom. */
export function buttonsOf(components: readonly unknown[]): PageButton[][] {
  return components.flatMap((one) => {
    const node = one as { type: number; components?: unknown[] };
    if (node.type !== 1) return buttonsOf(node.components ?? []);
    const row = (node.components ?? []) as {
      type: number;
      custom_id?: string;
      label?: string;
      style: number;
      disabled?: boolean;
      placeholder?: string;
      options?: { label: string; value: string; description?: string }[];
    }[];
    return [
      row
        .filter((button) => button.type === 2 || button.type === 3)
        .map((button) => ({
          id: button.custom_id ?? "",
          label: button.label ?? button.placeholder ?? "",
          style: STYLES[button.style] ?? "plain",
          disabled: button.disabled ?? false,
          ...(button.options === undefined
            ? {}
            : { options: button.options.map((one) => ({ id: one.value, label: one.label })) }),
        })),
    ];
  });
}

function accentOf(components: readonly unknown[]): string | undefined {
  const container = components.find((one) => (one as { type: number }).type === 17) as
    | { accent_color?: number }
    | undefined;
  return container?.accent_color === undefined ? undefined : `#${container.accent_color.toString(16).padStart(6, "0")}`;
}

function bodyOf(request: EmulatorRequest): Record<string, unknown> {
  const body = request.body as Record<string, unknown> | undefined;
  if (body === undefined) return {};
  const payload = body.payload_json;
  return typeof payload === "string" ? (JSON.parse(payload) as Record<string, unknown>) : body;
}

function limited(retryAfterS: number, headers: Readonly<Record<string, string>>): EmulatorReply {
  return {
    status: 429,
    headers: {
      ...headers,
      "retry-after": String(Math.ceil(retryAfterS)),
      "x-ratelimit-reset-after": String(retryAfterS),
      "x-ratelimit-remaining": "0",
      "x-ratelimit-limit": headers["x-ratelimit-limit"] ?? "5",
      "x-ratelimit-scope": "user",
      via: "1.1 emulator",
    },
    json: { message: "You are being rate limited.", retry_after: retryAfterS, global: false },
  };
}
