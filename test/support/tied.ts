/**
 * Processes that must not outlive the test process that started them, not even one that was killed: the kernel sends
 * them SIGKILL when their parent dies (PR_SET_PDEATHSIG, by `setpriv` of util-linux, which becomes the program itself and
 * so keeps its process id). Elsewhere than on Linux they are started as they are.
 */
import { spawnSync } from "node:child_process";

const SETPRIV = ["setpriv", "--pdeathsig", "KILL"] as const;
const canTie = spawnSync(SETPRIV[0], [...SETPRIV.slice(1), "true"]).status === 0;

/** What to spawn instead of `command`. */
export function tied(command: string, args: readonly string[]): readonly [command: string, args: string[]] {
  return canTie ? [SETPRIV[0], [...SETPRIV.slice(1), command, ...args]] : [command, [...args]];
}
