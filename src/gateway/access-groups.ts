/**
 * Access groups whose members a platform knows: whether somebody is in them is asked there when they speak, by the gateway
 * that heard them. What can not be told in time is no: nobody gets in because a platform is away.
 */
import type { Channel } from "../channels/channel.ts";
import { lookedUpGroups } from "../core/access/people.ts";
import type { Clock } from "../core/clock.ts";
import type { Config } from "../core/config/schema.ts";
import type { Actor } from "../core/route.ts";

/** Whoever leaves a user group may be taken for a member this much longer. */
export const USERGROUP_MS = 5 * 60_000;
/** The same for who may see a channel, which is asked for each person by itself. */
export const AUDIENCE_MS = 60_000;
/** A question that failed is not asked again before. */
export const FAILED_MS = 15_000;
/** Platforms wait three seconds for an event to be taken; the answer of one that comes later counts the next time. */
export const GROUP_LOOKUP_MS = 700;
const MAX_REMEMBERED = 5_000;

export interface AccessGroupsOptions {
  readonly config: () => Config;
  readonly channels: () => readonly Channel[];
  readonly clock: Pick<Clock, "monotonic">;
  /** Told once per question that failed. */
  readonly onTrouble: (error: unknown, what: string) => void;
}

interface Known<T> {
  readonly answer: Promise<T | undefined>;
  untilMs: number;
}

export class AccessGroups {
  readonly #options: AccessGroupsOptions;
  readonly #members = new Map<string, Known<ReadonlySet<string>>>();
  readonly #audience = new Map<string, Known<boolean>>();

  constructor(options: AccessGroupsOptions) {
    this.#options = options;
  }

  /** The actor with the groups they are in. Never rejects. */
  async found(actor: Actor): Promise<Actor> {
    if (actor.kind !== "person") return actor;
    const groups = lookedUpGroups(this.#options.config(), actor.channel);
    if (groups.length === 0) return actor;
    const channel = this.#options
      .channels()
      .find(({ id, accountId }) => id === actor.channel && accountId === actor.accountId);
    if (!channel) return actor;
    const names = await Promise.all(
      groups.map(async ([name, group]) => ((await inTime(this.#isIn(channel, group, actor.id))) ? [name] : [])),
    );
    return { ...actor, groups: names.flat() };
  }

  async #isIn(channel: Channel, group: Config["accessGroups"][string], personId: string): Promise<boolean> {
    const account = `${channel.id}|${channel.accountId}`;
    const { usergroup, channel: place } = group;
    if (group.type === "slack.usergroup" && usergroup && channel.groupMembers) {
      const ask = async () => new Set(await channel.groupMembers?.(usergroup));
      const members = await this.#known(this.#members, `${account}|${usergroup}`, USERGROUP_MS, ask);
      return members?.has(personId) ?? false;
    }
    if (group.type === "discord.channelAudience" && place && channel.maySee) {
      const ask = async () => (await channel.maySee?.(personId, place)) ?? false;
      return (await this.#known(this.#audience, `${account}|${place}|${personId}`, AUDIENCE_MS, ask)) ?? false;
    }
    return false;
  }

  #known<T>(remembered: Map<string, Known<T>>, key: string, ms: number, ask: () => Promise<T>): Promise<T | undefined> {
    const now = this.#options.clock.monotonic();
    const before = remembered.get(key);
    if (before && now < before.untilMs) return before.answer;
    const known: Known<T> = {
      untilMs: now + ms,
      answer: ask().catch((error: unknown) => {
        known.untilMs = this.#options.clock.monotonic() + FAILED_MS;
        this.#options.onTrouble(error, `looking up who is in a group (${key})`);
        return undefined;
      }),
    };
    remembered.delete(key);
    remembered.set(key, known);
    const [oldest] = remembered.keys();
    if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    return known.answer;
  }
}

async function inTime(answer: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), GROUP_LOOKUP_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
