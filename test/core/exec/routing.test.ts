import { describe, expect, it } from "vitest";
import { ExecError } from "../../../src/core/errors.ts";
import { type RoutingInput, resolveHost } from "../../../src/core/exec/routing.ts";
import type { ExecHost } from "../../../src/core/policy/types.ts";

const route = (
  configured: ExecHost,
  requested: ExecHost | undefined,
  sandboxActive: boolean,
  more: Partial<RoutingInput> = {},
): string => {
  try {
    return resolveHost({
      configured,
      sandboxActive,
      elevated: false,
      nodeFromSandbox: true,
      ...(requested ? { requested } : {}),
      ...more,
    });
  } catch (error) {
    if (error instanceof ExecError) return error.code;
    throw error;
  }
};

describe("where a command runs", () => {
  it.each<[ExecHost, ExecHost | undefined, boolean, string]>([
    ["auto", undefined, true, "sandbox"],
    ["auto", undefined, false, "gateway"],
    ["auto", "auto", false, "gateway"],
    ["auto", "sandbox", true, "sandbox"],
    ["auto", "sandbox", false, "host-unavailable"],
    ["auto", "gateway", false, "gateway"],
    ["auto", "gateway", true, "host-not-allowed"],
    ["auto", "node", false, "node"],
    ["auto", "node", true, "node"],
    ["gateway", undefined, true, "gateway"],
    ["gateway", "gateway", false, "gateway"],
    ["gateway", "node", false, "host-not-allowed"],
    ["sandbox", undefined, true, "sandbox"],
    ["sandbox", undefined, false, "host-unavailable"],
    ["node", "gateway", false, "host-not-allowed"],
    ["node", undefined, false, "node"],
  ])("configured %s, asked for %s, sandbox %s: %s", (configured, requested, sandbox, expected) => {
    expect(route(configured, requested, sandbox)).toBe(expected);
  });

  it("keeps a sandboxed session off nodes when nodeFromSandbox is off", () => {
    expect(route("auto", "node", true, { nodeFromSandbox: false })).toBe("host-not-allowed");
  });

  it.each<[ExecHost, ExecHost | undefined, string]>([
    ["auto", undefined, "gateway"],
    ["sandbox", undefined, "gateway"],
    ["node", undefined, "node"],
    ["auto", "node", "node"],
  ])("elevated leaves the sandbox: configured %s, asked for %s: %s", (configured, requested, expected) => {
    expect(route(configured, requested, true, { elevated: true })).toBe(expected);
  });
});
