/**
 * Wakes: something has happened that a session should be told of. Requests for one session merge into one wake; a wake
 * that finds nothing to tell is a no-op; agent turns keep a minimum distance and a flood of them is put off, never
 * dropped. People are told by code first, in the event's own words and in the conversation it came from: a model may
 * add, never suppress (decisions.md D15), and its provider may be down.
 *
 * Events stay in the store until a turn or a message that holds them is durable, so a kill in between tells them once
 * more at most, under the same message key: once.
 */
import type { UnspokenCard } from "../cards.ts";
import type { Clock, NewId } from "../clock.ts";
import type { Route } from "../route.ts";
import type { Store } from "../store/store.ts";
import { type Job, type Queue, RetryLater } from "./queue.ts";
import type { SystemEvent, SystemEvents } from "./system-events.ts";

const WAKE_JOB = "wake";
/** Wakes of other kinds wait this long for company; an ended command does not. */
const COALESCE_MS = 250;
/** Between two turns that events caused. */
export const MIN_SPACING_MS = 30_000;
/** More turns than this within the window are put off to its end. */
const FLOOD_TURNS = 5;
export const FLOOD_WINDOW_MS = 60_000;
/** While the agent is at work in the session, an event waits for its poll: so often it is looked, and so long at most. */
export const BUSY_RETRY_MS = 1_000;
export const MAX_BUSY_MS = 30_000;
const CONCURRENCY = 4;
const ATTEMPTS = 8;
const HISTORY_TTL_MS = 10 * FLOOD_WINDOW_MS;

/** Later ones win when wakes of one session merge. */
const WAKE_REASONS = ["heartbeat", "cron", "approval", "exec-event", "manual"] as const;
export type WakeReason = (typeof WAKE_REASONS)[number];

export type WakeOutcome = "turn" | "delivered-by-code" | "no-pending-event" | "no-model";

export interface WakeTarget {
  readonly agentId: string;
  readonly sessionKey: string;
  /** Where an answer goes that belongs to no event: scheduled heartbeats. */
  readonly route?: Route;
}

/** The model's side of a wake. The events stay in the store: the turn takes those that are still there when it begins. */
export interface AgentTurns {
  /** Resolves once the turn is durable. The same id is one turn. */
  request(turn: {
    readonly id: string;
    readonly target: WakeTarget;
    readonly reason: WakeReason;
    readonly prompt?: string;
  }): Promise<void>;
  /** A turn of this session is going on. */
  isBusy(sessionKey: string): Promise<boolean>;
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
  readonly turnsFor: (agentId: string) => AgentTurns | undefined;
  readonly post: (message: {
    readonly key: string;
    readonly route: Route;
    readonly card: UnspokenCard;
  }) => Promise<void>;
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
    for (;;) {
      const found = await store.get<Pending>(NS, target.sessionKey);
      // An earlier try got as far as taking the record away.
      if (found?.value.nonce !== nonce) return;
      const outcome = await heed(target, found.value, found.version);
      options.onOutcome?.(found.value.reason, outcome);
      // From here on a new event asks for a wake of its own; what merged into this one meanwhile is heeded first.
      if (await store.delete(NS, target.sessionKey, found.version)) return;
    }
  }

  async function heed(target: WakeTarget, { nonce, reason, prompt }: Pending, version: number): Promise<WakeOutcome> {
    const pending = await events.pending(target.sessionKey);
    const turns = options.turnsFor(target.agentId);
    if (turns) await leaveToPoll(turns, target.sessionKey, pending);
    const delivered = await deliver(target, pending, turns !== undefined);
    if (pending.length === 0 && prompt === undefined) return "no-pending-event";
    if (!turns) return delivered ? "delivered-by-code" : "no-model";
    await keepDistance(target.sessionKey, reason);
    const id = `wake:${target.sessionKey}:${nonce}:${version}`;
    await turns.request({ id, target, reason, ...(prompt === undefined ? {} : { prompt }) });
    await countTurn(target.sessionKey);
    return "turn";
  }

  /**
   * An agent that is at work may be about to look itself, and what it has seen is news to nobody (wake-poll-consumes).
   * It has a moment for that; people are not kept waiting for long.
   */
  async function leaveToPoll(turns: AgentTurns, sessionKey: string, pending: readonly SystemEvent[]): Promise<void> {
    const isFresh = ({ hasCard, isTold, isTask, atMs }: SystemEvent) =>
      !hasCard && !isTold && !isTask && clock.now() - atMs < MAX_BUSY_MS;
    if (!pending.some(isFresh) || !(await turns.isBusy(sessionKey))) return;
    throw new RetryLater(BUSY_RETRY_MS, "the agent is at work in this session");
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

  /**
   * The event's own words, to where it came from. With a model the event stays for its turn; what no conversation waits
   * for stays until somebody asks.
   */
  async function deliver(target: WakeTarget, pending: readonly SystemEvent[], hasModel: boolean): Promise<boolean> {
    let delivered = false;
    for (const event of pending) {
      if (!event.route || event.hasCard || event.isTold || (event.isTask && hasModel)) continue;
      await options.post({
        // Names of sessions come round again; the moment does not.
        key: `event:${target.sessionKey}:${event.contextKey}:${event.atMs}`,
        route: event.route,
        card: { kind: "text", tone: "info", text: event.said ?? event.text },
      });
      if (hasModel) await events.told(target.sessionKey, event.contextKey);
      else await events.remove(target.sessionKey, event.contextKey);
      delivered = true;
    }
    return delivered;
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
  // Two that ask for different things are both heard.
  const prompts = [...new Set([before.prompt, now.prompt].filter((one) => one !== undefined))];
  const prompt = prompts.join("\n\n");
  return { nonce: before.nonce, reason, ...(prompt ? { prompt } : {}) };
}
