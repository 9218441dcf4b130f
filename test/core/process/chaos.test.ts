import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createLeftovers } from "../../../src/core/process/leftovers.ts";
import { RUN_MARK } from "../../../src/core/process/run-mark.ts";
import type { Supervisor } from "../../../src/core/process/supervisor.ts";
import { requireOrSkip } from "../../support/require.ts";
import { bashPlan, ENV, quickSupervisor } from "./support.ts";

/** Every shape of process tree that has ever made trouble. All of them end by themselves, are stopped, or time out. */
const COMMANDS = [
  "true",
  "exit 7",
  "kill -KILL $$",
  "sleep 30",
  "exec sleep 30",
  "sleep 30 & sleep 30",
  "sleep 30 | cat & echo x",
  "sleep 30 >/dev/null 2>&1 & exit 0",
  "nohup sleep 30 >/dev/null 2>&1 & disown",
  "bash -c 'bash -c \"sleep 30 & sleep 30\" & wait'",
  "setsid sleep 30 & wait",
  "set -m; sleep 30 & sleep 30 & wait",
  "trap '' TERM; while :; do sleep 0.2; done",
  "(trap '' TERM; while :; do sleep 0.2; done) & wait",
  "while :; do (sleep 0.01 &); done",
  "yes",
  "seq 1 100000",
  "cat",
  "read x",
  "printf '\\033[6n'; sleep 0.3",
];
const RUNS = 160;
const LANES = 8;
/** Grace and giving up of `quickSupervisor`, the drain, and a machine that is busy. */
const SLOWEST_END_MS = 8000;

let supervisor: Supervisor;
beforeEach(() => {
  supervisor = quickSupervisor();
});
afterEach(async () => {
  await supervisor.shutdown();
});

/** The same numbers at every run of the test. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

/** A process that should not be there, for the message. */
function described(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").split(" ", 8).join(" ");
  } catch {
    return `${pid} (ended meanwhile)`;
  }
}

requireOrSkip("/proc (Linux)", process.platform === "linux")(
  "whatever is started, stopped, fed or timed out, at any moment",
  () => {
    it("ends once, in time, and leaves nothing behind", async () => {
      const random = sequence(20);
      // Its own at every try: what an earlier one left is not this one's.
      const mark = `chaos-${crypto.randomUUID()}`;
      const late: string[] = [];
      let started = 0;
      const lane = async (): Promise<void> => {
        while (started < RUNS) {
          const command = COMMANDS[started % COMMANDS.length] as string;
          const pty = random() < 0.3;
          const timeoutMs = 20 + random() * 800;
          const stopAfterMs = random() < 0.5 ? random() * 500 : undefined;
          const handle = supervisor.start(
            bashPlan(command, {
              env: { ...ENV, [RUN_MARK]: `${mark}-${started++}` },
              stdin: random() < 0.3 ? "open" : "closed",
              timeoutMs,
              ...(pty ? { pty: { cols: 80, rows: 24 } } : {}),
            }),
          );
          handle.onOutput(() => {});
          const stops = stopAfterMs === undefined ? [] : [stopAfterMs, stopAfterMs + random() * 100];
          const timers = stops.map((ms) => setTimeout(() => handle.stop("manual-cancel"), ms));
          if (random() < 0.2) handle.write("x\n").catch(() => {});
          const end = await handle.ended;
          for (const timer of timers) clearTimeout(timer);
          if (end.durationMs > timeoutMs + SLOWEST_END_MS)
            late.push(`${command}: ${end.reason} after ${end.durationMs} ms`);
        }
      };
      await Promise.all(Array.from({ length: LANES }, lane));
      expect(late).toEqual([]);
      expect(supervisor.live).toBe(0);
      await supervisor.shutdown();
      const left = [...(await createLeftovers().find())].filter(([runMark]) => runMark.startsWith(mark));
      expect(left.map(([runMark, pids]) => `${runMark}: ${pids.map(described)}`)).toEqual([]);
      expect(process.listenerCount("SIGCHLD")).toBe(0);
    }, 120_000);
  },
);
