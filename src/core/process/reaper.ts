/**
 * Stops trees: SIGTERM, after the grace SIGKILL, after another wait it gives up and says so. One timer serves all
 * trees, and one look at the process table serves every tree of that moment, so stopping 300 sessions costs little more than stopping one.
 */
import type { Clock } from "../clock.ts";
import {
  groupMayLive,
  liveMembers,
  type ProcTable,
  readProcStat,
  readProcTable,
  type StopSignal,
  signalTree,
  type Tree,
  trackMembers,
} from "./kill.ts";

/** SIGTERM to SIGKILL, and SIGKILL to giving up (exec.md section 4). */
export const KILL_GRACE_MS = 5000;
export const KILL_GIVE_UP_MS = 4000;

const LOOK_EVERY_MS = 50;
/** The whole table is read this often: it finds members that were forked meanwhile and tells zombies apart. */
const TABLE_EVERY_MS = 250;

export interface ReaperOptions {
  readonly clock: Clock;
  readonly graceMs?: number;
  readonly giveUpMs?: number;
}

interface Stopping {
  readonly tree: Tree;
  readonly since: number;
  killedAt: number | undefined;
  lookedAt: number;
  /** `confirmed`: nothing of the tree is left. */
  readonly done: (confirmed: boolean) => void;
}

export class Reaper {
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #giveUpMs: number;
  readonly #stopping = new Map<Tree, Stopping>();
  #timer: NodeJS.Timeout | undefined;
  #nudged: NodeJS.Immediate | undefined;
  #table: ProcTable | undefined;
  #idle: (() => void)[] = [];

  constructor(options: ReaperOptions) {
    this.#clock = options.clock;
    this.#graceMs = options.graceMs ?? KILL_GRACE_MS;
    this.#giveUpMs = options.giveUpMs ?? KILL_GIVE_UP_MS;
  }

  /** Sends SIGTERM now. `done` is called once, never from inside this call. */
  stop(tree: Tree, done: (confirmed: boolean) => void): void {
    const now = this.#clock.monotonic();
    const entry: Stopping = { tree, since: now, killedAt: undefined, lookedAt: now, done };
    this.#stopping.set(tree, entry);
    this.#signal(tree, "SIGTERM");
    // An interactive shell ignores SIGTERM; that its terminal has gone is what it listens to.
    if (tree.terminal) this.#signal(tree, "SIGHUP");
    this.#arm();
  }

  /** Sends SIGKILL now to a tree that is being stopped; nothing when it is not. */
  hurry(tree: Tree): void {
    const entry = this.#stopping.get(tree);
    if (entry === undefined || entry.killedAt !== undefined) return;
    entry.killedAt = this.#clock.monotonic();
    this.#signal(tree, "SIGKILL");
  }

  /** A child just ended: look at once instead of at the next tick. */
  nudge(): void {
    if (this.#stopping.size === 0 || this.#nudged !== undefined) return;
    this.#nudged = setImmediate(() => {
      this.#nudged = undefined;
      this.#look();
    });
  }

  /** Members of `tree` alive now, zombies left out. Undefined where the system can not tell. */
  members(tree: Tree): number | undefined {
    if (isKnownDead(tree) && !groupMayLive(tree)) return 0;
    const table = this.#readTable();
    return table === undefined ? undefined : liveMembers(tree, table).length;
  }

  /** Resolves when no tree is being stopped. */
  idle(): Promise<void> {
    if (this.#stopping.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #arm(): void {
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  #look(): void {
    const now = this.#clock.monotonic();
    for (const entry of [...this.#stopping.values()]) {
      if (this.#isGone(entry, now)) this.#finish(entry, true);
      else if (entry.killedAt === undefined && now - entry.since >= this.#graceMs) this.hurry(entry.tree);
      else if (entry.killedAt !== undefined && now - entry.killedAt >= this.#giveUpMs) this.#finish(entry, false);
    }
    if (this.#stopping.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }

  #isGone(entry: Stopping, now: number): boolean {
    const { tree } = entry;
    const knownDead = isKnownDead(tree);
    if (knownDead && !groupMayLive(tree)) return true;
    if (!knownDead && now - entry.lookedAt < TABLE_EVERY_MS) return false;
    entry.lookedAt = now;
    const table = this.#readTable();
    // Without a table a living group is all that can be known.
    const members = table === undefined ? undefined : trackMembers(tree, table);
    return knownDead && members?.length === 0;
  }

  #finish(entry: Stopping, confirmed: boolean): void {
    this.#stopping.delete(entry.tree);
    entry.done(confirmed);
  }

  #signal(tree: Tree, signal: StopSignal): void {
    const table = this.#readTable();
    signalTree(tree, signal, table === undefined ? undefined : trackMembers(tree, table));
  }

  /** One read per turn of the event loop: a shutdown of 300 sessions asks 300 times in the same turn. */
  #readTable(): ProcTable | undefined {
    if (this.#table === undefined) {
      this.#table = readProcTable();
      setImmediate(() => {
        this.#table = undefined;
      });
    }
    return this.#table;
  }
}

/** Every member seen so far has ended; others may live. */
function isKnownDead(tree: Tree): boolean {
  return [...tree.known].every(([pid, ticks]) => {
    const stat = readProcStat(pid);
    return stat === undefined || stat.zombie || stat.startTicks !== ticks;
  });
}
