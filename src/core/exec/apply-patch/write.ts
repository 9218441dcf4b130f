/**
 * Writes a plan. First every new text goes into a temporary file beside its target: what can fail for lack of room or
 * rights fails here, and nothing has changed. Then files are replaced one by one, each at once and whole.
 */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, link, mkdir, open, readlink, rename, rm, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { ExecError } from "../../errors.ts";
import { type FileChange, type Fingerprint, fingerprintOf } from "./plan.ts";

interface Staged {
  readonly change: FileChange;
  /** The folder, held open: it can not be exchanged for a link between check and write. */
  readonly folder: FileHandle;
  /** A path to that very folder. */
  readonly base: string;
  /** Absent for a deletion. */
  readonly temporary: string | undefined;
}

/** Throws `ExecError("internal")`; its message says which files were changed, if any. */
export async function writePlan(changes: readonly FileChange[]): Promise<void> {
  const madeFolders: string[] = [];
  const staged: Staged[] = [];
  const applied: string[] = [];
  try {
    for (const change of changes) staged.push(await stage(change, madeFolders));
    for (const item of staged) {
      await assertUnchanged(item.change);
      // Deletions come last, so that a move never leaves neither of the two.
      if (item.temporary === undefined) continue;
      await putInPlace(item.temporary, join(item.base, item.change.place.name), item.change.before === undefined);
      applied.push(item.change.place.path);
    }
    for (const item of staged) {
      if (item.temporary !== undefined) continue;
      await unlink(join(item.base, item.change.place.name));
      applied.push(item.change.place.path);
    }
  } catch (error) {
    for (const item of staged)
      if (item.temporary !== undefined) await rm(item.temporary, { force: true }).catch(() => {});
    // Only empty ones go; a folder that has got a file stays.
    for (const folder of madeFolders.reverse()) await rmdir(folder).catch(() => {});
    throw failure(error, applied);
  } finally {
    for (const item of staged) await item.folder.close().catch(() => {});
  }
}

async function stage(change: FileChange, madeFolders: string[]): Promise<Staged> {
  const { place } = change;
  let folder = place.folder;
  for (const name of place.missing) {
    folder = join(folder, name);
    // Another file of this patch may have made it already.
    const made = await mkdir(folder).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === "EEXIST") return false;
        throw error;
      },
    );
    if (made) madeFolders.push(folder);
  }
  const handle = await open(folder, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0));
  const base = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : folder;
  try {
    if (process.platform === "linux" && (await readlink(base)) !== folder) {
      throw new ExecError("internal", `${folder} was exchanged by somebody else meanwhile.`);
    }
    const temporary = change.after === undefined ? undefined : await writeTemporary(base, change, change.after);
    return { change, folder: handle, base, temporary };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function writeTemporary(base: string, change: FileChange, text: string): Promise<string> {
  const path = join(base, `.${change.place.name.slice(0, 100)}.${randomUUID()}.tmp`);
  const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0);
  const file = await open(path, flags, change.mode ?? 0o666);
  try {
    await file.writeFile(text, "utf8");
    if (change.mode !== undefined) await file.chmod(change.mode);
    // Only root can keep another owner; everybody else owns the copy, as with any editor.
    if (change.before !== undefined) await file.chown(change.before.uid, change.before.gid).catch(() => {});
    await file.sync();
  } catch (error) {
    await rm(path, { force: true }).catch(() => {});
    throw error;
  } finally {
    await file.close();
  }
  return path;
}

/** A new file is linked, not renamed: that fails when somebody has made one of that name meanwhile. */
async function putInPlace(temporary: string, path: string, isNew: boolean): Promise<void> {
  if (!isNew) return rename(temporary, path);
  try {
    await link(temporary, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Some file systems have no hard links.
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error;
    return rename(temporary, path);
  }
  await unlink(temporary);
}

async function assertUnchanged(change: FileChange): Promise<void> {
  const now = await fingerprintOf(change.place.path);
  if (!sameFile(change.before, now)) {
    throw new ExecError("internal", `${change.place.path} was changed by somebody else meanwhile.`);
  }
}

function sameFile(a: Fingerprint | undefined, b: Fingerprint | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs && a.mode === b.mode;
}

function failure(error: unknown, applied: readonly string[]): ExecError {
  const why = error instanceof Error ? error.message : String(error);
  const state =
    applied.length === 0
      ? "Nothing was changed."
      : `Changed already: ${applied.join(", ")}. Look at these before trying again.`;
  return new ExecError("internal", `The patch could not be written: ${why} ${state}`, { applied });
}
