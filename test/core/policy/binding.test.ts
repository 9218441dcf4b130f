import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { freshFileFacts } from "../../../src/core/exec/file-facts.ts";
import { type BoundRun, recheckBinding } from "../../../src/core/policy/binding.ts";
import type { Decision } from "../../../src/core/policy/decision.ts";
import { type Asked, judge, makeWorld, type World } from "./policy-world.ts";

let world: World;
beforeEach(() => {
  world = makeWorld();
  writeFileSync(join(world.cwd, "build.js"), "1\n");
});
afterEach(() => world.remove());

function decided(command: string, asked: Asked): { decision: Exclude<Decision, { kind: "deny" }>; run: BoundRun } {
  const decision = judge(command, world.cwd, asked);
  if (decision.kind === "deny") throw new Error("denied");
  return { decision, run: { plan: decision.plan, command, cwd: world.cwd, host: "gateway", agentId: "main", env: {} } };
}
const recheck = ({ decision, run }: ReturnType<typeof decided>, changes: Partial<BoundRun> = {}) =>
  recheckBinding(decision.binding, { ...run, ...changes }, freshFileFacts())?.code;

describe("the re-check right before a spawn", () => {
  it("finds nothing when nothing changed", () => {
    const one = decided("node build.js", { allowlist: ["/usr/bin/node"] });
    expect(one.decision.kind).toBe("allow");
    expect(recheck(one)).toBeUndefined();
  });

  it("denies a script that was edited, even to the same size and time", () => {
    const one = decided("node build.js", { allowlist: ["/usr/bin/node"] });
    const file = one.decision.binding.files.find((bound) => bound.role === "script");
    writeFileSync(join(world.cwd, "build.js"), "2\n");
    const time = new Date(file?.mtimeMs ?? 0);
    utimesSync(join(world.cwd, "build.js"), time, time);
    expect(recheck(one)).toBe("changed-script");
  });

  it("denies a script that appeared or went away", () => {
    const absent = decided("node later.js", { allowlist: ["/usr/bin/node"] });
    expect(recheck(absent)).toBeUndefined();
    writeFileSync(join(world.cwd, "later.js"), "1\n");
    expect(recheck(absent)).toBe("changed-script");
    const gone = decided("node build.js", { allowlist: ["/usr/bin/node"] });
    rmSync(join(world.cwd, "build.js"));
    expect(recheck(gone)).toBe("changed-script");
  });

  it("denies when the directory was swapped for another of the same name", () => {
    const one = decided("ls", { allowlist: ["ls"] });
    renameSync(world.cwd, `${world.cwd}-old`);
    mkdirSync(world.cwd);
    expect(recheck(one)).toBe("changed-directory");
  });

  it("denies when anything of the request differs", () => {
    const one = decided("ls -la", { allowlist: ["ls"] });
    expect(recheck(one, { command: "ls -l" })).toBe("changed-request");
    expect(recheck(one, { env: { A: "1" } })).toBe("changed-request");
    expect(recheck(one, { host: "node" })).toBe("changed-request");
    expect(recheck(one, { agentId: "other" })).toBe("changed-request");
    expect(recheck(one, { plan: { kind: "verbatim", text: "rm x" } })).toBe("changed-request");
  });

  it("binds what a person is asked about, too", () => {
    const one = decided("node build.js && ls > out", {});
    expect(one.decision.kind).toBe("ask");
    expect(recheck(one)).toBeUndefined();
    const plain = decided("node build.js", {});
    writeFileSync(join(world.cwd, "build.js"), "changed\n");
    expect(recheck(plain)).toBe("changed-script");
  });
});
