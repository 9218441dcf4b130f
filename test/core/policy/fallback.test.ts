import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fallbackFor } from "../../../src/core/policy/decide.ts";
import type { Decision } from "../../../src/core/policy/decision.ts";
import { type Asked, judge, makeWorld, type World } from "./policy-world.ts";

let world: World;
beforeAll(() => {
  world = makeWorld();
});
afterAll(() => world.remove());

function asked(command: string, layers: Asked = {}): Extract<Decision, { kind: "ask" }> {
  const decision = judge(command, world.cwd, layers);
  if (decision.kind !== "ask") throw new Error(`${command} does not ask`);
  return decision;
}

describe("when nobody answers", () => {
  it("deny refuses", () => expect(fallbackFor(asked("ls"), "deny")).toBe("denied"));

  it("allowlist runs only what is listed after all, and then the pinned plan", () => {
    expect(fallbackFor(asked("ls"), "allowlist")).toBe("denied");
    const listed = fallbackFor(asked("ls -la", { allowlist: ["ls"], config: { ask: "always" } }), "allowlist");
    expect(listed).toMatchObject({ plan: { kind: "argv", file: "/usr/bin/ls", args: ["-la"] } });
  });

  it("full runs the text as shown", () => {
    expect(fallbackFor(asked("ls > out"), "full")).toMatchObject({ plan: { kind: "verbatim", text: "ls > out" } });
  });

  it.each(["cat <<E\nx\nE", "ls *.txt", "node -e 1"])("nothing but an answer lets %j run", (command) => {
    const decision = asked(command, { allowlist: ["*"], config: { strictInlineEval: true } });
    expect(fallbackFor(decision, "full")).toBe("denied");
    expect(fallbackFor(decision, "allowlist")).toBe("denied");
  });
});
