/**
 * Stops trees: SIGTERM, after the grace SIGKILL, after another wait it gives up and says so. One timer serves all
 * trees, and one look at the process table serves every tree of that moment, so stopping 300 sessions costs little more than stopping one.
 */
import type { Clock } from "../clock.ts";
import { groupMayLive, killGroup, liveMembers, type StopSignal, signalMembers, signalTree, type Tree } from "./kill.ts";
import { type ProcSource, type ProcStat, type ProcTable, procSource, readProcStat } from "./proc-table.ts";

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
  readonly processes?: ProcSource;
}

/**
 * What is stopped. A command that was cancelled or ran out of time leaves nothing; one that ended by itself may leave daemons:
 * what has a session of its own and was let go by its parent.
 */
export type StopScope = "everything" | "all but daemons";

interface Stopping {
  readonly tree: Tree;
  readonly scope: StopScope;
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
  readonly #processes: ProcSource;
  readonly #stopping = new Map<Tree, Stopping>();
  #timer: NodeJS.Timeout | undefined;
  #nudged: NodeJS.Immediate | undefined;
  #seen: Look | undefined;
  #idle: (() => void)[] = [];

  constructor(options: ReaperOptions) {
    this.#clock = options.clock;
    this.#graceMs = options.graceMs ?? KILL_GRACE_MS;
    this.#giveUpMs = options.giveUpMs ?? KILL_GIVE_UP_MS;
    this.#processes = options.processes ?? procSource;
  }

  /** Sends SIGTERM now. `done` is called once, never from inside this call. */
  stop(tree: Tree, scope: StopScope, done: (confirmed: boolean) => void): void {
    const now = this.#clock.monotonic();
    const entry: Stopping = { tree, scope, since: now, killedAt: undefined, lookedAt: now, done };
    this.#stopping.set(tree, entry);
    this.#signal(entry, "SIGTERM");
    // An interactive shell ignores SIGTERM; that its terminal has gone is what it listens to.
    if (tree.terminal) this.#signal(entry, "SIGHUP");
    this.#arm();
  }

  /** Sends SIGKILL now to a tree that is being stopped; nothing when it is not. */
  hurry(tree: Tree): void {
    const entry = this.#stopping.get(tree);
    if (entry === undefined || entry.killedAt !== undefined) return;
    entry.killedAt = this.#clock.monotonic();
    this.#signal(entry, "SIGKILL");
  }

  /** A child just ended: look at once instead of at the next tick. */
  nudge(): void {
    if (this.#stopping.size === 0 || this.#nudged !== undefined) return;
    this.#nudged = setImmediate(() => {
      this.#nudged = undefined;
      this.#look();
    });
  }

  /** Members of `tree` alive now, zombies and daemons left out. Undefined where the system can not tell. */
  members(tree: Tree): number | undefined {
    if (isKnownDead(tree) && !groupMayLive(tree)) return 0;
    const look = takeLook(this.#processes);
    return look && (look.members(tree, "all but daemons").length || look.latecomers(tree, "all but daemons").length);
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
    // What was seen earlier in this turn may be from before a child ended.
    this.#seen = undefined;
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
    const { tree, scope } = entry;
    const knownDead = isKnownDead(tree);
    const groupGone = !groupMayLive(tree);
    const daemons = scope === "everything" && tree.mark !== undefined;
    if (knownDead && groupGone && !daemons) return true;
    if (!knownDead && now - entry.lookedAt < TABLE_EVERY_MS) return false;
    entry.lookedAt = now;
    const look = this.#lookOnce();
    // Without a table a living group is all that can be known.
    if (look === undefined) return knownDead && groupGone;
    const members = look.members(tree, scope);
    if (knownDead && members.length === 0) members.push(...look.latecomers(tree, scope));
    const unseen = members.filter((member) => tree.known.get(member.pid) !== member.startTicks);
    for (const member of members) tree.known.set(member.pid, member.startTicks);
    // Before SIGKILL, what a program starts in order to clean up is left to it while it lives.
    if (entry.killedAt !== undefined) signalMembers(unseen, "SIGKILL");
    else if (knownDead) signalMembers(unseen, "SIGTERM");
    if (!knownDead || members.length > 0) return false;
    // Zombies that nobody collects keep a group alive; should one live there that both looks missed, it ends here.
    if (!groupGone) killGroup(tree);
    return true;
  }

  #finish(entry: Stopping, confirmed: boolean): void {
    this.#stopping.delete(entry.tree);
    entry.done(confirmed);
  }

  #signal({ tree, scope }: Stopping, signal: StopSignal): void {
    const members = this.#lookOnce()?.members(tree, scope);
    for (const member of members ?? []) tree.known.set(member.pid, member.startTicks);
    // Those known from before are signalled although this look missed them.
    signalTree(tree, signal, members && knownAlive(tree));
  }

  /** One look per turn of the event loop: a shutdown of 300 sessions asks 300 times in the same turn. */
  #lookOnce(): Look | undefined {
    if (this.#seen === undefined) {
      this.#seen = takeLook(this.#processes);
      setImmediate(() => {
        this.#seen = undefined;
      });
    }
    return this.#seen;
  }
}

/** One look at the process table, and a second at what was forked while it was taken. */
interface Look {
  members(tree: Tree, scope: StopScope): ProcStat[];
  /** Those the first look missed. Looks again at every call, but only at processes that are new since. */
  latecomers(tree: Tree, scope: StopScope): ProcStat[];
}

function takeLook(processes: ProcSource): Look | undefined {
  const table = processes.table();
  if (table === undefined) return undefined;
  const marks = new Map<number, string | undefined>();
  const markOf = (pid: number): string | undefined => {
    if (!marks.has(pid)) marks.set(pid, processes.mark(pid));
    return marks.get(pid);
  };
  const members = (tree: Tree, scope: StopScope, seen: ProcTable): ProcStat[] =>
    liveMembers(tree, seen, scope === "everything" ? markOf : undefined);
  return {
    members: (tree, scope) => members(tree, scope, table),
    latecomers: (tree, scope) => members(tree, scope, new Map([...table, ...processes.newer(table)])),
  };
}

function knownAlive(tree: Tree): ProcStat[] {
  return [...tree.known].flatMap(([pid, startTicks]) => {
    const stat = readProcStat(pid);
    return stat === undefined || stat.zombie || stat.startTicks !== startTicks ? [] : [stat];
  });
}

/** Every member seen so far has ended; others may live. */
function isKnownDead(tree: Tree): boolean {
  return knownAlive(tree).length === 0;
}
