/** One writer at a time for a file that several processes may change: a lock file beside it, held for milliseconds. */
import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { ExecError } from "../errors.ts";

const WAIT_MS = 5_000;
const RETRY_MS = 25;
/** A writer that is gone may only just have been replaced by one with another process id; give it this long. */
const ORPHAN_MS = 2_000;
/** No honest writer takes so long. */
const STALE_MS = 30_000;

/** @throws ExecError `invalid-argument` when somebody else holds the lock for too long. */
export async function withFileLock<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  const mark = `${process.pid} ${randomUUID()}\n`;
  for (let waited = 0; !tryLock(lock, mark); waited += RETRY_MS) {
    if (waited >= WAIT_MS) {
      throw new ExecError("invalid-argument", `${path} is being changed by another process (${lock}). Try again.`);
    }
    await wait(RETRY_MS);
  }
  try {
    return await work();
  } finally {
    if (read(lock) === mark) rmSync(lock, { force: true });
  }
}

function tryLock(lock: string, mark: string): boolean {
  try {
    writeFileSync(lock, mark, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const held = read(lock);
  if (held !== undefined && isStale(lock, held)) takeAway(lock, held);
  return false;
}

function isStale(lock: string, held: string): boolean {
  const stat = statSync(lock, { throwIfNoEntry: false });
  if (!stat) return false;
  const ageMs = Date.now() - stat.mtimeMs;
  return ageMs > STALE_MS || (ageMs > ORPHAN_MS && !isAlive(Number.parseInt(held, 10)));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Moved aside first, so that of two processes that saw the same stale lock only one removes it, and a fresh one is put back. */
function takeAway(lock: string, held: string): void {
  const aside = `${lock}.${randomUUID()}`;
  try {
    renameSync(lock, aside);
    if (read(aside) !== held) linkSync(aside, lock);
  } catch (error) {
    if (!["ENOENT", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
