/**
 * Which conversation a message belongs to, and what was set for it by `/exec` and `/elevated`. Session state only:
 * nothing here writes configuration (seed 000, "Sessie-overschrijvingen").
 */
import type { Clock } from "../clock.ts";
import type { Ask, ExecHost, Security } from "../policy/types.ts";
import type { Actor, Route } from "../route.ts";
import type { Store } from "../store/store.ts";

export type DmScope = "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer";

/** What of `session` the key of a conversation is made from. */
export interface SessionRules {
  readonly dmScope: DmScope;
  /** One person's ids by name: `{ alice: ["slack:U1", "telegram:42"] }`. */
  readonly identityLinks: Readonly<Record<string, readonly string[]>>;
}

/** Key of a conversation (channels.md section 3). Never parsed back: the route travels beside it. */
export function sessionKey(agentId: string, route: Route, actor: Actor, rules: SessionRules): string {
  const base = `agent:${agentId}`;
  if (route.channel === "web") return `${base}:web:chat:${route.chatId}`;
  if (route.chatType === "dm") {
    const linked = rules.dmScope === "main" ? undefined : linkedName(rules.identityLinks, route, actor);
    // One person has one direct conversation, wherever they write from.
    if (linked !== undefined) return `${base}:direct:${linked}`;
    switch (rules.dmScope) {
      case "main":
        return `${base}:main`;
      case "per-peer":
        return `${base}:direct:${actor.id}`;
      case "per-channel-peer":
        return `${base}:${route.channel}:direct:${actor.id}`;
      case "per-account-channel-peer":
        return `${base}:${route.channel}:${route.accountId}:direct:${actor.id}`;
    }
  }
  const room = `${base}:${route.channel}:${route.chatType === "group" ? "group" : "channel"}:${route.chatId}`;
  if (!route.threadId || route.channel === "discord") return room;
  return `${room}:${route.channel === "telegram" ? "topic" : "thread"}:${route.threadId}`;
}

function linkedName(links: SessionRules["identityLinks"], route: Route, actor: Actor): string | undefined {
  const id = `${route.channel}:${actor.id}`;
  return Object.entries(links).find(([, ids]) => ids.includes(id))?.[0];
}

export type ElevatedLevel = "off" | "on" | "ask" | "full";

export interface SessionOverrides {
  readonly host?: ExecHost;
  readonly security?: Security;
  readonly ask?: Ask;
  readonly node?: string;
  readonly elevated?: ElevatedLevel;
  /** `/activation`: whether a room's messages have to mention the bot. */
  readonly activation?: "mention" | "always";
  /** When all of it falls back to the configuration, in epoch milliseconds. Absent: it stays. */
  readonly untilMs?: number;
}

const NS = "session";

export interface Sessions {
  overrides(key: string): Promise<SessionOverrides>;
  /** Merges; resolves to what holds now. With `ttlMs` the whole set falls back to the configuration afterwards. */
  set(key: string, change: SessionOverrides, ttlMs?: number): Promise<SessionOverrides>;
  clear(key: string): Promise<void>;
  /** The conversation has another key from now on. What is set under that one already stays. */
  move(from: string, to: string): Promise<void>;
}

export function createSessions(store: Store, clock: Clock): Sessions {
  return {
    async overrides(key) {
      return (await store.get<SessionOverrides>(NS, key))?.value ?? {};
    },
    async set(key, change, ttlMs) {
      const options = ttlMs === undefined ? {} : { ttlMs };
      for (;;) {
        const found = await store.get<SessionOverrides>(NS, key);
        const { untilMs: _, ...before } = found?.value ?? {};
        const next = { ...before, ...change, ...(ttlMs === undefined ? {} : { untilMs: clock.now() + ttlMs }) };
        const written = found
          ? (await store.compareAndSet(NS, key, found.version, next, options)) !== undefined
          : await store.setIfAbsent(NS, key, next, options);
        if (written) return next;
      }
    },
    async clear(key) {
      await store.delete(NS, key);
    },
    async move(from, to) {
      const found = await store.get<SessionOverrides>(NS, from);
      if (!found) return;
      const { untilMs } = found.value;
      const leftMs = untilMs === undefined ? undefined : untilMs - clock.now();
      if (leftMs === undefined) await store.setIfAbsent(NS, to, found.value);
      else if (leftMs > 0) await store.setIfAbsent(NS, to, found.value, { ttlMs: leftMs });
      await store.delete(NS, from);
    },
  };
}
