/** The file system as the policy sees it. The only place below the pipeline where a decision touches a disk. */
import { createHash } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import type { Clock } from "../clock.ts";
import type { FileFacts, FileStat } from "../policy/types.ts";

/** How long an answer may be reused while decisions are made. The re-check before a spawn never uses a cache. */
export const FACTS_CACHE_MS = 1000;
/** Answers kept at most; the cache is emptied when it is full. */
const MAX_CACHED = 4096;
const HASH_CHUNK_BYTES = 256 * 1024;

function kindOf(stats: Stats): FileStat["kind"] {
  if (stats.isFile()) return "file";
  return stats.isDirectory() ? "directory" : "other";
}

function readStat(path: string): FileStat | undefined {
  try {
    const stats = statSync(path);
    const { dev, ino, size, mtimeMs, mode, uid, gid } = stats;
    return { dev, ino, size, mtimeMs, mode, uid, gid, kind: kindOf(stats) };
  } catch {
    // Absent, unreadable and looping paths are alike to the policy: there is no such file.
    return undefined;
  }
}

function readRealpath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function readExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function readSha256(path: string, maxBytes: number): string | undefined {
  let fd: number | undefined;
  try {
    // A fifo would block the open for ever.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    const hash = createHash("sha256");
    const chunk = Buffer.allocUnsafe(Math.min(HASH_CHUNK_BYTES, Math.max(stats.size, 1)));
    let total = 0;
    for (;;) {
      const count = readSync(fd, chunk, 0, chunk.length, null);
      if (count === 0) return hash.digest("hex");
      total += count;
      if (total > maxBytes) return undefined;
      hash.update(chunk.subarray(0, count));
    }
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Looks every time: for one decision, and for `recheckBinding`. */
export function freshFileFacts(): FileFacts {
  return {
    uid: process.getuid?.(),
    windowsNames: process.platform === "win32",
    stat: readStat,
    realpath: readRealpath,
    isExecutable: readExecutable,
    sha256: readSha256,
  };
}

/** Remembers answers for `FACTS_CACHE_MS`; content hashes are never remembered. */
export function cachedFileFacts(clock: Clock, cacheMs = FACTS_CACHE_MS): FileFacts {
  let until = Number.NEGATIVE_INFINITY;
  const stats = new Map<string, FileStat | undefined>();
  const realpaths = new Map<string, string | undefined>();
  const executables = new Map<string, boolean>();

  const remember = <T>(map: Map<string, T>, path: string, read: (path: string) => T): T => {
    const now = clock.monotonic();
    if (now >= until || map.size >= MAX_CACHED) {
      stats.clear();
      realpaths.clear();
      executables.clear();
      until = now + cacheMs;
    }
    if (map.has(path)) return map.get(path) as T;
    const value = read(path);
    map.set(path, value);
    return value;
  };

  return {
    uid: process.getuid?.(),
    windowsNames: process.platform === "win32",
    stat: (path) => remember(stats, path, readStat),
    realpath: (path) => remember(realpaths, path, readRealpath),
    isExecutable: (path) => remember(executables, path, readExecutable),
    sha256: readSha256,
  };
}
