import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Decision } from "../../../src/core/policy/decision.ts";
import { judge, makeWorld, runPlan, SYSTEM_PATH, type World } from "./policy-world.ts";

interface CorpusEntry {
  readonly id: string;
  readonly category: string;
  readonly command: string;
  readonly files_or_env_setup?: string;
  readonly policy: { readonly allowlist: string[]; readonly safeBins: string[]; readonly strictInlineEval: boolean };
  readonly expect: "allow" | "ask";
  readonly why: string;
  readonly verify: "exec" | "write" | "read" | "none";
}

const entries = (name: string): CorpusEntry[] =>
  readFileSync(new URL(`../../fixtures/policy/${name}`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as CorpusEntry);

const CORPUS = entries("command-corpus.jsonl");
/** Found by attacking this engine; each names the kind it stands for. */
const RED_TEAM = entries("red-team.jsonl");

/** Makes the files an entry needs; returns the PATH that its setup leaves, which stands for the gateway's own. */
function prepare(entry: CorpusEntry, world: World): string[] {
  const path = [world.canary, ...SYSTEM_PATH];
  if (!entry.files_or_env_setup) return path;
  const result = spawnSync("/bin/bash", ["-c", `${entry.files_or_env_setup}\nprintf '\\0%s' "$PATH"`], {
    cwd: world.cwd,
    env: { PATH: path.join(":"), HOME: world.cwd, CANARY: world.canary, LANG: "C", GIT_CONFIG_NOSYSTEM: "1" },
    encoding: "utf8",
  });
  return (result.stdout.split("\0").at(-1) ?? path.join(":")).split(":");
}

function decideEntry(entry: CorpusEntry, world: World, path: readonly string[]): Decision {
  const command = entry.command.replaceAll("$CANARY", world.canary).replaceAll("$CWD", world.cwd);
  return judge(command, world.cwd, {
    config: { safeBins: entry.policy.safeBins, strictInlineEval: entry.policy.strictInlineEval },
    allowlist: entry.policy.allowlist,
    path,
  });
}

describe("the command corpus", () => {
  const hostile = [...CORPUS, ...RED_TEAM].filter((entry) => entry.expect === "ask");
  const everyday = CORPUS.filter((entry) => entry.expect === "allow");

  it.each(hostile.map((entry) => [entry.id, entry] as const))("%s is asked about, and nothing fires", (_, entry) => {
    const world = makeWorld();
    try {
      const path = prepare(entry, world);
      const decision = decideEntry(entry, world, path);
      if (decision.kind === "allow" && entry.verify !== "none") {
        // What would get through is run for real, so that a failure shows what it does.
        const output = runPlan(decision.plan, world.cwd, path);
        expect(existsSync(world.fired), entry.command).toBe(false);
        expect(existsSync(join(world.cwd, "OWNED")), entry.command).toBe(false);
        expect(output, entry.command).not.toContain("SECRET");
      }
      expect(decision.kind, `${entry.command} (${entry.why})`).toBe("ask");
      expect(decision.reasons.length).toBeGreaterThan(0);
    } finally {
      world.remove();
    }
  });

  it("asks about at most three everyday commands, each for a construct that is never pinned", () => {
    const world = makeWorld();
    try {
      const asked = everyday
        .map((entry) => ({ entry, decision: decideEntry(entry, world, [world.canary, ...SYSTEM_PATH]) }))
        .filter(({ decision }) => decision.kind !== "allow");
      const seen = asked.map(
        ({ entry, decision }) => `${entry.command}: ${decision.reasons.map((r) => r.code).join(",")}`,
      );
      expect(seen.length, seen.join("\n")).toBeLessThanOrEqual(3);
      expect(
        asked.every(({ decision }) => decision.reasons.some((r) => r.code === "glob" || r.code === "carrier")),
      ).toBe(true);
    } finally {
      world.remove();
    }
  });

  it.each(
    RED_TEAM.filter((entry) => entry.verify === "exec" || entry.verify === "write").map((e) => [e.id, e] as const),
  )("%s does what it is asked about for, where its program is installed", (_, entry) => {
    const program = entry.policy.allowlist[0] as string;
    if (!existsSync(program)) return console.warn(`${entry.id} not run: ${program} is not installed`);
    const world = makeWorld();
    try {
      const path = prepare(entry, world);
      runPlan({ kind: "verbatim", text: entry.command.replaceAll("$CWD", world.cwd) }, world.cwd, path);
      const done = entry.verify === "exec" ? world.fired : join(world.cwd, "OWNED");
      expect(existsSync(done), entry.command).toBe(true);
    } finally {
      world.remove();
    }
  });

  it("sees the canary fire when the commands are run without a policy, so the check above can fail", () => {
    const world = makeWorld();
    try {
      runPlan({ kind: "verbatim", text: "true; pwn" }, world.cwd, [world.canary, ...SYSTEM_PATH]);
      expect(existsSync(world.fired)).toBe(true);
    } finally {
      world.remove();
    }
  });
});
