/** What Slack sends to neutral events. Pure; every field is checked, because none of it is ours. */
import type { ChatType, Route } from "../../core/route.ts";
import { type ButtonAction, decodeAction, encodeAction } from "../cards/action-codec.ts";
import { readSlackText } from "./markup.ts";

export interface SlackIdentity {
  readonly accountId: string;
  readonly teamId: string;
  readonly botUserId: string;
  readonly botId: string | undefined;
}

/**
 * Where an answer to a message in a room goes, in the words of `channels.slack.replyToMode`. `off`: into a thread only when
 * the message was in one. `first` and `all`: into a thread below it, so that a room stays readable. Direct messages are
 * threaded only when the person did it.
 */
export type ReplyToMode = "off" | "first" | "all";

export interface MessageRules {
  readonly replyToMode: (chatId: string) => ReplyToMode;
  /** Report what other bots say, as actors of kind `agent`. */
  readonly allowBots: () => boolean;
  /** `@bot exec ls` means `/exec ls`: Slack keeps typed slashes for itself, and everywhere in threads. */
  readonly commandNames: ReadonlySet<string>;
}

export interface MessageFacts {
  /** The same for `message` and `app_mention` of one text, and for every redelivery. */
  readonly id: string;
  readonly userId: string;
  readonly fromBot: boolean;
  readonly route: Route;
  readonly text: string;
  /** By its name, or by a user group it belongs to. */
  readonly mentionsBot: boolean;
  /** Somebody else is mentioned, a person or a group without the bot. */
  readonly mentionsOthers: boolean;
  /** The thread the message itself is in, if any. */
  readonly inThread?: { readonly ts: string; readonly startedByBot: boolean };
}

/** What somebody said; joins, edits and deletions have other subtypes. */
const SPEECH: ReadonlySet<string | undefined> = new Set([undefined, "file_share", "thread_broadcast"]);

type Json = Readonly<Record<string, unknown>>;

/** Events about a message that is there already, and messages that one person sees. */
const NO_NEW_MESSAGE: ReadonlySet<unknown> = new Set(["message_changed", "message_deleted", "message_replied"]);

/** The conversation in which messages stand below each other: a channel's own, or a thread by itself. */
export function placeOf({ chatId, threadId }: { readonly chatId: string; readonly threadId?: string }): string {
  return `${chatId}|${threadId ?? ""}`;
}

/** Where the message of an event stands, whoever wrote it: one that a thread sends to its channel as well stands in both. */
export function standingIn(event: unknown): readonly { readonly place: string; readonly ts: string }[] {
  const json = asObject(event);
  const chatId = asText(json?.channel);
  const ts = asText(json?.ts);
  if (chatId === undefined || !isTs(ts) || json?.hidden === true || NO_NEW_MESSAGE.has(json?.subtype)) return [];
  const threadTs = asText(json?.thread_ts);
  if (!isTs(threadTs) || threadTs === ts) return [{ place: placeOf({ chatId }), ts }];
  const inThread = { place: placeOf({ chatId, threadId: threadTs }), ts };
  return json?.subtype === "thread_broadcast" ? [inThread, { place: placeOf({ chatId }), ts }] : [inThread];
}

/** The user groups that a message mentions. docs.slack.dev/messaging/formatting-message-text */
export function userGroupsIn(event: unknown): readonly string[] {
  const text = asText(asObject(event)?.text) ?? "";
  return [
    ...new Set([...text.matchAll(/<!subteam\^(S[A-Z0-9]{1,20})(?:\|[^<>]*)?>/g)].map((match) => match[1] as string)),
  ];
}

/**
 * `ownGroups`: the mentioned user groups that the bot belongs to; a mention of one is a mention of the bot.
 * `undefined`: nobody said it (edits, system messages), a bot did and they are not allowed, or it is malformed.
 */
export function readMessage(
  event: unknown,
  self: SlackIdentity,
  rules: MessageRules,
  ownGroups: ReadonlySet<string> = NO_GROUPS,
): MessageFacts | undefined {
  const json = asObject(event);
  if (json === undefined || (json.type !== "message" && json.type !== "app_mention")) return undefined;
  const speaker = speakerOf(json, self);
  const chatId = asText(json.channel);
  const ts = asText(json.ts);
  const raw = asText(json.text);
  if (speaker === undefined || chatId === undefined || raw === undefined || !isTs(ts)) return undefined;
  if (speaker.fromBot && !rules.allowBots()) return undefined;
  const threadTs = asText(json.thread_ts);
  const inThread = isTs(threadTs) && threadTs !== ts ? threadTs : undefined;
  const chatType = chatTypeOf(chatId, asText(json.channel_type));
  const ownThread = chatType !== "dm" && rules.replyToMode(chatId) !== "off" ? ts : undefined;
  const mention = mentionOf(self, ownGroups);
  return {
    id: `message:${self.teamId}:${chatId}:${ts}`,
    ...speaker,
    route: { ...routeOf(self, chatId, chatType, inThread ?? ownThread), replyToId: ts },
    text: readSpoken(raw, mention, rules.commandNames),
    mentionsBot: mention.test(raw),
    mentionsOthers: raw.replaceAll(new RegExp(mention, "g"), "").search(ANY_MENTION) !== -1,
    ...(inThread === undefined
      ? {}
      : { inThread: { ts: inThread, startedByBot: json.parent_user_id === self.botUserId } }),
  };
}

const NO_GROUPS: ReadonlySet<string> = new Set();
const ANY_MENTION = /<(?:@[UW][A-Z0-9]+|!subteam\^S[A-Z0-9]+)(?:\|[^<>]*)?>/;

function mentionOf(self: SlackIdentity, ownGroups: ReadonlySet<string>): RegExp {
  const names = [`@${self.botUserId}`, ...[...ownGroups].map((id) => `!subteam\\^${id}`)];
  return new RegExp(`<(?:${names.join("|")})(?:\\|[^<>]*)?>`);
}

function speakerOf(json: Json, self: SlackIdentity): Pick<MessageFacts, "userId" | "fromBot"> | undefined {
  const subtype = asText(json.subtype);
  if (json.subtype !== undefined && subtype === undefined) return undefined;
  const botId = asText(json.bot_id);
  const userId = asText(json.user) ?? botId;
  if (userId === undefined || userId === self.botUserId || userId === "USLACKBOT") return undefined;
  if (botId !== undefined && botId === self.botId) return undefined;
  if (!SPEECH.has(subtype) && !(subtype === "bot_message" && botId !== undefined)) return undefined;
  return { userId, fromBot: json.bot_id !== undefined };
}

export interface CommandFacts {
  readonly id: string;
  readonly userId: string;
  readonly userName: string | undefined;
  readonly route: Route;
  /** Without the slash, lower case. */
  readonly name: string;
  readonly args: string;
  /** Given as the text of the wrapper. */
  readonly wrapped: boolean;
  readonly responseUrl: string | undefined;
}

/**
 * A slash command. `/openclaw exec ls` and `/openclaw /exec ls` are the wrapper's two spellings of `/exec ls`; the wrapper
 * alone asks for help.
 */
export function readCommand(payload: unknown, self: SlackIdentity, wrapper: string | false): CommandFacts | undefined {
  const json = asObject(payload);
  const command = asText(json?.command);
  const userId = asText(json?.user_id);
  const chatId = asText(json?.channel_id);
  const trigger = asText(json?.trigger_id);
  if (
    json === undefined ||
    command === undefined ||
    userId === undefined ||
    chatId === undefined ||
    trigger === undefined
  )
    return undefined;
  const text = readSlackText(asText(json.text) ?? "").trim();
  const base = {
    id: `command:${trigger}`,
    userId,
    userName: asText(json.user_name),
    route: routeOf(self, chatId, chatTypeOf(chatId, undefined), undefined),
    responseUrl: asText(json.response_url),
  };
  const name = command.replace(/^\//, "").toLowerCase();
  if (name !== wrapper) return { ...base, name, args: text, wrapped: false };
  const match = /^\/?([A-Za-z][\w-]*)(?:\s+([\s\S]*))?$/.exec(text);
  if (match === null) return { ...base, name: "help", args: text, wrapped: true };
  return { ...base, name: (match[1] as string).toLowerCase(), args: match[2] ?? "", wrapped: true };
}

export interface PressFacts {
  readonly id: string;
  readonly userId: string;
  readonly userName: string | undefined;
  readonly route: Route;
  readonly messageTs: string;
  /** `undefined`: not a button of this version. */
  readonly action: ButtonAction | undefined;
  readonly triggerId: string;
  readonly responseUrl: string | undefined;
}

export function readPress(body: unknown, self: SlackIdentity): PressFacts | undefined {
  const json = asObject(body);
  const user = asObject(json?.user);
  const container = asObject(json?.container);
  const first = asObject(Array.isArray(json?.actions) ? json.actions[0] : undefined);
  const userId = asText(user?.id);
  const chatId = asText(asObject(json?.channel)?.id) ?? asText(container?.channel_id);
  const messageTs = asText(container?.message_ts) ?? asText(asObject(json?.message)?.ts);
  const triggerId = asText(json?.trigger_id);
  if (userId === undefined || chatId === undefined || !isTs(messageTs) || triggerId === undefined) return undefined;
  const threadTs = asText(container?.thread_ts) ?? asText(asObject(json?.message)?.thread_ts);
  return {
    id: `press:${chatId}:${messageTs}:${asText(first?.action_ts) ?? triggerId}:${userId}`,
    userId,
    userName: asText(user?.username) ?? asText(user?.name),
    route: routeOf(self, chatId, chatTypeOf(chatId, undefined), isTs(threadTs) ? threadTs : undefined),
    messageTs,
    // A button carries its value itself, a menu that of the option that was chosen.
    action: decodeAction(asText(first?.value) ?? asText(asObject(first?.selected_option)?.value) ?? ""),
    triggerId,
    responseUrl: asText(json?.response_url),
  };
}

/** Travels through the dialog and back, so that the answer knows its card. */
export function writeReasonMetadata(press: PressFacts, approvalId: string): string {
  const { chatId, chatType, threadId } = press.route;
  return JSON.stringify({
    v: 1,
    action: encodeAction({ kind: "approval", approvalId, decision: "deny" }),
    chatId,
    chatType,
    messageTs: press.messageTs,
    ...(threadId === undefined ? {} : { threadId }),
  });
}

export interface ReasonFacts {
  readonly id: string;
  readonly userId: string;
  readonly userName: string | undefined;
  readonly route: Route;
  readonly messageTs: string;
  readonly approvalId: string;
  readonly comment: string;
}

export function readReason(
  body: unknown,
  self: SlackIdentity,
  field: { readonly block: string; readonly input: string },
): ReasonFacts | undefined {
  const json = asObject(body);
  const view = asObject(json?.view);
  const user = asObject(json?.user);
  const userId = asText(user?.id);
  const viewId = asText(view?.id);
  const metadata = parseObject(asText(view?.private_metadata));
  const chatId = asText(metadata?.chatId);
  const messageTs = asText(metadata?.messageTs);
  const threadTs = asText(metadata?.threadId);
  const action = decodeAction(asText(metadata?.action) ?? "");
  if (
    userId === undefined ||
    viewId === undefined ||
    chatId === undefined ||
    !isTs(messageTs) ||
    action?.kind !== "approval"
  )
    return undefined;
  const values = asObject(asObject(view?.state)?.values);
  const comment = asText(asObject(asObject(values?.[field.block])?.[field.input])?.value) ?? "";
  const chatType = metadata?.chatType === "group" ? "group" : chatTypeOf(chatId, undefined);
  return {
    id: `view:${viewId}:${userId}`,
    userId,
    userName: asText(user?.username) ?? asText(user?.name),
    route: routeOf(self, chatId, chatType, isTs(threadTs) ? threadTs : undefined),
    messageTs,
    approvalId: action.approvalId,
    comment: comment.trim(),
  };
}

/** docs.slack.dev: ids begin with D for direct messages; `mpim` tells group messages, which may begin with G or C. */
function chatTypeOf(chatId: string, channelType: string | undefined): ChatType {
  if (channelType === "im" || chatId.startsWith("D")) return "dm";
  return channelType === "mpim" || (channelType === undefined && chatId.startsWith("G")) ? "group" : "channel";
}

function routeOf(self: SlackIdentity, chatId: string, chatType: ChatType, threadTs: string | undefined): Route {
  return {
    channel: "slack",
    accountId: self.accountId,
    chatType,
    chatId,
    scopeId: self.teamId,
    ...(threadTs === undefined ? {} : { threadId: threadTs }),
  };
}

function readSpoken(raw: string, mention: RegExp, commandNames: ReadonlySet<string>): string {
  const trimmed = raw.trimStart();
  const match = mention.exec(trimmed);
  const addressed = match?.index === 0;
  const rest = addressed ? trimmed.slice(match[0].length).replace(/^[\s:,]+/, "") : raw;
  const text = readSlackText(rest).trim();
  const word = /^[A-Za-z][\w-]*(?=\s|$)/.exec(text)?.[0];
  const command = addressed && word !== undefined && commandNames.has(word.toLowerCase()) ? `/${text}` : text;
  return command.startsWith("/") ? withoutCodeStyle(command) : command;
}

const CODE_STYLED = /^(\/[\w-]+:?(?:\s+[\w-]+=[^\s`]+)*(?:\s+--)?\s+)(?:```([^`]+)```|`([^`\n]+)`)$/;

/**
 * Slack draws `ls` typed in backticks as code: the backticks are formatting, as bold is, and not part of what the person
 * sees. A command that is code as a whole is read without them; left in, a shell would run its output.
 */
function withoutCodeStyle(command: string): string {
  const match = CODE_STYLED.exec(command);
  return match === null ? command : `${match[1]}${match[2]?.trim() ?? match[3]}`;
}

export function isTs(value: string | undefined): value is string {
  return value !== undefined && /^\d{10}\.\d{6}$/.test(value);
}

function asObject(value: unknown): Json | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function parseObject(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}
