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

  it("sandbox-host-fallback: what can not be had is an error that names the key, never another host", () => {
    const refusal = (input: Partial<RoutingInput>) => () =>
      resolveHost({ configured: "auto", sandboxActive: true, elevated: false, nodeFromSandbox: true, ...input });
    expect(refusal({ configured: "sandbox", sandboxActive: false })).toThrow(
      /needs a sandbox runtime.*agents\.defaults\.sandbox\.mode/,
    );
    expect(refusal({ requested: "sandbox", sandboxActive: false })).toThrow(/needs a sandbox runtime/);
    // An active sandbox is left only where the operator has set that, and the message says where.
    expect(refusal({ requested: "gateway" })).toThrow(/auto with an active sandbox.*tools\.exec\.host=gateway/);
    expect(refusal({ configured: "sandbox", requested: "gateway" })).toThrow(
      /requested gateway; configured sandbox.*tools\.exec\.host=gateway/,
    );
    expect(refusal({ configured: "gateway", requested: "gateway" })()).toBe("gateway");
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
