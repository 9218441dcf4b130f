/** Who uses a sandbox now: the programs that hold one carry its name in their environment. Linux only (`/proc`). */
import { readdirSync, readFileSync } from "node:fs";

/** In the environment of bubblewrap itself, never of a command. */
export const SANDBOX_MARK = "OPENCLAW_SANDBOX";

/** Name of the sandbox to the pids that hold it. */
export function sandboxUsers(procDir = "/proc"): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (const name of readdirSync(procDir)) {
    if (!/^\d+$/.test(name)) continue;
    const mark = markOf(`${procDir}/${name}/environ`);
    if (mark !== undefined) found.set(mark, [...(found.get(mark) ?? []), Number(name)]);
  }
  return found;
}

function markOf(file: string): string | undefined {
  try {
    const start = `${SANDBOX_MARK}=`;
    const entry = readFileSync(file, "latin1")
      .split("\0")
      .find((one) => one.startsWith(start));
    return entry?.slice(start.length);
  } catch {
    // Another user's, or just gone.
    return undefined;
  }
}
