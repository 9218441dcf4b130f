import { randomUUID } from "node:crypto";
import type { AdapterDeps } from "../../../src/channels/adapter-deps.ts";
import type { Inbound, Outbound } from "../../../src/channels/channel.ts";
import { SlackChannel, type SlackOptions } from "../../../src/channels/slack/adapter.ts";
import { createRedactor } from "../../../src/channels/text/redact.ts";
import type { ApprovalCard, Card, RunCard, TextCard } from "../../../src/core/cards.ts";
import type { Actor, Route } from "../../../src/core/route.ts";
import type { SlackEmulator } from "../../emulators/slack/slack-emulator.ts";

export const APPROVAL_ID = "3f0c1a2b-1111-4222-8333-444455556666";
export const RUN_ID = "7d1c1a2b-1111-4222-8333-444455556666";

export const alice: Actor = {
  kind: "person",
  channel: "slack",
  accountId: "default",
  id: "U0ALICENG",
  display: "alice",
};

export const ops: Route = {
  channel: "slack",
  accountId: "default",
  chatType: "channel",
  chatId: "C0OPSROOM",
  scopeId: "T0ACMECORP",
};

export function approval(over: Partial<ApprovalCard> = {}): ApprovalCard {
  return {
    kind: "approval",
    state: "pending",
    approvalId: APPROVAL_ID,
    slug: APPROVAL_ID.slice(0, 8),
    command: "npm run deploy -- --env prod",
    cwd: "/srv/app",
    host: "gateway",
    agentId: "main",
    requester: alice,
    envKeys: [],
    reasons: ["`npm` is not in the allowlist."],
    warnings: [],
    highlights: [],
    always: ["exactly `npm run deploy -- --env prod` in /srv/app, for agent main"],
    offered: ["allow-once", "allow-always", "deny"],
    createdAtMs: Date.UTC(2026, 0, 2, 10, 0),
    expiresAtMs: Date.UTC(2026, 0, 2, 10, 30),
    ...over,
  };
}

export function run(over: Partial<RunCard> = {}): RunCard {
  return {
    kind: "run",
    state: "finished",
    runId: RUN_ID,
    sessionId: "brisk-otter",
    command: "npm test",
    cwd: "/srv/app",
    host: "gateway",
    startedAtMs: Date.UTC(2026, 0, 2, 10, 0),
    tail: "12 passed\n",
    totalChars: 10,
    endedAtMs: Date.UTC(2026, 0, 2, 10, 1, 12),
    durationMs: 72_000,
    outcome: "completed",
    exitCode: 0,
    notes: [],
    actions: ["full-log"],
    ...over,
  };
}

export function text(over: Partial<TextCard> = {}): TextCard {
  return { kind: "text", tone: "info", title: "Status", text: "All is well.", ...over };
}

export function outbound(card: Card, over: Partial<Outbound> = {}): Outbound {
  return { key: randomUUID(), route: ops, card, ...over };
}

export interface Rig {
  readonly channel: SlackChannel;
  readonly events: Inbound[];
  readonly log: string[];
  /** What the next ingress calls do. */
  ingress: (event: Inbound) => Promise<void>;
}

/** The adapter connected to the emulator, with every event it reports. */
export function rig(emulator: SlackEmulator, over: Partial<SlackOptions> = {}, deps: Partial<AdapterDeps> = {}): Rig {
  const log: string[] = [];
  const line = (fields: object, message: string): void => void log.push(`${message} ${JSON.stringify(fields)}`);
  const made: Rig = {
    channel: new SlackChannel(
      {
        accountId: "default",
        botToken: emulator.tokens.bot,
        mode: { kind: "socket", appToken: emulator.tokens.app },
        apiUrl: emulator.apiUrl,
        replyToMode: () => "all",
        reconnect: { minMs: 30, maxMs: 100 },
        ...over,
      },
      {
        clock: emulator.clock,
        log: { info: line, warn: line, error: line },
        redactor: createRedactor([emulator.tokens.bot, emulator.tokens.app]),
        commands: [{ name: "exec", summary: "Run a command", options: [] }],
        ...deps,
      },
    ),
    events: [],
    log,
    ingress: () => Promise.resolve(),
  };
  return made;
}

export async function started(made: Rig): Promise<Rig> {
  await made.channel.start(async (event) => {
    await made.ingress(event);
    made.events.push(event);
  });
  return made;
}
