/**
 * The frames between the gateway and its clients (web chat, terminal chat, CLI, nodes): JSON text over one
 * WebSocket. A client asks with `req`, the gateway answers with exactly one `res`, and tells news with `event`.
 * The first frame of a client is `connect`. The browser imports only the types of this file.
 */
import { z } from "zod";
import type { AuditPage } from "../core/audit/events.ts";
import { type Card, MAX_MENU_CHOICES } from "../core/cards.ts";
import type { CronJob, ListedCronJob } from "../core/events/cron.ts";
import type { LostJob } from "../core/events/lost-job.ts";

export const PROTOCOL_VERSION = 1;

/** Bytes of one frame before and after `connect` (hosts.md section 3). */
export const MAX_FRAME_BYTES_BEFORE_AUTH = 64 * 1024;
export const MAX_FRAME_BYTES = 1024 * 1024;
/** The gateway sends `tick` this often; a client that misses two closes with 4000 and reconnects. */
export const TICK_MS = 15_000;

/**
 * Codes the gateway (or, for `missedTicks`, the client) closes a socket with. The reason text of the close frame is
 * a sentence for people. `unauthorized` and `protocol` do not go away by trying again; all others do.
 */
export const CLOSE_CODES = {
  missedTicks: 4000,
  unauthorized: 4001,
  protocol: 4002,
  /** The client does not read fast enough. It reconnects and asks for what came after its last `seq`. */
  tooSlow: 4003,
  rateLimited: 4004,
  connectTimeout: 4008,
  /** The gateway stops or restarts (RFC 6455, registered). */
  restart: 1012,
} as const;

/** Where nodes connect; their frames are in `node-frames.ts`, which is loaded when the first one does. */
export const NODE_PATH = "/ws/node";

/** Why the gateway closes a node's socket, beside those of `frames.ts`. */
export const NODE_CLOSE_CODES = {
  /** The same device has connected again. */
  replaced: 4009,
  /** An owner has to approve it first; it may try again, which keeps its request alive. */
  pairingRequired: 4010,
  /** An owner has removed or rejected it. Trying again does not help until it is paired anew. */
  removed: 4011,
} as const;

export const requestFrame = z.object({
  type: z.literal("req"),
  id: z.string().min(1).max(128),
  method: z.string().min(1).max(64),
  params: z.unknown().optional(),
});
export type RequestFrame = z.infer<typeof requestFrame>;

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly retryAfterMs?: number;
}

export type ResponseFrame =
  | { readonly type: "res"; readonly id: string; readonly ok: true; readonly payload: unknown }
  | { readonly type: "res"; readonly id: string; readonly ok: false; readonly error: ErrorBody };

/**
 * One change of a conversation. `seq` grows by one with each change, so a client that reconnects asks for what
 * came after the last one it has and misses nothing. An edit is a new entry with the same `messageId`; `order`
 * is the `seq` of the message's first entry and gives its place.
 */
export interface ChatEntry {
  readonly seq: number;
  readonly order: number;
  readonly messageId: string;
  readonly atMs: number;
  readonly card: Card;
}

export type EventFrame =
  | {
      readonly type: "event";
      readonly event: "chat.entry";
      readonly payload: { readonly chatId: string; readonly entry: ChatEntry };
    }
  /** Live tail of a running card; not stored, never replayed. */
  | {
      readonly type: "event";
      readonly event: "chat.live";
      readonly payload: { readonly chatId: string; readonly messageId: string; readonly card: Card };
    }
  | { readonly type: "event"; readonly event: "tick"; readonly payload: { readonly atMs: number } }
  | { readonly type: "event"; readonly event: "shutdown"; readonly payload: { readonly reason: string } };

export type ServerFrame = ResponseFrame | EventFrame;

const chatId = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, "a chat id has 1 to 64 letters, digits, dots, dashes or underscores");
const clientMessageId = z.string().min(1).max(128);

const pressAction = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("approval"),
    approvalId: z.string().min(1).max(128),
    decision: z.enum(["allow-once", "allow-always", "deny"]),
    comment: z.string().max(500).optional(),
  }),
  z.strictObject({
    kind: z.literal("approval-action"),
    action: z.enum(["full-command", "snooze", "ask-again"]),
    approvalId: z.string().min(1).max(128),
  }),
  z.strictObject({ kind: z.literal("revoke"), approvalId: z.string().min(1).max(128) }),
  z.strictObject({
    kind: z.literal("pairing"),
    requestId: z.string().min(1).max(128),
    decision: z.enum(["approve", "dismiss"]),
  }),
  z.strictObject({
    kind: z.literal("menu"),
    menuId: z.string().min(1).max(128),
    choice: z
      .number()
      .int()
      .min(0)
      .max(MAX_MENU_CHOICES - 1),
  }),
  z.strictObject({
    kind: z.literal("run"),
    action: z.enum(["stop", "full-log", "run-again"]),
    runId: z.string().min(1).max(128),
  }),
]);

/** Parameters of every method, by name. The gateway parses with these; unknown keys are refused. */
export const methods = {
  connect: z.strictObject({
    protocol: z.literal(PROTOCOL_VERSION),
    client: z.strictObject({
      id: z.string().min(1).max(128),
      kind: z.enum(["web", "terminal", "cli"]),
      version: z.string().max(64),
    }),
    token: z.string().max(512).optional(),
    /** BCP 47 tag: in which language the person reads what they are answered. Absent: as configured; errors in English. */
    locale: z.string().max(35).optional(),
  }),
  /** Subscribes to a conversation and gives what came after `afterSeq` (absent: the newest `limit` messages). */
  "chat.open": z.strictObject({
    chatId,
    afterSeq: z.number().int().min(0).optional(),
    limit: z.number().int().min(1).max(500).default(200),
  }),
  /** Ends the subscription of this connection. */
  "chat.close": z.strictObject({ chatId }),
  /** Older messages than `beforeOrder`. */
  "chat.older": z.strictObject({
    chatId,
    beforeOrder: z.number().int().min(1),
    limit: z.number().int().min(1).max(500).default(100),
  }),
  /** `clientId` makes a resend after a reconnect harmless. */
  "chat.send": z.strictObject({ chatId, clientId: clientMessageId, text: z.string().min(1).max(262_144) }),
  "chat.press": z.strictObject({ chatId, clientId: clientMessageId, action: pressAction }),
  /** Completion while typing: what may follow `text`. */
  "chat.complete": z.strictObject({ text: z.string().max(4096) }),
  /** The kept output of a run, by line. */
  "run.log": z.strictObject({
    runId: z.string().min(1).max(128),
    offset: z.number().int().min(0).optional(),
    limit: z.number().int().min(1).max(100_000).optional(),
  }),
  /** What can be watched again (`tools.exec.record`). */
  "recordings.list": z.strictObject({}),
  /** A page of a recording from the byte `offset`; absent: from its beginning. */
  "recordings.read": z.strictObject({
    runId: z.string().min(1).max(128),
    offset: z.number().int().min(0).optional(),
  }),
  "tools.invoke": z.strictObject({
    tool: z.string().min(1).max(64),
    args: z.record(z.string(), z.unknown()).default({}),
    agentId: z.string().min(1).max(64).optional(),
    sessionKey: z.string().min(1).max(512).optional(),
  }),
  "approvals.list": z.strictObject({}),
  "approvals.resolve": z.strictObject({
    id: z.string().min(1).max(128),
    decision: z.enum(["allow-once", "allow-always", "deny"]),
    comment: z.string().max(500).optional(),
  }),
  /** Who asked to be let in and waits for an owner. */
  "cron.list": z.strictObject({}),
  /** Exactly one of `at`, `every`, `cron`, and one of `command`, `event`. `chatId`: the web chat that gets its cards. */
  "cron.add": z.strictObject({
    at: z.string().max(64).optional(),
    every: z.string().max(32).optional(),
    cron: z.string().max(128).optional(),
    timezone: z.string().max(64).optional(),
    command: z.string().max(131_072).optional(),
    event: z.string().max(4_000).optional(),
    wake: z.enum(["now", "next-heartbeat"]).optional(),
    workdir: z.string().max(4_096).optional(),
    timeoutSec: z.number().min(0).optional(),
    name: z.string().min(1).max(64).optional(),
    agentId: z.string().min(1).max(64).optional(),
    chatId: chatId.optional(),
  }),
  "cron.remove": z.strictObject({ job: z.string().min(1).max(64) }),
  "cron.run": z.strictObject({ job: z.string().min(1).max(64) }),
  /** What could not be delivered, newest first. */
  "deliveries.list": z.strictObject({}),
  /** `id`: of one, an unambiguous start of it, or `all`. */
  "deliveries.retry": z.strictObject({ id: z.string().min(1).max(64) }),
  "deliveries.drop": z.strictObject({ id: z.string().min(1).max(64) }),
  "pairing.list": z.strictObject({ channel: z.enum(["slack", "discord", "telegram"]).optional() }),
  "pairing.approve": z.strictObject({ code: z.string().min(1).max(32) }),
  "pairing.dismiss": z.strictObject({ code: z.string().min(1).max(32) }),
  /** Machines that are paired, or wait for it (`host=node`). */
  "nodes.list": z.strictObject({}),
  /** A new setup code: pairs one node, once. */
  "nodes.code": z.strictObject({}),
  /** `request`: id of the request or of the device, or an unambiguous start of either. */
  "nodes.approve": z.strictObject({ request: z.string().min(1).max(128) }),
  "nodes.reject": z.strictObject({ request: z.string().min(1).max(128) }),
  /** `node`: id, name or start of the id. */
  "nodes.remove": z.strictObject({ node: z.string().min(1).max(128) }),
  "nodes.rename": z.strictObject({ node: z.string().min(1).max(128), name: z.string().max(128) }),
  /** Anything but running commands, which is what the exec tool is for. */
  "nodes.invoke": z.strictObject({
    node: z.string().min(1).max(128),
    command: z.string().min(1).max(64),
    params: z.record(z.string(), z.unknown()).default({}),
    timeoutMs: z.number().int().min(100).max(300_000).default(15_000),
  }),
  "channels.status": z.strictObject({}),
  /** The audit trail, oldest first, from the entry after `after`; absent: the newest `limit`. */
  "audit.read": z.strictObject({
    after: z.number().int().min(0).optional(),
    limit: z.number().int().min(1).max(1000).default(100),
  }),
} as const;

export type MethodName = keyof typeof methods;
export type MethodParams = { [M in MethodName]: z.input<(typeof methods)[M]> };

export interface CompletionItem {
  /** Replaces the whole typed text. */
  readonly insert: string;
  readonly label: string;
  readonly detail: string;
}

export interface PendingApproval {
  readonly id: string;
  readonly slug: string;
  readonly command: string;
  readonly cwd: string;
  readonly agentId: string;
  readonly requester: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly offered: readonly string[];
}

export interface PairingEntry {
  readonly code: string;
  readonly channel: string;
  readonly accountId: string;
  readonly actorId: string;
  readonly display?: string;
  readonly expiresAtMs: number;
}

export interface NodeEntry {
  readonly id: string;
  readonly name: string;
  readonly platform: string;
  readonly version: string;
  readonly connected: boolean;
  /** What it offers, what of it was approved, and what of that may be used now. */
  readonly declared: readonly string[];
  readonly approved: readonly string[];
  readonly usable: readonly string[];
  readonly pairedAtMs: number;
  readonly pairedBy: string;
  readonly connectedAtMs?: number;
  readonly lastSeenAtMs?: number;
  readonly address?: string;
  /** Commands of this gateway that run there. */
  readonly running: number;
}

export interface PendingNodeEntry {
  readonly requestId: string;
  readonly nodeId: string;
  readonly name: string;
  readonly platform: string;
  readonly address: string;
  readonly commands: readonly string[];
  /** `commands`: it is paired and offers more than was approved. */
  readonly kind: "device" | "commands";
  readonly createdAtMs: number;
  readonly expiresAtMs?: number;
}

export interface ChannelReport {
  readonly channel: string;
  readonly accountId: string;
  readonly state: string;
  readonly detail?: string;
  /** Ids of the people who may decide approvals there. */
  readonly approvers: readonly string[];
  readonly buttons: boolean;
  /** Telegram: in which chats. */
  readonly inlineButtons?: "off" | "dm" | "group" | "all" | "allowlist";
}

export interface RecordingEntry {
  readonly runId: string;
  /** Secrets are masked; a long one is cut. */
  readonly command: string;
  readonly startedAtMs: number;
  readonly bytes: number;
}

/** Seconds since the start, and what the terminal got (`o`) or became (`r`: `COLSxROWS`), as in asciicast v2. */
export type ReplayEvent = readonly [seconds: number, kind: "o" | "r", data: string];

export interface MethodResults {
  connect: {
    readonly protocol: number;
    readonly server: { readonly version: string; readonly gatewayId: string; readonly startedAtMs: number };
    readonly policy: { readonly tickMs: number; readonly maxFrameBytes: number };
  };
  /**
   * `reset`: what lies between `afterSeq` and now is no longer kept (or is too much to send); the entries are the
   * newest page and replace everything the client has of this chat. A page also ends at 512 KiB, so fewer messages than
   * `limit` may come with `hasOlder`. After catching up `hasOlder` is always true: the client knows how far back it has.
   */
  "chat.open": {
    readonly entries: readonly ChatEntry[];
    readonly seq: number;
    readonly hasOlder: boolean;
    readonly reset?: true;
  };
  "chat.close": { readonly closed: true };
  "chat.older": { readonly entries: readonly ChatEntry[]; readonly hasOlder: boolean };
  "chat.send": { readonly accepted: true };
  "chat.press": { readonly accepted: true };
  "chat.complete": { readonly items: readonly CompletionItem[] };
  "run.log": {
    readonly text: string;
    readonly offset: number;
    readonly lines: number;
    readonly totalLines: number;
    /** Earlier output is gone for good: more was produced than is kept. */
    readonly lost: boolean;
    readonly running: boolean;
  };
  /** Newest first. */
  "recordings.list": { readonly recordings: readonly RecordingEntry[] };
  "recordings.read": RecordingEntry & {
    readonly cols: number;
    readonly rows: number;
    /** Secrets are masked letter by letter, so that everything stays in its place. */
    readonly events: readonly ReplayEvent[];
    /** The `offset` of the next page; absent when this was the last one. */
    readonly next?: number;
  };
  "tools.invoke": unknown;
  "approvals.list": { readonly approvals: readonly PendingApproval[] };
  "approvals.resolve": { readonly id: string; readonly state: string; readonly decision?: string };
  "cron.list": { readonly jobs: readonly ListedCronJob[] };
  "cron.add": ListedCronJob;
  "cron.remove": CronJob;
  "cron.run": CronJob;
  "deliveries.list": { readonly letters: readonly LostJob[]; readonly total: number };
  "deliveries.retry": { readonly letters: readonly LostJob[] };
  "deliveries.drop": { readonly letters: readonly LostJob[] };
  "pairing.list": { readonly requests: readonly PairingEntry[] };
  "pairing.approve": PairingEntry;
  "pairing.dismiss": PairingEntry;
  "nodes.list": { readonly nodes: readonly NodeEntry[]; readonly pending: readonly PendingNodeEntry[] };
  "nodes.code": { readonly code: string; readonly expiresAtMs: number };
  "nodes.approve": NodeEntry;
  "nodes.reject": PendingNodeEntry;
  "nodes.remove": NodeEntry;
  "nodes.rename": NodeEntry;
  "nodes.invoke": { readonly payload: unknown };
  "channels.status": { readonly channels: readonly ChannelReport[] };
  "audit.read": AuditPage;
}
