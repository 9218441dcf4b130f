/**
 * The durable side of an agent's turns: what waits, one turn a session at a time, and what becomes of a turn when its
 * gateway ends. A turn in which no tool had been dispatched is begun again; one that had begun something is never
 * repeated by itself: its conversation is told what had been started, and so is the model when it is asked next.
 */
import type { ModelMessage } from "ai";
import type { Clock } from "../core/clock.ts";
import type { Config } from "../core/config/schema.ts";
import { visibleAnswer } from "../core/events/heartbeat-filter.ts";
import { heartbeatVisibility } from "../core/events/heartbeat-visibility.ts";
import { type Job, type Queue, RetryLater } from "../core/events/queue.ts";
import type { SystemEvent, SystemEvents } from "../core/events/system-events.ts";
import type { AgentTurns, WakeReason } from "../core/events/wakes.ts";
import { heartbeatSettings } from "../core/exec/settings.ts";
import type { Actor, Route } from "../core/route.ts";
import { routeKey } from "../core/route.ts";
import type { Store, Versioned } from "../core/store/store.ts";
import { inEnglish, phrase, type Wording } from "../core/words/phrase.ts";
import { Inbox, type Waiting, type WaitingMessage, type WaitingWake } from "./inbox.ts";
import { failureSentence } from "./model-failure.ts";
import { eventsText, messageText, wakeText } from "./prompt.ts";
import { beginsAnew } from "./session-reset.ts";
import { modelOf, type TurnLimits, turnLimits } from "./settings.ts";
import type { CallResult } from "./tool-results.ts";
import { Transcripts, type TurnRecord, type TurnState, TurnTaken } from "./transcript.ts";
import type { ToolCallOfModel, TurnEnd } from "./turn.ts";
import { wordsOfCut, wordsOfFailure, wordsOfGivingUp, wordsOfShortAnswer, wordsOfTimeout } from "./words.ts";

export const TURN_JOB = "agent-turn";
/** A turn that was cut this often before it dispatched anything is given up: it may be what ends the gateway. */
export const MAX_STARTS = 3;
const ATTEMPTS = 6;
/** Platforms show that somebody is typing for 5 to 10 seconds. */
export const TYPING_EVERY_MS = 4_000;
const STOP_TOPIC = "agent-stop";
const DRAIN_RETRY_MS = 1_000;

/** What a turn's model is opened and run with; the gateway makes it from the configuration. */
export interface Thinker {
  run(turn: {
    readonly agentId: string;
    readonly sessionKey: string;
    /** `provider/model`. */
    readonly model: string;
    readonly history: readonly ModelMessage[];
    readonly opening: readonly ModelMessage[];
    readonly limits: TurnLimits;
    readonly signal: AbortSignal;
    readonly call: (call: ToolCallOfModel) => Promise<CallResult>;
    readonly save: (messages: readonly ModelMessage[], dispatched: readonly string[]) => Promise<void>;
    readonly meanwhile: () => Promise<{
      readonly messages: readonly ModelMessage[];
      readonly arrived: () => Promise<void>;
    }>;
  }): Promise<TurnEnd>;
}

export interface TurnsOptions {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly config: () => Config;
  readonly events: SystemEvents;
  readonly thinker: Thinker;
  /** One call of a tool, for a model in this conversation; never rejects unless the signal is aborted. */
  readonly callTool: (
    call: ToolCallOfModel & {
      readonly requestId: string;
      readonly agentId: string;
      readonly sessionKey: string;
      readonly model: string;
      readonly actor: Actor;
      readonly route?: Route;
      readonly signal: AbortSignal;
    },
  ) => Promise<CallResult>;
  readonly post: (message: {
    readonly key: string;
    readonly route: Route;
    readonly tone: "info" | "warning" | "error";
    readonly text: Wording;
    readonly hint?: Wording;
  }) => Promise<void>;
  /** Shows for a few seconds that an answer is being made, where the platform has that. */
  readonly typing: (route: Route) => void;
  readonly onEnd?: (end: { readonly trigger: TurnRecord["trigger"]; readonly state: TurnState }) => void;
  readonly onError: (error: unknown, what: string) => void;
  readonly onTrouble: (why: string) => void;
}

export interface SpokenTo {
  readonly eventId: string;
  readonly atMs: number;
  readonly text: string;
  readonly actor: Actor;
  readonly route: Route;
  readonly agentId: string;
  readonly sessionKey: string;
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
  let isDraining = false;

  async function enqueue(data: TurnData, id: string): Promise<void> {
    await queue.add<TurnData>({ name: TURN_JOB, id: `turn:${id}`, key: data.sessionKey, data, attempts: ATTEMPTS });
  }

  async function work(job: Job<TurnData>): Promise<void> {
    if (isDraining) throw new RetryLater(DRAIN_RETRY_MS, "the gateway is stopping");
    const { sessionKey, agentId } = job.data;
    const cut = await transcripts.running(sessionKey);
    if (cut) await recover(sessionKey, cut, job.signal);
    else await next(sessionKey, agentId, job.signal);
    const [left] = await inbox.list(sessionKey);
    // Its own job may be over: what waits never depends on somebody speaking again.
    if (left) await enqueue(job.data, `rest:${left.id}:${clock.now()}`);
  }

  async function next(sessionKey: string, agentId: string, signal: AbortSignal): Promise<void> {
    const waiting = await inbox.list(sessionKey);
    const [first] = waiting;
    if (!first) return;
    const batch = batchOf(first, waiting);
    const pending = await events.pending(sessionKey);
    const heard = pending.filter((event) => isHeard(event, first.kind));
    const prompts = batch.flatMap((item) => (item.kind === "wake" && item.prompt !== undefined ? [item.prompt] : []));
    const isBare = first.kind === "wake" && heard.length === 0 && prompts.length === 0;
    if (isBare || !hasModel(agentId, purposeOf(first))) {
      await inbox.settle(batch);
      return;
    }
    const now = clock.now();
    const lastMs = await transcripts.humanAtMs(sessionKey);
    if (first.kind === "message" && beginsAnew(config().session.reset, lastMs, now))
      await transcripts.forget(sessionKey);
    const limits = turnLimits(config(), agentId);
    const history = await transcripts.history(sessionKey, { turns: limits.historyTurns, chars: limits.historyChars });
    const opening = openingOf(batch, heard, prompts, now, reasonOf(batch));
    const begun = await transcripts.begin(sessionKey, (seq, epoch) => ({
      seq,
      id: `${sessionKey}/${epoch}.${seq}`,
      epoch,
      agentId,
      state: "running",
      trigger: reasonOf(batch) ?? "message",
      startedAtMs: now,
      starts: 1,
      routes: routesOf(batch, heard),
      ...(first.kind === "message" ? { actor: first.actor } : {}),
      messages: opening,
      opening: opening.length,
      dispatched: [],
      took: { items: batch.map((item) => item.id), events: heard.map((event) => event.contextKey) },
      tasks: heard
        .filter((event) => event.isTask)
        .map(({ contextKey, text, route }) => ({ key: contextKey, text, ...(route ? { route } : {}) })),
    }));
    await inbox.settle(batch);
    for (const event of heard) await events.remove(sessionKey, event.contextKey);
    await go(
      sessionKey,
      begun,
      history.flatMap((turn) => turn.messages),
      signal,
    );
  }

  /** What an ended gateway left. */
  async function recover(sessionKey: string, found: Versioned<TurnRecord>, signal: AbortSignal): Promise<void> {
    const { value: record, version } = found;
    const took = new Set(record.took.items);
    await inbox.settle((await inbox.list(sessionKey)).filter((item) => took.has(item.id)));
    for (const key of record.took.events) await events.remove(sessionKey, key);
    if (record.state === "answering") return finish(sessionKey, found);
    if (record.state !== "running") return transcripts.end(sessionKey, record.seq, true);
    if (record.dispatched.length > 0) {
      const notice = wordsOfCut(record.dispatched);
      await finish(sessionKey, { version, value: { ...record, state: "cut" } }, { ...notice, tone: "warning" });
      return;
    }
    if (record.starts >= MAX_STARTS) {
      await finish(
        sessionKey,
        { version, value: { ...record, state: "failed" } },
        { ...wordsOfGivingUp(MAX_STARTS), tone: "error" },
      );
      return;
    }
    const again: TurnRecord = {
      ...record,
      starts: record.starts + 1,
      messages: record.messages.slice(0, record.opening),
    };
    const begun = { value: again, version: await transcripts.save(sessionKey, version, again) };
    const limits = turnLimits(config(), record.agentId);
    const history = await transcripts.history(
      sessionKey,
      { turns: limits.historyTurns, chars: limits.historyChars },
      record.seq,
    );
    await go(
      sessionKey,
      begun,
      history.flatMap((turn) => turn.messages),
      signal,
    );
  }

  async function go(
    sessionKey: string,
    begun: Versioned<TurnRecord>,
    history: readonly ModelMessage[],
    closing: AbortSignal,
  ): Promise<void> {
    let { value: record, version } = begun;
    const { agentId } = record;
    const limits = turnLimits(config(), agentId);
    const model = modelOf(config(), agentId, record.trigger === "heartbeat" ? "heartbeat" : "other") ?? "";
    const ending = new AbortController();
    going.set(sessionKey, ending);
    const timeUp = AbortSignal.timeout(limits.timeoutSec * 1000);
    const signal = AbortSignal.any([ending.signal, closing, timeUp]);
    const [route] = record.routes;
    const type = () => {
      const beats = record.trigger === "heartbeat" && route && heartbeatVisibility(config(), route).useIndicator;
      if (route && (record.trigger === "message" || beats)) options.typing(route);
    };
    type();
    const typing = setInterval(type, TYPING_EVERY_MS);
    typing.unref();
    let end: TurnEnd | { readonly kind: "threw"; readonly error: unknown };
    try {
      end = await options.thinker.run({
        agentId,
        sessionKey,
        model,
        history,
        opening: record.messages.slice(0, record.opening),
        limits,
        signal,
        async save(messages, dispatched) {
          record = { ...record, messages, dispatched };
          version = await transcripts.save(sessionKey, version, record);
        },
        call: (call) =>
          options.callTool({
            ...call,
            requestId: `${record.id}.${record.starts}/${call.id}`,
            agentId,
            sessionKey,
            model,
            actor: agentActor(record),
            signal,
            ...(route ? { route } : {}),
          }),
        meanwhile: () => heardMeanwhile(sessionKey, record, limits),
      });
    } catch (error) {
      end = { kind: "threw", error };
    } finally {
      clearInterval(typing);
      if (going.get(sessionKey) === ending) going.delete(sessionKey);
    }

    if (end.kind !== "threw") {
      const answer = answerOf(record, end, heartbeatSettings(config(), agentId).ackMaxChars);
      record = { ...record, state: "answering", ...(answer === undefined ? {} : { answer }) };
      await finish(sessionKey, { version, value: record });
      return;
    }
    if (end.error instanceof TurnTaken) throw end.error;
    // The gateway closes: whoever comes next decides by the record.
    if (isDraining) throw new RetryLater(DRAIN_RETRY_MS, "the gateway is stopping");
    if (closing.aborted) throw end.error;
    if (ending.signal.aborted) {
      await finish(sessionKey, { version, value: { ...record, state: "stopped" } });
      return;
    }
    const why = timeUp.aborted
      ? wordsOfTimeout(limits.timeoutSec)
      : wordsOfFailure(failureSentence(end.error, model), record.dispatched);
    options.onTrouble(`a turn of ${agentId} failed: ${inEnglish(why.text)}`);
    await finish(sessionKey, { version, value: { ...record, state: "failed" } }, { ...why, tone: "error" });
  }

  /** New messages of the same conversation; what belongs elsewhere keeps waiting. */
  async function heardMeanwhile(sessionKey: string, record: TurnRecord, limits: TurnLimits) {
    const [route] = record.routes;
    const found = (await inbox.list(sessionKey)).filter(
      (item): item is WaitingMessage =>
        item.kind === "message" && route !== undefined && routeKey(item.route) === routeKey(route),
    );
    const taken = found.slice(0, limits.maxWaiting);
    return {
      messages: taken.map(userMessage),
      arrived: () => inbox.settle(taken),
    };
  }

  interface Notice {
    readonly text: Wording;
    readonly hint?: Wording;
    readonly tone: "info" | "warning" | "error";
  }

  /**
   * Ends a turn: its answer or the notice is handed to the deliveries first, under a key of the turn, so that a kill in
   * between says it once. What a failed turn was to do for people is told them by code.
   */
  async function finish(sessionKey: string, { value, version }: Versioned<TurnRecord>, notice?: Notice): Promise<void> {
    let record = value;
    let at = version;
    if (record.state === "answering") at = await transcripts.save(sessionKey, at, record);
    const said: Notice | undefined =
      notice ?? (record.answer === undefined ? undefined : { text: record.answer, tone: "info" });
    for (const route of record.routes) {
      const shown = shownAt(route, record, said);
      if (shown) await options.post({ key: `turn:${record.id}`, route, ...shown });
    }
    if (record.state === "failed" || record.state === "cut") {
      for (const task of record.tasks) {
        if (task.route)
          await options.post({
            key: `task:${record.id}:${task.key}`,
            route: task.route,
            tone: "info",
            text: task.text,
          });
      }
    }
    const over: TurnState = record.state === "answering" ? "done" : record.state;
    record = { ...record, state: over, messages: closed(record.messages, over) };
    await transcripts.save(sessionKey, at, record);
    await transcripts.end(sessionKey, record.seq, isWorthKeeping(record));
    options.onEnd?.({ trigger: record.trigger, state: over });
  }

  function shownAt(route: Route, record: TurnRecord, said: Notice | undefined): Notice | undefined {
    if (record.trigger === "heartbeat") {
      const { showOk, showAlerts } = heartbeatVisibility(config(), route);
      const nothing = said === undefined && record.state === "answering";
      if (nothing) return showOk ? { text: phrase("agent.nothingToReport"), tone: "info" } : undefined;
      if (!showAlerts) return undefined;
    }
    // Nobody waits for the words of a wake that failed: its events have been told by code.
    const waitedFor = record.trigger === "message" || record.answer !== undefined || record.dispatched.length > 0;
    return waitedFor ? said : undefined;
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

    async take({ eventId, atMs, text, actor, route, agentId, sessionKey }) {
      if (!hasModel(agentId)) return "no-model";
      const { maxWaiting } = turnLimits(config(), agentId);
      const item: WaitingMessage = { kind: "message", id: eventId, sessionKey, atMs, text, actor, route };
      const put = await inbox.put(item, maxWaiting);
      if (put === "full") return "full";
      if (put === "taken") await enqueue({ sessionKey, agentId }, eventId);
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
      isDraining = true;
      for (const controller of going.values()) controller.abort();
    },

    isBusy: async (sessionKey) => (await transcripts.running(sessionKey)) !== undefined,

    forget: (sessionKey) => transcripts.forget(sessionKey),
  };
}

/** A message takes along what else was said in the same conversation; a wake takes the other wakes. */
function batchOf(first: Waiting, waiting: readonly Waiting[]): readonly Waiting[] {
  return waiting.filter((item) => {
    if (first.kind === "wake") return item.kind === "wake";
    return item.kind === "message" && routeKey(item.route) === routeKey(first.route);
  });
}

/** News are told with whatever turn comes first, once people know them; work waits for the wake that asked for it. */
function isHeard(event: SystemEvent, kind: Waiting["kind"]): boolean {
  if (event.isTask) return kind === "wake";
  return event.hasCard === true || event.isTold === true || event.route === undefined;
}

function reasonOf(batch: readonly Waiting[]): WakeReason | undefined {
  const wakes = batch.filter((item): item is WaitingWake => item.kind === "wake");
  return wakes.find((wake) => wake.reason !== "heartbeat")?.reason ?? wakes[0]?.reason;
}

function purposeOf(first: Waiting): "heartbeat" | "other" {
  return first.kind === "wake" && first.reason === "heartbeat" ? "heartbeat" : "other";
}

function userMessage(message: WaitingMessage): ModelMessage {
  return { role: "user", content: messageText(message) };
}

function openingOf(
  batch: readonly Waiting[],
  heard: readonly SystemEvent[],
  prompts: readonly string[],
  atMs: number,
  reason: WakeReason | undefined,
): ModelMessage[] {
  if (reason !== undefined) return [{ role: "user", content: wakeText(reason, heard, prompts, atMs) }];
  const before = eventsText(heard, atMs);
  return [
    ...(before === "" ? [] : [{ role: "user", content: before } as const]),
    ...batch.flatMap((item) => (item.kind === "message" ? [userMessage(item)] : [])),
  ];
}

/** A message is answered where it was said; what events say goes to where each came from. */
function routesOf(batch: readonly Waiting[], heard: readonly SystemEvent[]): readonly Route[] {
  const [first] = batch;
  if (first?.kind === "message") return [first.route];
  const ofEvents = heard.flatMap((event) => (event.route ? [event.route] : []));
  const routes = ofEvents.length > 0 ? ofEvents : batch.flatMap((item) => (item.route ? [item.route] : []));
  return [...new Map(routes.map((route) => [routeKey(route), route])).values()];
}

/** Speaks for the person whose message it answers, but is an agent: it can ask, never decide (decisions.md D13). */
function agentActor({ agentId, actor, routes }: TurnRecord): Actor {
  const [route] = routes;
  return {
    kind: "agent",
    channel: actor?.channel ?? route?.channel ?? "gateway",
    accountId: actor?.accountId ?? route?.accountId ?? "default",
    // Empty when nobody asked: then OPENCLAW_CHANNEL_CONTEXT names no sender.
    id: actor?.id ?? "",
    display: actor ? `${agentId} for ${actor.display ?? actor.id}` : agentId,
    ...(actor?.locale ? { locale: actor.locale } : {}),
  };
}

/** What people read of it; the one place where an answer passes on its way out. */
function answerOf(record: TurnRecord, end: TurnEnd, ackMaxChars: number): Wording | undefined {
  const isMessage = record.trigger === "message";
  const visible = visibleAnswer(end.text, isMessage ? 0 : ackMaxChars);
  const note = end.kind === "cut-short" ? wordsOfShortAnswer(end.by) : undefined;
  if (note !== undefined && (isMessage || visible !== undefined)) {
    return visible === undefined ? note : { lines: [visible, "", note] };
  }
  if (visible === undefined && isMessage && end.text.trim() === "") return phrase("agent.noWords");
  return visible;
}

/** As the model is told of a turn that is over: it ends with words of the assistant. */
function closed(messages: readonly ModelMessage[], state: TurnState): readonly ModelMessage[] {
  const note = CLOSING[state];
  if (note === undefined) return messages;
  return [...messages, { role: "assistant", content: note }];
}

const CLOSING: Partial<Record<TurnState, string>> = {
  stopped: "(This turn was stopped by a person.)",
  failed: "(This turn failed before an answer was given.)",
  cut: "(This turn was cut off when the gateway stopped. Nothing of it is repeated by itself.)",
};

/** A heartbeat that had nothing to say is not remembered. */
function isWorthKeeping(record: TurnRecord): boolean {
  if (record.messages.length === 0) return false;
  return !(record.trigger === "heartbeat" && record.answer === undefined && record.dispatched.length === 0);
}
