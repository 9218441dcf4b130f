/** Neutral cards, messages and deps that channel tests start from. */
import { randomUUID } from "node:crypto";
import type { ChannelLog } from "../../src/channels/adapter-deps.ts";
import type { Channel, MessageRef, Outbound } from "../../src/channels/channel.ts";
import { createRedactor } from "../../src/channels/text/redact.ts";
import type { ApprovalCard, Card, RunCard, TextCard } from "../../src/core/cards.ts";
import type { Actor, Route } from "../../src/core/route.ts";

export const APPROVAL_ID = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";
export const RUN_ID = "11111111-2222-4333-8444-555555555555";

export const ALICE: Actor = { kind: "person", channel: "web", accountId: "default", id: "alice", display: "alice" };

export function approvalCard(over: Partial<ApprovalCard> = {}): ApprovalCard {
  return {
    kind: "approval",
    state: "pending",
    approvalId: APPROVAL_ID,
    slug: APPROVAL_ID.slice(0, 8),
    command: "npm test",
    cwd: "~/app",
    host: "gateway",
    agentId: "main",
    requester: ALICE,
    envKeys: ["CI"],
    reasons: ["`npm` is not on the allowlist"],
    warnings: [],
    highlights: [],
    always: ["npm test in ~/app"],
    offered: ["allow-once", "allow-always", "deny"],
    createdAtMs: Date.UTC(2026, 0, 2, 10, 0),
    expiresAtMs: Date.UTC(2026, 0, 2, 10, 30),
    ...over,
  };
}

export function runCard(over: Partial<RunCard> = {}): RunCard {
  return {
    kind: "run",
    state: "running",
    runId: RUN_ID,
    sessionId: "quiet-otter",
    command: "npm test",
    cwd: "~/app",
    host: "gateway",
    startedAtMs: 1_000_000,
    tail: "one\ntwo\n",
    totalChars: 8,
    notes: [],
    actions: ["stop"],
    ...over,
  };
}

export function textCard(text: string): TextCard {
  return { kind: "text", tone: "info", text };
}

/** One message with a key of its own. */
export function outbound(card: Card, route: Route, over: Partial<Outbound> = {}): Outbound {
  return { key: randomUUID(), route, card, ...over };
}

/** Where the message stands; throws what the channel said when it was not sent. */
export async function sentBy(channel: Channel, message: Outbound): Promise<MessageRef> {
  const result = await channel.send(message);
  if (result.kind !== "sent") throw new Error(`not sent: ${JSON.stringify(result)}`);
  return result.ref;
}

export const redactor = createRedactor(["known-secret-value"]);

export interface LoggedLine {
  readonly level: "info" | "warn" | "error";
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A log that keeps what it was told, to prove that something was told, or that no token was. */
export function memoryLog(): ChannelLog & { readonly lines: LoggedLine[] } {
  const lines: LoggedLine[] = [];
  const write =
    (level: LoggedLine["level"]) =>
    (fields: Readonly<Record<string, unknown>>, message: string): void => {
      lines.push({ level, fields, message });
    };
  return { lines, info: write("info"), warn: write("warn"), error: write("error") };
}
