import { chmodSync, closeSync, constants, lstatSync, mkdirSync, openSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { ExecError } from "../errors.ts";

const GROUP_AND_OTHERS = 0o077;
const STICKY = 0o1000;

/** What SQLite may put beside the file; each is trusted as much as the file itself. */
const COMPANIONS = ["-wal", "-shm", "-journal"];

/**
 * Makes sure that a state file can be trusted before anything opens it: a private directory (0700), a regular file of
 * ours (0600), no symlink that leads elsewhere. A missing directory or file is created. Returns the real path.
 *
 * Throws `state-unavailable` and changes nothing when that can not be had.
 */
export function prepareStateFile(file: string): string {
  const path = join(prepareStateDirectory(dirname(resolve(file))), basename(file));
  for (const companion of COMPANIONS) assertOwnRegularFile(path + companion);
  if (!assertOwnRegularFile(path)) createEmpty(path);
  return path;
}

/** Creates the directory, or takes group and others out of an existing one. Returns its real path. */
function prepareStateDirectory(directory: string): string {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const real = realpathSync(directory);
    const stat = statSync(real);
    if ((stat.mode & GROUP_AND_OTHERS) === 0) return real;
    if ((stat.mode & STICKY) !== 0) {
      throw new ExecError(
        "state-unavailable",
        `The state directory ${real} is shared by all users of this machine. Choose one of your own, for example ~/.openclaw.`,
      );
    }
    chmodSync(real, 0o700);
    return real;
  } catch (error) {
    if (error instanceof ExecError) throw error;
    throw new ExecError(
      "state-unavailable",
      `The state directory ${directory} can not be used: ${(error as Error).message}`,
    );
  }
}

/** Takes group and others out of the file's mode; to be called once the file is known to be ours. */
export function makePrivate(path: string): void {
  for (const file of [path, ...COMPANIONS.map((companion) => path + companion)]) {
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (stat?.isFile() && (stat.mode & GROUP_AND_OTHERS) !== 0) chmodSync(file, 0o600);
  }
}

function assertOwnRegularFile(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return false;
  if (!stat.isFile()) {
    const kind = stat.isSymbolicLink() ? "a symbolic link" : "not a regular file";
    throw new ExecError(
      "state-unavailable",
      `${path} is ${kind}. State is only kept in a regular file: move the real file there, or choose another state directory.`,
    );
  }
  const uid = process.geteuid?.();
  if (uid !== undefined && stat.uid !== uid) {
    throw new ExecError("state-unavailable", `${path} belongs to another user (uid ${stat.uid}).`);
  }
  return true;
}

function createEmpty(path: string): void {
  try {
    // Created here and not by SQLite, so that it is never readable by others, not even for a moment; SQLite gives
    // its -wal and -shm files the mode of the main file.
    closeSync(openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR | constants.O_NOFOLLOW, 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST" && assertOwnRegularFile(path)) return;
    throw new ExecError("state-unavailable", `The state file ${path} can not be created: ${(error as Error).message}`);
  }
}
