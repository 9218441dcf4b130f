/** Puts a new configuration text in place: whole or not at all, with the old one kept. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { ExecError } from "../errors.ts";
import { isSymlink } from "./paths.ts";

const FILE_MODE = 0o600;
/** `.bak` is the newest, `.bak.4` the oldest. */
const BACKUPS = 5;

/** @returns the path of the backup, or undefined when there was nothing to keep. @throws ExecError `invalid-argument` */
export function saveConfigText(path: string, text: string, uniqueId: string): string | undefined {
  if (isSymlink(path)) {
    throw new ExecError(
      "invalid-argument",
      `${path} is a symbolic link to ${readlinkSync(path)} and is not replaced. Change that file, or name it in OPENCLAW_CONFIG_PATH.`,
    );
  }
  const temporary = `${path}.${uniqueId}.tmp`;
  try {
    const fd = openSync(temporary, "wx", FILE_MODE);
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    const backup = existsSync(path) ? keepBackup(path) : undefined;
    renameSync(temporary, path);
    syncDirectory(dirname(path));
    return backup;
  } catch (error) {
    rmSync(temporary, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new ExecError("invalid-argument", `${path} was not changed: it can not be written (${code}).`);
  }
}

function keepBackup(path: string): string {
  const name = (index: number) => (index === 0 ? `${path}.bak` : `${path}.bak.${index}`);
  for (let index = BACKUPS - 2; index >= 0; index--) {
    if (existsSync(name(index))) renameSync(name(index), name(index + 1));
  }
  const fresh = `${name(0)}.tmp`;
  rmSync(fresh, { force: true });
  closeSync(openSync(fresh, "wx", FILE_MODE));
  copyFileSync(path, fresh);
  renameSync(fresh, name(0));
  return name(0);
}

/** The rename itself must survive a power cut; not every system can do that. */
function syncDirectory(path: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
