/**
 * The durable side of an agent's turns: what waits, one turn a session at a time, and what becomes of a turn when its
 * gateway ends. A turn in which no tool had been dispatched is begun again; one that had begun something is never
 * repeated by itself: its conversation is told what had been started, and so is the model when it is asked next.
 */
import type { ModelMessage } from "ai";
import type { Clock } from "../core/clock.ts";
import { type Job, type Queue, RetryLater } from "../core/events/queue.ts";
import type { SystemEvents } from "../core/events/system-events.ts";
import type { AgentTurns } from "../core/events/wakes.ts";
import type { Actor, Route } from "../core/route.ts";
import type { Store, Versioned } from "../core/store/store.ts";
import { type AttemptOptions, attempt } from "./attempt.ts";
import { finished, firstLookMs, nextLookMs } from "./batches.ts";
import { Inbox, type WaitingMessage } from "./inbox.ts";
import { beginsAnew } from "./session-reset.ts";
import { modelOf, turnLimits } from "./settings.ts";
import { Transcripts, type TurnRecord, TurnTaken } from "./transcript.ts";
import { type Ending, type EndingOptions, endTurn } from "./turn-ending.ts";
import { gather, isBare, openingRecord, purposeOf } from "./turn-opening.ts";
import { wordsOfCut, wordsOfGivingUp } from "./words.ts";

const TURN_JOB = "agent-turn";
/** A turn that was cut this often before it dispatched anything is given up: it may be what ends the gateway. */
const MAX_STARTS = 3;
const ATTEMPTS = 6;
const STOP_TOPIC = "agent-stop";
const DRAIN_RETRY_MS = 1_000;

export interface TurnsOptions extends AttemptOptions, EndingOptions {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly events: SystemEvents;
}

export interface SpokenTo {
  readonly eventId: string;
  readonly atMs: number;
  readonly text: string;
  readonly actor: Actor;
  readonly route: Route;
  readonly agentId: string;
  readonly sessionKey: string;
  /** It may be the first part of more: the turn waits longer for the rest. */
  readonly mayBeCut?: boolean;
}

export interface StopWish {
  /** Absent: every conversation. */
  readonly sessionKey?: string;
}

export interface Turns extends AgentTurns {
  start(): Promise<void>;
  hasModel(agentId: string, purpose?: "heartbeat" | "other"): boolean;
  /** A person's message for the agent. Resolves once it is durable; `full`: it was not taken. */
  take(message: SpokenTo): Promise<"taken" | "full" | "no-model">;
  /** Ends turns on whichever gateway, and drops the messages that wait. */
  stop(wish: StopWish): Promise<{ readonly turns: number; readonly messages: number }>;
  /** No more turns here; what goes on is left to whoever comes next, by its record. */
  drain(): void;
  /** The conversation begins anew for the model. True when there was something to forget. */
  forget(sessionKey: string): Promise<boolean>;
}

interface TurnData {
  readonly sessionKey: string;
  readonly agentId: string;
}

interface StopMessage {
  readonly sessionKey?: string;
}

/** Why the turn's own signal is aborted; the job's signal aborts when the gateway closes. */
class Stopped extends Error {
  override readonly name = "Stopped";
}

export function createTurns(options: TurnsOptions): Turns {
  const { store, queue, clock, config, events } = options;
  const transcripts = new Transcripts(store);
  const inbox = new Inbox(store);
  /** Turns going on here. */
  const going = new Map<string, AbortController>();
  const draining = new AbortController();
  const parts = { ...options, transcripts, inbox };
  const end = (ending: Ending) => endTurn(ending, parts);

  async function enqueue(data: TurnData, id: string, delayMs = 0): Promise<void> {
    const job = { name: TURN_JOB, id: `turn:${id}`, key: data.sessionKey, data, attempts: ATTEMPTS };
    await queue.add<TurnData>({ ...job, delayMs });
  }

  async function work(job: Job<TurnData>): Promise<void> {
    if (draining.signal.aborted) throw whileDraining();
    const { sessionKey, agentId } = job.data;
    const cut = await transcripts.running(sessionKey);
    if (cut) await recover(sessionKey, cut, job.signal);
    else await next(sessionKey, agentId, job.signal);
    const [left] = await inbox.list(sessionKey);
    // Its own job may be over: what waits never depends on somebody speaking again.
    if (left) await enqueue(job.data, `rest:${left.id}:${clock.now()}`);
  }

  async function next(sessionKey: string, agentId: string, signal: AbortSignal): Promise<void> {
    const { ready, waitMs } = finished(await inbox.list(sessionKey), options.batchLimits, clock.now());
    const [first] = ready;
    if (!first) {
      if (waitMs > 0) throw new RetryLater(nextLookMs(waitMs), "somebody is still writing");
      return;
    }
    const gathered = gather(first, ready, await events.pending(sessionKey), options.batchLimits);
    const { batch, heard } = gathered;
    if (isBare(gathered) || !hasModel(agentId, purposeOf(gathered))) {
      await inbox.settle(batch);
      return;
    }
    const now = clock.now();
    const lastMs = await transcripts.humanAtMs(sessionKey);
    if (first.kind === "message" && beginsAnew(config().session.reset, lastMs, now))
      await transcripts.forget(sessionKey);
    const history = await historyOf(sessionKey, agentId);
    const begun = await transcripts.begin(sessionKey, (seq, epoch) =>
      openingRecord(gathered, { sessionKey, seq, epoch, agentId, startedAtMs: now }),
    );
    await inbox.settle(batch);
    for (const event of heard) await events.remove(sessionKey, event.contextKey);
    await go(sessionKey, begun, history, signal);
  }

  /** What an ended gateway left. */
  async function recover(sessionKey: string, found: Versioned<TurnRecord>, signal: AbortSignal): Promise<void> {
    const { value: record, version } = found;
    const took = new Set(record.took.items);
    await inbox.settle((await inbox.list(sessionKey)).filter((item) => took.has(item.id)));
    for (const key of record.took.events) await events.remove(sessionKey, key);
    if (record.state === "answering") return end({ sessionKey, turn: found });
    if (record.state !== "running") return transcripts.end(sessionKey, record.seq, true);
    if (record.dispatched.length > 0) {
      const turn: Versioned<TurnRecord> = { version, value: { ...record, state: "cut" } };
      return end({ sessionKey, turn, notice: { ...wordsOfCut(record.dispatched), tone: "warning" } });
    }
    if (record.starts >= MAX_STARTS) {
      const turn: Versioned<TurnRecord> = { version, value: { ...record, state: "failed" } };
      return end({ sessionKey, turn, notice: { ...wordsOfGivingUp(MAX_STARTS), tone: "error" } });
    }
    const again: TurnRecord = {
      ...record,
      starts: record.starts + 1,
      messages: record.messages.slice(0, record.opening),
    };
    const begun = { value: again, version: await transcripts.save(sessionKey, version, again) };
    await go(sessionKey, begun, await historyOf(sessionKey, record.agentId, record.seq), signal);
  }

  async function go(
    sessionKey: string,
    begun: Versioned<TurnRecord>,
    history: readonly ModelMessage[],
    jobClosing: AbortSignal,
  ): Promise<void> {
    const stopping = new AbortController();
    going.set(sessionKey, stopping);
    const closing = AbortSignal.any([jobClosing, draining.signal]);
    let ending: Ending;
    try {
      ending = await attempt({ sessionKey, begun, history, stopping: stopping.signal, closing }, parts);
    } catch (error) {
      if (draining.signal.aborted && !(error instanceof TurnTaken)) throw whileDraining();
      throw error;
    } finally {
      if (going.get(sessionKey) === stopping) going.delete(sessionKey);
    }
    await end(ending);
  }

  async function historyOf(sessionKey: string, agentId: string, goingOn?: number): Promise<ModelMessage[]> {
    const { historyTurns, historyChars } = turnLimits(config(), agentId);
    const turns = await transcripts.history(sessionKey, { turns: historyTurns, chars: historyChars }, goingOn);
    return turns.flatMap((turn) => turn.messages);
  }

  function hasModel(agentId: string, purpose: "heartbeat" | "other" = "other"): boolean {
    return modelOf(config(), agentId, purpose) !== undefined;
  }

  function stopHere({ sessionKey }: StopMessage): void {
    for (const [key, controller] of going) {
      if (sessionKey === undefined || key === sessionKey) controller.abort(new Stopped());
    }
  }

  return {
    async start() {
      await store.subscribe(STOP_TOPIC, (message) => stopHere((message ?? {}) as StopMessage));
      await queue.process<TurnData>(TURN_JOB, work, { concurrency: config().limits.maxConcurrentTurns });
    },

    hasModel,

    async request({ id, target, reason, prompt }) {
      const { agentId, sessionKey, route } = target;
      await inbox.put(
        {
          kind: "wake",
          id,
          sessionKey,
          atMs: clock.now(),
          reason,
          ...(prompt === undefined ? {} : { prompt }),
          ...(route ? { route } : {}),
        },
        Number.POSITIVE_INFINITY,
      );
      await enqueue({ sessionKey, agentId }, id);
    },

    async take({ eventId, atMs, text, actor, route, agentId, sessionKey, mayBeCut = false }) {
      if (!hasModel(agentId)) return "no-model";
      const { maxWaiting } = turnLimits(config(), agentId);
      const base = { kind: "message", id: eventId, sessionKey, atMs, text, actor, route } as const;
      const item: WaitingMessage = mayBeCut ? { ...base, mayBeCut } : base;
      const put = await inbox.put(item, maxWaiting);
      if (put === "full") return "full";
      if (put === "taken") await enqueue({ sessionKey, agentId }, eventId, firstLookMs(options.batchLimits(route)));
      return "taken";
    },

    async stop(wish) {
      const waiting = wish.sessionKey === undefined ? await inbox.all() : await inbox.list(wish.sessionKey);
      const messages = waiting.filter((item) => item.kind === "message");
      await inbox.settle(messages);
      const running = (await transcripts.runningSessions()).filter(
        (key) => wish.sessionKey === undefined || key === wish.sessionKey,
      );
      if (running.length > 0) await store.publish(STOP_TOPIC, wish);
      stopHere(wish);
      return { turns: running.length, messages: messages.length };
    },

    drain() {
      draining.abort();
    },

    isBusy: async (sessionKey) => (await transcripts.running(sessionKey)) !== undefined,

    forget: (sessionKey) => transcripts.forget(sessionKey),
  };
}

/** Whoever comes next decides by the record. */
function whileDraining(): RetryLater {
  return new RetryLater(DRAIN_RETRY_MS, "the gateway is stopping");
}
