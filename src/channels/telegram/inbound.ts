/**
 * An update as neutral facts: who said or pressed what, where, and whether the bot was addressed. Who may do it is
 * decided elsewhere. Pure.
 *
 * What can not be an instruction never becomes an event: edits, forwards, captions, channel posts, and whatever was
 * not written by somebody under their own name (anonymous admins, linked channels, inline bots). Other bots are heard where
 * the configuration says so and Telegram hands them on: core.telegram.org/api/bots/bot-to-bot.
 */
import type { Message, Update, User } from "grammy/types";
import type { MessageRef } from "../../core/outbound.ts";
import type { Actor, Route } from "../../core/route.ts";
import { decodeAction, encodeAction, isActionText, type ReasonRequest } from "../cards/action-codec.ts";
import type { Inbound } from "../channel.ts";
import { type InlineButtons, takesPress } from "./inline-buttons.ts";
import { SPLIT_FROM } from "./limits.ts";

export interface Self {
  readonly id: number;
  readonly username: string;
}

export interface InboundContext {
  readonly accountId: string;
  readonly self: Self;
  readonly nowMs: number;
  /** The menu's names that differ from the command's own (`exec_policy` for `exec-policy`). */
  readonly commandNames: ReadonlyMap<string, string>;
  /** Other bots are heard too, as agents that can decide nothing. */
  readonly allowBots: boolean;
  /** Where cards have buttons. */
  readonly inlineButtons: InlineButtons;
}

/** A pressed button has a query that must be answered; everything else has none. */
export type Taken =
  | { readonly kind: "event"; readonly event: Inbound; readonly queryId?: string }
  /** "Deny with reason" was pressed: ask for the reason. */
  | {
      readonly kind: "ask-reason";
      readonly request: ReasonRequest;
      readonly queryId: string;
      readonly route: Route;
      readonly actor: Actor;
    }
  | { readonly kind: "outdated-press"; readonly queryId: string; readonly actor: Actor }
  /** A button that is out from a time in which this chat had some. */
  | { readonly kind: "hidden-press"; readonly queryId: string; readonly actor: Actor }
  | { readonly kind: "migrated"; readonly from: string; readonly to: string }
  | { readonly kind: "ignored"; readonly why: IgnoredBecause };

export type IgnoredBecause =
  | "not-a-message"
  | "edited"
  | "forwarded"
  | "channel-post"
  | "no-text"
  | "not-a-person"
  | "other-bot"
  | "foreign-button";

/** What the bot asks Telegram for; anything else is not sent to it. */
export const ALLOWED_UPDATES = ["message", "callback_query"] as const;

export function takeUpdate(update: Update, context: InboundContext): Taken {
  if (update.callback_query) return takePress(update, context);
  if (update.edited_message) return ignored("edited");
  if (update.channel_post || update.edited_channel_post) return ignored("channel-post");
  const message = update.message;
  if (!message) return ignored("not-a-message");
  const from = String(message.chat.id);
  if (message.migrate_to_chat_id !== undefined)
    return { kind: "migrated", from, to: String(message.migrate_to_chat_id) };
  if (message.migrate_from_chat_id !== undefined)
    return { kind: "migrated", from: String(message.migrate_from_chat_id), to: from };
  if (message.forward_origin) return ignored("forwarded");
  if (!message.from || message.sender_chat || message.via_bot) return ignored("not-a-person");
  if (message.from.is_bot && (!context.allowBots || message.from.id === context.self.id))
    return ignored("not-a-person");
  if (message.text === undefined) return ignored("no-text");
  return takeMessage(update.update_id, message, message.text, message.from, context);
}

function takeMessage(updateId: number, message: Message, typed: string, from: User, context: InboundContext): Taken {
  const base = {
    id: `u${updateId}`,
    route: routeOf(message, context),
    actor: actorOf(from, context),
    receivedAtMs: context.nowMs,
    ...(typed.length >= SPLIT_FROM ? { mayBeCut: true } : {}),
  };
  const reason = from.is_bot ? undefined : reasonTarget(message, context.self);
  if (reason !== undefined)
    return {
      kind: "event",
      event: {
        ...base,
        kind: "press",
        addressed: true,
        action: { kind: "approval", approvalId: reason, decision: "deny", comment: typed },
      },
    };
  const isDm = message.chat.type === "private";
  const command = commandOf(message, typed);
  if (command) {
    const own = command.bot?.toLowerCase() === context.self.username.toLowerCase();
    if (command.bot !== undefined && !own) return ignored("other-bot");
    return {
      kind: "event",
      event: {
        ...base,
        kind: "command",
        name: context.commandNames.get(command.name) ?? command.name,
        args: command.args,
        addressed: isDm || own || isReplyToSelf(message, context.self),
      },
    };
  }
  return {
    kind: "event",
    event: {
      ...base,
      kind: "message",
      text: withoutLeadingMention(message, typed, context.self),
      addressed: isDm || mentions(message, typed, context.self) || isReplyToSelf(message, context.self),
      ...(mentionsOthersOnly(message, typed, context.self) ? { mentionsOthers: true } : {}),
    },
  };
}

function takePress(update: Update, context: InboundContext): Taken {
  const query = update.callback_query;
  if (!query?.message || query.data === undefined) return ignored("foreign-button");
  if (query.from.is_bot) return ignored("not-a-person");
  const actor = actorOf(query.from, context);
  const action = decodeAction(query.data);
  if (!action || action.kind === "more") {
    return isActionText(query.data) ? { kind: "outdated-press", queryId: query.id, actor } : ignored("foreign-button");
  }
  const route = routeOf(query.message as Message, context);
  if (action.kind === "deny-reason") return { kind: "ask-reason", request: action, queryId: query.id, route, actor };
  if (!takesPress(context.inlineButtons, query.message.chat.type, action))
    return { kind: "hidden-press", queryId: query.id, actor };
  const ref: MessageRef = {
    channel: "telegram",
    accountId: context.accountId,
    chatId: route.chatId,
    messageId: String(query.message.message_id),
    ...(route.threadId === undefined ? {} : { threadId: route.threadId }),
  };
  return {
    kind: "event",
    queryId: query.id,
    event: {
      kind: "press",
      id: `u${update.update_id}`,
      route,
      actor,
      receivedAtMs: context.nowMs,
      addressed: true,
      action,
      ref,
    },
  };
}

/**
 * `message_thread_id` is a topic only when `is_topic_message` says so: elsewhere it is the root of a reply chain. The
 * General topic has none (tdlib/telegram-bot-api#596).
 */
export function routeOf(message: Message, context: { readonly accountId: string }): Route {
  const isTopic = message.is_topic_message === true && message.message_thread_id !== undefined;
  const isDm = message.chat.type === "private";
  return {
    channel: "telegram",
    accountId: context.accountId,
    chatType: isDm ? "dm" : "group",
    chatId: String(message.chat.id),
    ...(isTopic ? { threadId: String(message.message_thread_id) } : {}),
    ...(isDm ? {} : { replyToId: String(message.message_id) }),
  };
}

function actorOf(user: User, context: { readonly accountId: string }): Actor {
  const name = user.username ?? [user.first_name, user.last_name].filter(Boolean).join(" ");
  return {
    kind: user.is_bot ? "agent" : "person",
    channel: "telegram",
    accountId: context.accountId,
    id: String(user.id),
    ...(name === "" ? {} : { display: name }),
    ...(user.language_code === undefined ? {} : { locale: user.language_code }),
  };
}

/** `/name[@bot][:] rest` at the very start. `/usr/bin/ls` is a path: a command's name ends at a blank. */
const COMMAND = /^\/([A-Za-z0-9_]{1,64})(?:@([A-Za-z0-9_]{3,64}))?:?(?:\s+([\s\S]*))?$/;

function commandOf(message: Message, typed: string): { name: string; bot?: string; args: string } | undefined {
  const marked = message.entities?.some((one) => one.type === "bot_command" && one.offset === 0) ?? false;
  const match = marked ? COMMAND.exec(typed) : null;
  if (!match) return undefined;
  const [, name = "", bot, args = ""] = match;
  return { name: name.toLowerCase(), args: args.trimEnd(), ...(bot === undefined ? {} : { bot }) };
}

function isReplyToSelf(message: Message, self: Self): boolean {
  // In a topic every message "replies" to the message that opened it.
  const replied = message.reply_to_message;
  return replied?.from?.id === self.id && replied.forum_topic_created === undefined;
}

function ownMention(message: Message, typed: string, self: Self, at?: number) {
  return message.entities?.find((one) => {
    if (at !== undefined && one.offset !== at) return false;
    if (one.type === "text_mention") return one.user.id === self.id;
    const word = typed.slice(one.offset, one.offset + one.length);
    return one.type === "mention" && word.toLowerCase() === `@${self.username.toLowerCase()}`;
  });
}

function mentions(message: Message, typed: string, self: Self): boolean {
  return ownMention(message, typed, self) !== undefined;
}

function mentionsOthersOnly(message: Message, typed: string, self: Self): boolean {
  if (mentions(message, typed, self)) return false;
  return message.entities?.some((one) => one.type === "mention" || one.type === "text_mention") ?? false;
}

/** `@bot exec ls` is `exec ls`; a mention elsewhere is part of what was said. */
function withoutLeadingMention(message: Message, typed: string, self: Self): string {
  const lead = typed.length - typed.trimStart().length;
  const found = ownMention(message, typed, self, lead);
  return found ? typed.slice(found.offset + found.length).replace(/^[\s,:]+/, "") : typed;
}

/**
 * The prompt for a reason carries the approval in a link of its own text, so that the answer finds it after a restart
 * too. Only a link in a message of ours counts: what people and commands say is never sent as a link.
 */
export function reasonLink(request: ReasonRequest, self: Self): string {
  return `https://t.me/${self.username}?start=${encodeAction(request).replaceAll(":", "-")}`;
}

function reasonTarget(message: Message, self: Self): string | undefined {
  const prompt = message.reply_to_message;
  if (prompt?.from?.id !== self.id) return undefined;
  const prefix = `https://t.me/${self.username}?start=`;
  for (const entity of prompt.entities ?? []) {
    if (entity.type !== "text_link" || !entity.url.startsWith(prefix)) continue;
    const packed = entity.url.slice(prefix.length);
    const action = decodeAction(packed.replace(/^(ap1)-(r)-/, "$1:$2:"));
    if (action?.kind === "deny-reason") return action.approvalId;
  }
  return undefined;
}

function ignored(why: IgnoredBecause): Taken {
  return { kind: "ignored", why };
}
