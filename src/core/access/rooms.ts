/** May the bot speak in this room, with this person, unaddressed? Pure (channels.md section 2.3). */
import type { Config, DiscordAccountConfig, SlackAccountConfig, TelegramAccountConfig } from "../config/schema.ts";
import type { Actor, Route } from "../route.ts";
import { includesPerson } from "./people.ts";

export type RoomVerdict =
  | { readonly kind: "closed"; readonly why: string }
  | { readonly kind: "open"; readonly requireMention: boolean; readonly ignoreOtherMentions: boolean };

const closed = (why: string): RoomVerdict => ({ kind: "closed", why });

export function slackRoom(config: Config, account: SlackAccountConfig, route: Route, actor: Actor): RoomVerdict {
  if (account.groupPolicy === "disabled") return closed("groupPolicy is disabled");
  const room = account.channels?.[route.chatId] ?? account.channels?.["*"];
  if (room?.enabled === false) return closed("this room is switched off");
  if (!room && account.groupPolicy !== "open") return closed("this room is not listed");
  if (actor.kind === "agent" && !(room?.allowBots ?? account.allowBots)) return closed("other bots are not answered");
  if (room?.users && !includesPerson(config, "slack", room.users, actor)) return closed("not one of the room's users");
  return {
    kind: "open",
    requireMention: room?.requireMention ?? account.requireMention,
    ignoreOtherMentions: room?.ignoreOtherMentions ?? false,
  };
}

/** `parentId`: the channel a thread belongs to; it inherits that channel's entry. */
export function discordRoom(config: Config, account: DiscordAccountConfig, route: Route, actor: Actor): RoomVerdict {
  if (account.groupPolicy === "disabled") return closed("groupPolicy is disabled");
  if (actor.kind === "agent" && !account.allowBots) return closed("other bots are not answered");
  const guild = account.guilds?.[route.scopeId ?? ""] ?? account.guilds?.["*"];
  if (!guild && account.groupPolicy !== "open") return closed("this server is not listed");
  const rooms = guild?.channels;
  const room = rooms?.[route.threadId ?? ""] ?? rooms?.[route.chatId] ?? rooms?.["*"];
  if (rooms && Object.keys(rooms).length > 0 && !room) return closed("this channel is not listed");
  if (room?.enabled === false) return closed("this channel is switched off");
  const users = room?.users ?? guild?.users;
  const roles = room?.roles ?? guild?.roles;
  if (users || roles) {
    const listed = users !== undefined && includesPerson(config, "discord", users, actor);
    const hasRole = roles?.some((role) => role === "*" || actor.roles?.includes(role)) ?? false;
    if (!listed && !hasRole) return closed("not one of the users or roles");
  }
  return {
    kind: "open",
    requireMention: room?.requireMention ?? guild?.requireMention ?? account.requireMention,
    ignoreOtherMentions: room?.ignoreOtherMentions ?? guild?.ignoreOtherMentions ?? false,
  };
}

/**
 * Why nothing new is posted there any more although something is on its way: the room, or the topic, was switched off
 * meanwhile (openclaw 58783). A room that is not listed is another matter: cards and reports may be sent there on purpose.
 */
export function switchedOff({ channels }: Config, route: Route): string | undefined {
  const { accountId, chatId, threadId = "", scopeId = "" } = route;
  if (route.chatType === "dm") return undefined;
  const found = (...entries: readonly ({ readonly enabled?: boolean | undefined } | undefined)[]) =>
    entries.some((entry) => entry?.enabled === false) ? "this room is switched off in the configuration" : undefined;
  switch (route.channel) {
    case "web":
      return undefined;
    case "slack": {
      const rooms = channels.slack?.accounts[accountId]?.channels;
      return found(rooms?.[chatId] ?? rooms?.["*"]);
    }
    case "discord": {
      const guilds = channels.discord?.accounts[accountId]?.guilds;
      const rooms = (guilds?.[scopeId] ?? guilds?.["*"])?.channels;
      return found(rooms?.[threadId] ?? rooms?.[chatId] ?? rooms?.["*"]);
    }
    case "telegram": {
      const groups = channels.telegram?.accounts[accountId]?.groups;
      const group = groups?.[chatId] ?? groups?.["*"];
      return found(group, group?.topics?.[threadId] ?? group?.topics?.["*"]);
    }
  }
}

export function telegramRoom(config: Config, account: TelegramAccountConfig, route: Route, actor: Actor): RoomVerdict {
  const group = account.groups?.[route.chatId] ?? account.groups?.["*"];
  const topic = group?.topics?.[route.threadId ?? ""] ?? group?.topics?.["*"];
  const policy = topic?.groupPolicy ?? group?.groupPolicy ?? account.groupPolicy;
  if (policy === "disabled") return closed("groupPolicy is disabled");
  if (group?.enabled === false || topic?.enabled === false) return closed("this group or topic is switched off");
  if (!group && account.groupPolicy !== "open") return closed("this group is not listed");
  if (actor.kind === "agent" && !account.allowBots) return closed("other bots are not answered");
  const people = topic?.allowFrom ?? group?.allowFrom ?? account.groupAllowFrom ?? account.allowFrom;
  if (policy === "allowlist" && !includesPerson(config, "telegram", people, actor)) {
    return closed("not one of the people allowed in groups");
  }
  return {
    kind: "open",
    requireMention: topic?.requireMention ?? group?.requireMention ?? account.requireMention,
    ignoreOtherMentions: topic?.ignoreOtherMentions ?? group?.ignoreOtherMentions ?? false,
  };
}
