import type { Clock } from "../clock.ts";

/** Longest delay `setTimeout` keeps; anything above fires after 1 ms. */
const MAX_TIMER_MS = 2_147_483_647;

export interface Deadline {
  cancel(): void;
}

/**
 * Calls `fire` once, `ms` after now on the monotonic clock. Long waits are re-armed in slices, and a timer that comes
 * early (the machine slept, the clock jumped) is armed again for the rest.
 */
export function armDeadline(clock: Clock, ms: number, fire: () => void): Deadline {
  const due = clock.monotonic() + ms;
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const left = due - clock.monotonic();
    timer = setTimeout(
      () => {
        if (clock.monotonic() >= due) fire();
        else arm();
      },
      Math.min(MAX_TIMER_MS, Math.max(1, Math.ceil(left))),
    );
  };
  arm();
  return { cancel: () => clearTimeout(timer) };
}
