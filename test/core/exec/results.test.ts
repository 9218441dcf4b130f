import { describe, expect, it } from "vitest";
import type { ApprovalRecord } from "../../../src/core/approvals/record.ts";
import { pendingResult } from "../../../src/core/exec/results.ts";

const record: ApprovalRecord = {
  id: "a17b4920-1c1d-4a7b-9a51-0c8b4a1e7a01",
  runId: "r",
  status: "pending",
  gatewayId: "g",
  createdAtMs: 0,
  expiresAtMs: 60_000,
  shownAt: [],
  request: {
    command: "make deploy",
    cwd: "/srv",
    host: "gateway",
    env: {},
    plan: { kind: "verbatim", text: "make deploy" },
    binding: { hash: "h", cwd: { path: "/srv", dev: 1, ino: 1 }, files: [] },
    reasons: [],
    highlights: [],
    warnings: [],
    offered: ["allow-once", "deny"],
    alwaysStores: [],
    security: "allowlist",
    ask: "on-miss",
    agentId: "main",
    sessionKey: "agent:main:main",
    requester: { kind: "agent", channel: "api", accountId: "default", id: "main" },
    pty: false,
    stdin: "closed",
    notifyOnExit: true,
  },
};

const text = (nativeCard: boolean): string =>
  pendingResult(record, [], nativeCard)
    .content.map((part) => part.text)
    .join("\n");

describe("the answer to a call that waits for a person", () => {
  it("manual-approve-hint-with-native-card: names /approve only where no card with buttons was delivered", () => {
    expect(text(true)).not.toContain("/approve");
    expect(text(true)).toContain("Do not ask anybody to type a command");
    expect(text(false)).toContain("/approve a17b4920 allow-once|deny");
  });
});
