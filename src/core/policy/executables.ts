/**
 * Which file a command word names, found the way the gateway's frozen PATH finds it, and whether the place it lies in
 * can be trusted (spec: shell-analysis.md 4.5, policy.md 6 and 7).
 */
import { posix } from "node:path";
import type { Reason } from "./decision.ts";
import { MULTI_CALL } from "./program-kinds.ts";
import type { FileFacts, FileStat } from "./types.ts";

export interface Executable {
  /** As typed, decoded. */
  readonly typed: string;
  /** Absolute, symlinks not followed. */
  readonly path: string;
  /** Symlinks followed, except the last one of a program that acts by its name (`MULTI_CALL`). */
  readonly real: string;
  /** Found by searching PATH: the only kind a bare-name pattern covers. */
  readonly byName: boolean;
  readonly relative: boolean;
  /** Neither the agent nor other users can put or replace a file there. */
  readonly trusted: boolean;
  /** Every name it goes by: typed, found and real, without directories. A symlink can not hide what a program is. */
  readonly names: readonly string[];
}

/** Printable ASCII; a blank only inside a path. Look-alikes and padded names never name a listed program. */
const PLAIN_NAME = /^[\x21-\x2c\x2e-\x7e][\x21-\x7e]*$/;
const PLAIN_PATH = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Names that mean another file for every process that uses them. */
const STAND_IN = /^\/(?:proc|dev)\//;

export interface SearchContext {
  readonly cwd: string;
  readonly path: readonly string[];
  readonly facts: FileFacts;
  /** Directories an operator vouches for (`safeBinTrustedDirs`). */
  readonly trustedDirs: readonly string[];
}

export function findExecutable(typed: string, context: SearchContext): Executable | Reason {
  const { facts } = context;
  const scoped = typed.includes("/");
  if (!(scoped ? PLAIN_PATH : PLAIN_NAME).test(typed)) return { code: "non-ascii-name", subject: typed };
  let path: string | undefined;
  if (!scoped) {
    for (const entry of context.path) {
      // An empty or relative entry means the directory the command runs in: found there, it is found, and not trusted.
      const dir = entry.startsWith("/") ? entry : posix.resolve(context.cwd, entry);
      const candidate = dir.endsWith("/") ? dir + typed : `${dir}/${typed}`;
      if (facts.stat(candidate)?.kind === "file" && facts.isExecutable(candidate)) {
        path = posix.normalize(candidate);
        break;
      }
    }
  } else if (typed.startsWith("/")) {
    if (posix.normalize(typed) !== typed || STAND_IN.test(typed)) return { code: "relative-path", subject: typed };
    path = typed;
  } else {
    path = posix.resolve(context.cwd, typed);
  }
  const real = path === undefined ? undefined : facts.realpath(path);
  if (path === undefined || real === undefined) return { code: "not-found", subject: typed };
  if (scoped && (facts.stat(real)?.kind !== "file" || !facts.isExecutable(real))) {
    return { code: "not-found", subject: typed };
  }
  const own = multiCallPath(path, real, facts) ?? real;
  const names = [...new Set([posix.basename(typed), posix.basename(path), posix.basename(own)])];
  return {
    typed,
    path,
    real: own,
    byName: !scoped,
    relative: scoped && !typed.startsWith("/"),
    trusted: isTrustedDirectory(posix.dirname(real), context) && isTrustedDirectory(posix.dirname(path), context),
    names,
  };
}

/** For a link to a file that acts by its name: the link's own path, directories resolved. */
function multiCallPath(path: string, real: string, facts: FileFacts): string | undefined {
  const name = posix.basename(path);
  if (name === posix.basename(real) || !MULTI_CALL.has(posix.basename(real))) return undefined;
  const dir = facts.realpath(posix.dirname(path));
  return dir === undefined ? undefined : posix.join(dir, name);
}

/** Places that stay the system's even when the agent works in `/` or below them. */
const SYSTEM_ROOTS: readonly string[] = ["/bin", "/sbin", "/usr", "/lib", "/nix/store"];

const GROUP_WRITABLE = 0o020;
const OTHER_WRITABLE = 0o002;

/** A group with the number of its only user (the default of many systems, with umask 002) is that user. */
function isWritableByOthers(stat: FileStat, uid: number | undefined): boolean {
  if ((stat.mode & OTHER_WRITABLE) !== 0) return true;
  const privateGroup = uid !== undefined && uid !== 0 && stat.uid === uid && stat.gid === uid;
  return (stat.mode & GROUP_WRITABLE) !== 0 && !privateGroup;
}

function within(dir: string, root: string): boolean {
  return dir === root || root === "/" || dir.startsWith(`${root}/`);
}

/**
 * True when no directory up to the root can be written by the group or by others, all belong to root or to us, and it
 * is not inside the working directory, where the agent writes.
 */
export function isTrustedDirectory(dir: string, context: Omit<SearchContext, "path">): boolean {
  if (context.trustedDirs.includes(dir)) return true;
  if (within(dir, context.cwd) && !SYSTEM_ROOTS.some((root) => within(dir, root))) return false;
  for (let at = dir; ; at = posix.dirname(at)) {
    const stat = context.facts.stat(at);
    if (stat?.kind !== "directory" || isWritableByOthers(stat, context.facts.uid)) return false;
    if (context.facts.uid !== undefined && stat.uid !== 0 && stat.uid !== context.facts.uid) return false;
    if (at === "/") return true;
  }
}

/** The path to run: the one the rule was matched on, unless the symlink itself lies where it could be swapped. */
export function runPath(executable: Executable, context: SearchContext): string {
  return isTrustedDirectory(posix.dirname(executable.path), context) ? executable.path : executable.real;
}
