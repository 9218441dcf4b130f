import { chmodSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AllowlistEntry } from "../../../src/core/policy/types.ts";
import { type Asked, judge, makeWorld, type World } from "./policy-world.ts";

let world: World;
beforeEach(() => {
  world = makeWorld();
});
afterEach(() => world.remove());

/** What "Allow always" on this command would store. */
function stored(command: string, asked: Asked = {}): readonly AllowlistEntry[] {
  const decision = judge(command, world.cwd, asked);
  if (decision.kind !== "ask") throw new Error(`${command} does not ask`);
  expect(decision.offered.includes("allow-always")).toBe(decision.alwaysStores.length > 0);
  return decision.alwaysStores;
}

describe("allow-always", () => {
  it("covers exactly this argv in exactly this directory", () => {
    const allowlist = stored("ls -la");
    expect(allowlist).toHaveLength(1);
    expect(judge("ls -la", world.cwd, { allowlist }).kind).toBe("allow");
    expect(judge("/usr/bin/ls -la", world.cwd, { allowlist }).kind).toBe("allow");
    expect(judge("ls -la && pwd", world.cwd, { allowlist }).kind).toBe("allow");
    expect(judge("ls -l -a", world.cwd, { allowlist }).kind).toBe("ask");
    expect(judge("ls", world.cwd, { allowlist }).kind).toBe("ask");
    expect(judge("ls -la", dirname(world.cwd), { allowlist }).kind).toBe("ask");
    expect(judge("cd / && ls -la", world.cwd, { allowlist }).kind).toBe("ask");
  });

  it("stores one rule per part that had none", () => {
    const allowlist = stored("ls -la | wc -l && date -u", { allowlist: ["ls"] });
    expect(allowlist.map((rule) => rule.pattern)).toEqual(["/usr/bin/date"]);
    expect(stored("ls | sort -r && date -u").map((rule) => rule.pattern)).toEqual([
      "/usr/bin/ls",
      "/usr/bin/sort",
      "/usr/bin/date",
    ]);
  });

  it("stores the program inside wrappers and never a shell (case shell-wrapper-allow-always)", () => {
    expect(stored("timeout 5 whoami").map((rule) => rule.pattern)).toEqual(["/usr/bin/whoami"]);
    const allowlist = stored("bash -c whoami");
    expect(allowlist.map((rule) => rule.pattern)).toEqual(["/usr/bin/whoami"]);
    expect(judge("bash -c 'rm -rf data'", world.cwd, { allowlist }).kind).toBe("ask");
  });

  it("binds a script to its bytes", () => {
    writeFileSync(join(world.cwd, "s.sh"), "echo one\n");
    const allowlist = stored("bash s.sh x");
    expect(judge("bash s.sh x", world.cwd, { allowlist }).kind).toBe("allow");
    expect(judge("bash s.sh y", world.cwd, { allowlist }).kind).toBe("ask");
    writeFileSync(join(world.cwd, "s.sh"), "echo two\n");
    expect(judge("bash s.sh x", world.cwd, { allowlist }).kind).toBe("ask");
  });

  it("binds a program that the agent could rewrite to its bytes", () => {
    const tool = join(world.cwd, "tool");
    writeFileSync(tool, "#!/bin/sh\n");
    chmodSync(tool, 0o755);
    const allowlist = stored("./tool run");
    expect(judge("./tool run", world.cwd, { allowlist }).kind).toBe("allow");
    writeFileSync(tool, "#!/bin/sh\necho other\n");
    expect(judge("./tool run", world.cwd, { allowlist }).kind).toBe("ask");
  });

  it("is offered for an interpreter only where inline code is always asked about", () => {
    writeFileSync(join(world.cwd, "a.pl"), "1;\n");
    expect(stored("perl a.pl")).toEqual([]);
    expect(stored("perl a.pl", { config: { strictInlineEval: true } })).toHaveLength(1);
    expect(stored("perl -e 1", { config: { strictInlineEval: true } })).toEqual([]);
  });

  it.each([
    "ls > out",
    "ls *.txt",
    "ls $HOME",
    "FOO=1 ls",
    "sudo ls",
    "xargs rm",
    "bash -lc ls",
    "ls | bash",
    "eval ls",
    "no-such-program",
    "cd sub && date",
    "busybox sh -c 'echo a'",
    "npx cowsay",
    "ssh host uptime",
  ])("is not offered for %s", (command) => {
    expect(stored(command)).toEqual([]);
  });

  it("is not offered when every command asks", () => {
    expect(stored("ls", { config: { ask: "always" } })).toEqual([]);
  });

  it("is not offered when the call brings variables that the rule would not cover", () => {
    const decision = judge("ls", world.cwd, { allowlist: ["ls"], env: { TAR_OPTIONS: "x" } });
    expect(decision.kind === "ask" && decision.offered).toEqual(["allow-once", "deny"]);
    expect(judge("ls", world.cwd, { allowlist: ["ls"], env: { CI: "1" } }).kind).toBe("allow");
  });
});
