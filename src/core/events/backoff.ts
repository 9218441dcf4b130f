import { ExecError } from "../errors.ts";
import type { Backoff } from "./queue.ts";

export const DEFAULT_BACKOFF: Backoff = { type: "exponential", baseMs: 1000, maxMs: 60_000 };

const DEFAULT_JITTER = 0.1;

/** Doubling beyond this many times would end at Infinity, and 0 · Infinity is no number. */
const MAX_DOUBLINGS = 52;

/**
 * How long to wait after the failed try number `attempt` (from 1). `random` gives numbers from 0 to 1: the jitter
 * keeps jobs that failed together from coming back together.
 */
export function retryDelayMs(backoff: Backoff, attempt: number, random: () => number): number {
  const base = baseDelayMs(backoff, attempt);
  const spread = base * (backoff.jitter ?? DEFAULT_JITTER);
  return Math.round(base + spread * (2 * random() - 1));
}

function baseDelayMs(backoff: Backoff, attempt: number): number {
  switch (backoff.type) {
    case "exponential":
      return Math.min(backoff.baseMs * 2 ** Math.min(attempt - 1, MAX_DOUBLINGS), backoff.maxMs);
    case "steps":
      return backoff.stepsMs[Math.min(attempt, backoff.stepsMs.length) - 1] ?? 0;
  }
}

export function assertBackoff(backoff: Backoff): void {
  const jitter = backoff.jitter ?? DEFAULT_JITTER;
  if (!(jitter >= 0 && jitter <= 1)) throw invalid(`backoff.jitter must lie between 0 and 1, not ${jitter}.`);
  const delays = backoff.type === "exponential" ? [backoff.baseMs, backoff.maxMs] : backoff.stepsMs;
  if (delays.length === 0) throw invalid("backoff.stepsMs must name at least one delay.");
  for (const delay of delays) {
    if (!(Number.isFinite(delay) && delay >= 0)) throw invalid(`A backoff delay must be 0 ms or more, not ${delay}.`);
  }
}

function invalid(message: string): ExecError {
  return new ExecError("invalid-argument", message);
}
