/**
 * One gateway per state directory. The lock is a file that names its holder, so that a second gateway can say who is
 * there and clients can find it; it counts for as long as that very process lives, whatever happens to the file.
 *
 * Taking over from a holder that died: whoever creates the claim file named after the dead holder's instance may
 * replace the lock, nobody else; and only while the lock still is the dead one. A claimer that died itself is
 * followed by a claim named after its instance, and so on. So at no time do two processes believe they hold it.
 */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import * as z from "zod";
import type { Clock } from "../core/clock.ts";
import { ExecError } from "../core/errors.ts";
import { readProcStat } from "../core/process/proc-table.ts";

export const LOCK_FILE = "gateway.lock";
/** The holder shows this often that it lives, for those who can not see its process (another container). */
const BEAT_MS = 5_000;
/** Silent for so long, a holder nobody can see is taken for gone. */
export const SILENT_MS = 20_000;
/** A takeover takes milliseconds; longer means that somebody stands in the middle of it. */
const TAKEOVER_MS = 3_000;
const RETRY_MS = 20;

const lockRecord = z.object({
  instance: z.string().min(1),
  pid: z.number().int().positive(),
  /** Start time in clock ticks since boot; absent where the system does not tell. */
  startTicks: z.number().optional(),
  /** Boot and process namespace: only within one does a pid mean anything. */
  space: z.string(),
  hostname: z.string(),
  sinceMs: z.number(),
  version: z.string(),
  /** Set once it listens. */
  port: z.number().int().optional(),
  url: z.string().optional(),
});
export type LockRecord = z.infer<typeof lockRecord>;

export interface StateLock {
  /** Tells clients where the gateway listens. */
  listening(where: { readonly url: string; readonly port: number }): void;
  /** Idempotent. Synchronous, so that it can run while the process ends. */
  release(): void;
}

export interface StateLockOptions {
  readonly stateDir: string;
  readonly clock: Clock;
  readonly version: string;
}

/** Rejects with `gateway-running`, naming the holder, or `state-damaged` when the lock file is not one of ours. */
export async function acquireStateLock(options: StateLockOptions): Promise<StateLock> {
  const { stateDir, clock } = options;
  const path = join(stateDir, LOCK_FILE);
  const own = ownRecord(options);
  const draft = `${path}.${own.instance}`;
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600, flag: "wx" });
  try {
    const deadline = clock.monotonic() + TAKEOVER_MS;
    for (;;) {
      // A link appears with its whole content or not at all.
      if (tryLink(draft, path)) break;
      const held = readLock(path);
      if (!held) continue;
      if (isAlive(held, clock.now())) throw running(held.record, stateDir);
      if (takeOver({ path, draft, own, dead: held.record, nowMs: clock.now() })) break;
      if (clock.monotonic() > deadline) {
        throw new ExecError(
          "gateway-running",
          `Another gateway is just starting in ${stateDir}. If none is, remove ${path}* and try again.`,
        );
      }
      await wait(RETRY_MS);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return holdLock(path, own);
}

/** Who runs here now; `undefined` when nobody does. For clients. */
export function findRunningGateway(stateDir: string, nowMs: number): LockRecord | undefined {
  const held = readLock(join(stateDir, LOCK_FILE));
  return held && isAlive(held, nowMs) ? held.record : undefined;
}

function holdLock(path: string, own: LockRecord): StateLock {
  let released = false;
  const beat = setInterval(() => {
    const now = new Date();
    try {
      utimesSync(path, now, now);
    } catch {
      // The directory was removed under a running gateway; its own writes will tell.
    }
  }, BEAT_MS).unref();
  return {
    listening({ url, port }) {
      if (released) return;
      const draft = `${path}.${own.instance}`;
      writeFileSync(draft, JSON.stringify({ ...own, url, port }), { mode: 0o600 });
      // Only the holder may write here while it lives, so replacing needs no further check.
      renameSync(draft, path);
    },
    release() {
      if (released) return;
      released = true;
      clearInterval(beat);
      if (readLock(path)?.record.instance === own.instance) rmSync(path, { force: true });
    },
  };
}

interface Takeover {
  readonly path: string;
  readonly draft: string;
  readonly own: LockRecord;
  readonly dead: LockRecord;
  readonly nowMs: number;
}

/** False: somebody else is at it, or the lock has changed; look again. */
function takeOver({ path, draft, own, dead, nowMs }: Takeover): boolean {
  const claims: string[] = [];
  let victim = dead;
  for (;;) {
    const claim = `${path}.claim-${victim.instance}`;
    claims.push(claim);
    if (tryLink(draft, claim)) break;
    const claimer = readLock(claim);
    if (!claimer || isAlive(claimer, nowMs)) return false;
    victim = claimer.record;
  }
  // Between our look and our claim another may have taken over and cleared its claim away.
  if (readLock(path)?.record.instance !== dead.instance) {
    rmSync(claims.at(-1) as string, { force: true });
    return false;
  }
  renameSync(draft, path);
  for (const claim of claims) rmSync(claim, { force: true });
  return readLock(path)?.record.instance === own.instance;
}

interface HeldLock {
  readonly record: LockRecord;
  readonly touchedMs: number;
}

function readLock(path: string): HeldLock | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw damaged(path);
  }
  try {
    const parsed = lockRecord.safeParse(jsonOrNothing(readFileSync(fd, "utf8")));
    if (!parsed.success) throw damaged(path);
    return { record: parsed.data, touchedMs: fstatSync(fd).mtimeMs };
  } finally {
    closeSync(fd);
  }
}

function jsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isAlive({ record, touchedMs }: HeldLock, nowMs: number): boolean {
  if (record.space !== ownSpace()) return nowMs - touchedMs < SILENT_MS;
  if (record.startTicks === undefined) return answersSignals(record.pid);
  const stat = readProcStat(record.pid);
  return stat !== undefined && !stat.zombie && stat.startTicks === record.startTicks;
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function ownRecord({ clock, version }: StateLockOptions): LockRecord {
  const startTicks = readProcStat(process.pid)?.startTicks;
  return {
    instance: randomUUID(),
    pid: process.pid,
    space: ownSpace(),
    hostname: hostname(),
    sinceMs: clock.now(),
    version,
    ...(startTicks === undefined ? {} : { startTicks }),
  };
}

function ownSpace(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function running(record: LockRecord, stateDir: string): ExecError {
  const where = record.port === undefined ? "" : `, port ${record.port}`;
  const elsewhere = record.space === ownSpace() ? "" : ` on ${record.hostname}`;
  const since = new Date(record.sinceMs).toISOString().replace("T", " ").slice(0, 19);
  return new ExecError(
    "gateway-running",
    `A gateway already runs on ${stateDir}${elsewhere}: pid ${record.pid}${where}, since ${since} UTC. ` +
      "Stop it first, or set OPENCLAW_STATE_DIR to another directory.",
    { pid: record.pid, sinceMs: record.sinceMs, ...(record.port === undefined ? {} : { port: record.port }) },
  );
}

function damaged(path: string): ExecError {
  return new ExecError("state-damaged", `${path} is not a lock of ours. If no gateway runs here, remove it.`);
}
