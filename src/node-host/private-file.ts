/** Small files of the node that nobody else may read, and that must be what they seem: no links, no other owner. */
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { dirname } from "node:path";
import { replaceFile, syncDirectory, writeFlushed } from "../core/config/replace-file.ts";
import { ExecError } from "../core/errors.ts";

/** A directory of ours alone. */
export function privateFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) throw mistrusted(path, "it is a symbolic link");
  if (!stat.isDirectory()) throw mistrusted(path, "it is not a directory");
  if (!isOurs(stat.uid)) throw mistrusted(path, "it belongs to another user");
  if (isOpenToOthers(stat.mode)) throw mistrusted(path, `others may enter it; run: chmod 700 ${path}`);
  return path;
}

/** Undefined when there is none. @throws ExecError `invalid-argument` when it can not be trusted. */
export function readPrivate(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw mistrusted(path, code === "ELOOP" ? "it is a symbolic link" : `it can not be read (${code ?? "unknown"})`);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw mistrusted(path, "it is not a regular file");
    if (!isOurs(stat.uid)) throw mistrusted(path, "it belongs to another user");
    if (isOpenToOthers(stat.mode)) throw mistrusted(path, `others can read it; run: chmod 600 ${path}`);
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

/** Whole or not at all, over what was there. */
export function writePrivate(path: string, text: string, uniqueId: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw mistrusted(path, "it is a symbolic link");
  replaceFile(path, text, { uniqueId });
}

/** False when it was there already, whoever made it: the base of a once-marker. Durable when it returns. */
export function createPrivate(path: string, text: string, uniqueId: string): boolean {
  const draft = `${path}.${uniqueId}.tmp`;
  writeFlushed(draft, text);
  try {
    // A link appears whole or not at all, and never over another one.
    linkSync(draft, path);
    syncDirectory(dirname(path));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function isOurs(uid: number): boolean {
  const mine = process.getuid?.();
  return mine === undefined || uid === mine;
}

function isOpenToOthers(mode: number): boolean {
  return process.platform !== "win32" && (mode & 0o077) !== 0;
}

function mistrusted(path: string, why: string): ExecError {
  return new ExecError("invalid-argument", `${path} can not be trusted: ${why}.`);
}
