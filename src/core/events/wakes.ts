/**
 * Wakes: something has happened that a session should be told of. Requests for one session merge into one wake; a wake
 * that finds nothing to tell is a no-op; agent turns keep a minimum distance and a flood of them is put off, never
 * dropped. Without a model the events are delivered by code to the conversation they came from (decisions.md D15).
 *
 * Events stay in the store until a turn or a message that holds them is durable, so a kill in between tells them once
 * more at most, under the same message key: once.
 */
import type { Card } from "../cards.ts";
import type { Clock, NewId } from "../clock.ts";
import { type Route, routeKey } from "../route.ts";
import type { Store } from "../store/store.ts";
import { visibleAnswer } from "./heartbeat-filter.ts";
import { type Job, type Queue, RetryLater } from "./queue.ts";
import type { SystemEvent, SystemEvents } from "./system-events.ts";

export const WAKE_JOB = "wake";
/** Wakes of other kinds wait this long for company; an ended command does not. */
export const COALESCE_MS = 250;
/** Between two turns that events caused. */
export const MIN_SPACING_MS = 30_000;
/** More turns than this within the window are put off to its end. */
export const FLOOD_TURNS = 5;
export const FLOOD_WINDOW_MS = 60_000;
export const MAX_PROMPT_CHARS = 8_000;
const CONCURRENCY = 4;
const ATTEMPTS = 8;
const HISTORY_TTL_MS = 10 * FLOOD_WINDOW_MS;

/** Later ones win when wakes of one session merge. */
export const WAKE_REASONS = ["heartbeat", "cron", "approval", "exec-event", "manual"] as const;
export type WakeReason = (typeof WAKE_REASONS)[number];

export type WakeOutcome = "turn" | "delivered-by-code" | "no-pending-event" | "no-model" | "nothing-to-say";

export interface WakeTarget {
  readonly agentId: string;
  readonly sessionKey: string;
  /** Where an answer goes that belongs to no event: scheduled heartbeats. */
  readonly route?: Route;
}

/** The model's side of a wake. */
export interface AgentTurn {
  run(turn: {
    readonly target: WakeTarget;
    readonly reason: WakeReason;
    readonly events: readonly SystemEvent[];
    /** What the agent is told, at most `MAX_PROMPT_CHARS`. */
    readonly prompt: string;
    readonly signal: AbortSignal;
  }): Promise<{ readonly text: string }>;
}

export interface Wakes {
  start(): Promise<void>;
  /** Resolves once the wake is durable. */
  request(target: WakeTarget, reason: WakeReason, prompt?: string): Promise<void>;
}

export interface WakesOptions {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly events: SystemEvents;
  /** Absent while no model is configured for the agent. */
  readonly turnFor: (agentId: string) => AgentTurn | undefined;
  /** `heartbeat.ackMaxChars` of the agent. */
  readonly ackMaxChars: (agentId: string) => number;
  readonly post: (message: { readonly key: string; readonly route: Route; readonly card: Card }) => Promise<void>;
  readonly onOutcome?: (reason: WakeReason, outcome: WakeOutcome) => void;
}

interface Pending {
  readonly nonce: string;
  readonly reason: WakeReason;
  readonly prompt?: string;
}

/** As it was first asked for; what merged into it since is in the store. */
interface WakeData extends Pending {
  readonly target: WakeTarget;
}

const NS = "wake";
const TURNS_NS = "wake-turns";

export function createWakes(options: WakesOptions): Wakes {
  const { store, queue, clock, events } = options;

  async function request(target: WakeTarget, reason: WakeReason, prompt?: string): Promise<void> {
    const mine: Pending = { nonce: options.newId(), reason, ...(prompt ? { prompt } : {}) };
    for (;;) {
      if (await store.setIfAbsent(NS, target.sessionKey, mine)) {
        await enqueue({ target, ...mine }, reason);
        return;
      }
      const found = await store.get<Pending>(NS, target.sessionKey);
      if (!found) continue;
      const merged = merge(found.value, mine);
      if ((await store.compareAndSet(NS, target.sessionKey, found.version, merged)) === undefined) continue;
      // Whoever made the record may have been killed before its job was added; the id makes this one harmless.
      await enqueue({ target, ...merged }, reason);
      return;
    }
  }

  async function enqueue(data: WakeData, reason: WakeReason): Promise<void> {
    await queue.add<WakeData>({
      name: WAKE_JOB,
      id: `wake:${data.target.sessionKey}:${data.nonce}`,
      key: data.target.sessionKey,
      data,
      delayMs: reason === "exec-event" || reason === "manual" ? 0 : COALESCE_MS,
      attempts: ATTEMPTS,
    });
  }

  async function work(job: Job<WakeData>): Promise<void> {
    const { target, nonce } = job.data;
    const found = await store.get<Pending>(NS, target.sessionKey);
    const wake = found?.value.nonce === nonce ? found.value : undefined;
    // Without the record it is a second try: the first one took it.
    const { reason, prompt } = wake ?? job.data;
    const pending = await events.pending(target.sessionKey);
    const turn = options.turnFor(target.agentId);
    const isBare = pending.length === 0 && prompt === undefined;
    if (turn && !isBare) await keepDistance(target.sessionKey, reason);
    // From here on a new event asks for a wake of its own.
    if (found && wake) await store.delete(NS, target.sessionKey, found.version);
    const outcome = isBare
      ? "no-pending-event"
      : turn
        ? await think(turn, target, reason, pending, prompt, job.signal)
        : await deliver(target, pending);
    options.onOutcome?.(reason, outcome);
  }

  /** Puts the wake off while its session has had enough turns; what comes meanwhile merges into it. */
  async function keepDistance(sessionKey: string, reason: WakeReason): Promise<void> {
    const found = await store.get<readonly number[]>(TURNS_NS, sessionKey);
    const now = clock.now();
    const waitMs = distanceMs(found?.value ?? [], now, reason);
    if (waitMs > 0) throw new RetryLater(waitMs, "the session has just had a turn");
  }

  async function countTurn(sessionKey: string): Promise<void> {
    const now = clock.now();
    const before = (await store.get<readonly number[]>(TURNS_NS, sessionKey))?.value ?? [];
    const recent = before.filter((atMs) => now - atMs < FLOOD_WINDOW_MS);
    await store.put(TURNS_NS, sessionKey, [...recent, now], { ttlMs: HISTORY_TTL_MS });
  }

  async function think(
    turn: AgentTurn,
    target: WakeTarget,
    reason: WakeReason,
    pending: readonly SystemEvent[],
    prompt: string | undefined,
    signal: AbortSignal,
  ): Promise<WakeOutcome> {
    const told = [...pending.map((event) => event.text), ...(prompt ? [prompt] : [])].join("\n\n");
    const { text } = await turn.run({
      target,
      reason,
      events: pending,
      prompt: told.slice(0, MAX_PROMPT_CHARS),
      signal,
    });
    await countTurn(target.sessionKey);
    const answer = visibleAnswer(text, options.ackMaxChars(target.agentId));
    const routes = routesOf(pending, target.route);
    if (answer !== undefined) {
      const key = `wake:${target.sessionKey}:${pending.at(-1)?.contextKey ?? clock.now()}`;
      for (const route of routes)
        await options.post({ key, route, card: { kind: "text", tone: "info", text: answer } });
    }
    // A model may add to a completion, never suppress it.
    if (answer === undefined) await deliver(target, pending);
    for (const event of pending) await events.remove(target.sessionKey, event.contextKey);
    return answer === undefined ? "nothing-to-say" : "turn";
  }

  /** The event's own words, to where it came from. What no conversation waits for stays until somebody asks. */
  async function deliver(target: WakeTarget, pending: readonly SystemEvent[]): Promise<WakeOutcome> {
    let delivered = 0;
    for (const event of pending) {
      if (!event.route || event.hasCard) continue;
      await options.post({
        key: `event:${target.sessionKey}:${event.contextKey}`,
        route: event.route,
        card: { kind: "text", tone: "info", text: event.text },
      });
      await events.remove(target.sessionKey, event.contextKey);
      delivered++;
    }
    return delivered > 0 ? "delivered-by-code" : "no-model";
  }

  return {
    start: () => queue.process<WakeData>(WAKE_JOB, work, { concurrency: CONCURRENCY }),
    request,
  };
}

/** How long the next turn has to wait. What a person asked for by hand waits for nothing but a flood. */
export function distanceMs(turnsAtMs: readonly number[], now: number, reason: WakeReason): number {
  const recent = turnsAtMs.filter((atMs) => now - atMs < FLOOD_WINDOW_MS).sort((a, b) => a - b);
  const oldestOfFlood = recent.length >= FLOOD_TURNS ? recent.at(-FLOOD_TURNS) : undefined;
  const flood = oldestOfFlood === undefined ? 0 : oldestOfFlood + FLOOD_WINDOW_MS - now;
  const last = recent.at(-1);
  const spacing = last === undefined || reason === "manual" ? 0 : last + MIN_SPACING_MS - now;
  return Math.max(0, flood, spacing);
}

function merge(before: Pending, now: Pending): Pending {
  const rank = (reason: WakeReason) => WAKE_REASONS.indexOf(reason);
  const reason = rank(now.reason) > rank(before.reason) ? now.reason : before.reason;
  const prompt = now.prompt ?? before.prompt;
  return { nonce: before.nonce, reason, ...(prompt ? { prompt } : {}) };
}

function routesOf(events: readonly SystemEvent[], fallback: Route | undefined): Route[] {
  const routes = events.flatMap((event) => (event.route ? [event.route] : []));
  const all = routes.length > 0 || !fallback ? routes : [fallback];
  return [...new Map(all.map((route) => [routeKey(route), route])).values()];
}
