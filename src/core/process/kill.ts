/**
 * Ending a whole process tree. Signals go to the group first (it reaches what is being forked at this moment), then
 * one by one to members that left the group. A pid is only ever signalled after its start time was checked in the
 * same breath, because a stored pid may belong to somebody else by now.
 */
import { spawn } from "node:child_process";
import { type ProcStat, type ProcTable, readProcStat } from "./proc-table.ts";

/** A tree we started. `ownGroup`: the root leads its own process group, so `-pid` is ours alone. */
export interface Tree {
  readonly pid: number;
  readonly startTicks: number | undefined;
  readonly ownGroup: boolean;
  /** It has a terminal of its own. */
  readonly terminal: boolean;
  /** Members seen so far: those that leave the group or lose their parent stay known. */
  readonly known: Map<number, number>;
  /** The run mark that all of it carries in its environment, unless it took it off. */
  readonly mark: string | undefined;
}

export type StopSignal = "SIGTERM" | "SIGHUP" | "SIGKILL";

/** Deepest chain of parents followed, so that a damaged table can not loop. */
const MAX_DEPTH = 128;

/**
 * Members alive in `table`, zombies left out; changes nothing. The gateway itself is never one, whatever the table says.
 * With `markOf` also those that left group, session and parent before they were ever seen (daemons), by the tree's mark.
 */
export function liveMembers(tree: Tree, table: ProcTable, markOf?: (pid: number) => string | undefined): ProcStat[] {
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
    else if (markOf !== undefined && mayBeStray(tree, stat) && markOf(stat.pid) === tree.mark) add(stat);
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

function mayBeStray(tree: Tree, stat: ProcStat): boolean {
  return tree.mark !== undefined && !stat.zombie && stat.startTicks >= (tree.startTicks ?? Number.POSITIVE_INFINITY);
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
  const root = readProcStat(tree.pid);
  const isRoot = root !== undefined && root.startTicks === tree.startTicks;
  // While the root is there, if only as a zombie, its number is nobody else's: no table is needed to signal its group.
  const group = tree.ownGroup && (isRoot || members.some((member) => member.group === tree.pid));
  if (group) sendSignal(-tree.pid, signal);
  // The child of a terminal that has not made its group yet, or one that is not in the table.
  if (isRoot && !(group && root.group === tree.pid)) sendSignal(tree.pid, signal);
  for (const member of members) {
    if (member.pid !== tree.pid && !(group && member.group === tree.pid)) sendSignal(member.pid, signal);
  }
}

/** Sends `signal` to each of `members`, which come from a table read just now. */
export function signalMembers(members: readonly ProcStat[], signal: StopSignal): void {
  for (const member of members) sendSignal(member.pid, signal);
}

/** Ends whoever is in the group now, those that are being forked included; nothing for one of zombies. */
export function killGroup(tree: Tree): void {
  if (tree.ownGroup && process.platform !== "win32") sendSignal(-tree.pid, "SIGKILL");
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
