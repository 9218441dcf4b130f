/**
 * Control groups for sandboxed commands: one per run, below the group this gateway is in, so that whatever limits the
 * gateway itself still counts. Version 1 (a tree per controller) and version 2 (one tree). What can not be enforced is
 * said, never left out.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { phrase, type Wording } from "../../words/phrase.ts";
import type { GroupLimits } from "./limits.ts";
import { isWithin } from "./mounts.ts";

/** The directory of ours in each tree. */
const FOLDER = "openclaw-exec";
/** bubblewrap and its helper inside. */
const OWN_PROCESSES = 2;
const PERIOD_US = 100_000;
/** The kernel lets a group go only when its last process has been reaped. */
const REMOVE_TRIES = 40;
const REMOVE_EVERY_MS = 50;

export type Controller = "pids" | "memory" | "cpu";

/** A limit that this machine does not let us set. `field` is below `docker`. */
export interface Unenforced {
  readonly field: "pidsLimit" | "memory" | "memorySwap" | "cpus";
  readonly why: Wording;
}

export interface RunGroups {
  /** Whoever writes itself in here is limited. */
  readonly procs: readonly string[];
  /** Never rejects. */
  remove(): Promise<void>;
}

interface Tree {
  readonly version: 1 | 2;
  /** The group we are in. */
  readonly own: string;
}

export class Cgroups {
  readonly #proc: string;
  readonly owner: string;

  /** `owner`: start of the names of our groups; other gateways of this machine have another. */
  constructor(owner: string, proc = "/proc/self") {
    this.owner = owner;
    this.#proc = proc;
  }

  /** Which tree would enforce each controller here; undefined where there is none. */
  trees(): ReadonlyMap<Controller, Tree> {
    const found = new Map<Controller, Tree>();
    const own = ownGroups(read(`${this.#proc}/cgroup`));
    for (const { type, root, point, options } of mountsOf(read(`${this.#proc}/mountinfo`))) {
      const at = (path: string | undefined): string => {
        // A container may see only a part of the tree, mounted from further down.
        const seen = path !== undefined && isWithin(path, root);
        const whole = seen ? join(point, path.slice(root === "/" ? 0 : root.length)) : point;
        return existsSync(whole) ? whole : point;
      };
      if (type === "cgroup2") {
        const available = read(join(point, "cgroup.controllers")).split(/\s+/);
        for (const controller of ["pids", "memory", "cpu"] as const) {
          if (available.includes(controller)) found.set(controller, { version: 2, own: at(own.get("")) });
        }
      } else if (type === "cgroup") {
        for (const controller of ["pids", "memory", "cpu"] as const) {
          if (options.includes(controller)) found.set(controller, { version: 1, own: at(own.get(controller)) });
        }
      }
    }
    return found;
  }

  /** Makes the groups of one run. Nothing is left behind when a limit can not be set. */
  create(name: string, limits: GroupLimits): RunGroups | Unenforced {
    const wanted = settingsOf(limits);
    if (wanted.length === 0) return { procs: [], remove: async () => {} };
    const trees = this.trees();
    const made = new Set<string>();
    const giveUp = (field: Unenforced["field"], why: Wording): Unenforced => {
      for (const group of made) tryRemove(group);
      return { field, why };
    };
    for (const { controller, field, files } of wanted) {
      const tree = trees.get(controller);
      if (tree === undefined) return giveUp(field, phrase("sandbox.limit.none", { controller }));
      try {
        const group = join(
          parentIn(
            tree,
            wanted.map((one) => one.controller),
          ),
          `${this.owner}-${name}`,
        );
        mkdirSync(group, { recursive: true });
        made.add(group);
        for (const [file, value] of files(tree.version)) writeFileSync(join(group, file), value);
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code ?? String(error);
        return giveUp(field, phrase("sandbox.limit.closed", { controller, code }));
      }
    }
    const groups = [...made];
    return { procs: groups.map((group) => join(group, "cgroup.procs")), remove: () => removeAll(groups) };
  }

  /** Of an earlier life: what still has processes stays. */
  sweep(): void {
    for (const tree of this.trees().values()) {
      for (const parent of [tree.own, dirname(tree.own)]) {
        const folder = join(parent, FOLDER);
        for (const name of list(folder)) if (name.startsWith(`${this.owner}-`)) tryRemove(join(folder, name));
      }
    }
  }
}

interface Setting {
  readonly controller: Controller;
  readonly field: Unenforced["field"];
  readonly files: (version: 1 | 2) => readonly (readonly [string, string])[];
}

function settingsOf({ pids, memoryBytes, memorySwapBytes, cpus }: GroupLimits): Setting[] {
  const settings: Setting[] = [];
  if (pids !== undefined) {
    settings.push({
      controller: "pids",
      field: "pidsLimit",
      files: () => [["pids.max", String(pids + OWN_PROCESSES)]],
    });
  }
  if (memoryBytes !== undefined) {
    const file = { 1: "memory.limit_in_bytes", 2: "memory.max" } as const;
    settings.push({
      controller: "memory",
      field: "memory",
      files: (version) => [[file[version], String(memoryBytes)]],
    });
  }
  if (memorySwapBytes !== undefined) {
    settings.push({
      controller: "memory",
      field: "memorySwap",
      // Version 1 counts both together, version 2 swap alone.
      files: (version) =>
        version === 1
          ? [["memory.memsw.limit_in_bytes", String(memorySwapBytes)]]
          : [["memory.swap.max", String(memorySwapBytes - (memoryBytes ?? 0))]],
    });
  }
  if (cpus !== undefined) {
    const quota = String(Math.max(1_000, Math.round(cpus * PERIOD_US)));
    settings.push({
      controller: "cpu",
      field: "cpus",
      files: (version) =>
        version === 1
          ? [
              ["cpu.cfs_period_us", String(PERIOD_US)],
              ["cpu.cfs_quota_us", quota],
            ]
          : [["cpu.max", `${quota} ${PERIOD_US}`]],
    });
  }
  return settings;
}

/** Our directory in the tree, ready to have groups with these controllers. Throws when it can not be. */
function parentIn(tree: Tree, controllers: readonly Controller[]): string {
  const in1 = join(tree.own, FOLDER);
  if (tree.version === 1) {
    mkdirSync(in1, { recursive: true });
    return in1;
  }
  const enable = [...new Set(controllers)].map((controller) => `+${controller}`).join(" ");
  // A group with processes of its own may have no limited children. A service that was given its group to manage
  // (systemd: Delegate=yes with DelegateSubgroup=) has its processes in a leaf, so the one above is tried as well.
  let failed: unknown;
  for (const parent of [tree.own, dirname(tree.own)]) {
    try {
      writeFileSync(join(parent, "cgroup.subtree_control"), enable);
      const folder = join(parent, FOLDER);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "cgroup.subtree_control"), enable);
      return folder;
    } catch (error) {
      failed = error;
    }
  }
  throw failed;
}

/** Controller to path, as `/proc/self/cgroup` has them; version 2 has no controller. */
function ownGroups(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, controllers, path] = /^\d+:([^:]*):(.+)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    for (const controller of controllers.split(",")) found.set(controller, path);
  }
  return found;
}

interface MountLine {
  readonly type: string;
  readonly root: string;
  readonly point: string;
  readonly options: readonly string[];
}

/** `36 35 98:0 /root /point rw,noatime shared:1 - type source superoptions` (proc(5)). */
function mountsOf(text: string): MountLine[] {
  return text.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root, point] = before.split(" ");
    const [type, , options = ""] = after.split(" ");
    return root === undefined || point === undefined || type === undefined
      ? []
      : [{ type, root, point, options: options.split(",") }];
  });
}

async function removeAll(groups: readonly string[]): Promise<void> {
  let left = groups;
  for (let tries = 0; tries < REMOVE_TRIES; tries++) {
    left = left.filter((group) => !tryRemove(group));
    if (left.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, REMOVE_EVERY_MS).unref());
  }
}

function tryRemove(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
