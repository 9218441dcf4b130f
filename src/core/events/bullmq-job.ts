import { createHash } from "node:crypto";
import type { JobsOptions } from "bullmq";
import { IDEMPOTENCY_MS, MAX_DEAD_LETTERS, type PlannedJob } from "./job-spec.ts";
import type { Backoff } from "./queue.ts";

/** Finished jobs kept for their ids, at most; the time they are kept is `IDEMPOTENCY_MS`. */
const MAX_REMEMBERED_JOBS = 50_000;

/**
 * How far away a job is put that waits for its key: into BullMQ's delayed set, far beyond every real delay, so that a
 * score tells the two apart. Whoever finishes the job before it brings it back.
 */
export const PARK_MS = 10 * 366 * 24 * 60 * 60 * 1000;

/** Scores from here on are parked jobs. BullMQ keeps a delayed job under `due time · 4096`. */
export function parkedFrom(now: number): number {
  return (now + PARK_MS / 2) * 4096;
}

/** What is stored as the data of a BullMQ job: its own id and the rest of what BullMQ has no place for. */
export interface Envelope {
  /** Fresh with each add: tells whether the stored job came from this add or from an earlier one with the same id. */
  readonly nonce: string;
  readonly id: string;
  readonly key?: string;
  readonly enqueuedAtMs: number;
  readonly notAfterMs?: number;
  /** Absent for a job that has one try. */
  readonly backoff?: Backoff;
  readonly data: unknown;
}

/**
 * BullMQ refuses ids with colons (except those with exactly two) and ids that look like numbers, and cuts others into
 * keys; a hash behind a letter is always a good one (measured with bullmq 6.7.0: about 2 % of random 8-digit hex ids throw).
 */
export function bullId(id: string): string {
  return `j-${digest(id)}`;
}

/** A name for a key or schedule id of any text that can stand inside a Redis key. */
export function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

export function envelopeOf(job: PlannedJob, nonce: string, enqueuedAtMs: number): Envelope {
  return {
    nonce,
    id: job.id,
    ...(job.key === undefined ? {} : { key: job.key }),
    enqueuedAtMs,
    ...(job.notAfterMs === undefined ? {} : { notAfterMs: job.notAfterMs }),
    ...(job.attempts === 1 ? {} : { backoff: job.backoff }),
    data: JSON.parse(job.json),
  };
}

export function bullOptions(job: PlannedJob, delayMs: number): JobsOptions {
  return {
    jobId: bullId(job.id),
    attempts: job.attempts,
    delay: delayMs,
    backoff: { type: "custom" },
    removeOnComplete: job.named ? { age: IDEMPOTENCY_MS / 1000, count: MAX_REMEMBERED_JOBS } : true,
    removeOnFail: { count: MAX_DEAD_LETTERS },
    stackTraceLimit: 1,
  };
}
