/** Where state and configuration live (decisions.md D1), and what must hold before they are trusted. */
import { chmodSync, lstatSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { ExecError } from "../errors.ts";
import type { EnvVars } from "./environment.ts";

const CONFIG_FILE_NAME = "openclaw.json";
const DIRECTORY_MODE = 0o700;

export interface StatePaths {
  /** Absolute, symlinks resolved once it exists. */
  readonly stateDir: string;
  readonly configFile: string;
  readonly home: string;
}

export function statePaths(env: EnvVars, stateDir?: string): StatePaths {
  const home = env.HOME?.trim() || homedir();
  const dir = stateDir ?? env.OPENCLAW_STATE_DIR?.trim();
  const state = dir ? expandHome(dir, home) : join(home, ".openclaw");
  const file = env.OPENCLAW_CONFIG_PATH?.trim();
  return { stateDir: state, configFile: file ? expandHome(file, home) : join(state, CONFIG_FILE_NAME), home };
}

/** `~/x` and relative paths made absolute. */
export function expandHome(path: string, home: string): string {
  if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1));
  return isAbsolute(path) ? path : resolve(path);
}

/**
 * Makes the state directory, or checks that the one that is there is ours alone. A directory of ours that others may
 * enter is closed to them; one that belongs to somebody else is refused.
 *
 * @returns its real path
 * @throws ExecError `invalid-argument`
 */
export function ensureStateDir(path: string): string {
  const refuse = (why: string): never => {
    throw new ExecError("invalid-argument", `The state directory ${path} can not be used: ${why}.`);
  };
  try {
    mkdirSync(path, { recursive: true, mode: DIRECTORY_MODE });
  } catch (error) {
    refuse(`${(error as NodeJS.ErrnoException).code ?? "it can not be made"}; choose another with OPENCLAW_STATE_DIR`);
  }
  const real = realpathSync(path);
  const stat = statSync(real);
  if (!stat.isDirectory()) refuse("it is not a directory");
  const uid = process.getuid?.();
  if (uid !== undefined && uid !== 0 && stat.uid !== uid) refuse("it belongs to another user");
  if (process.platform !== "win32" && (stat.mode & 0o077) !== 0) chmodSync(real, DIRECTORY_MODE);
  return real;
}

/** Why a file that decides what may run must not be believed; undefined when it may. */
export function distrust(path: string): string | undefined {
  const stat = statSync(path);
  if (!stat.isFile()) return "it is not a regular file";
  if (process.platform === "win32") return undefined;
  if ((stat.mode & 0o002) !== 0) return `everybody may write to it; run: chmod 600 ${path}`;
  const uid = process.getuid?.();
  if (uid !== undefined && uid !== 0 && stat.uid !== uid && stat.uid !== 0) return "it belongs to another user";
  return undefined;
}

export function isSymlink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
