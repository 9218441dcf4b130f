import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Plan } from "../../../src/core/policy/decision.ts";
import { judge, makeWorld, runPlan, SYSTEM_PATH, type World } from "./policy-world.ts";

let world: World;
beforeEach(() => {
  world = makeWorld();
  mkdirSync(join(world.cwd, "sub"));
  writeFileSync(join(world.cwd, "f.txt"), "b\na\n");
  writeFileSync(join(world.cwd, "sub", "inner.txt"), "");
});
afterEach(() => world.remove());

const allowlist = ["ls", "cat", "sort", "echo", "printf", "nice", "grep", "timeout"];

function planOf(command: string): Plan {
  const decision = judge(command, world.cwd, { allowlist });
  if (decision.kind !== "allow")
    throw new Error(`${command}: ${decision.reasons.map((reason) => reason.code).join(", ")}`);
  return decision.plan;
}

describe("what runs", () => {
  it("is a single command without a shell, under the name it was called by", () => {
    expect(planOf("ls -la 'a b'")).toEqual({ kind: "argv", file: "/usr/bin/ls", argv0: "ls", args: ["-la", "a b"] });
  });

  it("keeps wrappers, by their path", () => {
    expect(planOf("timeout 5 nice -n 3 ls")).toEqual({
      kind: "argv",
      file: "/usr/bin/timeout",
      argv0: "/usr/bin/timeout",
      args: ["5", "/usr/bin/nice", "-n", "3", "/usr/bin/ls"],
    });
  });

  it("sets harmless variables through env, so that no shell is needed", () => {
    expect(planOf("LC_ALL=C sort f.txt")).toEqual({
      kind: "argv",
      file: "/usr/bin/env",
      argv0: "/usr/bin/env",
      args: ["LC_ALL=C", "/usr/bin/sort", "f.txt"],
    });
  });

  it.each([
    ["ls | sort", "'/usr/bin/ls' | '/usr/bin/sort'"],
    ["cd sub && ls\npwd", "cd 'sub' && '/usr/bin/ls'; pwd"],
    ["! grep -q x f.txt", "! '/usr/bin/grep' '-q' 'x' 'f.txt'"],
    ["ls nope 2>/dev/null || true", "'/usr/bin/ls' 'nope' 2>/dev/null || true"],
    ["time -p ls >&2 # note", "time -p '/usr/bin/ls' 1>&2"],
    ['echo "it\'s" |& cat', "'/usr/bin/echo' 'it'\\''s' |& '/usr/bin/cat'"],
    ["[ -d sub ] && echo 'a;b'", "[ '-d' 'sub' ']' && '/usr/bin/echo' 'a;b'"],
    ["bash -c 'ls; pwd'", "'/usr/bin/ls'; pwd"],
  ])("is %j rebuilt as %s", (command, text) => {
    expect(planOf(command)).toEqual({ kind: "rebuilt", text });
  });

  it("is not what stands first on the PATH of the child", () => {
    for (const name of ["ls", "sort", "cat", "nice"]) {
      writeFileSync(join(world.canary, name), `#!/bin/sh\necho fired >> '${world.fired}'\n`);
      chmodSync(join(world.canary, name), 0o755);
    }
    const path = [world.canary, ...SYSTEM_PATH];
    expect(runPlan(planOf("cat f.txt | sort"), world.cwd, path)).toBe("a\nb\n");
    expect(runPlan(planOf("nice -n 1 ls sub"), world.cwd, path)).toBe("inner.txt\n");
    expect(runPlan(planOf("cd sub && ls"), world.cwd, path)).toBe("inner.txt\n");
    expect(existsSync(world.fired)).toBe(false);
    // The same text without a plan does run the impostors.
    runPlan({ kind: "verbatim", text: "ls" }, world.cwd, path);
    expect(existsSync(world.fired)).toBe(true);
  });

  it("says what was written", () => {
    const text = "$HOME `id` 'q' \"d\" \\ * ~ {a,b} é\n#";
    expect(runPlan(planOf(`printf '%s' ${`'${text.replaceAll("'", "'\\''")}'`} | cat`), world.cwd, SYSTEM_PATH)).toBe(
      text,
    );
  });
});
