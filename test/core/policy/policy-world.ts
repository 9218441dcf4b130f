/** A scratch world for policy tests: a working directory, a canary on PATH, and decisions made on real files. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshFileFacts } from "../../../src/core/exec/file-facts.ts";
import { decide } from "../../../src/core/policy/decide.ts";
import type { Decision, Plan } from "../../../src/core/policy/decision.ts";
import { type ConfigPolicyLayer, type PolicyLayers, resolvePolicy } from "../../../src/core/policy/resolve.ts";
import type { AllowlistEntry } from "../../../src/core/policy/types.ts";

export const SYSTEM_PATH: readonly string[] = ["/usr/bin", "/bin", "/usr/sbin"];

export interface World {
  readonly root: string;
  readonly cwd: string;
  /** Holds `pwn` and look-alikes of `ls`; stands first on PATH. */
  readonly canary: string;
  readonly fired: string;
  remove(): void;
}

export function makeWorld(): World {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "policy-")));
  const cwd = join(root, "work");
  const canary = join(root, "canary");
  const fired = join(root, "fired");
  mkdirSync(cwd);
  mkdirSync(canary);
  for (const name of ["pwn", "l\u0455", "ls ", "ls\u200b"]) {
    writeFileSync(join(canary, name), `#!/bin/sh\necho fired >> '${fired}'\n`);
    chmodSync(join(canary, name), 0o755);
  }
  return { root, cwd, canary, fired, remove: () => rmSync(root, { recursive: true, force: true }) };
}

export interface Asked extends Omit<PolicyLayers, "host" | "hostFile" | "config"> {
  readonly config?: ConfigPolicyLayer;
  readonly hostFile?: PolicyLayers["hostFile"];
  readonly allowlist?: readonly (string | AllowlistEntry)[];
  readonly path?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Decides under allowlist/on-miss unless told otherwise. */
export function judge(command: string, cwd: string, asked: Asked = {}): Decision {
  const { config, allowlist = [], path = SYSTEM_PATH, env = {}, hostFile, ...layers } = asked;
  return decide({
    command,
    cwd,
    host: "gateway",
    agentId: "main",
    env,
    policy: resolvePolicy({
      ...layers,
      host: "gateway",
      config: { security: "allowlist", ask: "on-miss", ...config },
      hostFile: hostFile ?? {
        allowlist: allowlist.map((rule) => (typeof rule === "string" ? { pattern: rule } : rule)),
      },
    }),
    path,
    home: cwd,
    facts: freshFileFacts(),
  });
}

export const codes = (decision: Decision): string[] => decision.reasons.map((reason) => reason.code);

/** Runs a plan the way the product does (decisions.md D8). Resolves to stdout, whatever the exit code. */
export function runPlan(plan: Plan, cwd: string, path: readonly string[]): string {
  const env = { PATH: path.join(":"), HOME: cwd, LANG: "C" };
  const [file, args, argv0] =
    plan.kind === "argv"
      ? [plan.file, plan.args, plan.argv0]
      : ["/bin/bash", ["--noprofile", "--norc", "-c", "--", plan.text], "bash"];
  const result = spawnSync(file, args, {
    argv0,
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 20_000,
  });
  if (result.error) throw result.error;
  return result.stdout;
}
