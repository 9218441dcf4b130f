/** Which shell runs a text, and with which arguments (exec.md section 7). */
import { accessSync, constants, statSync } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";
import type { ProcessEnv } from "./env.ts";

export type ShellKind = "bash" | "zsh" | "fish" | "sh" | "powershell";

export interface Shell {
  readonly kind: ShellKind;
  /** Absolute where it could be found. */
  readonly file: string;
  /** Arguments before the text; start-up files are left out. */
  readonly args: readonly string[];
}

export type IsExecutable = (path: string) => boolean;

/** Login programs of accounts that must not have a shell. */
const NO_SHELLS = new Set(["false", "nologin"]);

const ARGS: Readonly<Record<ShellKind, readonly string[]>> = {
  bash: ["--noprofile", "--norc", "-c"],
  zsh: ["-f", "-c"],
  fish: ["--no-config", "-c"],
  sh: ["-c"],
  powershell: ["-NoProfile", "-NonInteractive", "-Command"],
};

/** `path`: the directories searched, in order. `env`: the gateway's own, for `SHELL` (and `ProgramFiles` on Windows). */
export function chooseShell(
  env: ProcessEnv,
  path: readonly string[],
  platform: NodeJS.Platform = process.platform,
  isExecutable: IsExecutable = isExecutableFile,
): Shell {
  if (platform === "win32") return windowsShell(env, path, isExecutable);
  const find = (name: string): string | undefined => findOnPath(name, path, isExecutable);
  const wanted = env.SHELL?.trim() ?? "";
  const name = basename(wanted);
  const file = isAbsolute(wanted) ? wanted : wanted === "" ? undefined : find(wanted);
  if (file !== undefined && !NO_SHELLS.has(name) && isExecutable(file)) {
    // Commands are written for a POSIX shell; fish reads them differently.
    if (name === "fish") return shell(find("bash") ?? find("sh") ?? file);
    return shell(file);
  }
  return shell(find("sh") ?? find("bash") ?? (isExecutable("/bin/sh") ? "/bin/sh" : "sh"));
}

/** The arguments that make `shell` run `text`, whatever its first character. */
export function shellArgs(shell: Shell, text: string): string[] {
  // A text that starts with `-` or `+` would be taken for options.
  return [...shell.args, /^[-+]/.test(text) ? `\n${text}` : text];
}

export function findOnPath(
  name: string,
  path: readonly string[],
  isExecutable: IsExecutable = isExecutableFile,
): string | undefined {
  return path
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

/** A search path as text to its folders, empty ones left out. */
export function splitPath(path: string | undefined): string[] {
  return (path ?? "").split(delimiter).filter((folder) => folder !== "");
}

/** `first` before `then`, each folder once, at its first place. */
export function mergePaths(first: readonly string[], then: readonly string[]): string[] {
  return [...new Set([...first, ...then].map((folder) => folder.trim()).filter((folder) => folder !== ""))];
}

function shell(file: string): Shell {
  const name = basename(file);
  const kind: ShellKind = name === "bash" || name === "zsh" || name === "fish" ? name : "sh";
  return { kind, file, args: ARGS[kind] };
}

function windowsShell(env: ProcessEnv, path: readonly string[], isExecutable: IsExecutable): Shell {
  const inFolder = (folder: string | undefined): string[] =>
    folder === undefined || folder === "" ? [] : [`${folder}\\PowerShell\\7\\pwsh.exe`];
  const candidates = [
    ...new Set([...inFolder(env.ProgramFiles), ...inFolder(env.ProgramW6432)]),
    ...path.map((folder) => `${folder}\\pwsh.exe`),
    `${env.SystemRoot ?? "C:\\Windows"}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe`,
  ];
  return { kind: "powershell", file: candidates.find(isExecutable) ?? "powershell.exe", args: ARGS.powershell };
}

export function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
