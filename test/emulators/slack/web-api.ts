/** Slack's Web API over the workspace: arguments, permissions, limits and errors as Slack answers them. */
import { createHash, randomUUID } from "node:crypto";
import type { EmulatorReply, EmulatorRequest } from "../shared/http.ts";
import type { JournalEntry } from "../shared/journal.ts";
import { type Rate, SlidingRates } from "../shared/rate.ts";
import { checkBlocks, checkView, MAX_MESSAGE_TEXT_IN_BLOCKS, textInBlocks } from "./block-rules.ts";
import { pingsInBlocks, pingsInMrkdwn } from "./markup.ts";
import { ResponseCheck } from "./response-check.ts";
import { BOT, BOT_ID, type Conversation, type SlackMessage, TEAM, type Workspace } from "./workspace.ts";

type Json = Record<string, unknown>;
type Args = Readonly<Record<string, string>>;

export class SlackApiError extends Error {
  readonly code: string;
  readonly messages: readonly string[];
  constructor(code: string, messages: readonly string[] = []) {
    super(code);
    this.code = code;
    this.messages = messages;
  }
}

/** What the Web API needs from the rest of the emulator. */
export interface WebApiHost {
  readonly workspace: Workspace;
  readonly baseUrl: () => string;
  readonly socketUrl: () => string;
  readonly nowMs: () => number;
  /** Uses up a trigger; throws `expired_trigger_id` or `invalid_trigger_id` through {@link SlackApiError}. */
  readonly takeTrigger: (id: string) => { readonly user: string };
  readonly openView: (user: string, view: Json, how: "open" | "push") => Json;
  readonly updateView: (viewId: string, view: Json) => Json;
  readonly changed: () => void;
}

interface Method {
  readonly token: "bot" | "app";
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly run: (args: Args, entry: JournalEntry) => Json;
}

const MESSAGE_ARGS = [
  "text",
  "blocks",
  "attachments",
  "thread_ts",
  "mrkdwn",
  "parse",
  "link_names",
  "metadata",
] as const;
const PAGE_ARGS = ["cursor", "limit", "oldest", "latest", "inclusive", "include_all_metadata"] as const;
const MAX_TEXT = 40_000;
/** Bytes, where `chat.postMessage` counts characters. */
const MAX_UPDATE_TEXT = 4000;
/** 8 kB of metadata per message, docs.slack.dev/messaging/message-metadata. */
const MAX_METADATA = 8000;

export const BOT_SCOPES = [
  "app_mentions:read",
  "channels:history",
  "channels:read",
  "chat:write",
  "commands",
  "files:write",
  "groups:history",
  "groups:read",
  "im:history",
  "im:read",
  "im:write",
  "mpim:history",
  "mpim:read",
  "reactions:write",
  "usergroups:read",
  "users:read",
] as const;

export interface Tokens {
  readonly bot: string;
  readonly app: string;
}

export class WebApi {
  /** Texts of the bot that would have notified people. */
  readonly pings: string[] = [];
  /** The bot's messages in one channel. */
  perChannel: Rate | undefined;
  /** Calls of one method in the workspace: docs.slack.dev/apis/web-api/rate-limits. */
  perMethod: Readonly<Record<string, Rate>> = {};
  scopes: readonly string[] = BOT_SCOPES;
  private readonly host: WebApiHost;
  private readonly tokens: Tokens;
  private readonly methods: Readonly<Record<string, Method>>;
  private readonly responseCheck = new ResponseCheck();
  private readonly rates = new SlidingRates();

  constructor(host: WebApiHost, tokens: Tokens) {
    this.host = host;
    this.tokens = tokens;
    this.methods = this.table();
  }

  get names(): readonly string[] {
    return Object.keys(this.methods);
  }

  reset(): void {
    this.pings.length = 0;
    this.rates.reset();
    this.perChannel = undefined;
    this.perMethod = {};
    this.scopes = BOT_SCOPES;
  }

  call(name: string, request: EmulatorRequest, entry: JournalEntry): EmulatorReply {
    const body = (request.body ?? {}) as Json;
    const args = Object.fromEntries(
      Object.entries(body).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]),
    );
    const headers = { "x-oauth-scopes": this.scopes.join(","), "x-slack-req-id": randomUUID() };
    try {
      const method = this.methods[name];
      if (method === undefined) throw new SlackApiError("unknown_method");
      this.authorize(method, request, args);
      this.checkArguments(method, args, entry);
      this.limit(name, this.perMethod[name]);
      const json = { ok: true, ...method.run(args, entry) };
      entry.violations.push(...this.responseCheck.problems(name, json));
      this.host.changed();
      return { status: 200, headers, json };
    } catch (error) {
      if (!(error instanceof SlackApiError)) throw error;
      if (error.code === "ratelimited") {
        return { status: 429, headers: { ...headers, "retry-after": "1" }, json: { ok: false, error: "ratelimited" } };
      }
      if (BROKEN_RULES.has(error.code)) entry.violations.push([error.code, ...error.messages].join(": "));
      const metadata =
        error.messages.length === 0
          ? {}
          : { response_metadata: { messages: error.messages.map((m) => `[ERROR] ${m}`) } };
      return { status: 200, headers, json: { ok: false, error: error.code, ...metadata } };
    }
  }

  private authorize(method: Method, request: EmulatorRequest, args: Args): void {
    const header = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1];
    const token = header ?? args.token;
    if (token === undefined) throw new SlackApiError("not_authed");
    if (token !== this.tokens.bot && token !== this.tokens.app) throw new SlackApiError("invalid_auth");
    if (token !== this.tokens[method.token]) throw new SlackApiError("not_allowed_token_type");
  }

  private checkArguments(method: Method, args: Args, entry: JournalEntry): void {
    const missing = method.required.filter((name) => (args[name] ?? "") === "");
    if (missing.length > 0)
      throw new SlackApiError(
        "invalid_arguments",
        missing.map((name) => `missing required field: ${name}`),
      );
    const known = new Set([...method.required, ...method.optional, "token", "team_id"]);
    for (const name of Object.keys(args)) if (!known.has(name)) entry.violations.push(`unknown argument ${name}`);
    for (const name of ["ts", "thread_ts", "oldest", "latest"]) {
      const value = args[name];
      if (value !== undefined && value !== "" && !/^\d{1,10}\.\d{1,6}$/.test(value))
        throw new SlackApiError(`invalid_${name}`);
    }
  }

  private table(): Record<string, Method> {
    const { workspace } = this.host;
    const bot = (
      required: readonly string[],
      optional: readonly string[],
      run: (args: Args, entry: JournalEntry) => Json,
    ): Method => ({ token: "bot", required, optional, run });
    return {
      "auth.test": bot([], [], () => ({
        url: `https://${TEAM.domain}.slack.com/`,
        team: TEAM.name,
        team_id: TEAM.id,
        user: BOT.name,
        user_id: BOT.id,
        bot_id: BOT_ID,
        is_enterprise_install: false,
      })),
      "apps.connections.open": {
        token: "app",
        required: [],
        optional: [],
        run: () => ({ url: this.host.socketUrl() }),
      },
      "chat.postMessage": bot(
        ["channel"],
        [...MESSAGE_ARGS, "reply_broadcast", "unfurl_links", "unfurl_media"],
        (args, entry) => this.post(args, entry),
      ),
      "chat.postEphemeral": bot(["channel", "user"], [...MESSAGE_ARGS], (args, entry) =>
        this.postEphemeral(args, entry),
      ),
      "chat.update": bot(["channel", "ts"], [...MESSAGE_ARGS, "unfurl_links", "unfurl_media"], (args, entry) =>
        this.update(args, entry),
      ),
      "chat.delete": bot(["channel", "ts"], [], (args) => {
        const message = this.own(args, "cant_delete_message");
        message.deleted = true;
        return { channel: message.channel, ts: message.ts };
      }),
      "chat.getPermalink": bot(["channel", "message_ts"], [], (args) => {
        this.message(this.conversation(args.channel).id, args.message_ts);
        const path = `${args.channel}/p${(args.message_ts ?? "").replace(".", "")}`;
        return { channel: args.channel, permalink: `https://${TEAM.domain}.slack.com/archives/${path}` };
      }),
      "conversations.open": bot([], ["users", "channel", "return_im"], (args) => {
        const user = workspace.users.get(args.users ?? "");
        if (user === undefined) throw new SlackApiError("user_not_found");
        if (user.isBot) throw new SlackApiError("cannot_dm_bot");
        return { channel: { id: workspace.openIm(user.id).id } };
      }),
      "conversations.info": bot(["channel"], ["include_locale", "include_num_members"], (args) => ({
        channel: conversationJson(this.conversation(args.channel)),
      })),
      "conversations.list": bot([], ["cursor", "limit", "types", "exclude_archived"], (args) => {
        const types = (args.types ?? "public_channel").split(",");
        const wanted = [...workspace.conversations.values()].filter((c) => types.includes(TYPE_NAME[c.kind]));
        return page(wanted, args, (list) => ({ channels: list.map(conversationJson) }));
      }),
      "conversations.history": bot(["channel"], [...PAGE_ARGS], (args) => {
        const channel = this.member(args.channel);
        const roots = workspace.messages.filter(
          (m) => m.channel === channel.id && (m.threadTs === undefined || m.threadTs === m.ts),
        );
        return {
          ...this.pageOfMessages(roots.reverse(), args),
          pin_count: 0,
          channel_actions_ts: null,
          channel_actions_count: 0,
        };
      }),
      "conversations.replies": bot(["channel", "ts"], [...PAGE_ARGS], (args) => {
        const channel = this.member(args.channel);
        const thread = workspace.messages.filter(
          (m) => m.channel === channel.id && (m.ts === args.ts || m.threadTs === args.ts),
        );
        if (thread.length === 0) throw new SlackApiError("thread_not_found");
        return this.pageOfMessages(thread, args);
      }),
      "users.info": bot(["user"], ["include_locale"], (args) => {
        const user = workspace.users.get(args.user ?? "");
        if (user === undefined) throw new SlackApiError("user_not_found");
        return { user: userJson(user, args.include_locale === "true" || args.include_locale === "1") };
      }),
      "users.list": bot([], ["cursor", "limit", "include_locale"], (args) =>
        page([...workspace.users.values()], args, (list) => ({ members: list.map((user) => userJson(user, false)) })),
      ),
      "usergroups.users.list": bot(["usergroup"], ["include_disabled"], (args) => {
        if (!this.scopes.includes("usergroups:read")) throw new SlackApiError("missing_scope");
        const group = workspace.userGroups.get(args.usergroup ?? "");
        if (group === undefined) throw new SlackApiError("no_such_subteam");
        return { users: [...group.members] };
      }),
      "views.open": bot(["view"], ["trigger_id", "interactivity_pointer"], (args) => this.openView(args, "open")),
      "views.push": bot(["view"], ["trigger_id", "interactivity_pointer"], (args) => this.openView(args, "push")),
      "views.update": bot(["view"], ["view_id", "external_id", "hash"], (args) => ({
        view: this.host.updateView(args.view_id ?? "", this.view(args.view)),
      })),
      "views.publish": bot(["user_id", "view"], ["hash"], (args) => ({
        view: { id: workspace.newId("V"), ...this.view(args.view) },
      })),
      "assistant.threads.setStatus": bot(["channel_id", "thread_ts"], ["status", "loading_messages"], (args) => {
        const channel = this.member(args.channel_id);
        if (workspace.find(channel.id, args.thread_ts ?? "") === undefined)
          throw new SlackApiError("invalid_thread_ts");
        workspace.setStatus(channel.id, args.thread_ts ?? "", args.status ?? "");
        return {};
      }),
      "reactions.add": bot(["channel", "name", "timestamp"], [], (args) => {
        if (!this.scopes.includes("reactions:write")) throw new SlackApiError("missing_scope");
        const message = this.message(this.member(args.channel).id, args.timestamp);
        const who = message.reactions.get(args.name ?? "") ?? new Set<string>();
        if (who.has(BOT.id)) throw new SlackApiError("already_reacted");
        message.reactions.set(args.name ?? "", who.add(BOT.id));
        return {};
      }),
      "reactions.remove": bot(["name"], ["channel", "timestamp", "file"], (args) => {
        const message = this.message(this.member(args.channel).id, args.timestamp);
        if (message.reactions.get(args.name ?? "")?.delete(BOT.id) !== true) throw new SlackApiError("no_reaction");
        return {};
      }),
      "files.getUploadURLExternal": bot(["filename", "length"], ["alt_text", "snippet_type"], (args) => {
        const length = Number(args.length);
        if (!Number.isInteger(length) || length <= 0)
          throw new SlackApiError("invalid_arguments", ["length must be positive"]);
        const id = workspace.newId("F");
        workspace.files.set(id, { id, name: args.filename ?? "", expectedLength: length, completed: false });
        return { file_id: id, upload_url: `${this.host.baseUrl()}/upload/v1/${id}` };
      }),
      "files.completeUploadExternal": bot(
        ["files"],
        ["channel_id", "channels", "initial_comment", "thread_ts", "blocks"],
        (args, entry) => this.completeUpload(args, entry),
      ),
    };
  }

  /** Bytes sent to an upload URL. */
  receiveUpload(fileId: string, request: EmulatorRequest, entry: JournalEntry): EmulatorReply {
    const file = this.host.workspace.files.get(fileId);
    const bytes = request.parts[0]?.bytes ?? request.raw;
    if (file === undefined) return { status: 404, body: "no such upload" };
    if (bytes.length !== file.expectedLength)
      entry.violations.push(`announced ${file.expectedLength} bytes, sent ${bytes.length}`);
    file.bytes = bytes;
    return { status: 200, body: `OK - ${bytes.length}` };
  }

  /** POST to a response_url; `place` says where the interaction was. */
  respond(
    place: { readonly channel: string; readonly user: string; readonly messageTs?: string; readonly threadTs?: string },
    body: Json,
    entry: JournalEntry,
  ): EmulatorReply {
    const { workspace } = this.host;
    const original = place.messageTs === undefined ? undefined : workspace.find(place.channel, place.messageTs);
    if (body.delete_original === true) {
      if (original !== undefined) original.deleted = true;
    } else if (body.replace_original === true && original !== undefined) {
      workspace.edit(original, this.content({ ...strings(body) }, entry, MAX_TEXT));
    } else {
      const threadTs = typeof body.thread_ts === "string" ? body.thread_ts : undefined;
      workspace.add({
        channel: place.channel,
        user: BOT.id,
        ...this.content(strings(body), entry, MAX_TEXT),
        ...(threadTs === undefined ? {} : { threadTs }),
        ...(body.response_type === "in_channel" ? {} : { onlyFor: place.user }),
      });
    }
    this.host.changed();
    return { status: 200, body: "ok" };
  }

  private post(args: Args, entry: JournalEntry): Json {
    const { workspace } = this.host;
    const direct = workspace.users.get(args.channel ?? "");
    const channel = this.member(direct === undefined ? args.channel : workspace.openIm(direct.id).id);
    if (channel.archived) throw new SlackApiError("is_archived");
    const content = this.content(args, entry, MAX_TEXT);
    const threadTs = this.threadOf(channel, args.thread_ts);
    this.limit(`post|${channel.id}`, this.perChannel);
    const message = workspace.add({ channel: channel.id, user: BOT.id, ...content, ...threadTs });
    return { channel: channel.id, ts: message.ts, message: messageJson(message, true) };
  }

  private threadOf(channel: Conversation, ts: string | undefined): { readonly threadTs?: string } {
    if (ts === undefined || ts === "") return {};
    const root = this.host.workspace.find(channel.id, ts);
    if (root === undefined) throw new SlackApiError("thread_not_found");
    return { threadTs: root.threadTs ?? root.ts };
  }

  private postEphemeral(args: Args, entry: JournalEntry): Json {
    const channel = this.member(args.channel);
    if (!channel.members.has(args.user ?? "")) throw new SlackApiError("user_not_in_channel");
    const message = this.host.workspace.add({
      channel: channel.id,
      user: BOT.id,
      ...this.content(args, entry, MAX_TEXT),
      ...this.threadOf(channel, args.thread_ts),
      onlyFor: args.user ?? "",
    });
    return { message_ts: message.ts };
  }

  private update(args: Args, entry: JournalEntry): Json {
    const message = this.own(args, "cant_update_message");
    const next = this.content(args, entry, MAX_UPDATE_TEXT);
    // docs: what an update leaves out (blocks, metadata) keeps its previous value.
    this.host.workspace.edit(message, {
      text: next.text,
      ...(args.blocks === undefined ? {} : { blocks: next.blocks }),
      ...(next.metadata === undefined ? {} : { metadata: next.metadata }),
    });
    return { channel: message.channel, ts: message.ts, text: message.text, message: messageJson(message, true) };
  }

  private content(
    args: Args,
    entry: JournalEntry,
    maxText: number,
  ): Pick<SlackMessage, "text" | "blocks"> & { metadata?: NonNullable<SlackMessage["metadata"]> } {
    const text = args.text ?? "";
    const blocks = args.blocks === undefined ? [] : (parseJson(args.blocks, "invalid_blocks_format") as Json[]);
    if (text.trim() === "" && blocks.length === 0) throw new SlackApiError("no_text");
    const size = maxText === MAX_UPDATE_TEXT ? Buffer.byteLength(text) : text.length;
    if (size > maxText) throw new SlackApiError("msg_too_long");
    if (text === "" && blocks.length > 0) entry.violations.push("blocks without a text fallback");
    const problems = checkBlocks(blocks);
    if (problems.length > 0) throw new SlackApiError("invalid_blocks", problems);
    if (textInBlocks(blocks) > MAX_MESSAGE_TEXT_IN_BLOCKS) throw new SlackApiError("msg_blocks_too_long");
    const metadata =
      args.metadata === undefined
        ? undefined
        : (parseJson(args.metadata, "invalid_metadata_format") as SlackMessage["metadata"]);
    if (
      metadata !== undefined &&
      (typeof metadata.event_type !== "string" || typeof metadata.event_payload !== "object")
    ) {
      throw new SlackApiError("invalid_metadata_schema");
    }
    if ((args.metadata ?? "").length > MAX_METADATA) throw new SlackApiError("metadata_too_large");
    this.pings.push(...pingsInMrkdwn(text), ...pingsInBlocks(blocks));
    if (args.link_names === "true" || args.parse === "full")
      this.pings.push("link_names or parse=full turn plain @names into mentions");
    return { text, blocks, ...(metadata === undefined ? {} : { metadata }) };
  }

  private limit(what: string, rate: Rate | undefined): void {
    if (rate !== undefined && this.rates.charge(what, rate, this.host.nowMs()) > 0)
      throw new SlackApiError("ratelimited");
  }

  private conversation(id: string | undefined): Conversation {
    const found = this.host.workspace.conversations.get(id ?? "");
    if (found === undefined || (found.kind !== "channel" && !found.members.has(BOT.id)))
      throw new SlackApiError("channel_not_found");
    return found;
  }

  private member(id: string | undefined): Conversation {
    const found = this.conversation(id);
    if (!found.members.has(BOT.id)) throw new SlackApiError("not_in_channel");
    return found;
  }

  private message(channel: string, ts: string | undefined): SlackMessage {
    const found = this.host.workspace.find(channel, ts ?? "");
    if (found === undefined || found.onlyFor !== undefined) throw new SlackApiError("message_not_found");
    return found;
  }

  private own(args: Args, refusal: string): SlackMessage {
    const message = this.message(this.member(args.channel).id, args.ts);
    if (message.user !== BOT.id) throw new SlackApiError(refusal);
    return message;
  }

  private openView(args: Args, how: "open" | "push"): Json {
    const view = this.view(args.view);
    return { view: this.host.openView(this.host.takeTrigger(args.trigger_id ?? "").user, view, how) };
  }

  private view(text: string | undefined): Json {
    const view = parseJson(text ?? "", "invalid_arguments") as Json;
    const problems = checkView(view);
    if (problems.length > 0) throw new SlackApiError("invalid_arguments", problems);
    return view;
  }

  private completeUpload(args: Args, entry: JournalEntry): Json {
    const { workspace } = this.host;
    const wanted = parseJson(args.files ?? "", "invalid_arguments") as { id: string; title?: string }[];
    const files = wanted.map(({ id }) => {
      const file = workspace.files.get(id);
      if (file?.bytes === undefined) throw new SlackApiError("file_not_found");
      file.completed = true;
      return file;
    });
    if (args.channel_id !== undefined) {
      const channel = this.member(args.channel_id);
      const text = args.initial_comment ?? "";
      this.pings.push(...pingsInMrkdwn(text));
      if (text.length > MAX_TEXT) entry.violations.push("initial_comment is too long");
      workspace.add({ channel: channel.id, user: BOT.id, text, files, ...this.threadOf(channel, args.thread_ts) });
    }
    return { files: files.map((file) => ({ id: file.id, title: file.name })) };
  }

  private pageOfMessages(list: readonly SlackMessage[], args: Args): Json {
    const inclusive = args.inclusive === "true" || args.inclusive === "1";
    const inRange = list.filter(
      (m) =>
        !m.deleted &&
        m.onlyFor === undefined &&
        (args.oldest === undefined || Number(m.ts) > Number(args.oldest) || (inclusive && m.ts === args.oldest)) &&
        (args.latest === undefined || Number(m.ts) < Number(args.latest) || (inclusive && m.ts === args.latest)),
    );
    return page(inRange, args, (messages) => ({
      messages: messages.map((message) =>
        messageJson(message, args.include_all_metadata === "true" || args.include_all_metadata === "1"),
      ),
    }));
  }
}

/** Errors that mean the client sent something it should have known to be wrong. */
const BROKEN_RULES = new Set([
  "invalid_blocks",
  "invalid_blocks_format",
  "msg_blocks_too_long",
  "msg_too_long",
  "no_text",
  "invalid_arguments",
  "invalid_metadata_format",
  "invalid_metadata_schema",
  "metadata_too_large",
  "unknown_method",
  "not_allowed_token_type",
  "invalid_ts",
  "invalid_thread_ts",
  "invalid_oldest",
  "invalid_latest",
]);

const TYPE_NAME = { channel: "public_channel", private: "private_channel", mpim: "mpim", im: "im" } as const;

function page<T>(list: readonly T[], args: Args, render: (items: readonly T[]) => Json): Json {
  const limit = Math.min(Math.max(Number(args.limit ?? 100), 1), 999);
  const from =
    args.cursor === undefined || args.cursor === "" ? 0 : Number(Buffer.from(args.cursor, "base64").toString());
  const more = from + limit < list.length;
  const next = more ? Buffer.from(String(from + limit)).toString("base64") : "";
  return { ...render(list.slice(from, from + limit)), has_more: more, response_metadata: { next_cursor: next } };
}

function parseJson(text: string, code: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SlackApiError(code, ["could not be parsed as JSON"]);
  }
}

function strings(body: Json): Args {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

function conversationJson(c: Conversation): Json {
  return {
    id: c.id,
    name: c.kind === "im" ? undefined : c.name,
    is_channel: c.kind === "channel",
    is_group: c.kind === "private",
    is_im: c.kind === "im",
    is_mpim: c.kind === "mpim",
    is_private: c.kind !== "channel",
    is_archived: c.archived,
    is_member: c.members.has(BOT.id),
  };
}

function userJson(
  user: { id: string; name: string; realName: string; locale: string; isBot: boolean },
  locale: boolean,
): Json {
  return {
    id: user.id,
    team_id: TEAM.id,
    name: user.name,
    real_name: user.realName,
    deleted: false,
    is_bot: user.isBot,
    profile: { display_name: user.name, real_name: user.realName },
    ...(locale ? { locale: user.locale } : {}),
  };
}

export function messageJson(message: SlackMessage, withMetadata: boolean): Json {
  const bot = message.user === BOT.id;
  return {
    type: "message",
    user: message.user,
    text: message.text,
    ts: message.ts,
    team: TEAM.id,
    ...(bot ? { bot_id: BOT_ID, app_id: "A0OPENCLAW" } : {}),
    ...(message.blocks.length > 0 ? { blocks: message.blocks } : {}),
    ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
    ...(message.edited ? { edited: { user: message.user, ts: message.ts } } : {}),
    ...(message.files.length > 0
      ? { files: message.files.map((file) => ({ id: file.id, name: file.name, size: file.bytes?.length ?? 0 })) }
      : {}),
    ...(withMetadata && message.metadata !== undefined ? { metadata: message.metadata } : {}),
  };
}

export function viewHash(view: Json): string {
  return createHash("sha256").update(JSON.stringify(view)).digest("hex").slice(0, 12);
}
