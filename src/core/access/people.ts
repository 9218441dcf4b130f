/** Lists of people in the configuration: ids with their spellings, `*`, and `accessGroup:<name>`. Ids only, never names. */
import type { Config } from "../config/schema.ts";
import type { Actor, ChannelId } from "../route.ts";

/** Spellings that mean the same id (channels.md 2.1): `slack:U1`, `<@U1>`, `user:1`, `tg:42`. */
const PREFIXES: Readonly<Record<ChannelId, RegExp>> = {
  web: /^web:/,
  slack: /^(?:slack|user):/i,
  discord: /^(?:discord|user):/i,
  telegram: /^(?:telegram|tg|user):/i,
};

export function bareId(channel: ChannelId, entry: string): string {
  const mention = /^<@!?([A-Za-z0-9]+)(?:\|[^>]*)?>$/.exec(entry.trim());
  return mention?.[1] ?? entry.trim().replace(PREFIXES[channel], "");
}

type Group = Config["accessGroups"][string];
type LookedUp = Exclude<NonNullable<Group["type"]>, "message.senders">;

const PLATFORM: Readonly<Record<LookedUp, ChannelId>> = {
  "slack.usergroup": "slack",
  "discord.channelAudience": "discord",
};

/** The name in `accessGroup:<name>`. */
function groupNamed(entry: string): string | undefined {
  return /^accessGroup:(.+)$/i.exec(entry.trim())?.[1];
}

/** Groups whose members this platform knows: who is in them has to be asked there. */
export function lookedUpGroups(config: Config, channel: Actor["channel"]): readonly (readonly [name: string, Group])[] {
  return Object.entries(config.accessGroups).filter(
    ([, { type }]) => type !== undefined && type !== "message.senders" && PLATFORM[type] === channel,
  );
}

/** True when one of the entries is a group whose members this platform knows. */
export function namesLookedUpGroup(config: Config, channel: ChannelId, entries: readonly string[]): boolean {
  const names = lookedUpGroups(config, channel).map(([name]) => name);
  return entries.some((entry) => names.includes(groupNamed(entry) ?? ""));
}

/** Access groups replaced by their members. An unknown group has none, and one that is looked up none here. */
export function expandGroups(config: Config, channel: ChannelId, entries: readonly string[]): string[] {
  return entries.flatMap((entry) => {
    const name = groupNamed(entry);
    if (name === undefined) return [entry];
    const members = config.accessGroups[name]?.members;
    return members ? [...(members[channel] ?? []), ...(members["*"] ?? [])] : [];
  });
}

/** `actor` is somebody of this channel. */
export function includesPerson(
  config: Config,
  channel: ChannelId,
  entries: readonly string[],
  actor: Pick<Actor, "id" | "groups">,
): boolean {
  if (inLookedUpGroup(config, channel, entries, actor)) return true;
  return expandGroups(config, channel, entries).some((entry) => entry === "*" || bareId(channel, entry) === actor.id);
}

/** By what the platform said when they spoke, of groups that are still groups of this platform. */
export function inLookedUpGroup(
  config: Config,
  channel: ChannelId,
  entries: readonly string[],
  { groups = [] }: Pick<Actor, "groups">,
): boolean {
  const found = lookedUpGroups(config, channel).flatMap(([name]) => (groups.includes(name) ? [name] : []));
  return entries.some((entry) => found.includes(groupNamed(entry) ?? ""));
}

/** Owners are written with their channel, so that the same number on another platform is somebody else. */
export function ownersOf(config: Config, channel: ChannelId): string[] {
  return config.commands.ownerAllowFrom.flatMap((entry) =>
    entry.startsWith(`${channel}:`) ? [entry.slice(channel.length + 1)] : [],
  );
}
