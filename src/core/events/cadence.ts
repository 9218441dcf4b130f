import { Cron } from "croner";
import { ExecError } from "../errors.ts";
import type { Cadence } from "./queue.ts";

/** The shortest time between two ticks. */
export const MIN_EVERY_MS = 10;

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
  throw new ExecError("invalid-argument", `The schedule ${JSON.stringify(cadence)} never comes due.`);
}

function cronAfter(cron: string, timezone: string | undefined, afterMs: number): Date | null {
  try {
    // `paused` and no function: croner only computes here, the queue owns the timers.
    return new Cron(cron, { paused: true, ...(timezone === undefined ? {} : { timezone }) }).nextRun(new Date(afterMs));
  } catch (error) {
    const where = timezone === undefined ? "" : ` in time zone "${timezone}"`;
    throw new ExecError(
      "invalid-argument",
      `The cron expression "${cron}"${where} is not valid: ${(error as Error).message}`,
    );
  }
}
