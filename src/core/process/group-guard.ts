/** For helper programs in a process group of their own, which no signal to our group reaches: they must not outlive us. */
import type { ChildProcess } from "node:child_process";

export interface GroupGuard {
  /** SIGKILL to all of the group that is still there. Afterwards nothing is guarded. Idempotent. */
  end(): void;
}

/** `child` was spawned with `detached`. Its group is ended by `end`, or when this process exits. */
export function guardGroup(child: ChildProcess): GroupGuard {
  const { pid } = child;
  const end = (): void => {
    process.off("exit", end);
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // Already gone.
    }
  };
  process.on("exit", end);
  return { end };
}
