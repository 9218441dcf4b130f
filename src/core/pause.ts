import { setTimeout as wait } from "node:timers/promises";

/** Resolves after `ms`, or as soon as the signal is aborted. Never rejects. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {});
}
