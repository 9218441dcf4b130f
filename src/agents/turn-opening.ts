/** What waits for a session becomes the opening of one turn: which of it, what the model reads, and where the answer goes. Pure. */
import type { ModelMessage } from "ai";
import type { SystemEvent } from "../core/events/system-events.ts";
import type { WakeReason } from "../core/events/wakes.ts";
import { type Route, routeKey } from "../core/route.ts";
import { type Batch, type BatchLimitsOf, batchesOf } from "./batches.ts";
import type { Waiting, WaitingWake } from "./inbox.ts";
import { eventsText, messageText, wakeText } from "./prompt.ts";
import type { TurnRecord } from "./transcript.ts";

/** What one turn takes of all that waits. */
export interface Gathered {
  readonly first: Waiting;
  readonly batch: readonly Waiting[];
  /** What people said, as the model is told it. */
  readonly said: readonly Batch[];
  /** Events that the model is told of with it. */
  readonly heard: readonly SystemEvent[];
  readonly prompts: readonly string[];
  /** Absent: a person speaks. */
  readonly reason: WakeReason | undefined;
}

export function gather(
  first: Waiting,
  waiting: readonly Waiting[],
  pending: readonly SystemEvent[],
  limitsOf: BatchLimitsOf,
): Gathered {
  const batch = batchOf(first, waiting);
  return {
    first,
    batch,
    said: batchesOf(batch, limitsOf),
    heard: pending.filter((event) => isHeard(event, first.kind)),
    prompts: batch.flatMap((item) => (item.kind === "wake" && item.prompt !== undefined ? [item.prompt] : [])),
    reason: reasonOf(batch),
  };
}

/** A wake that has nothing to tell the model. */
export function isBare({ first, heard, prompts }: Gathered): boolean {
  return first.kind === "wake" && heard.length === 0 && prompts.length === 0;
}

export function purposeOf({ first }: Gathered): "heartbeat" | "other" {
  return first.kind === "wake" && first.reason === "heartbeat" ? "heartbeat" : "other";
}

/** The record that the turn begins with. */
export function openingRecord(
  gathered: Gathered,
  turn: Pick<TurnRecord, "seq" | "epoch" | "agentId" | "startedAtMs"> & { readonly sessionKey: string },
): TurnRecord {
  const { first, batch, heard, reason } = gathered;
  const { sessionKey, ...numbered } = turn;
  const messages = openingMessages(gathered, turn.startedAtMs);
  return {
    ...numbered,
    id: `${sessionKey}/${turn.epoch}.${turn.seq}`,
    state: "running",
    trigger: reason ?? "message",
    starts: 1,
    routes: routesOf(batch, heard),
    ...(first.kind === "message" ? { actor: first.actor } : {}),
    messages,
    opening: messages.length,
    dispatched: [],
    took: { items: batch.map((item) => item.id), events: heard.map((event) => event.contextKey) },
    tasks: heard
      .filter((event) => event.isTask)
      .map(({ contextKey, text, route }) => ({ key: contextKey, text, ...(route ? { route } : {}) })),
  };
}

export function userMessage(batch: Batch): ModelMessage {
  return { role: "user", content: messageText({ ...batch[0], text: batch.map((one) => one.text).join("\n") }) };
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

function openingMessages({ said, heard, prompts, reason }: Gathered, atMs: number): ModelMessage[] {
  if (reason !== undefined) return [{ role: "user", content: wakeText(reason, heard, prompts, atMs) }];
  const before = eventsText(heard, atMs);
  return [...(before === "" ? [] : [{ role: "user", content: before } as const]), ...said.map(userMessage)];
}

/** A message is answered where it was said; what events say goes to where each came from. */
function routesOf(batch: readonly Waiting[], heard: readonly SystemEvent[]): readonly Route[] {
  const [first] = batch;
  if (first?.kind === "message") return [first.route];
  const ofEvents = heard.flatMap((event) => (event.route ? [event.route] : []));
  const routes = ofEvents.length > 0 ? ofEvents : batch.flatMap((item) => (item.route ? [item.route] : []));
  return [...new Map(routes.map((route) => [routeKey(route), route])).values()];
}
