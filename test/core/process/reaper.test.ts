import { spawn } from "node:child_process";
import { afterEach, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import type { Tree } from "../../../src/core/process/kill.ts";
import { type ProcSource, type ProcTable, procSource, readProcStat } from "../../../src/core/process/proc-table.ts";
import { Reaper, type StopScope } from "../../../src/core/process/reaper.ts";
import { RUN_MARK } from "../../../src/core/process/run-mark.ts";
import { requireOrSkip } from "../../support/require.ts";
import { ENV, eventually, isAlive } from "./support.ts";

const QUICK = { clock: systemClock, graceMs: 300, giveUpMs: 1500 };

const started: number[] = [];
afterEach(() => {
  for (const pid of started.splice(0)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Ended, as it should.
    }
  }
});

/** A shell that leads its group; `pids` are what it printed about itself and what it started, its own first. */
async function startTree(command: string): Promise<{ readonly tree: Tree; readonly pids: readonly number[] }> {
  const mark = `reaper-${crypto.randomUUID()}`;
  const child = spawn("/bin/bash", ["--noprofile", "--norc", "-c", `echo $$; ${command}`], {
    detached: true,
    env: { ...ENV, [RUN_MARK]: mark },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk;
  });
  await eventually("the tree has started", () => printed.includes("ready"));
  const pids = printed.split("\n").map(Number).filter(Boolean);
  started.push(...pids);
  const pid = child.pid as number;
  const startTicks = readProcStat(pid)?.startTicks as number;
  child.stdout.destroy();
  return {
    tree: { pid, startTicks, ownGroup: true, terminal: false, known: new Map([[pid, startTicks]]), mark },
    pids,
  };
}

function stopped(reaper: Reaper, tree: Tree, scope: StopScope = "everything"): Promise<boolean> {
  return new Promise((resolve) => reaper.stop(tree, scope, resolve));
}

/** Tables in which `hidden` are missing, as they are from one that was being taken while they were forked. */
function blindTo(hidden: readonly number[]): ProcSource {
  return {
    ...procSource,
    table() {
      const table = procSource.table() as ProcTable;
      return new Map([...table].filter(([pid]) => !hidden.includes(pid)));
    },
  };
}

/** The leader ends at SIGTERM, the other does not listen to it. */
const DEAF = `(trap '' TERM; echo $BASHPID; echo ready; exec sleep 60) & wait`;

requireOrSkip("/proc (Linux)", process.platform === "linux")("the end of a tree", () => {
  it("is not believed because a table misses who was forked while it was taken", async () => {
    const { tree, pids } = await startTree(DEAF);
    const reaper = new Reaper({ ...QUICK, processes: blindTo(pids.slice(1)) });
    expect(await stopped(reaper, tree)).toBe(true);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it("and who both looks miss is ended with the group", async () => {
    const { tree, pids } = await startTree(DEAF);
    const blind: ProcSource = { ...blindTo(pids.slice(1)), newer: () => new Map() };
    expect(await stopped(new Reaper({ ...QUICK, processes: blind }), tree)).toBe(true);
    await eventually("the deaf one is gone", () => !pids.some(isAlive));
  });

  it("reaches the group although the table knows nobody of it", async () => {
    const { tree, pids } = await startTree("sleep 60 & echo $!; echo ready; wait");
    const reaper = new Reaper({ ...QUICK, graceMs: 60_000, processes: blindTo(pids) });
    expect(await stopped(reaper, tree)).toBe(true);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  const DAEMON = "(setsid bash -c 'echo $$; echo ready; exec sleep 60' &) ; sleep 60";

  it("takes a daemon along that left before anyone saw it, when the command is cancelled", async () => {
    const { tree, pids } = await startTree(DAEMON);
    const daemon = pids[1] as number;
    expect(readProcStat(daemon)).toMatchObject({ session: daemon });
    expect(await stopped(new Reaper(QUICK), tree)).toBe(true);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it("leaves it alone when the command ended by itself", async () => {
    const { tree, pids } = await startTree(DAEMON);
    const reaper = new Reaper(QUICK);
    expect(await stopped(reaper, tree, "all but daemons")).toBe(true);
    expect(pids.map(isAlive)).toEqual([false, true]);
    expect(reaper.members(tree)).toBe(0);
  });

  it("lets a program start what it needs to clean up", async () => {
    const { tree, pids } = await startTree(
      'trap \'bash -c "trap \\"exit 9\\" TERM; sleep 0.6; exit 0" && kill -KILL $helper; exit\' TERM; sleep 60 & helper=$!; setsid sleep 60 & helper=$!; echo $helper; echo ready; while :; do sleep 0.05; done',
    );
    const reaper = new Reaper({ ...QUICK, graceMs: 5000 });
    expect(await stopped(reaper, tree)).toBe(true);
    expect(pids.filter(isAlive)).toEqual([]);
  });
});
