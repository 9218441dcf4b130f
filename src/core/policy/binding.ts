/**
 * Ties a decision to what it was made about, so that nothing can be swapped between the decision and the spawn (spec:
 * policy.md section 11, architecture rule 1).
 */
import { createHash } from "node:crypto";
import { type BoundFile, MAX_HASHED_BYTES } from "./assess.ts";
import type { Binding, Plan, Reason } from "./decision.ts";
import type { EffectiveHost, FileFacts } from "./types.ts";

/** What the run will be, besides the files. */
export interface BoundRun {
  readonly plan: Plan;
  readonly command: string;
  readonly cwd: string;
  readonly host: EffectiveHost;
  readonly agentId: string;
  /** Overrides of the call, names and values. */
  readonly env: Readonly<Record<string, string>>;
}

type BoundFileFacts = Binding["files"][number];

function fileFacts(file: BoundFile, facts: FileFacts): BoundFileFacts {
  const { role, path } = file;
  const stat = facts.stat(path);
  if (!stat) return { role, path, dev: 0, ino: 0, size: 0, mtimeMs: 0, absent: true };
  const { dev, ino, size, mtimeMs } = stat;
  const sha256 = file.hashed ? facts.sha256(path, MAX_HASHED_BYTES) : undefined;
  return { role, path, dev, ino, size, mtimeMs, ...(sha256 === undefined ? {} : { sha256 }) };
}

function directoryFacts(path: string, facts: FileFacts): Binding["cwd"] {
  const stat = facts.stat(path);
  return { path, dev: stat?.dev ?? 0, ino: stat?.ino ?? 0 };
}

/** SHA-256 over JSON with a fixed order of keys. */
function bindingHash(run: BoundRun, cwd: Binding["cwd"], files: Binding["files"]): string {
  const env = Object.entries(run.env).sort(([a], [b]) => (a < b ? -1 : 1));
  const canonical = JSON.stringify([
    "binding:v1",
    run.command,
    run.host,
    run.agentId,
    env,
    planKey(run.plan),
    [run.cwd, cwd.path, cwd.dev, cwd.ino],
    files.map((f) => [f.role, f.path, f.dev, f.ino, f.size, f.mtimeMs, f.sha256 ?? null, f.absent ?? false]),
  ]);
  return createHash("sha256").update(canonical).digest("hex");
}

function planKey(plan: Plan): readonly unknown[] {
  switch (plan.kind) {
    case "argv":
      return [plan.kind, plan.file, plan.argv0, plan.args];
    case "rebuilt":
    case "verbatim":
      return [plan.kind, plan.text];
  }
}

export function makeBinding(run: BoundRun, bound: readonly BoundFile[], facts: FileFacts): Binding {
  const cwd = directoryFacts(run.cwd, facts);
  const files = bound.map((file) => fileFacts(file, facts));
  return { hash: bindingHash(run, cwd, files), cwd, files };
}

/** What was decided on is this very request; says nothing of the files, which may lie on another machine. */
export function isBindingOf(binding: Binding, run: BoundRun): boolean {
  return bindingHash(run, binding.cwd, binding.files) === binding.hash;
}

/**
 * Looks again, with facts that were not cached, right before the spawn. A reason means: do not run, tell the person.
 */
export function recheckBinding(binding: Binding, run: BoundRun, facts: FileFacts): Reason | undefined {
  if (!isBindingOf(binding, run)) return { code: "changed-request" };
  const cwd = directoryFacts(binding.cwd.path, facts);
  if (cwd.dev !== binding.cwd.dev || cwd.ino !== binding.cwd.ino) {
    return { code: "changed-directory", subject: binding.cwd.path };
  }
  for (const file of binding.files) {
    const now = fileFacts({ role: file.role, path: file.path, hashed: file.sha256 !== undefined }, facts);
    const same =
      now.dev === file.dev &&
      now.ino === file.ino &&
      now.size === file.size &&
      now.mtimeMs === file.mtimeMs &&
      now.sha256 === file.sha256 &&
      now.absent === file.absent;
    if (!same) return { code: file.role === "script" ? "changed-script" : "changed-executable", subject: file.path };
  }
  return undefined;
}
