import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeGrants, describeRule, preparePattern } from "../../../src/core/approvals/allow-always.ts";
import { freshFileFacts } from "../../../src/core/exec/file-facts.ts";
import { ARGV_GRANT, FILE_GRANT } from "../../../src/core/policy/allowlist.ts";
import { inEnglish } from "../../../src/core/words/phrase.ts";
import { makeWorld, SYSTEM_PATH, type World } from "../policy/policy-world.ts";

let world: World;
beforeAll(() => {
  world = makeWorld();
  mkdirSync(join(world.root, "bin"));
  symlinkSync("/usr/bin/ls", join(world.root, "bin", "listing"));
  writeFileSync(join(world.root, "bin", "mine"), "#!/bin/sh\n");
  chmodSync(join(world.root, "bin", "mine"), 0o755);
});
afterAll(() => world.remove());

const prepare = (pattern: string) =>
  preparePattern(pattern, {
    cwd: world.cwd,
    path: [...SYSTEM_PATH, join(world.root, "bin")],
    facts: freshFileFacts(),
    trustedDirs: [],
    home: world.root,
  });

describe("what an operator's pattern is stored as", () => {
  it("stores the real path of a link, and says so", () => {
    const { pattern, note } = prepare(`${world.root}/bin/listing`);
    expect(pattern).toBe("/usr/bin/ls");
    expect(note?.text).toContain("/usr/bin/ls");
  });
  it("expands ~ when there is no wildcard", () =>
    expect(prepare("~/bin/mine").pattern).toBe(join(world.root, "bin", "mine")));
  it("keeps wildcards and bare names", () => {
    expect(prepare("/usr/bin/*")).toEqual({ pattern: "/usr/bin/*" });
    expect(prepare(" ls ").pattern).toBe("ls");
  });
  it("warns that a name alone does not cover a program where others can write", () => {
    expect(prepare("mine").note?.text).toContain(join(world.root, "bin", "mine"));
  });
  it("keeps a path that does not exist yet, and says so", () => {
    expect(prepare("/opt/none/x")).toEqual({
      pattern: "/opt/none/x",
      note: expect.objectContaining({ text: expect.stringContaining("does not exist") }),
    });
  });
});

describe("rules in words", () => {
  it("say exactly what a grant covers", () => {
    const rules = [
      { pattern: "/usr/bin/ls", argPattern: `${ARGV_GRANT}00`, source: "allow-always" as const },
      { pattern: "/w/s.sh", argPattern: `${FILE_GRANT}00`, source: "allow-always" as const },
    ];
    const [first, second] = describeGrants(rules, "dev", "/w").map(({ text }) => text);
    expect(first).toBe("/usr/bin/ls with exactly these arguments in /w, for agent dev");
    expect(second).toContain("stays unchanged");
    const described = describeRule({ pattern: "git", argPattern: "^status$" });
    expect(inEnglish(described)).toBe("git with arguments matching ^status$");
  });
});
