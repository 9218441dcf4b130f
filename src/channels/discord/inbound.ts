/**
 * Gateway events as neutral facts: who said or pressed what, where, and whether the bot was addressed. Who may do it is
 * decided elsewhere. Pure.
 */
import {
  type APIChannel,
  type APIInteraction,
  type APIMessage,
  type APIModalSubmitInteraction,
  type APIUser,
  ChannelType,
  ComponentType,
  type GatewayMessageCreateDispatchData,
  InteractionType,
  Locale,
  MessageReferenceType,
  MessageType,
} from "discord.js";
import type { MessageRef } from "../../core/outbound.ts";
import type { Actor, Route } from "../../core/route.ts";
import type { NativeCommand } from "../adapter-deps.ts";
import { decodeAction, isActionText, type MoreRequest, type ReasonRequest } from "../cards/action-codec.ts";
import type { Inbound } from "../channel.ts";
import { argsText } from "./commands.ts";
import { INTERACTION_MAX_AGE_MS } from "./limits.ts";

/** What is known of a channel besides its id. */
export interface ChannelFacts {
  readonly type: ChannelType;
  /** A thread's channel. */
  readonly parentId?: string;
}

export interface InboundContext {
  readonly accountId: string;
  readonly selfId: string;
  readonly nowMs: number;
  readonly commands: readonly NativeCommand[];
  /** Other bots are heard too, as agents that can decide nothing. */
  readonly allowBots: boolean;
}

export type IgnoredBecause =
  | "own-message"
  | "bot"
  | "webhook"
  | "system-message"
  | "forwarded"
  | "no-text"
  | "replayed"
  | "unknown-kind"
  | "foreign-button";

/** The first answer Discord must get, before anything else is done. */
export type FirstAnswer =
  | { readonly kind: "think"; readonly privately: boolean }
  | { readonly kind: "keep-card" }
  | { readonly kind: "ask-reason"; readonly request: ReasonRequest }
  | { readonly kind: "more"; readonly request: MoreRequest }
  | { readonly kind: "outdated" };

export type TakenInteraction =
  | { readonly kind: "event"; readonly event: Inbound; readonly answer: FirstAnswer }
  | { readonly kind: "answer-only"; readonly answer: FirstAnswer; readonly actor: Actor }
  | {
      readonly kind: "suggest";
      readonly command: string;
      readonly option: string;
      readonly typed: string;
      readonly actor: Actor;
      readonly route: Route;
    }
  | { readonly kind: "ignored"; readonly why: IgnoredBecause };

export type TakenMessage =
  | { readonly kind: "event"; readonly event: Inbound }
  | { readonly kind: "ignored"; readonly why: IgnoredBecause };

const DISCORD_EPOCH_MS = 1_420_070_400_000n;

/** When an id was made. */
export function snowflakeMs(id: string): number {
  return Number((BigInt(id) >> 22n) + DISCORD_EPOCH_MS);
}

/** The first id of a moment. */
export function snowflakeAt(ms: number): string {
  return String((BigInt(Math.floor(ms)) - DISCORD_EPOCH_MS) << 22n);
}

/** What can be typed or answered by a person; joins, pins and boosts are system messages. */
const TALK = new Set<MessageType>([MessageType.Default, MessageType.Reply]);

export function takeMessage(
  message: GatewayMessageCreateDispatchData,
  channel: ChannelFacts | undefined,
  context: InboundContext,
): TakenMessage {
  if (message.author.id === context.selfId) return ignored("own-message");
  if (message.webhook_id !== undefined) return ignored("webhook");
  if (message.author.bot && !context.allowBots) return ignored("bot");
  if (!TALK.has(message.type)) return ignored("system-message");
  if (message.message_reference?.type === MessageReferenceType.Forward) return ignored("forwarded");
  const mention = leadingMention(message.content, context.selfId);
  const text = mention === undefined ? message.content : message.content.slice(mention).replace(/^[\s,:]+/, "");
  if (text.trim() === "") return ignored("no-text");
  const route = routeOf(message.channel_id, message.guild_id, channel, context, message.id);
  return {
    kind: "event",
    event: {
      kind: "message",
      id: `m${message.id}`,
      route,
      actor: actorOf(message.author, context, {
        ...(message.member?.nick ? { nick: message.member.nick } : {}),
        ...(message.member?.roles ? { roles: message.member.roles } : {}),
      }),
      receivedAtMs: context.nowMs,
      addressed: route.chatType === "dm" || addresses(message, context.selfId),
      ...(mentionsOthersOnly(message, context.selfId) ? { mentionsOthers: true } : {}),
      text,
    },
  };
}

function addresses(message: APIMessage, selfId: string): boolean {
  return message.mentions.some((one) => one.id === selfId) || message.referenced_message?.author.id === selfId;
}

/** People or roles are mentioned and the bot is not; a reply that pings its author mentions them. */
function mentionsOthersOnly(message: APIMessage, selfId: string): boolean {
  if (message.mentions.some((one) => one.id === selfId)) return false;
  return message.mentions.length > 0 || (message.mention_roles ?? []).length > 0;
}

function leadingMention(content: string, selfId: string): number | undefined {
  const match = /^\s*<@!?(\d+)>/.exec(content);
  return match?.[1] === selfId ? match[0].length : undefined;
}

export function takeInteraction(interaction: APIInteraction, context: InboundContext): TakenInteraction {
  if (context.nowMs - snowflakeMs(interaction.id) > INTERACTION_MAX_AGE_MS) return ignored("replayed");
  const user = interaction.member?.user ?? interaction.user;
  if (!user || user.bot) return ignored("bot");
  const actor = actorOf(user, context, {
    ...(interaction.member?.nick ? { nick: interaction.member.nick } : {}),
    ...(interaction.member?.roles ? { roles: interaction.member.roles } : {}),
    ...("locale" in interaction ? { locale: interaction.locale } : {}),
  });
  switch (interaction.type) {
    case InteractionType.ApplicationCommand: {
      if (!("options" in interaction.data) && interaction.data.type !== 1) return ignored("unknown-kind");
      const options = "options" in interaction.data ? (interaction.data.options ?? []) : [];
      const command = context.commands.find((one) => one.name === interaction.data.name);
      const args = argsText(command, options as Parameters<typeof argsText>[1]);
      return {
        kind: "event",
        answer: { kind: "think", privately: command?.answersPrivately?.(args) ?? false },
        event: {
          ...baseOf(interaction, actor, context, interaction.id),
          kind: "command",
          name: interaction.data.name,
          args,
        },
      };
    }
    case InteractionType.ApplicationCommandAutocomplete: {
      const focused = interaction.data.options.find((one) => "focused" in one && one.focused);
      return {
        kind: "suggest",
        command: interaction.data.name,
        option: focused?.name ?? "",
        typed: focused && "value" in focused ? String(focused.value) : "",
        actor,
        route: interactionRoute(interaction, context, undefined),
      };
    }
    case InteractionType.MessageComponent: {
      const { data } = interaction;
      const customId =
        data.component_type === ComponentType.StringSelect ? (data.values[0] ?? data.custom_id) : data.custom_id;
      const action = decodeAction(customId);
      if (!action)
        return isActionText(customId)
          ? { kind: "answer-only", answer: { kind: "outdated" }, actor }
          : ignored("foreign-button");
      if (action.kind === "deny-reason")
        return { kind: "answer-only", answer: { kind: "ask-reason", request: action }, actor };
      if (action.kind === "more") return { kind: "answer-only", answer: { kind: "more", request: action }, actor };
      const base = baseOf(interaction, actor, context, interaction.message.id);
      return {
        kind: "event",
        answer: { kind: "keep-card" },
        event: { ...base, kind: "press", action, ref: refOf(base.route, interaction.message.id) },
      };
    }
    case InteractionType.ModalSubmit: {
      const action = decodeAction(interaction.data.custom_id);
      if (action?.kind !== "deny-reason")
        return isActionText(interaction.data.custom_id)
          ? { kind: "answer-only", answer: { kind: "outdated" }, actor }
          : ignored("foreign-button");
      const comment = modalText(interaction).trim();
      const base = baseOf(interaction, actor, context, interaction.message?.id ?? interaction.id);
      return {
        kind: "event",
        answer: interaction.message ? { kind: "keep-card" } : { kind: "think", privately: true },
        event: {
          ...base,
          kind: "press",
          action: {
            kind: "approval",
            approvalId: action.approvalId,
            decision: "deny",
            ...(comment === "" ? {} : { comment }),
          },
          ...(interaction.message ? { ref: refOf(base.route, interaction.message.id) } : {}),
        },
      };
    }
    default:
      return ignored("unknown-kind");
  }
}

/** The first text field, in either layout a form can have. */
function modalText(interaction: APIModalSubmitInteraction): string {
  for (const row of interaction.data.components) {
    const fields =
      row.type === ComponentType.Label ? [row.component] : row.type === ComponentType.ActionRow ? row.components : [];
    for (const field of fields) if (field.type === ComponentType.TextInput) return field.value;
  }
  return "";
}

type KnownInteraction = Exclude<APIInteraction, { type: InteractionType.Ping }>;

function baseOf(interaction: KnownInteraction, actor: Actor, context: InboundContext, replyToId: string) {
  return {
    id: `i${interaction.id}`,
    route: interactionRoute(interaction, context, replyToId),
    actor,
    receivedAtMs: context.nowMs,
    addressed: true,
    ...roomLocaleOf(interaction),
  };
}

/** Only a community can choose its language; every other server is said to speak American English, which tells nothing. */
function roomLocaleOf({ guild_locale }: KnownInteraction): { readonly roomLocale?: string } {
  return guild_locale === undefined || guild_locale === Locale.EnglishUS ? {} : { roomLocale: guild_locale };
}

function interactionRoute(
  interaction: KnownInteraction,
  context: InboundContext,
  replyToId: string | undefined,
): Route {
  const channel = interaction.channel as (Partial<APIChannel> & { id: string; parent_id?: string | null }) | undefined;
  const id = channel?.id ?? interaction.channel_id ?? "";
  const facts: ChannelFacts | undefined =
    channel?.type === undefined
      ? undefined
      : { type: channel.type, ...(channel.parent_id ? { parentId: channel.parent_id } : {}) };
  return routeOf(id, interaction.guild_id, facts, context, replyToId);
}

const THREADS = new Set<ChannelType>([
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
  ChannelType.AnnouncementThread,
]);

/**
 * A thread is a channel of its own on Discord; here it is its parent's thread, so that rules for the parent hold.
 * `replyToId` is what an answer refers to: a message, or the interaction whose placeholder it replaces.
 */
function routeOf(
  channelId: string,
  guildId: string | undefined,
  channel: ChannelFacts | undefined,
  context: InboundContext,
  replyToId: string | undefined,
): Route {
  const isThread = channel !== undefined && THREADS.has(channel.type) && channel.parentId !== undefined;
  const chatType = channel?.type === ChannelType.GroupDM ? "group" : guildId === undefined ? "dm" : "channel";
  return {
    channel: "discord",
    accountId: context.accountId,
    chatType,
    chatId: isThread && channel.parentId !== undefined ? channel.parentId : channelId,
    ...(isThread ? { threadId: channelId } : {}),
    ...(replyToId === undefined ? {} : { replyToId }),
    ...(guildId === undefined ? {} : { scopeId: guildId }),
  };
}

function actorOf(
  user: APIUser,
  context: InboundContext,
  more: { nick?: string; locale?: string; roles?: readonly string[] },
): Actor {
  const display = more.nick ?? user.global_name ?? user.username;
  return {
    kind: user.bot ? "agent" : "person",
    channel: "discord",
    accountId: context.accountId,
    id: user.id,
    display,
    ...(more.locale === undefined ? {} : { locale: more.locale }),
    ...(more.roles === undefined ? {} : { roles: more.roles }),
  };
}

function refOf(route: Route, messageId: string): MessageRef {
  return {
    channel: "discord",
    accountId: route.accountId,
    chatId: route.chatId,
    messageId,
    ...(route.threadId === undefined ? {} : { threadId: route.threadId }),
  };
}

function ignored<W extends IgnoredBecause>(why: W): { readonly kind: "ignored"; readonly why: W } {
  return { kind: "ignored", why };
}
