/**
 * Who speaks and where an answer must go. Both are frozen into a request when it is born and never
 * looked up again, so a completion can not land in a chat that merely spoke last.
 */

/** The chat platforms, plus the built-in web chat. */
export type ChannelId = "web" | "slack" | "discord" | "telegram";

export type ChatType = "dm" | "group" | "channel";

/** Where an answer goes. Ids are the platform's own, unchanged (Slack `C…`/`D…`, Telegram negative chat ids). */
export interface Route {
  readonly channel: ChannelId;
  /** Which bot account of that channel, `default` unless several are configured. */
  readonly accountId: string;
  readonly chatType: ChatType;
  readonly chatId: string;
  /** Slack `thread_ts`, Discord thread channel id, Telegram topic id. */
  readonly threadId?: string;
  /** Message this one answers, when the platform shows replies. */
  readonly replyToId?: string;
  /** Slack team or Discord guild. */
  readonly scopeId?: string;
}

/**
 * Who did something. Only a `person` can decide an approval; `agent` never can, whatever token it holds
 * (decisions.md D13). `system` is the gateway itself (expiry, restart sweep).
 */
export interface Actor {
  readonly kind: "person" | "agent" | "system";
  readonly channel: ChannelId | "cli" | "api" | "gateway";
  readonly accountId: string;
  /** The platform's user id; `operator` for holders of the gateway token. */
  readonly id: string;
  readonly display?: string;
  /** BCP 47 tag, when the platform tells it. */
  readonly locale?: string;
  /** Discord role ids. */
  readonly roles?: readonly string[];
  /** Access groups kept by the platform in which this person was found when they spoke. */
  readonly groups?: readonly string[];
}

/** Stable text for queue keys and store keys: one per conversation, thread included. */
export function routeKey(route: Route): string {
  return [route.channel, route.accountId, route.chatId, route.threadId ?? ""].join("|");
}

/** What people see in cards and audit: `alice (slack)`. */
export function actorLabel(actor: Actor): string {
  return `${actor.display ?? actor.id} (${actor.channel})`;
}
