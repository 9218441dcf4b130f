/**
 * After a gateway was killed, its children live on: they lead their own process groups. The next start finds them by
 * a mark in their environment and stops them, so that a command reported as lost does not go on in secret. Linux only
 * (`/proc`); elsewhere nothing is found and the report says so.
 */
import { readdir, readFile } from "node:fs/promises";
import { markIn } from "./run-mark.ts";

const TERM_GRACE_MS = 2_000;
const POLL_MS = 50;

export interface Leftovers {
  /** Mark → pids that carry it. */
  find(): Promise<ReadonlyMap<string, readonly number[]>>;
  /** SIGTERM, then SIGKILL; resolves to the marks of which something was still alive. */
  stop(marks: ReadonlySet<string>): Promise<ReadonlySet<string>>;
}

export function createLeftovers(procDir = "/proc"): Leftovers {
  async function find(): Promise<Map<string, number[]>> {
    const found = new Map<string, number[]>();
    for (const name of await readdir(procDir).catch(() => [])) {
      if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
      const mark = await markOf(name);
      if (mark) found.set(mark, [...(found.get(mark) ?? []), Number(name)]);
    }
    return found;
  }

  async function markOf(pid: string): Promise<string | undefined> {
    // Unreadable means another user's or just gone: not ours either way.
    const environment = await readFile(`${procDir}/${pid}/environ`, "latin1").catch(() => "");
    return markIn(environment);
  }

  /** The mark is read again right before each signal, so a reused pid is never hit. */
  async function signal(marks: ReadonlySet<string>, name: NodeJS.Signals): Promise<Set<string>> {
    const alive = new Set<string>();
    for (const [mark, pids] of await find()) {
      if (!marks.has(mark)) continue;
      for (const pid of pids) {
        try {
          process.kill(pid, name);
          alive.add(mark);
        } catch {
          // Gone between reading and signalling.
        }
      }
    }
    return alive;
  }

  return {
    find,
    async stop(marks) {
      if (marks.size === 0) return new Set();
      const alive = await signal(marks, "SIGTERM");
      const deadline = performance.now() + TERM_GRACE_MS;
      while (alive.size > 0 && performance.now() < deadline) {
        const left = await find();
        if (![...alive].some((mark) => left.has(mark))) return alive;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      if (alive.size > 0) await signal(marks, "SIGKILL");
      return alive;
    },
  };
}
