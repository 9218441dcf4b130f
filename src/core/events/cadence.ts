import { Cron } from "croner";
import { ExecError } from "../errors.ts";
import { phrase } from "../words/phrase.ts";
import type { Cadence } from "./queue.ts";

/** The shortest time between two ticks. */
const MIN_EVERY_MS = 10;

/**
 * The first tick after `afterMs` (epoch milliseconds). An interval keeps its phase: it counts from `anchorMs`, so a
 * late tick does not shift the ones that follow, and missed ones collapse into one. `undefined`: a cron expression with
 * a year in it, which never ticks again.
 *
 * Throws `invalid-argument` for a malformed cadence.
 */
export function nextTickMs(cadence: Cadence, afterMs: number, anchorMs: number): number | undefined {
  if ("everyMs" in cadence) {
    const { everyMs } = cadence;
    if (!Number.isInteger(everyMs) || everyMs < MIN_EVERY_MS) {
      throw new ExecError(
        "invalid-argument",
        `everyMs must be a whole number of at least ${MIN_EVERY_MS}, not ${everyMs}.`,
      );
    }
    return anchorMs + (Math.max(0, Math.floor((afterMs - anchorMs) / everyMs)) + 1) * everyMs;
  }
  return cronAfter(cadence.cron, cadence.timezone, afterMs)?.getTime();
}

/** The first tick of a schedule that is being made. Throws `invalid-argument` when there is none. */
export function firstTickMs(cadence: Cadence, now: number): number {
  const first = nextTickMs(cadence, now, now);
  if (first !== undefined) return first;
  throw new ExecError(
    "invalid-argument",
    phrase("error.cron.never", { schedule: "cron" in cadence ? cadence.cron : `every ${cadence.everyMs} ms` }),
  );
}

function cronAfter(cron: string, timezone: string | undefined, afterMs: number): Date | null {
  try {
    // `paused` and no function: croner only computes here, the queue owns the timers.
    return new Cron(cron, { paused: true, ...(timezone === undefined ? {} : { timezone }) }).nextRun(new Date(afterMs));
  } catch (error) {
    const problem = (error as Error).message;
    throw new ExecError(
      "invalid-argument",
      timezone === undefined
        ? phrase("error.cron.expression", { cron, problem })
        : phrase("error.cron.expressionIn", { cron, timezone, problem }),
    );
  }
}

/**
 * One moment: `30m`, `2h`, `1d` from now, or an ISO date and time, read in `timezone` (default the machine's) unless it
 * names its own offset. Throws `invalid-argument` for what is neither, and for a moment that has passed.
 */
export function momentMs(text: string, now: number, timezone?: string): number {
  const spoken = /^\+?(\d{1,6})\s*(s|m|h|d)$/.exec(text.trim());
  if (spoken) return now + Number(spoken[1]) * UNIT_MS[spoken[2] as keyof typeof UNIT_MS];
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text.trim())) {
    throw new ExecError("invalid-argument", phrase("error.cron.moment", { text: text.slice(0, 64) }));
  }
  const at = cronAfter(text.trim(), timezone, now)?.getTime();
  if (at !== undefined) return at;
  const passed = { text: text.trim() };
  throw new ExecError(
    "invalid-argument",
    timezone ? phrase("error.cron.passedIn", { ...passed, timezone }) : phrase("error.cron.passed", passed),
  );
}

/** `45s`, `15m`, `2h`, `1d` in milliseconds. Throws `invalid-argument`. */
export function intervalMs(text: string): number {
  const match = /^(\d{1,6})\s*(s|m|h|d)$/.exec(text.trim());
  const ms = match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : 0;
  if (ms > 0) return ms;
  throw new ExecError("invalid-argument", phrase("error.cron.interval", { text: text.slice(0, 64) }));
}

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
