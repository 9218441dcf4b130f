/**
 * One attempt at a turn, on this gateway: the model is run until it has answered, a person stops it, its time is up or
 * the gateway closes. What it says and starts is durable before anything follows from it.
 */
import type { ModelMessage } from "ai";
import type { Clock } from "../core/clock.ts";
import type { Config } from "../core/config/schema.ts";
import { heartbeatVisibility } from "../core/events/heartbeat-visibility.ts";
import { heartbeatSettings } from "../core/exec/settings.ts";
import { type Actor, type Route, routeKey } from "../core/route.ts";
import type { Versioned } from "../core/store/store.ts";
import { inEnglish } from "../core/words/phrase.ts";
import { type BatchLimitsOf, batchesOf, finished } from "./batches.ts";
import type { Inbox } from "./inbox.ts";
import { failureSentence } from "./model-failure.ts";
import { modelOf, type TurnLimits, turnLimits } from "./settings.ts";
import type { CallResult } from "./tool-results.ts";
import { type Transcripts, type TurnRecord, TurnTaken } from "./transcript.ts";
import type { ToolCallOfModel, TurnEnd, TurnOptions } from "./turn.ts";
import { answerOf, type Ending } from "./turn-ending.ts";
import { userMessage } from "./turn-opening.ts";
import { wordsOfFailure, wordsOfTimeout } from "./words.ts";

/** Platforms show that somebody is typing for 5 to 10 seconds. */
const TYPING_EVERY_MS = 4_000;

/** What a turn's model is opened and run with; the gateway makes it from the configuration. */
export interface Thinker {
  run(
    turn: Omit<TurnOptions, "model" | "system" | "tools" | "onUsage"> & {
      readonly agentId: string;
      readonly sessionKey: string;
      /** `provider/model`. */
      readonly model: string;
    },
  ): Promise<TurnEnd>;
}

export interface AttemptOptions {
  readonly config: () => Config;
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
  /** Shows for a few seconds that an answer is being made, where the platform has that. */
  readonly typing: (route: Route) => void;
  readonly onTrouble: (why: string) => void;
  readonly clock: Clock;
  readonly batchLimits: BatchLimitsOf;
}

interface Attempt {
  readonly sessionKey: string;
  readonly begun: Versioned<TurnRecord>;
  readonly history: readonly ModelMessage[];
  /** Aborts when a person stops the turn. */
  readonly stopping: AbortSignal;
  /** Aborts when the gateway closes. */
  readonly closing: AbortSignal;
}

/** Rejects when the gateway closes, and when another one has taken the turn over: then nobody is told anything. */
export async function attempt(
  { sessionKey, begun, history, stopping, closing }: Attempt,
  options: AttemptOptions & { readonly transcripts: Transcripts; readonly inbox: Inbox },
): Promise<Ending> {
  const { config, transcripts } = options;
  let { value: record, version } = begun;
  const { agentId } = record;
  const limits = turnLimits(config(), agentId);
  const model = modelOf(config(), agentId, record.trigger === "heartbeat" ? "heartbeat" : "other") ?? "";
  const timeUp = AbortSignal.timeout(limits.timeoutSec * 1000);
  const signal = AbortSignal.any([stopping, closing, timeUp]);
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
      meanwhile: () => heardMeanwhile(sessionKey, record, limits, options),
    });
  } catch (error) {
    end = { kind: "threw", error };
  } finally {
    clearInterval(typing);
  }

  if (end.kind !== "threw") {
    const answer = answerOf(record, end, heartbeatSettings(config(), agentId).ackMaxChars);
    record = { ...record, state: "answering", ...(answer === undefined ? {} : { answer }) };
    return { sessionKey, turn: { version, value: record } };
  }
  // Whoever comes next decides by the record.
  if (end.error instanceof TurnTaken || closing.aborted) throw end.error;
  if (stopping.aborted) return { sessionKey, turn: { version, value: { ...record, state: "stopped" } } };
  const why = timeUp.aborted
    ? wordsOfTimeout(limits.timeoutSec)
    : wordsOfFailure(failureSentence(end.error, model), record.dispatched);
  options.onTrouble(`a turn of ${agentId} failed: ${inEnglish(why.text)}`);
  return { sessionKey, turn: { version, value: { ...record, state: "failed" } }, notice: { ...why, tone: "error" } };
}

/** New messages of the same conversation; what belongs elsewhere, and what is still being said, keeps waiting. */
async function heardMeanwhile(
  sessionKey: string,
  record: TurnRecord,
  limits: TurnLimits,
  { inbox, batchLimits, clock }: Pick<AttemptOptions, "batchLimits" | "clock"> & { readonly inbox: Inbox },
) {
  const [route] = record.routes;
  const { ready } = finished(await inbox.list(sessionKey), batchLimits, clock.now());
  const found = ready.filter(
    (item) => item.kind === "message" && route !== undefined && routeKey(item.route) === routeKey(route),
  );
  const taken = found.slice(0, limits.maxWaiting);
  return {
    messages: batchesOf(taken, batchLimits).map(userMessage),
    arrived: () => inbox.settle(taken),
  };
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
