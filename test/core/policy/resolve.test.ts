import { describe, expect, it } from "vitest";
import { displayMode, isLooser, type PolicyLayers, resolvePolicy } from "../../../src/core/policy/resolve.ts";
import type { Ask, Security } from "../../../src/core/policy/types.ts";

const resolve = (layers: Partial<PolicyLayers>) => resolvePolicy({ host: "gateway", hostFile: "missing", ...layers });

describe("resolvePolicy", () => {
  it("is full/off with fallback deny when nobody says anything", () => {
    const policy = resolve({});
    expect(policy.security).toEqual({ value: "full", from: "default" });
    expect(policy.ask).toEqual({ value: "off", from: "default" });
    expect(policy.askFallback).toEqual({ value: "deny", from: "default" });
  });

  it("lets a narrower config layer loosen a wider one and says which layer it was", () => {
    const policy = resolve({ config: { mode: "deny" }, agent: { mode: "full" } });
    expect(policy.security).toEqual({ value: "full", from: "config:agent" });
  });

  it("drops the reviewer when a narrower layer names only one half of the pair", () => {
    expect(resolve({ config: { mode: "auto" } }).autoReview).toBe(true);
    const narrowed = resolve({ config: { mode: "auto" }, session: { ask: "on-miss" } });
    expect(narrowed.autoReview).toBe(false);
    expect(narrowed.security).toEqual({ value: "allowlist", from: "config:tools.exec" });
    expect(narrowed.ask).toEqual({ value: "on-miss", from: "session:/exec" });
  });

  it("takes the stricter of config and host file, field by field (case allowlist-miss-under-full)", () => {
    const policy = resolve({
      config: { mode: "full" },
      hostFile: { security: { value: "allowlist", from: "host-file:defaults" }, allowlist: [] },
    });
    expect(policy.security).toEqual({ value: "allowlist", from: "host-file:defaults" });
    expect(policy.ask.value).toBe("off");
  });

  it("never lets a host file loosen (case ask-off-still-prompts)", () => {
    const policy = resolve({
      config: { mode: "ask" },
      hostFile: {
        security: { value: "full", from: "host-file:*" },
        ask: { value: "off", from: "host-file:*" },
        allowlist: [],
      },
    });
    expect(policy.security).toEqual({ value: "allowlist", from: "config:tools.exec" });
    expect(policy.ask).toEqual({ value: "on-miss", from: "config:tools.exec" });
  });

  it("sends mode auto to a person when the host file always asks", () => {
    const policy = resolve({
      config: { mode: "auto" },
      hostFile: { ask: { value: "always", from: "host-file:agent" }, allowlist: [] },
    });
    expect(policy.autoReview).toBe(false);
    expect(policy.ask.value).toBe("always");
  });

  it("degrades fallback full to allowlist under security allowlist", () => {
    const hostFile = { askFallback: { value: "full", from: "host-file:defaults" }, allowlist: [] } as const;
    expect(resolve({ config: { mode: "ask" }, hostFile }).askFallback.value).toBe("allowlist");
    expect(resolve({ config: { mode: "full" }, hostFile }).askFallback.value).toBe("full");
  });

  it("lets a call tighten and never loosen", () => {
    const config = { mode: "ask" } as const;
    expect(resolve({ config, call: { ask: "always", fromChannel: true } }).ask).toEqual({
      value: "always",
      from: "call",
    });
    expect(resolve({ config, call: { ask: "off", fromChannel: false } }).ask.value).toBe("on-miss");
  });

  it("denies after /exec security=deny although the config is wide open (case exec-override-tighten-ignored)", () => {
    expect(resolve({ config: { mode: "full" }, session: { security: "deny" } }).security).toEqual({
      value: "deny",
      from: "session:/exec",
    });
  });

  it("closes the host when the approvals file is damaged", () => {
    const policy = resolve({ config: { mode: "full" }, hostFile: "damaged", elevatedFull: true });
    expect(policy.security).toEqual({ value: "deny", from: "host-file:damaged" });
    expect(policy.bypass).toBe(false);
  });

  it("bypasses only when config and host are both full/off", () => {
    expect(resolve({ elevatedFull: true }).bypass).toBe(true);
    expect(resolve({ elevatedFull: true, config: { mode: "ask" } }).bypass).toBe(false);
    const hostFile = { ask: { value: "always", from: "host-file:defaults" }, allowlist: [] } as const;
    expect(resolve({ elevatedFull: true, hostFile }).bypass).toBe(false);
  });

  it("leaves the sandbox alone unless exec is denied outright", () => {
    const hostFile = { security: { value: "deny", from: "host-file:defaults" }, allowlist: [] } as const;
    expect(resolve({ host: "sandbox", config: { mode: "ask" }, hostFile }).security.value).toBe("full");
    expect(resolve({ host: "sandbox", config: { mode: "deny" } }).security).toEqual({
      value: "deny",
      from: "config:tools.exec",
    });
  });

  it("shows every pair as one mode", () => {
    expect(displayMode("full", "on-miss", false)).toBe("full");
    expect(displayMode("full", "always", false)).toBe("ask");
    expect(displayMode("allowlist", "off", false)).toBe("allowlist");
    expect(displayMode("allowlist", "on-miss", true)).toBe("auto");
    expect(displayMode("deny", "always", true)).toBe("deny");
  });
});

describe("isLooser", () => {
  const pair = (security: Security, ask: Ask) => ({
    security: { value: security, from: "default" as const },
    ask: { value: ask, from: "default" as const },
  });

  it.each([
    ["full off", "allowlist on-miss", true],
    ["full always", "allowlist on-miss", false],
    ["allowlist always", "deny off", true],
    ["allowlist off", "deny off", true],
    ["allowlist on-miss", "allowlist always", true],
    ["full on-miss", "full always", true],
    // What is not listed is refused instead of asked about.
    ["allowlist off", "allowlist on-miss", false],
    ["allowlist always", "allowlist on-miss", false],
    ["deny off", "allowlist always", false],
    ["full off", "full off", false],
    ["allowlist on-miss", "full off", false],
  ] as const)("%s after %s: %s", (after, before, looser) => {
    const read = (text: string) => pair(...(text.split(" ") as [Security, Ask]));
    expect(isLooser(read(after), read(before))).toBe(looser);
  });
});
