/**
 * Starts children and answers for every one of them: own process group, deadline, escalation, bounded drain, no
 * orphan after timeout, stop or shutdown. Knows no policy and no chat.
 */
import { writeFileSync } from "node:fs";
import { type Clock, systemClock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { type DirectSpawn, loadDirectSpawn } from "./direct-spawn.ts";
import { spawnPipes } from "./pipes.ts";
import { createOwnTextCheck } from "./plain-ascii.ts";
import { ChildSignals, type LoadPty, loadNodePty, spawnPty } from "./pty.ts";
import { Reaper } from "./reaper.ts";
import { DRAIN_MAX_MS, DRAIN_QUIET_MS, Run } from "./run.ts";
import { assertNoNul, spawnError } from "./spawn-error.ts";
import type { Transport, TransportEvents } from "./transport.ts";
import type { ProcessHandle, SpawnPlan } from "./types.ts";

/** The kernel's out-of-memory killer takes a child before it takes the gateway. */
const CHILD_OOM_SCORE = "1000";

export interface SupervisorOptions {
  readonly clock?: Clock;
  /** SIGTERM to SIGKILL. Default 5000 ms. */
  readonly graceMs?: number;
  /** SIGKILL to giving up. Default 4000 ms. */
  readonly giveUpMs?: number;
  readonly drainQuietMs?: number;
  readonly drainMaxMs?: number;
  /** Default true; `OPENCLAW_CHILD_OOM_SCORE_ADJ=0` turns it off. */
  readonly preferOomKill?: boolean;
  readonly loadPty?: LoadPty;
  /** The way that costs less than Node's. Default: where it was built; null: never. */
  readonly directSpawn?: DirectSpawn | null;
}

/** A handle that also says whether anything was started at all. */
export interface SpawnedHandle extends ProcessHandle {
  /** Rejects with an `ExecError` (`spawn-failed`, `workdir-unavailable`) when nothing was started. */
  readonly spawned: Promise<void>;
}

export interface Supervisor {
  /**
   * Throws an `ExecError` when it is known at once that nothing can be started (NUL, too large, shut down). Later
   * refusals of the system arrive at `spawned`, and `ended` then says `spawn-failed`.
   */
  start(plan: SpawnPlan): SpawnedHandle;
  /** Children that have not ended. */
  readonly live: number;
  /** Accepts no more starts, stops every child and waits until they and what they left are gone (at most 9 s each). Idempotent. */
  shutdown(): Promise<void>;
}

export function createSupervisor(options: SupervisorOptions = {}): Supervisor {
  const clock = options.clock ?? systemClock;
  const reaper = new Reaper({
    clock,
    ...(options.graceMs === undefined ? {} : { graceMs: options.graceMs }),
    ...(options.giveUpMs === undefined ? {} : { giveUpMs: options.giveUpMs }),
  });
  const deps = {
    clock,
    reaper,
    ownText: createOwnTextCheck(),
    drainQuietMs: options.drainQuietMs ?? DRAIN_QUIET_MS,
    drainMaxMs: options.drainMaxMs ?? DRAIN_MAX_MS,
  };
  const loadPty = options.loadPty ?? loadNodePty();
  const direct = options.directSpawn === undefined ? loadDirectSpawn() : (options.directSpawn ?? undefined);
  const childSignals = new ChildSignals();
  const live = new Set<Run>();
  let stopped = false;

  return {
    get live() {
      return live.size;
    },
    start(plan) {
      if (stopped) throw new ExecError("draining", "The process supervisor is shut down: the gateway is stopping.");
      assertNoNul(plan);
      const run = new Run(plan, deps, (events) => openTransport(plan, events, { loadPty, childSignals, direct }));
      live.add(run);
      void run.ended.then(() => live.delete(run));
      if (options.preferOomKill !== false && run.pid !== undefined) preferOomKill(run.pid);
      return run;
    },
    async shutdown() {
      stopped = true;
      const running = [...live];
      for (const run of running) run.stop("shutdown");
      await Promise.all(running.map((run) => run.ended));
      await reaper.idle();
    },
  };
}

interface Ways {
  readonly loadPty: LoadPty;
  readonly childSignals: ChildSignals;
  readonly direct: DirectSpawn | undefined;
}

function openTransport(
  plan: SpawnPlan,
  events: TransportEvents,
  { loadPty, childSignals, direct }: Ways,
): { readonly transport: Transport; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  if (plan.pty !== undefined) {
    try {
      return { transport: spawnPty({ ...plan, pty: plan.pty }, events, loadPty(), childSignals), warnings };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      warnings.push(`No terminal could be opened (${why}); running without one.`);
    }
  }
  try {
    // A session asked for as a terminal stays writable without one.
    const piped: SpawnPlan = plan.pty === undefined ? plan : { ...plan, stdin: "open" };
    return { transport: spawnPipes(piped, events, direct), warnings };
  } catch (error) {
    throw spawnError(plan, error as NodeJS.ErrnoException);
  }
}

function preferOomKill(pid: number): void {
  if (process.platform !== "linux") return;
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, CHILD_OOM_SCORE);
  } catch {
    // It ended already, or this kernel does not offer it.
  }
}
