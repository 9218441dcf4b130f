/** Discord's REST routes that a bot uses, with the platform's own errors. */
import type { APIMessageTopLevelComponent } from "discord.js";
import { CALLBACK, INTERACTION, type InteractionState, type Interactions } from "./interactions.ts";
import {
  type CommandBody,
  commandProblems,
  errorTree,
  FLAG_COMPONENTS_V2,
  FLAG_EPHEMERAL,
  FLAG_LOADING,
  type FormProblem,
  isEmptyMessage,
  type MessageBody,
  messageProblems,
  modalProblems,
} from "./validate.ts";
import { attachmentNames, type ChannelState, type StoredFile, type StoredMessage, type World } from "./world.ts";

export class RestError extends Error {
  readonly status: number;
  readonly code: number;
  readonly errors: Record<string, unknown> | undefined;
  constructor(status: number, code: number, message: string, errors?: Record<string, unknown>) {
    super(message);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }
}

export const unknownMessage = (): RestError => new RestError(404, 10008, "Unknown Message");
const unknownChannel = (): RestError => new RestError(404, 10003, "Unknown Channel");
const unknownInteraction = (): RestError => new RestError(404, 10062, "Unknown interaction");
const invalidToken = (): RestError => new RestError(401, 50027, "Invalid Webhook Token");
const missingAccess = (): RestError => new RestError(403, 50001, "Missing Access");

export interface Upload {
  readonly name: string;
  readonly bytes: Buffer;
}

export interface RestCall {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Record<string, unknown>;
  readonly uploads: readonly Upload[];
}

export interface RestReply {
  readonly status: number;
  readonly body?: unknown;
}

/** What the routes tell the rest of the emulator. */
export interface RestEvents {
  readonly baseUrl: () => string;
  readonly created: (message: StoredMessage) => void;
  readonly updated: (message: StoredMessage) => void;
  readonly deleted: (message: StoredMessage) => void;
  readonly threadCreated: (thread: ChannelState) => void;
  readonly violation: (text: string) => void;
}

type Handler = (call: RestCall) => RestReply;

export interface Route {
  readonly method: string;
  /** As in the OpenAPI document: `/channels/{channel_id}/messages`. */
  readonly template: string;
  /** Calls carry a token of their own instead of the bot's. */
  readonly tokenInPath?: boolean;
  readonly handler: Handler;
}

/** How long a nonce is remembered. */
const NONCE_WINDOW_MS = 5 * 60_000;

export class Rest {
  readonly routes: readonly Route[];
  readonly #world: World;
  readonly #interactions: Interactions;
  readonly #events: RestEvents;
  readonly #now: () => number;
  readonly typing: string[] = [];
  readonly reactions: { messageId: string; emoji: string }[] = [];

  constructor(world: World, interactions: Interactions, events: RestEvents, now: () => number) {
    this.#world = world;
    this.#interactions = interactions;
    this.#events = events;
    this.#now = now;
    const message = "/channels/{channel_id}/messages/{message_id}";
    const webhook = "/webhooks/{webhook_id}/{webhook_token}";
    const original = `${webhook}/messages/@original`;
    const followUp = `${webhook}/messages/{message_id}`;
    this.routes = [
      { method: "GET", template: "/gateway/bot", handler: () => this.#gatewayBot() },
      { method: "GET", template: "/users/@me", handler: () => this.#me() },
      { method: "POST", template: "/users/@me/channels", handler: (call) => this.#openDm(call) },
      { method: "GET", template: "/users/{user_id}", handler: (call) => this.#user(call) },
      { method: "GET", template: "/applications/@me", handler: () => this.#application() },
      { method: "GET", template: "/oauth2/applications/@me", handler: () => this.#application() },
      {
        method: "GET",
        template: "/applications/{application_id}/commands",
        handler: (call) => ok(this.#commandsOf("global", call)),
      },
      {
        method: "PUT",
        template: "/applications/{application_id}/commands",
        handler: (call) => this.#putCommands("global", call),
      },
      {
        method: "GET",
        template: "/applications/{application_id}/guilds/{guild_id}/commands",
        handler: (call) => ok(this.#commandsOf(call.params.guild_id ?? "", call)),
      },
      {
        method: "PUT",
        template: "/applications/{application_id}/guilds/{guild_id}/commands",
        handler: (call) => this.#putCommands(call.params.guild_id ?? "", call),
      },
      { method: "GET", template: "/guilds/{guild_id}", handler: (call) => this.#guild(call) },
      { method: "GET", template: "/guilds/{guild_id}/channels", handler: (call) => this.#guildChannels(call) },
      { method: "GET", template: "/guilds/{guild_id}/members/{user_id}", handler: (call) => this.#member(call) },
      { method: "GET", template: "/guilds/{guild_id}/roles", handler: (call) => this.#roles(call) },
      {
        method: "GET",
        template: "/channels/{channel_id}",
        handler: (call) => ok(this.#world.channelPayload(this.#channel(call))),
      },
      { method: "GET", template: "/channels/{channel_id}/messages", handler: (call) => this.#history(call) },
      { method: "POST", template: "/channels/{channel_id}/messages", handler: (call) => this.#post(call) },
      { method: "GET", template: message, handler: (call) => ok(this.#payload(this.#botVisible(call))) },
      { method: "PATCH", template: message, handler: (call) => this.#patchOwn(call) },
      { method: "DELETE", template: message, handler: (call) => this.#deleteOwn(call) },
      { method: "POST", template: "/channels/{channel_id}/typing", handler: (call) => this.#typing(call) },
      { method: "POST", template: "/channels/{channel_id}/threads", handler: (call) => this.#thread(call, undefined) },
      {
        method: "POST",
        template: `${message}/threads`,
        handler: (call) => this.#thread(call, call.params.message_id),
      },
      {
        method: "PUT",
        template: `${message}/reactions/{emoji_name}/@me`,
        handler: (call) => {
          this.reactions.push({ messageId: this.#botVisible(call).id, emoji: call.params.emoji_name ?? "" });
          return { status: 204 };
        },
      },
      {
        method: "POST",
        template: "/interactions/{interaction_id}/{interaction_token}/callback",
        tokenInPath: true,
        handler: (call) => this.#callback(call),
      },
      { method: "POST", template: webhook, tokenInPath: true, handler: (call) => this.#followUp(call) },
      {
        method: "GET",
        template: original,
        tokenInPath: true,
        handler: (call) => ok(this.#payload(this.#original(call))),
      },
      { method: "PATCH", template: original, tokenInPath: true, handler: (call) => this.#patchOriginal(call) },
      {
        method: "DELETE",
        template: original,
        tokenInPath: true,
        handler: (call) => this.#remove(this.#original(call)),
      },
      {
        method: "GET",
        template: followUp,
        tokenInPath: true,
        handler: (call) => ok(this.#payload(this.#byToken(call))),
      },
      {
        method: "PATCH",
        template: followUp,
        tokenInPath: true,
        handler: (call) => this.#change(this.#byToken(call), call),
      },
      { method: "DELETE", template: followUp, tokenInPath: true, handler: (call) => this.#remove(this.#byToken(call)) },
    ];
  }

  #gatewayBot(): RestReply {
    return ok({
      url: `${this.#events.baseUrl().replace(/^http/, "ws")}/gw`,
      shards: 1,
      session_start_limit: { total: 1000, remaining: 999, reset_after: 0, max_concurrency: 1 },
    });
  }

  #me(): RestReply {
    return ok({ ...this.#world.userPayload(this.#world.botId), mfa_enabled: true, verified: true, locale: "en-US" });
  }

  #application(): RestReply {
    return ok({
      id: this.#world.applicationId,
      name: "opsbot",
      icon: null,
      description: "",
      summary: "",
      bot_public: false,
      bot_require_code_grant: false,
      verify_key: "0".repeat(64),
      flags: 0,
      bot: this.#world.userPayload(this.#world.botId),
      owner: null,
      team: null,
    });
  }

  #user(call: RestCall): RestReply {
    const id = call.params.user_id ?? "";
    if (!this.#world.people.has(id)) throw new RestError(404, 10013, "Unknown User");
    return ok(this.#world.userPayload(id));
  }

  #openDm(call: RestCall): RestReply {
    const id = String(call.body.recipient_id ?? "");
    if (!this.#world.people.has(id)) throw new RestError(400, 50033, "Invalid Recipient(s)");
    return ok(this.#world.channelPayload(this.#world.dmWith(id)));
  }

  /** Translations are given to whoever asks for them (`with_localizations`). */
  #commandsOf(scope: string, { query }: RestCall): unknown {
    const stored = this.#world.commands.get(scope) ?? [];
    if (query.get("with_localizations") === "true") return stored;
    return JSON.parse(JSON.stringify(stored, (key, value) => (key.endsWith("_localizations") ? undefined : value)));
  }

  #putCommands(scope: string, call: RestCall): RestReply {
    const commands = call.body as unknown as readonly CommandBody[];
    refuse(commandProblems(Array.isArray(commands) ? commands : []));
    const stored = commands.map((one) => ({
      ...one,
      id: this.#world.snowflake(),
      application_id: this.#world.applicationId,
      version: this.#world.snowflake(),
      type: one.type ?? 1,
      default_member_permissions: null,
      nsfw: false,
    }));
    this.#world.commands.set(scope, stored);
    return ok(stored);
  }

  #guildState(call: RestCall) {
    const guild = this.#world.guilds.get(call.params.guild_id ?? "");
    if (!guild) throw new RestError(404, 10004, "Unknown Guild");
    return guild;
  }

  #guild(call: RestCall): RestReply {
    return ok(this.#world.guildPayload(this.#guildState(call)));
  }

  #guildChannels(call: RestCall): RestReply {
    return ok(this.#world.guildPayload(this.#guildState(call)).channels);
  }

  #roles(call: RestCall): RestReply {
    return ok(this.#world.guildPayload(this.#guildState(call)).roles);
  }

  #member(call: RestCall): RestReply {
    const id = call.params.user_id ?? "";
    if (!this.#guildState(call).memberIds.has(id)) throw new RestError(404, 10007, "Unknown Member");
    return ok(this.#world.memberPayload(id));
  }

  #channel(call: RestCall): ChannelState {
    const channel = this.#world.channels.get(call.params.channel_id ?? "");
    if (!channel) throw unknownChannel();
    if (!channel.writable) throw missingAccess();
    return channel;
  }

  #history(call: RestCall): RestReply {
    const limit = Math.min(Number(call.query.get("limit") ?? 50), 100);
    const after = call.query.get("after");
    const before = call.query.get("before");
    const visible = this.#channel(call)
      .messages.filter((one) => !one.deleted && (one.flags & FLAG_EPHEMERAL) === 0)
      .filter((one) => after === null || BigInt(one.id) > BigInt(after))
      .filter((one) => before === null || BigInt(one.id) < BigInt(before));
    const page = after === null ? visible.slice(-limit) : visible.slice(0, limit);
    return ok(page.reverse().map((one) => this.#payload(one)));
  }

  #post(call: RestCall): RestReply {
    const channel = this.#channel(call);
    if (channel.kind === "forum") throw new RestError(400, 50008, "Cannot send messages in a non-text channel");
    if (channel.kind === "dm" && !this.#world.person(channel.recipientId ?? "").acceptsDms)
      throw new RestError(403, 50007, "Cannot send messages to this user");
    if ((Number(call.body.flags ?? 0) & FLAG_EPHEMERAL) !== 0)
      refuse([{ path: "flags", code: "MESSAGE_FLAGS_INVALID", message: "Ephemeral needs an interaction" }]);
    const nonce = call.body.nonce;
    if (nonce !== undefined && nonce !== null && String(nonce).length > 25)
      refuse([{ path: "nonce", code: "NONCE_TYPE_TOO_LONG", message: "Must be 25 or fewer in length." }]);
    if (call.body.enforce_nonce === true && nonce !== undefined) {
      const known = channel.messages.find(
        (one) => one.nonce === String(nonce) && !one.deleted && this.#now() - one.atMs < NONCE_WINDOW_MS,
      );
      if (known) return ok(this.#payload(known));
    }
    const reference = call.body.message_reference as { message_id?: string; fail_if_not_exists?: boolean } | undefined;
    const replied =
      reference?.message_id === undefined ? undefined : this.#world.message(channel.id, reference.message_id);
    if (reference && !replied && reference.fail_if_not_exists !== false)
      refuse([{ path: "message_reference", code: "REPLIES_UNKNOWN_MESSAGE", message: "Unknown message" }]);
    const message = this.#create(channel.id, call, {
      ...(nonce === undefined || nonce === null ? {} : { nonce: String(nonce) }),
      ...(replied ? { replyToId: replied.id } : {}),
    });
    return ok(this.#payload(message));
  }

  #create(
    channelId: string,
    call: RestCall,
    extra: Partial<StoredMessage> & { readonly forcedFlags?: number },
  ): StoredMessage {
    const body = messageBody(call.body);
    const names = call.uploads.map((one) => one.name);
    refuse(messageProblems(body, names));
    if (isEmptyMessage(body, names)) throw new RestError(400, 50006, "Cannot send an empty message");
    const { forcedFlags, ...rest } = extra;
    const message = this.#world.addMessage(channelId, {
      ...rest,
      authorId: this.#world.botId,
      content: body.content ?? "",
      components: body.components ?? [],
      flags: (body.flags ?? 0) | (forcedFlags ?? 0),
      files: call.uploads.map((one) => this.#world.makeFile(one.name, one.bytes)),
      mentions: allowedMentions(this.#world, body, call.body.allowed_mentions, this.#events.violation),
    });
    this.#events.created(message);
    return message;
  }

  #botVisible(call: RestCall): StoredMessage {
    const channel = this.#channel(call);
    const message = this.#world.message(channel.id, call.params.message_id ?? "");
    // Ephemeral messages do not exist for the bot token.
    if (!message || (message.flags & FLAG_EPHEMERAL) !== 0) throw unknownMessage();
    return message;
  }

  #patchOwn(call: RestCall): RestReply {
    const message = this.#botVisible(call);
    if (message.authorId !== this.#world.botId)
      throw new RestError(403, 50005, "Cannot edit a message authored by another user");
    return this.#change(message, call);
  }

  #deleteOwn(call: RestCall): RestReply {
    const message = this.#botVisible(call);
    if (message.authorId !== this.#world.botId) throw new RestError(403, 50013, "Missing Permissions");
    return this.#remove(message);
  }

  #change(message: StoredMessage, call: RestCall): RestReply {
    const body = messageBody(call.body);
    const names = call.uploads.map((one) => one.name);
    const v2 = (message.flags & FLAG_COMPONENTS_V2) !== 0;
    const kept = keptFiles(message.files, call.body.attachments);
    refuse(messageProblems(body, names, { v2, attachments: kept.map((one) => one.name) }));
    if (body.content !== undefined || body.components !== undefined)
      message.history.push(message.content || textOf(message.components));
    if (body.content !== undefined) {
      message.content = body.content ?? "";
      message.mentions = allowedMentions(this.#world, body, call.body.allowed_mentions, this.#events.violation);
    }
    if (body.components !== undefined) message.components = body.components ?? [];
    message.files = [...kept, ...call.uploads.map((one) => this.#world.makeFile(one.name, one.bytes))];
    message.flags = (message.flags | ((body.flags ?? 0) & FLAG_COMPONENTS_V2)) & ~FLAG_LOADING;
    message.editedAtMs = this.#now();
    this.#events.updated(message);
    return ok(this.#payload(message));
  }

  #remove(message: StoredMessage): RestReply {
    message.deleted = true;
    this.#events.deleted(message);
    return { status: 204 };
  }

  #typing(call: RestCall): RestReply {
    this.typing.push(this.#channel(call).id);
    return { status: 204 };
  }

  #thread(call: RestCall, fromMessage: string | undefined): RestReply {
    const parent = this.#channel(call);
    const name = String(call.body.name ?? "");
    if (name.length < 1 || name.length > 100)
      refuse([{ path: "name", code: "BASE_TYPE_BAD_LENGTH", message: "Must be between 1 and 100 in length." }]);
    if (fromMessage !== undefined && this.#world.channels.has(fromMessage))
      throw new RestError(400, 160004, "A thread has already been created for this message");
    const thread = this.#world.addChannel({
      kind: "thread",
      name,
      parentId: parent.id,
      ...(parent.guildId === undefined ? {} : { guildId: parent.guildId }),
      ...(fromMessage === undefined ? {} : { id: fromMessage }),
    });
    this.#events.threadCreated(thread);
    return { status: 201, body: this.#world.channelPayload(thread) };
  }

  #callback(call: RestCall): RestReply {
    const interaction = this.#interactions.byIdAndToken(
      call.params.interaction_id ?? "",
      call.params.interaction_token ?? "",
    );
    if (!interaction) throw unknownInteraction();
    if (interaction.answered) throw new RestError(400, 40060, "Interaction has already been acknowledged.");
    if (this.#interactions.tooLate(interaction)) {
      this.#events.violation(`interaction ${interaction.kind} answered after 3 seconds`);
      throw unknownInteraction();
    }
    const type = Number(call.body.type);
    const data = (call.body.data ?? {}) as Record<string, unknown>;
    const name = (Object.keys(CALLBACK) as (keyof typeof CALLBACK)[]).find((one) => CALLBACK[one] === type);
    if (!name || !callbackFits(interaction, name))
      throw new RestError(400, 50035, "Invalid Form Body", {
        type: { _errors: [{ code: "INTERACTION_CALLBACK_TYPE_INVALID", message: `Type ${type} does not fit` }] },
      });
    this.#answer(interaction, name, { ...call, body: data });
    interaction.answered = name;
    this.#interactions.changed();
    return call.query.get("with_response") === "true" ? ok(this.#callbackResponse(interaction, type)) : { status: 204 };
  }

  #callbackResponse(interaction: InteractionState, type: number): unknown {
    const { original, kind } = interaction;
    return {
      interaction: {
        id: interaction.id,
        type: INTERACTION[kind],
        ...(original
          ? {
              response_message_id: original.id,
              response_message_loading: (original.flags & FLAG_LOADING) !== 0,
              response_message_ephemeral: (original.flags & FLAG_EPHEMERAL) !== 0,
            }
          : {}),
      },
      ...(original ? { resource: { type, message: this.#payload(original) } } : {}),
    };
  }

  #answer(interaction: InteractionState, name: keyof typeof CALLBACK, call: RestCall): void {
    const flags = Number(call.body.flags ?? 0);
    switch (name) {
      case "message":
        interaction.original = this.#create(interaction.channelId, call, this.#ownership(interaction, flags));
        return;
      case "deferredMessage": {
        interaction.deferredFlags = flags & FLAG_EPHEMERAL;
        const message = this.#world.addMessage(interaction.channelId, {
          authorId: this.#world.botId,
          content: "",
          components: [],
          files: [],
          ...this.#ownership(interaction, flags),
          flags: (flags & FLAG_EPHEMERAL) | FLAG_LOADING,
        });
        interaction.original = message;
        this.#events.created(message);
        return;
      }
      case "deferredUpdate":
        return;
      case "update": {
        const message = this.#world.message(interaction.channelId, interaction.sourceMessageId ?? "");
        if (!message) throw unknownMessage();
        this.#change(message, call);
        return;
      }
      case "autocomplete": {
        const choices = (call.body.choices ?? []) as InteractionState["choices"] & readonly { name: string }[];
        if (choices.length > 25)
          refuse([{ path: "data.choices", code: "BASE_TYPE_MAX_LENGTH", message: "Must be 25 or fewer in length." }]);
        for (const [index, one] of choices.entries())
          if (one.name.length < 1 || one.name.length > 100)
            refuse([
              {
                path: `data.choices.${index}.name`,
                code: "BASE_TYPE_BAD_LENGTH",
                message: "Must be between 1 and 100 in length.",
              },
            ]);
        interaction.choices = choices;
        return;
      }
      case "modal": {
        refuse(modalProblems(call.body));
        const rows = call.body.components as Record<string, unknown>[];
        interaction.modal = {
          customId: String(call.body.custom_id),
          title: String(call.body.title),
          fields: rows.map((row) => {
            const input = (row.component ?? (row.components as unknown[])[0]) as Record<string, unknown>;
            return {
              id: String(input.custom_id),
              label: String(row.label ?? input.label ?? ""),
              required: input.required !== false,
            };
          }),
        };
        return;
      }
    }
  }

  #ownership(interaction: InteractionState, flags: number) {
    return {
      interactionId: interaction.id,
      webhook: true,
      ...((flags & FLAG_EPHEMERAL) !== 0 ? { onlyForId: interaction.userId } : {}),
    };
  }

  #live(call: RestCall): InteractionState {
    const interaction = this.#interactions.byToken(call.params.webhook_token ?? "");
    if (!interaction || call.params.webhook_id !== this.#world.applicationId)
      throw new RestError(404, 10015, "Unknown Webhook");
    if (this.#interactions.tokenExpired(interaction)) throw invalidToken();
    if (!interaction.answered) throw new RestError(404, 10015, "Unknown Webhook");
    return interaction;
  }

  #original(call: RestCall): StoredMessage {
    const interaction = this.#live(call);
    const id = interaction.original?.id ?? interaction.sourceMessageId ?? "";
    const message = this.#world.message(interaction.channelId, id);
    if (!message) throw unknownMessage();
    return message;
  }

  #patchOriginal(call: RestCall): RestReply {
    return this.#change(this.#original(call), call);
  }

  #byToken(call: RestCall): StoredMessage {
    const interaction = this.#live(call);
    const message = this.#world.message(interaction.channelId, call.params.message_id ?? "");
    if (!message || (message.interactionId !== interaction.id && message.id !== interaction.sourceMessageId))
      throw unknownMessage();
    return message;
  }

  #followUp(call: RestCall): RestReply {
    const interaction = this.#live(call);
    const waiting = interaction.original;
    // The first follow-up after a deferred answer replaces the placeholder and keeps its visibility.
    if (waiting && !waiting.deleted && (waiting.flags & FLAG_LOADING) !== 0) {
      const asked = Number(call.body.flags ?? 0) & FLAG_EPHEMERAL;
      if (asked !== (interaction.deferredFlags ?? 0))
        this.#events.violation("a follow-up to a deferred answer can not change its visibility");
      return this.#change(waiting, call);
    }
    const flags = Number(call.body.flags ?? 0);
    const message = this.#create(interaction.channelId, call, this.#ownership(interaction, flags));
    return ok(this.#payload(message));
  }

  #payload(message: StoredMessage): unknown {
    return this.#world.messagePayload(message, this.#events.baseUrl());
  }
}

function ok(body: unknown): RestReply {
  return { status: 200, body };
}

function refuse(problems: readonly FormProblem[]): void {
  if (problems.length > 0) throw new RestError(400, 50035, "Invalid Form Body", errorTree(problems));
}

function messageBody(body: Record<string, unknown>): MessageBody & {
  readonly components?: readonly APIMessageTopLevelComponent[] | null;
} {
  return body as MessageBody;
}

function callbackFits(interaction: InteractionState, name: keyof typeof CALLBACK): boolean {
  switch (interaction.kind) {
    case "command":
      return ["message", "deferredMessage", "modal"].includes(name);
    case "component":
      return name !== "autocomplete";
    case "autocomplete":
      return name === "autocomplete";
    case "modal":
      return interaction.sourceMessageId === undefined
        ? ["message", "deferredMessage"].includes(name)
        : ["message", "deferredMessage", "deferredUpdate", "update"].includes(name);
  }
}

/** Files an edit keeps: all when `attachments` is absent, else those it lists by id. */
function keptFiles(files: readonly StoredFile[], attachments: unknown): readonly StoredFile[] {
  if (!Array.isArray(attachments)) return files;
  const ids = new Set(attachments.map((one) => String((one as { id?: unknown }).id)));
  return files.filter((one) => ids.has(one.id));
}

function textOf(components: readonly unknown[]): string {
  return components
    .map((one) => {
      const node = one as { content?: string; components?: unknown[] };
      return node.content ?? textOf(node.components ?? []);
    })
    .filter((one) => one !== "")
    .join("\n");
}

export { attachmentNames, textOf };

/** Whom a message really notifies. A bot that could ping by accident is a violation of every test here. */
function allowedMentions(
  world: World,
  body: MessageBody,
  allowed: unknown,
  violation: (text: string) => void,
): readonly string[] {
  const text = `${body.content ?? ""}\n${textOf(body.components ?? [])}`;
  const parse = (allowed as { parse?: readonly string[] } | undefined)?.parse;
  const everyone = /@everyone|@here/.test(text);
  const people = world.mentionsIn(text);
  if (parse !== undefined) return parse.includes("users") ? people : [];
  if (everyone || people.length > 0) violation("a message with mentions was sent without allowed_mentions");
  return people;
}
