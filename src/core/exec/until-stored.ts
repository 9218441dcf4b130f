/** A write that must not be lost: tried again for as long as the state can not be reached. */

import { ExecError } from "../errors.ts";
import { pause } from "../pause.ts";

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 5_000;

/**
 * Resolves to what `act` gives. Rejects at once with anything that is no outage, and with the last outage once `giveUp`
 * is aborted. `onOutage` is told about the first failure of a row.
 */
export async function untilStored<T>(
  act: () => Promise<T>,
  giveUp: AbortSignal,
  onOutage: (error: unknown) => void,
): Promise<T> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof ExecError) || error.code !== "state-unavailable" || giveUp.aborted) throw error;
      if (waitMs === FIRST_WAIT_MS) onOutage(error);
      await pause(waitMs, giveUp);
    }
  }
}
