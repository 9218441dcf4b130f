/** Where sessions and recordings keep their files: one folder each, 0700. */
import { mkdir, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";

/** Bytes of one log file; what comes later is not written. */
export const MAX_LOG_BYTES = 50 * 1024 * 1024;

export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Removes files with that ending that have not been written to for so long. */
export async function sweepFolder(folder: string, ending: string, olderThanMs: number, now: number): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    if (!name.endsWith(ending)) continue;
    const path = join(folder, name);
    const age = await stat(path).then(
      (found) => now - found.mtimeMs,
      () => 0,
    );
    if (age > olderThanMs) await unlink(path).catch(() => {});
  }
}

/**
 * Names with that ending whose removal brings the folder down to `maxBytes`: lowest `rank` first, and of equals the one
 * written to longest ago (a file's own time is too coarse to order what is written in the same moment).
 */
export async function surplus(
  folder: string,
  ending: string,
  maxBytes: number,
  rank: (name: string) => number,
): Promise<readonly string[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(ending));
  const files = await Promise.all(
    names.map(async (name) => {
      const found = await stat(join(folder, name)).catch(() => undefined);
      return { name, bytes: found?.size ?? 0, rank: rank(name), atMs: found?.mtimeMs ?? 0 };
    }),
  );
  let over = files.reduce((sum, file) => sum + file.bytes, 0) - maxBytes;
  const removed: string[] = [];
  for (const file of files.sort((a, b) => a.rank - b.rank || a.atMs - b.atMs)) {
    if (over <= 0) break;
    over -= file.bytes;
    removed.push(file.name);
  }
  return removed;
}
