import type { NewId } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { encodeValue } from "../store/json.ts";
import { assertName } from "../store/keys.ts";
import { assertBackoff, DEFAULT_BACKOFF } from "./backoff.ts";
import type { Backoff, JobSpec } from "./queue.ts";

/** The furthest a job, a retry or a `RetryLater` can be put off. */
const MAX_DELAY_MS = 366 * 24 * 60 * 60 * 1000;

/** How long the id of a finished job is remembered, so that a second add of it adds nothing. */
export const IDEMPOTENCY_MS = 24 * 60 * 60 * 1000;

/** Dead letters beyond this many are dropped, the oldest first. */
export const MAX_DEAD_LETTERS = 10_000;

/** A job during which the process died this often is a dead letter: it may be what kills the process. */
export const MAX_CRASHES = 3;

/** How long handlers may take to end once their signal is aborted. */
export const ABORT_GRACE_MS = 200;

export const DEFAULT_DRAIN_MS = 5000;

const MAX_ERROR_LENGTH = 2000;
const NAME = /^[a-z][a-z0-9-]{0,63}$/;

/** A job that has been checked, with every default filled in and its data as JSON. */
export interface PlannedJob {
  readonly id: string;
  /** The caller chose the id, so it is remembered after the job is done. */
  readonly named: boolean;
  readonly name: string;
  readonly key: string | undefined;
  readonly json: string;
  readonly delayMs: number;
  readonly attempts: number;
  readonly backoff: Backoff;
  readonly notAfterMs: number | undefined;
}

/** Throws `invalid-argument` or `payload-too-large`; what it accepts, both drivers can store. */
export function planJob(spec: JobSpec, newId: NewId): PlannedJob {
  assertJobName(spec.name);
  if (spec.id !== undefined) assertName("job id", spec.id);
  if (spec.key !== undefined) assertName("job key", spec.key);
  const { attempts = 1, backoff = DEFAULT_BACKOFF, notAfterMs } = spec;
  if (!Number.isInteger(attempts) || attempts < 1) throw invalid(`attempts must be 1 or more, not ${attempts}.`);
  assertBackoff(backoff);
  if (notAfterMs !== undefined && !Number.isFinite(notAfterMs)) {
    throw invalid(`notAfterMs must be epoch milliseconds, not ${notAfterMs}.`);
  }
  return {
    id: spec.id ?? newId(),
    named: spec.id !== undefined,
    name: spec.name,
    key: spec.key,
    json: encodeValue(`The data of job ${spec.name}`, spec.data),
    delayMs: delayOf(spec.delayMs ?? 0),
    attempts,
    backoff,
    notAfterMs: notAfterMs === undefined ? undefined : Math.floor(notAfterMs),
  };
}

export function assertJobName(name: string): void {
  if (!NAME.test(name)) {
    throw invalid(`A job name is lower-case letters, digits and dashes, and starts with a letter; not "${name}".`);
  }
}

export function assertConcurrency(concurrency: number): void {
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw invalid(`concurrency must be 1 or more, not ${concurrency}.`);
  }
}

function delayOf(delayMs: number): number {
  if (!(delayMs >= 0 && delayMs <= MAX_DELAY_MS)) {
    throw invalid(`delayMs must lie between 0 and ${MAX_DELAY_MS}, not ${delayMs}.`);
  }
  return Math.ceil(delayMs);
}

/** What a handler asked for by `RetryLater`, within bounds: a platform may answer with nonsense. */
export function retryLaterMs(afterMs: number): number {
  return Number.isFinite(afterMs) ? Math.min(Math.max(0, Math.ceil(afterMs)), MAX_DELAY_MS) : 0;
}

export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.slice(0, MAX_ERROR_LENGTH);
}

function invalid(message: string): ExecError {
  return new ExecError("invalid-argument", message);
}
