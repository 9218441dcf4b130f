/** Puts a new configuration text in place: whole or not at all, with the old one kept. */
import { closeSync, copyFileSync, existsSync, openSync, readlinkSync, renameSync, rmSync } from "node:fs";
import { ExecError } from "../errors.ts";
import { isSymlink } from "./paths.ts";
import { PRIVATE_FILE_MODE, replaceFile } from "./replace-file.ts";

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
  let backup: string | undefined;
  replaceFile(path, text, {
    uniqueId,
    beforeRename() {
      if (existsSync(path)) backup = keepBackup(path);
    },
  });
  return backup;
}

function keepBackup(path: string): string {
  const name = (index: number) => (index === 0 ? `${path}.bak` : `${path}.bak.${index}`);
  for (let index = BACKUPS - 2; index >= 0; index--) {
    if (existsSync(name(index))) renameSync(name(index), name(index + 1));
  }
  const fresh = `${name(0)}.tmp`;
  rmSync(fresh, { force: true });
  closeSync(openSync(fresh, "wx", PRIVATE_FILE_MODE));
  copyFileSync(path, fresh);
  renameSync(fresh, name(0));
  return name(0);
}
