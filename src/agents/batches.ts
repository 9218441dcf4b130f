/**
 * Several messages that one person sends in a row are one thing said: people press Enter in the middle of a thought, and
 * a platform cuts a long text into pieces. They wait in the inbox, which is durable, until the person has been quiet for
 * a moment, and reach the model as one message (channels.md section 7, Telegram). Pure.
 */
import { type Route, routeKey } from "../core/route.ts";
import type { Waiting, WaitingMessage } from "./inbox.ts";

export interface BatchLimits {
  /** Milliseconds without another message of this person here, after which they have finished. */
  readonly quietMs: number;
  /** The same after a message that the platform may have cut. */
  readonly cutQuietMs: number;
  /** One batch holds at most this many messages and characters; more begin another. */
  readonly maxMessages: number;
  readonly maxChars: number;
  /** However fast somebody types, what they have said so far is heard after this long. */
  readonly maxWaitMs: number;
}

const LOOK_MS = 300;

/** Absent: each message stands for itself. */
export type BatchLimitsOf = (route: Route) => BatchLimits | undefined;

/** Messages of one person in one conversation, oldest first. */
export type Batch = readonly [WaitingMessage, ...WaitingMessage[]];

/** What was said, each batch by itself, in the order in which they began. */
export function batchesOf(waiting: readonly Waiting[], limitsOf: BatchLimitsOf): readonly Batch[] {
  const batches: [WaitingMessage, ...WaitingMessage[]][] = [];
  const open = new Map<string, [WaitingMessage, ...WaitingMessage[]]>();
  for (const item of waiting) {
    if (item.kind !== "message") continue;
    const speaker = `${routeKey(item.route)}|${item.actor.id}`;
    const limits = limitsOf(item.route);
    const batch = open.get(speaker);
    if (batch && limits && belongs(item, batch, limits)) {
      batch.push(item);
      continue;
    }
    const fresh: [WaitingMessage] = [item];
    batches.push(fresh);
    open.set(speaker, fresh);
  }
  return batches;
}

/** Everything a turn may take now, and how long until more of it may be. 0: nothing is being waited for. */
export function finished(
  waiting: readonly Waiting[],
  limitsOf: BatchLimitsOf,
  nowMs: number,
): { readonly ready: readonly Waiting[]; readonly waitMs: number } {
  const unfinished = new Set<Waiting>();
  let waitMs = Number.POSITIVE_INFINITY;
  for (const batch of batchesOf(waiting, limitsOf)) {
    const left = leftMs(batch, limitsOf(batch[0].route), nowMs);
    if (left <= 0) continue;
    waitMs = Math.min(waitMs, left);
    for (const item of batch) unfinished.add(item);
  }
  return { ready: waiting.filter((item) => !unfinished.has(item)), waitMs: unfinished.size === 0 ? 0 : waitMs };
}

/** How long a message is waited with before it is looked whether its person goes on. */
export function firstLookMs(limits: BatchLimits | undefined): number {
  return limits ? nextLookMs(Math.min(limits.quietMs, limits.maxWaitMs)) : 0;
}

/** A full batch is not waited with, so it is looked often. */
export function nextLookMs(waitMs: number): number {
  return Math.min(waitMs, LOOK_MS);
}

function belongs(item: WaitingMessage, batch: Batch, limits: BatchLimits): boolean {
  return (
    !isFull(batch, limits) &&
    charsOf(batch) + item.text.length <= limits.maxChars &&
    item.atMs - lastOf(batch).atMs < quietAfter(lastOf(batch), limits) &&
    item.atMs - batch[0].atMs < limits.maxWaitMs
  );
}

function leftMs(batch: Batch, limits: BatchLimits | undefined, nowMs: number): number {
  if (!limits || isFull(batch, limits)) return 0;
  const last = lastOf(batch);
  // Of a gateway whose clock is ahead: nobody waits for that.
  if (last.atMs > nowMs) return 0;
  return Math.min(last.atMs + quietAfter(last, limits), batch[0].atMs + limits.maxWaitMs) - nowMs;
}

function isFull(batch: Batch, limits: BatchLimits): boolean {
  return batch.length >= limits.maxMessages || charsOf(batch) >= limits.maxChars;
}

function quietAfter(message: WaitingMessage, { quietMs, cutQuietMs }: BatchLimits): number {
  return message.mayBeCut ? cutQuietMs : quietMs;
}

function charsOf(batch: Batch): number {
  return batch.reduce((sum, one) => sum + one.text.length, 0);
}

function lastOf(batch: Batch): WaitingMessage {
  return batch.at(-1) ?? batch[0];
}
