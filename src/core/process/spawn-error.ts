import { statSync } from "node:fs";
import { ExecError } from "../errors.ts";
import type { SpawnPlan } from "./types.ts";

/** Throws an `ExecError` for what the system would cut off or refuse: a NUL ends a C string, so the rest would silently vanish. */
export function assertNoNul(plan: SpawnPlan): void {
  if (plan.cwd.includes("\0")) {
    throw new ExecError(
      "workdir-unavailable",
      "The working directory has a NUL character in it. Remove it and try again.",
    );
  }
  if ([plan.file, plan.argv0 ?? "", ...plan.args].some((word) => word.includes("\0"))) {
    throw new ExecError("command-has-nul", "The command has a NUL character in it. Remove it and try again.");
  }
  for (const [name, value] of Object.entries(plan.env)) {
    if (name.includes("\0") || name.includes("=") || name === "" || value.includes("\0")) {
      throw new ExecError(
        "env-invalid",
        `The environment variable ${JSON.stringify(name)} can not be passed to a program.`,
      );
    }
  }
}

/** What a failed start means, in words a person can act on. `details.errno` has the system's code. */
export function spawnError(plan: SpawnPlan, error: NodeJS.ErrnoException): ExecError {
  const details = { errno: error.code ?? "unknown", file: plan.file };
  if (!isDirectory(plan.cwd)) {
    return new ExecError(
      "workdir-unavailable",
      `The working directory ${plan.cwd} does not exist any more or is not a directory. Nothing was run.`,
      details,
    );
  }
  switch (error.code) {
    case "E2BIG":
      return new ExecError(
        "spawn-failed",
        "The command or its environment is too large for the system (about 128 KiB for one word). Put the text into a file and run that.",
        details,
      );
    case "ENOENT":
      return new ExecError(
        "spawn-failed",
        `${plan.file} was not found, or the interpreter it names was not. Nothing was run.`,
        details,
      );
    case "EACCES":
    case "EPERM":
      return new ExecError(
        "spawn-failed",
        `${plan.file} may not be executed here (permission denied). Nothing was run.`,
        details,
      );
    case "EMFILE":
    case "ENFILE":
    case "EAGAIN":
    case "ENOMEM":
      return new ExecError(
        "spawn-failed",
        `The system has no room for another process (${error.code}). Stop some running sessions and try again.`,
        details,
      );
    default:
      return new ExecError(
        "spawn-failed",
        `${plan.file} could not be started (${error.code ?? error.message}).`,
        details,
      );
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
