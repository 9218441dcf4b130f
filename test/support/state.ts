/** A real state directory with the embedded store and queue, and a clock that tests move by hand. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../src/core/clock.ts";
import { openState, type State } from "../../src/core/store/open-state.ts";

export interface TestState extends State {
  readonly stateDir: string;
  dispose(): Promise<void>;
}

export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function manualClock(startMs = Date.now()): ManualClock {
  let offset = 0;
  const origin = performance.now();
  return {
    now: () => startMs + offset + Math.floor(performance.now() - origin),
    monotonic: () => performance.now() + offset,
    advance(ms) {
      offset += ms;
    },
  };
}

export async function openTestState(clock: Clock): Promise<TestState> {
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-exec-test-"));
  const state = await openState({ stateDir, clock, newId: () => crypto.randomUUID() });
  return {
    ...state,
    stateDir,
    async dispose() {
      await state.close({ drainMs: 500 });
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}

/** Resolves as soon as `check` gives something, rejects after `ms`. For effects that come through the queue. */
export async function eventually<T>(
  check: () => T | undefined | false | Promise<T | undefined | false>,
  ms = 5_000,
): Promise<T> {
  const deadline = performance.now() + ms;
  for (;;) {
    const value = await check();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`Nothing came within ${ms} ms: ${check}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
