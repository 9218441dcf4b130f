import { describe, expect, it } from "vitest";
import { type ApprovalReach, approvalReach } from "../../../src/core/access/approval-reach.ts";
import type { ApprovalRecord } from "../../../src/core/approvals/record.ts";
import { pendingResult } from "../../../src/core/exec/results.ts";
import type { Route } from "../../../src/core/route.ts";

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

const text = (reach: ApprovalReach): string =>
  pendingResult(record, [], reach, { isTold: true })
    .content.map((part) => part.text)
    .join("\n");

describe("the answer to a call that waits for a person", () => {
  const typed = "/approve a17b4920 allow-once|deny";

  it("manual-approve-hint-with-native-card: names /approve only where nobody there has a card with buttons", () => {
    expect(text({ kind: "card" })).not.toContain("/approve");
    expect(text({ kind: "card" })).toContain("Do not ask anybody to type a command");
    for (const reach of [{ kind: "operator" }, { kind: "none", chats: ["slack", "discord/two"] }] as const) {
      expect(text(reach)).toContain(typed);
      expect(text(reach)).not.toContain("A card with buttons was sent");
    }
    expect(text({ kind: "operator" })).toContain("the operator's web chat");
    expect(text({ kind: "none", chats: ["slack", "discord/two"] })).toContain("not available: slack, discord/two");
  });

  it("tells only a caller that hears of the end by itself to wait for it", () => {
    expect(text({ kind: "card" })).toContain("announced by itself");
    const [part] = pendingResult(record, [], { kind: "card" }, { isTold: false }).content;
    expect(part?.text).toContain("process poll its end");
    expect(part?.text).not.toContain("by itself");
  });
});

describe("who sees the card of a request", () => {
  const slack: Route = { channel: "slack", accountId: "default", chatType: "channel", chatId: "C1" };
  const owner: Route = { channel: "slack", accountId: "default", chatType: "dm", chatId: "U1" };
  const other: Route = { channel: "telegram", accountId: "ops", chatType: "dm", chatId: "7" };
  const web: Route = { channel: "web", accountId: "default", chatType: "dm", chatId: "main" };

  it.each([
    ["the chat that asked", { cards: [slack] }, [], { kind: "card" }],
    ["approvers' direct messages", { cards: [owner], notice: slack }, [], { kind: "card" }],
    ["the web chat, asked there", { cards: [web] }, [], { kind: "card" }],
    ["the web chat for a chat without approvers", { cards: [web], notice: slack }, [], { kind: "operator" }],
    ["a forward beside the web chat", { cards: [web, other], notice: slack }, [], { kind: "card" }],
    [
      "the web chat, the forward being away",
      { cards: [web, other], notice: slack },
      ["telegram"],
      { kind: "operator" },
    ],
    ["a chat whose buttons are switched off", { cards: [other] }, [], { kind: "typed" }, ["telegram"]],
    ["such a chat and one with buttons", { cards: [other, slack] }, [], { kind: "card" }, ["telegram"]],
    [
      "nobody",
      { cards: [slack, owner, other] },
      ["slack", "telegram"],
      { kind: "none", chats: ["slack", "telegram/ops"] },
    ],
  ] as const)("%s", (_where, targets, away: readonly string[], reach, bare: readonly string[] = []) => {
    expect(
      approvalReach(targets, ({ channel }) =>
        away.includes(channel) ? "nothing" : bare.includes(channel) ? "text" : "buttons",
      ),
    ).toEqual(reach);
  });
});
