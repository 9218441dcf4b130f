/** The directory of a call: literal, no `~`, no `$VAR`, symlinks resolved, must exist (exec.md section 8). */
import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { ExecError } from "../errors.ts";

export async function resolveWorkdir(requested: string | undefined, base: string): Promise<string> {
  const wanted = requested === undefined ? base : resolve(base, requested);
  if (requested !== undefined && requested.trim() === "") throw unavailable(requested);
  try {
    const real = await realpath(wanted);
    if ((await stat(real)).isDirectory()) return real;
  } catch {
    // Said below: missing and unreadable are the same to the caller.
  }
  throw unavailable(requested ?? base);
}

function unavailable(path: string): ExecError {
  return new ExecError(
    "workdir-unavailable",
    `The working directory "${path}" is unavailable or not a directory. Give an existing path; it is taken literally, without ~ or $VAR. Nothing was run.`,
    { workdir: path },
  );
}
