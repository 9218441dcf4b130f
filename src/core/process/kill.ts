/**
 * Ending a whole process tree. Signals go to the group first (it reaches what is being forked at this moment), then
 * one by one to members that left the group. A pid is only ever signalled after its start time was checked in the
 * same breath, because a stored pid may belong to somebody else by now.
 */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export interface ProcStat {
  readonly pid: number;
  readonly ppid: number;
  readonly group: number;
  readonly session: number;
  readonly startTicks: number;
  readonly zombie: boolean;
}

/** Every process of the machine at one moment, by pid. Undefined where there is no `/proc`. */
export type ProcTable = ReadonlyMap<number, ProcStat>;

/** A tree we started. `ownGroup`: the root leads its own process group, so `-pid` is ours alone. */
export interface Tree {
  readonly pid: number;
  readonly startTicks: number | undefined;
  readonly ownGroup: boolean;
  /** It has a terminal of its own. */
  readonly terminal: boolean;
  /** Members seen so far: those that leave the group or lose their parent stay known. */
  readonly known: Map<number, number>;
}

export type StopSignal = "SIGTERM" | "SIGHUP" | "SIGKILL";

/** Deepest chain of parents followed, so that a damaged table can not loop. */
const MAX_DEPTH = 128;

export function readProcStat(pid: number): ProcStat | undefined {
  try {
    return parseProcStat(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return undefined;
  }
}

/** The command name stands in brackets and may itself hold brackets and blanks: count from the last one. */
export function parseProcStat(text: string): ProcStat | undefined {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  if (open < 0 || close < open) return undefined;
  const rest = text.slice(close + 2).split(" ");
  const numbers = [text.slice(0, open), rest[1], rest[2], rest[3], rest[19]].map(Number);
  const [pid, ppid, group, session, startTicks] = numbers;
  if (numbers.some((value) => !Number.isInteger(value))) return undefined;
  return {
    pid: pid as number,
    ppid: ppid as number,
    group: group as number,
    session: session as number,
    startTicks: startTicks as number,
    zombie: rest[0] === "Z" || rest[0] === "X",
  };
}

export function readProcTable(): ProcTable | undefined {
  if (process.platform !== "linux") return undefined;
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return undefined;
  }
  const table = new Map<number, ProcStat>();
  for (const name of names) {
    const first = name.charCodeAt(0);
    if (first < 0x31 || first > 0x39) continue;
    const stat = readProcStat(Number(name));
    if (stat !== undefined) table.set(stat.pid, stat);
  }
  return table;
}

/** Members alive in `table`, zombies left out; changes nothing. The gateway itself is never one, whatever the table says. */
export function liveMembers(tree: Tree, table: ProcTable): ProcStat[] {
  const root = table.get(tree.pid);
  // The pid was taken by a stranger: then nobody was left in our group, for the kernel keeps a group's number busy.
  const reused = root !== undefined && tree.startTicks !== undefined && root.startTicks !== tree.startTicks;
  const members = new Map<number, ProcStat>();
  const add = (stat: ProcStat): void => {
    if (!stat.zombie && stat.pid !== process.pid) members.set(stat.pid, stat);
  };
  const children = new Map<number, ProcStat[]>();
  for (const stat of table.values()) {
    const siblings = children.get(stat.ppid);
    if (siblings === undefined) children.set(stat.ppid, [stat]);
    else siblings.push(stat);
    if (tree.known.get(stat.pid) === stat.startTicks) add(stat);
    else if (!reused && stat.pid === tree.pid) add(stat);
    else if (!reused && tree.ownGroup && (stat.group === tree.pid || stat.session === tree.pid)) add(stat);
  }
  let level = [...members.keys(), ...(reused ? [] : [tree.pid])];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    const next: number[] = [];
    for (const pid of level) {
      for (const child of children.get(pid) ?? []) {
        if (members.has(child.pid) || child.pid === process.pid) continue;
        add(child);
        next.push(child.pid);
      }
    }
    level = next;
  }
  return [...members.values()];
}

/** The same, and remembers them: from here on a member stays one although it leaves the group or loses its parent. */
export function trackMembers(tree: Tree, table: ProcTable): ProcStat[] {
  const members = liveMembers(tree, table);
  for (const member of members) tree.known.set(member.pid, member.startTicks);
  return members;
}

/** True while anything of the group lives. Counts zombies, so `false` is certain and `true` is a reason to look closer. */
export function groupMayLive(tree: Tree): boolean {
  if (!tree.ownGroup || process.platform === "win32") return false;
  try {
    process.kill(-tree.pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists and changed its user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Sends `signal` to all of the tree; `members` come from `liveMembers` on a table read just now. */
export function signalTree(tree: Tree, signal: StopSignal, members: readonly ProcStat[] | undefined): void {
  if (process.platform === "win32") {
    windowsKill(tree.pid, signal === "SIGKILL");
    return;
  }
  if (members === undefined) {
    sendSignal(tree.ownGroup ? -tree.pid : tree.pid, signal);
    return;
  }
  const inGroup = tree.ownGroup && members.some((member) => member.group === tree.pid);
  if (inGroup) sendSignal(-tree.pid, signal);
  for (const member of members) {
    if (!inGroup || member.group !== tree.pid) sendSignal(member.pid, signal);
  }
}

function sendSignal(pid: number, signal: StopSignal): void {
  try {
    process.kill(pid, signal);
  } catch {
    // ESRCH: already gone. EPERM: it changed its user and the next look will still find it.
  }
}

function windowsKill(pid: number, force: boolean): void {
  const args = ["/T", ...(force ? ["/F"] : []), "/PID", String(pid)];
  const child = spawn("taskkill", args, { stdio: "ignore", windowsHide: true, timeout: 3000 });
  child.on("error", () => {});
}
