/**
 * The machine's process table (`/proc`, Linux). A table is not of one moment: the pids are listed first and looked at one
 * by one, so a process that was forked meanwhile, by one that ended before its turn came, is in none. `newer` finds it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { markIn } from "./run-mark.ts";

export interface ProcStat {
  readonly pid: number;
  readonly ppid: number;
  readonly group: number;
  readonly session: number;
  readonly startTicks: number;
  readonly zombie: boolean;
}

/** Processes of the machine, by pid. */
export type ProcTable = ReadonlyMap<number, ProcStat>;

/** How processes are looked at. */
export interface ProcSource {
  /** Every process; undefined where there is no `/proc`. */
  table(): ProcTable | undefined;
  /** Those that are not in `table`. */
  newer(table: ProcTable): ProcTable;
  /** The run mark in the environment that the program at `pid` was started with. */
  mark(pid: number): string | undefined;
}

export const procSource: ProcSource = {
  table: () => readTable(undefined),
  newer: (table) => readTable(table) ?? new Map(),
  mark(pid) {
    try {
      return markIn(readFileSync(`/proc/${pid}/environ`, "latin1"));
    } catch {
      // Another user's, or just gone.
      return undefined;
    }
  },
};

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

function readTable(without: ProcTable | undefined): ProcTable | undefined {
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
    if (first < 0x31 || first > 0x39 || without?.has(Number(name))) continue;
    const stat = readProcStat(Number(name));
    if (stat !== undefined) table.set(stat.pid, stat);
  }
  return table;
}
