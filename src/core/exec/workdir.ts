/** The directory of a call: literal, no `~`, no `$VAR`, symlinks resolved, must exist (exec.md section 8). */
import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { ExecError } from "../errors.ts";
import { phrase } from "../words/phrase.ts";

/** Synchronous like all facts a decision is made from: handing two such calls to a thread costs more than they do. */
export function resolveWorkdir(requested: string | undefined, base: string): string {
  const wanted = requested === undefined ? base : resolve(base, requested);
  if (requested !== undefined && requested.trim() === "") throw unavailable(requested);
  try {
    const real = realpathSync.native(wanted);
    if (statSync(real).isDirectory()) return real;
  } catch {
    // Said below: missing and unreadable are the same to the caller.
  }
  throw unavailable(requested ?? base);
}

function unavailable(path: string): ExecError {
  return new ExecError("workdir-unavailable", phrase("error.workdir", { folder: path }), { workdir: path });
}
