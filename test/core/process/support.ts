/** Small things that tests of the process room share. */
import { readFileSync } from "node:fs";
import { createSupervisor, type SpawnedHandle, type Supervisor } from "../../../src/core/process/supervisor.ts";
import type { EndInfo, SpawnPlan } from "../../../src/core/process/types.ts";

export const ENV = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: "/tmp", LANG: "C.UTF-8" };

/** Short waits, so that escalation and drain are seen in a moment. */
export function quickSupervisor(): Supervisor {
  return createSupervisor({ graceMs: 400, giveUpMs: 1500, drainQuietMs: 300, drainMaxMs: 1200 });
}

export function bashPlan(command: string, extra: Partial<SpawnPlan> = {}): SpawnPlan {
  return {
    file: "/bin/bash",
    args: ["--noprofile", "--norc", "-c", command],
    cwd: "/tmp",
    env: ENV,
    stdin: "closed",
    ...extra,
  };
}

export interface Finished {
  readonly output: string;
  readonly end: EndInfo;
  readonly handle: SpawnedHandle;
  readonly tookMs: number;
}

/** Runs to the end and gathers the output. `meanwhile` is called once something was printed. */
export async function runToEnd(
  supervisor: Supervisor,
  plan: SpawnPlan,
  meanwhile?: (handle: SpawnedHandle, output: () => string) => void,
): Promise<Finished> {
  const since = performance.now();
  const handle = supervisor.start(plan);
  let output = "";
  let told = false;
  handle.onOutput((_, text) => {
    output += text;
    if (!told) {
      told = true;
      meanwhile?.(handle, () => output);
    }
  });
  const end = await handle.ended;
  return { output, end, handle, tookMs: performance.now() - since };
}

/** Asks again every few milliseconds until it holds; fails with `what` after `withinMs`. */
export async function eventually(what: string, holds: () => boolean, withinMs = 5000): Promise<void> {
  const until = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > until) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return true;
  }
}
