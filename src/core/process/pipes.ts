/** A child with pipes for output. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import type { DirectChild, DirectSpawn } from "./direct-spawn.ts";
import type { Transport, TransportEvents } from "./transport.ts";
import type { SpawnPlan } from "./types.ts";

/** A write that the program does not take counts as accepted after this long; it stays queued, bounded by the caller. */
const WRITE_ACCEPTED_MS = 250;

/** Throws what `spawn` throws (E2BIG, EBADF …); everything else arrives at `events`. */
export function spawnPipes(plan: SpawnPlan, events: TransportEvents, direct?: DirectSpawn): Transport {
  const { child, ownGroup } = start(plan, direct);
  let failed = false;
  let stdinEnded = plan.stdin === "closed";
  child.on("error", (error) => {
    if (child.pid !== undefined || failed) return;
    failed = true;
    events.failed(error);
  });
  child.on("exit", (code, signal) => events.exit(code, signal));
  child.on("close", () => {
    if (!failed && child.pid !== undefined) events.closed();
  });
  child.stdout?.on("data", (chunk: Buffer) => events.data("stdout", chunk));
  child.stderr?.on("data", (chunk: Buffer) => events.data("stderr", chunk));
  for (const stream of [child.stdout, child.stderr]) stream?.on("error", () => {});
  // EPIPE is an event of the stream, and one that nobody hears ends the whole gateway.
  child.stdin?.on("error", () => {
    stdinEnded = true;
  });

  return {
    pid: child.pid,
    ownGroup,
    pty: false,
    get stdinWritable() {
      return !stdinEnded && child.stdin?.writable === true;
    },
    get queuedInput() {
      return child.stdin?.writableLength ?? 0;
    },
    write(data) {
      const { stdin } = child;
      if (stdin === null || stdinEnded) return Promise.reject(new Error("stdin is closed"));
      return new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, WRITE_ACCEPTED_MS);
        timer.unref();
        stdin.write(data, (error) => {
          clearTimeout(timer);
          if (error) reject(error);
          else resolve();
        });
      });
    },
    endInput() {
      const { stdin } = child;
      stdinEnded = true;
      if (stdin === null || stdin.destroyed) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, WRITE_ACCEPTED_MS);
        timer.unref();
        stdin.once("close", () => resolve());
        stdin.end(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
    resize() {},
    pause(paused) {
      for (const stream of [child.stdout, child.stderr]) {
        if (paused) stream?.pause();
        else stream?.resume();
      }
    },
    detach() {
      child.stdin?.destroy();
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
  };
}

/** Both ways give the same child; the direct one, where there is one, costs a fraction. */
function start(
  plan: SpawnPlan,
  direct: DirectSpawn | undefined,
): { readonly child: ChildProcess | DirectChild; readonly ownGroup: boolean } {
  const started = direct?.(plan);
  if (started !== undefined) return { child: started, ownGroup: true };
  const options = (detached: boolean): SpawnOptions => ({
    cwd: plan.cwd,
    env: plan.env as NodeJS.ProcessEnv,
    detached,
    windowsHide: true,
    // /dev/null rather than a closed pipe: programs such as rg search their folder unless stdin is a pipe.
    stdio: [plan.stdin === "open" ? "pipe" : "ignore", "pipe", "pipe"],
    ...(plan.argv0 === undefined ? {} : { argv0: plan.argv0 }),
  });
  const ownGroup = process.platform !== "win32";
  try {
    return { child: spawn(plan.file, plan.args, options(ownGroup)), ownGroup };
  } catch (error) {
    // Some supervisors hand us descriptors with which a new session can not be made.
    if ((error as NodeJS.ErrnoException).code !== "EBADF") throw error;
    return { child: spawn(plan.file, plan.args, options(false)), ownGroup: false };
  }
}
