import { describe, expect, it } from "vitest";
import { isToolAllowed } from "../../../src/core/exec/tool-policy.ts";

describe("which tools exist for an agent", () => {
  it.each<[string, string, Parameters<typeof isToolAllowed>[1], boolean]>([
    ["no lists", "exec", [{}], true],
    ["denied by name", "exec", [{ deny: ["exec"] }], false],
    ["denied by its alias", "exec", [{ deny: ["bash"] }], false],
    ["denied by group", "process", [{ deny: ["group:runtime"] }], false],
    ["denied by glob, any case", "exec", [{ deny: ["EX*"] }], false],
    ["an allow list blocks the rest", "exec", [{ allow: ["process"] }], false],
    ["an empty allow list blocks nothing", "exec", [{ allow: [] }], true],
    ["deny wins over allow", "exec", [{ allow: ["exec"], deny: ["exec"] }], false],
    ["the agent can only narrow", "exec", [{ deny: ["exec"] }, { allow: ["exec"] }], false],
    ["the agent narrows", "exec", [{}, { deny: ["exec"] }], false],
    ["allow write implies apply_patch", "apply_patch", [{ allow: ["write"] }], true],
    ["deny write does not deny apply_patch", "apply_patch", [{ deny: ["write"] }], true],
    ["deny group:fs denies apply_patch", "apply_patch", [{ deny: ["group:fs"] }], false],
    ["a dot in a pattern is a dot", "execx", [{ deny: ["exec."] }], true],
  ])("%s", (_name, tool, layers, expected) => {
    expect(isToolAllowed(tool, layers)).toBe(expected);
  });
});
