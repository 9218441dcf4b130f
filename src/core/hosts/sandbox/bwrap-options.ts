/** The options of bubblewrap for one command, from what the sandbox shall be (hosts.md section 2.3). Pure. */
import { posix } from "node:path";
import type { Tmpfs } from "./limits.ts";
import { isWithin, type Mount } from "./mounts.ts";

/** What of this machine's own system a sandbox sees, all of it read-only. */
export interface RootParts {
  /** Symbolic links, as `[path, target]`. */
  readonly links: readonly (readonly [string, string])[];
  readonly shown: readonly string[];
  /** Files below what is shown that not everybody may read. */
  readonly masked: readonly string[];
  /** Directories below what is shown whose content is hidden. */
  readonly emptied: readonly string[];
  /** The same for files and directories of `/proc`, and what of it is shown but closed. */
  readonly proc: {
    readonly masked: readonly string[];
    readonly emptied: readonly string[];
    readonly closed: readonly string[];
  };
}

export interface Layout {
  readonly root: RootParts;
  /** Own files in the place of the machine's, as `[real path, path in the sandbox]`. */
  readonly files: readonly (readonly [string, string])[];
  /** File with the filter of system calls; absent where there is none for this machine. */
  readonly filter?: string;
  readonly tmpfs: readonly Tmpfs[];
  readonly mounts: readonly Mount[];
  readonly readOnlyRoot: boolean;
  readonly uid: number;
  readonly gid: number;
}

export interface Features {
  /** `--disable-userns`, bubblewrap 0.8. */
  readonly disableUserns: boolean;
  /** `--size`, bubblewrap 0.7. */
  readonly sizes: boolean;
}

export interface Start {
  readonly chdir: string;
  readonly env: Readonly<Record<string, string>>;
  /** The command has a terminal of its own. */
  readonly terminal: boolean;
}

/** Where the launcher opens the filter. */
const FILTER_FD = "8";

/** Mode of a temporary file system: `/tmp` is everybody's, as usual. */
const SHARED_MODE = "1777";

export function bwrapOptions(layout: Layout, features: Features, start: Start): string[] {
  const { root } = layout;
  return [
    ...["--unshare-all", "--unshare-user"],
    // Without it a command could make itself a namespace in which it is root, and reach far more of the kernel.
    ...(features.disableUserns ? ["--disable-userns"] : []),
    ...["--uid", String(layout.uid), "--gid", String(layout.gid), "--hostname", "sandbox"],
    ...["--die-with-parent", "--cap-drop", "ALL"],
    ...(layout.filter === undefined ? [] : ["--seccomp", FILTER_FD]),
    // A terminal belongs to this one command and to nobody else, so keystrokes pushed into it (TIOCSTI) reach only the
    // command itself. In a session of its own it would have no controlling terminal: no Ctrl-C, no job control.
    ...(start.terminal ? [] : ["--new-session"]),
    "--clearenv",
    ...Object.entries(start.env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...root.shown.flatMap((path) => ["--ro-bind", path, path]),
    ...root.links.flatMap(([path, target]) => ["--symlink", target, path]),
    ...root.masked.flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...root.emptied.flatMap((path) => ["--tmpfs", path, "--remount-ro", path]),
    ...layout.files.flatMap(([file, path]) => ["--ro-bind", file, path]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...root.proc.closed.flatMap((path) => ["--ro-bind", path, path]),
    ...root.proc.emptied.flatMap((path) => ["--tmpfs", path, "--remount-ro", path]),
    ...root.proc.masked.flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...inOrder(layout).flatMap((place) =>
      "bytes" in place
        ? [
            ...["--perms", SHARED_MODE],
            ...(features.sizes ? ["--size", String(place.bytes)] : []),
            ...["--tmpfs", place.path],
          ]
        : [place.mode === "ro" ? "--ro-bind" : "--bind", place.host, place.inside],
    ),
    ...(layout.readOnlyRoot ? ["--remount-ro", "/"] : []),
    ...["--chdir", start.chdir],
  ];
}

/** The outer ones first: what is mounted later lies over what is there. */
function inOrder({ tmpfs, mounts }: Layout): readonly (Tmpfs | Mount)[] {
  const pathOf = (place: Tmpfs | Mount): string => ("bytes" in place ? place.path : place.inside);
  const depth = (path: string): number => path.split("/").filter((part) => part !== "").length;
  return [...tmpfs, ...mounts].toSorted((a, b) => depth(pathOf(a)) - depth(pathOf(b)));
}

/** For a try: as it is, but with nothing of any conversation or workspace in it. */
export function withoutWorkspaces(layout: Layout): Layout {
  const hidden = layout.mounts.filter((mount) => mount.role !== "bind");
  return {
    ...layout,
    mounts: layout.mounts.filter((mount) => mount.role === "bind"),
    tmpfs: [...layout.tmpfs, ...hidden.map((mount) => ({ path: mount.inside, bytes: 1024 ** 2 }))],
  };
}

/** A `tmpfs` that would cover the system or a workspace. */
export function isBadTmpfs(path: string, mounts: readonly Mount[]): boolean {
  const system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/proc", "/dev"];
  const covers = [...system, ...mounts.map((mount) => mount.inside)].some((one) => isWithin(one, path));
  return covers || posix.normalize(path) !== path || system.some((one) => isWithin(path, one));
}
