import { statSync } from "node:fs";
import { ExecError } from "../errors.ts";
import { phrase } from "../words/phrase.ts";
import type { SpawnPlan } from "./types.ts";

/** Throws an `ExecError` for what the system would cut off or refuse: a NUL ends a C string, so the rest would silently vanish. */
export function assertNoNul(plan: SpawnPlan): void {
  if (plan.cwd.includes("\0")) {
    throw new ExecError("workdir-unavailable", phrase("error.spawn.workdirNul"));
  }
  if ([plan.file, plan.argv0 ?? "", ...plan.args].some((word) => word.includes("\0"))) {
    throw new ExecError("command-has-nul", phrase("error.spawn.commandNul"));
  }
  for (const [name, value] of Object.entries(plan.env)) {
    if (name.includes("\0") || name.includes("=") || name === "" || value.includes("\0")) {
      throw new ExecError("env-invalid", phrase("error.spawn.env", { name: JSON.stringify(name) }));
    }
  }
}

/** What a failed start means, in words a person can act on. `details.errno` has the system's code. */
export function spawnError(plan: SpawnPlan, error: NodeJS.ErrnoException): ExecError {
  const details = { errno: error.code ?? "unknown", file: plan.file };
  if (!isDirectory(plan.cwd)) {
    return new ExecError("workdir-unavailable", phrase("error.workdir.gone", { folder: plan.cwd }), details);
  }
  switch (error.code) {
    case "E2BIG":
      return new ExecError("spawn-failed", phrase("error.spawn.tooBig"), details);
    case "ENOENT":
      return new ExecError("spawn-failed", phrase("error.spawn.notFound", { file: plan.file }), details);
    case "EACCES":
    case "EPERM":
      return new ExecError("spawn-failed", phrase("error.spawn.permission", { file: plan.file }), details);
    case "EMFILE":
    case "ENFILE":
    case "EAGAIN":
    case "ENOMEM":
      return new ExecError("spawn-failed", phrase("error.spawn.noRoom", { errno: error.code }), details);
    default:
      return new ExecError(
        "spawn-failed",
        phrase("error.spawn.other", { file: plan.file, problem: error.code ?? error.message }),
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
