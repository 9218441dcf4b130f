import { describe, expect, it } from "vitest";
import { liveMembers, type Tree } from "../../../src/core/process/kill.ts";
import type { ProcStat, ProcTable } from "../../../src/core/process/proc-table.ts";

/** `group` and `session` default to the root's. */
function process_(pid: number, ppid: number, extra: Partial<ProcStat> = {}): ProcStat {
  return { pid, ppid, group: 100, session: 100, startTicks: pid * 10, zombie: false, ...extra };
}

const table = (...stats: ProcStat[]): ProcTable => new Map(stats.map((stat) => [stat.pid, stat]));
const tree = (extra: Partial<Tree> = {}): Tree => ({
  pid: 100,
  startTicks: 1000,
  ownGroup: true,
  terminal: false,
  known: new Map(),
  mark: undefined,
  ...extra,
});
const pids = (members: readonly ProcStat[]): number[] => members.map((member) => member.pid).sort((a, b) => a - b);

const STRANGER = process_(7, 1, { group: 7, session: 7 });

describe("who belongs to a tree", () => {
  it("the root, its group, its session, and all that descends from them", () => {
    const now = table(
      STRANGER,
      process_(100, 1),
      process_(101, 100),
      process_(102, 1),
      process_(103, 1, { group: 103 }),
      process_(104, 101, { group: 104, session: 104 }),
      process_(105, 104, { group: 105, session: 105 }),
    );
    expect(pids(liveMembers(tree(), now))).toEqual([100, 101, 102, 103, 104, 105]);
  });

  it("not the dead, not the gateway itself, not strangers", () => {
    const now = table(
      STRANGER,
      process_(100, 1, { zombie: true }),
      process_(101, 100, { zombie: true }),
      process_(process.pid, 100),
    );
    expect(liveMembers(tree(), now)).toEqual([]);
  });

  it("nobody, when the root's pid has been given to a stranger (exec.md 15.19)", () => {
    const now = table(process_(100, 1, { startTicks: 5555 }), process_(200, 100));
    expect(liveMembers(tree(), now)).toEqual([]);
  });

  it("who was seen once stays, although it left group, session and parent; a reused pid does not", () => {
    const escaping = tree({ known: new Map([[104, 1040]]) });
    expect(pids(liveMembers(escaping, table(process_(104, 1, { group: 104, session: 104 }))))).toEqual([104]);
    const reused = table(process_(104, 1, { group: 104, session: 104, startTicks: 9999 }));
    expect(liveMembers(escaping, reused)).toEqual([]);
  });

  it("with marks: a daemon that carries the tree's, not one of another run nor one older than the tree", () => {
    const marks = new Map([
      [104, "mine"],
      [105, "other"],
      [60, "mine"],
    ]);
    const daemon = { group: 104, session: 104 };
    const now = table(
      process_(60, 1, daemon),
      process_(104, 1, daemon),
      process_(105, 1, daemon),
      process_(106, 104, daemon),
    );
    const marked = tree({ mark: "mine" });
    expect(pids(liveMembers(marked, now, (pid) => marks.get(pid)))).toEqual([104, 106]);
    expect(pids(liveMembers(marked, now))).toEqual([]);
    expect(pids(liveMembers(tree(), now, (pid) => marks.get(pid)))).toEqual([]);
  });

  it("without a group of its own only descendants: the gateway's group is never touched", () => {
    const now = table(
      process_(100, 1, { group: 50, session: 50 }),
      process_(101, 100, { group: 50, session: 50 }),
      process_(60, 1, { group: 50, session: 50 }),
    );
    expect(pids(liveMembers(tree({ ownGroup: false }), now))).toEqual([100, 101]);
  });

  it("a table that goes in circles ends", () => {
    const now = table(process_(100, 102), process_(101, 100), process_(102, 101));
    expect(pids(liveMembers(tree(), now))).toEqual([100, 101, 102]);
  });
});
