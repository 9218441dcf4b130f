import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ExecError } from "../errors.ts";

/** For the owner alone: what is written here decides what may run. */
export const PRIVATE_FILE_MODE = 0o600;

/**
 * Puts a text in the place of a file: written beside it, flushed, then renamed over, so that a crash leaves the old file
 * or the new one. `beforeRename` runs once the new text is safe and the old one still in place.
 * @throws ExecError `invalid-argument` when it can not be written; nothing was changed.
 */
export function replaceFile(
  path: string,
  text: string,
  options: { readonly uniqueId: string; readonly beforeRename?: () => void },
): void {
  const temporary = `${path}.${options.uniqueId}.tmp`;
  try {
    writeFlushed(temporary, text);
    options.beforeRename?.();
    renameSync(temporary, path);
    syncDirectory(dirname(path));
  } catch (error) {
    rmSync(temporary, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new ExecError("invalid-argument", `${path} was not changed: it can not be written (${code}).`);
  }
}

/** A new file for its owner alone, safe on the disk when this returns. Throws when there is one. */
export function writeFlushed(path: string, text: string): void {
  const fd = openSync(path, "wx", PRIVATE_FILE_MODE);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The rename itself must survive a power cut; not every system can do that. */
export function syncDirectory(path: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
