/**
 * The limits of the process room, from the environment (exec.md section 13). Config wins over these; a value that is not
 * a plain whole number is ignored, one out of range is brought back into it.
 */
import { MAX_OUTPUT_CHARS, MAX_PENDING_CHARS } from "./output-buffer.ts";

export interface ProcessLimits {
  /** Foreground to background, ms. */
  readonly yieldMs: number;
  readonly maxOutputChars: number;
  readonly pendingMaxChars: number;
  /** How long an ended session is kept, ms. */
  readonly jobTtlMs: number;
  /** Silent this long with an open stdin: probably waiting for input, ms. */
  readonly inputWaitIdleMs: number;
}

interface Range {
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
}

export const YIELD_MS: Range = { fallback: 10_000, min: 10, max: 120_000 };
export const OUTPUT_CHARS: Range = { fallback: MAX_OUTPUT_CHARS, min: 1000, max: MAX_OUTPUT_CHARS };
export const PENDING_CHARS: Range = { fallback: MAX_PENDING_CHARS, min: 1000, max: MAX_OUTPUT_CHARS };
export const JOB_TTL_MS: Range = { fallback: 1_800_000, min: 60_000, max: 10_800_000 };
export const INPUT_WAIT_IDLE_MS: Range = { fallback: 15_000, min: 1000, max: 600_000 };

/** The older `PI_BASH_*` names count where the newer one is empty. */
export function processLimits(env: Readonly<Record<string, string | undefined>>): ProcessLimits {
  const read = (range: Range, ...names: readonly string[]): number => {
    const text = names.map((name) => env[name]?.trim() ?? "").find((value) => value !== "");
    return text !== undefined && /^-?\d+$/.test(text) ? clamp(Number(text), range) : range.fallback;
  };
  const maxOutputChars = read(OUTPUT_CHARS, "OPENCLAW_BASH_MAX_OUTPUT_CHARS", "PI_BASH_MAX_OUTPUT_CHARS");
  return {
    yieldMs: read(YIELD_MS, "OPENCLAW_BASH_YIELD_MS", "PI_BASH_YIELD_MS"),
    maxOutputChars,
    pendingMaxChars: Math.min(maxOutputChars, read(PENDING_CHARS, "OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS")),
    jobTtlMs: read(JOB_TTL_MS, "OPENCLAW_BASH_JOB_TTL_MS", "PI_BASH_JOB_TTL_MS"),
    inputWaitIdleMs: read(INPUT_WAIT_IDLE_MS, "OPENCLAW_PROCESS_INPUT_WAIT_IDLE_MS"),
  };
}

export function clamp(value: number, range: Range): number {
  return Math.min(range.max, Math.max(range.min, value));
}
