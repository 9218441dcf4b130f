/** Lists of people in the configuration: ids with their spellings, `*`, and `accessGroup:<name>`. Ids only, never names. */
import type { Config } from "../config/schema.ts";
import type { ChannelId } from "../route.ts";

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

/** Access groups replaced by their members. An unknown group has none: it opens nothing. */
export function expandGroups(config: Config, channel: ChannelId, entries: readonly string[]): string[] {
  return entries.flatMap((entry) => {
    const name = /^accessGroup:(.+)$/i.exec(entry.trim())?.[1];
    if (name === undefined) return [entry];
    const members = config.accessGroups[name]?.members;
    return members ? [...(members[channel] ?? []), ...(members["*"] ?? [])] : [];
  });
}

export function includesPerson(config: Config, channel: ChannelId, entries: readonly string[], id: string): boolean {
  return expandGroups(config, channel, entries).some((entry) => entry === "*" || bareId(channel, entry) === id);
}

/** Owners are written with their channel, so that the same number on another platform is somebody else. */
export function ownersOf(config: Config, channel: ChannelId): string[] {
  return config.commands.ownerAllowFrom.flatMap((entry) =>
    entry.startsWith(`${channel}:`) ? [entry.slice(channel.length + 1)] : [],
  );
}
