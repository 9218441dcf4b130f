import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshFileFacts } from "../../../src/core/exec/file-facts.ts";
import { decide } from "../../../src/core/policy/decide.ts";
import type { Decision } from "../../../src/core/policy/decision.ts";
import { resolvePolicy } from "../../../src/core/policy/resolve.ts";
import type { FileFacts } from "../../../src/core/policy/types.ts";
import { makeWorld, type World } from "./policy-world.ts";

/** One command a line; `\n` in a line is a newline. */
const lines = (name: string): string[] =>
  readFileSync(new URL(`../../fixtures/policy/${name}`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => line.replaceAll("\\n", "\n"));

/** The machine's own files, and every other name as a program of the system: the lists name more than any machine has. */
function everyProgram(): FileFacts {
  const real = freshFileFacts();
  const assumed = (path: string): boolean => /^\/usr\/bin\/[\w.+-]+$/.test(path) && real.stat(path) === undefined;
  return {
    ...real,
    stat: (path) => real.stat(assumed(path) ? "/usr/bin/ls" : path),
    realpath: (path) => (assumed(path) ? path : real.realpath(path)),
    isExecutable: (path) => assumed(path) || real.isExecutable(path),
  };
}

describe("with every program of the system listed and strictInlineEval on", () => {
  let world: World;
  beforeAll(() => {
    world = makeWorld();
  });
  afterAll(() => world.remove());

  const judge = (command: string): Decision =>
    decide({
      command,
      cwd: world.cwd,
      host: "gateway",
      agentId: "main",
      env: {},
      policy: resolvePolicy({
        host: "gateway",
        config: { mode: "ask", strictInlineEval: true },
        hostFile: {
          allowlist: ["/usr/bin/*", "/usr/sbin/*", "/usr/lib/**", "/usr/share/**"].map((pattern) => ({ pattern })),
        },
      }),
      path: [world.canary, "/usr/bin", "/bin", "/usr/sbin"],
      home: world.cwd,
      facts: everyProgram(),
    });

  it("asks about every command that could run another program, load code or write a file", () => {
    const allowed = lines("asked.txt").filter(
      (command) => judge(command.replaceAll("$CANARY", world.canary)).kind === "allow",
    );
    expect(allowed).toEqual([]);
  });

  it("asks about none of the everyday commands", () => {
    const asked = lines("everyday.txt").flatMap((command) => {
      const decision = judge(command);
      return decision.kind === "allow"
        ? []
        : [`${command}: ${decision.reasons.map((r) => `${r.code} ${r.subject ?? ""}`).join(", ")}`];
    });
    expect(asked).toEqual([]);
  });
});
