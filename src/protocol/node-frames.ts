/**
 * The frames between the gateway and a node: JSON text over one WebSocket at `/ws/node`. The gateway begins with
 * `connect.challenge`, the node answers with the request `connect`, and from then on both send events. Neither side
 * trusts the other: everything that arrives is parsed here, and a frame that does not fit closes the connection.
 */
import { z } from "zod";
import {
  type KnownRun,
  NODE_COMMANDS,
  type NodeRunRequest,
  type NodeRunStarted,
  type Prepared,
  type PrepareRequest,
  type RunOrder,
  type RunReport,
} from "../core/hosts/node/types.ts";
import type { ReasonCode } from "../core/policy/decision.ts";
import { isReasonCode } from "../core/policy/reasons.ts";
import { type AllowlistEntry, ASK_LEVELS, SECURITY_LEVELS } from "../core/policy/types.ts";
import type { Wording } from "../core/words/phrase.ts";
import { MAX_TICKET_CHARS } from "./run-ticket.ts";

export const NODE_PROTOCOL_VERSION = 1;
/** Bytes of output in one frame, before base64. */
export const MAX_OUTPUT_PIECE_BYTES = 32 * 1024;
/** Output sent and not yet acknowledged, per run; beyond it the program is made to wait. */
export const OUTPUT_WINDOW_BYTES = 1024 * 1024;
/** Runs a node may report when it comes back. */
export const MAX_KNOWN_RUNS = 512;

const id = z.string().min(1).max(128);
const runId = id;
const base64 = (bytes: number) =>
  z
    .string()
    .max(Math.ceil(bytes / 3) * 4 + 4)
    .regex(/^[A-Za-z0-9+/]*={0,2}$/);
const bytes = (most: number) => base64(most).transform((text) => Buffer.from(text, "base64"));
const whole = z.number().int().min(0);

export const connectParams = z.object({
  minProtocol: z.number().int(),
  maxProtocol: z.number().int(),
  client: z.object({
    id: z.literal("node-host"),
    version: z.string().max(64),
    platform: z.string().regex(/^[a-z0-9._-]{1,32}$/),
    mode: z.literal("node"),
    deviceFamily: z
      .string()
      .regex(/^[a-z0-9._-]{0,32}$/)
      .default(""),
    displayName: z.string().min(1).max(64),
  }),
  role: z.literal("node"),
  scopes: z.array(z.string()).max(0),
  commands: z.array(z.string().regex(/^[A-Za-z0-9._-]{1,64}$/)).max(64),
  auth: z.object({
    /** Of the gateway: lets a node on the gateway's own machine pair by itself. */
    token: z.string().max(512).optional(),
    deviceToken: z.string().max(128).optional(),
    /** A setup code. */
    pairCode: z.string().max(64).optional(),
  }),
  device: z.object({
    id: z.string().regex(/^[0-9a-f]{64}$/),
    publicKey: z.string().max(64),
    signature: z.string().max(128),
    signedAt: z.number(),
    nonce: z.string().max(128),
  }),
});
export type NodeConnect = z.output<typeof connectParams>;

export const connectRequest = z.object({
  type: z.literal("req"),
  id: z.string().min(1).max(64),
  method: z.literal("connect"),
  params: connectParams,
});

export const challengeFrame = z.object({
  type: z.literal("event"),
  event: z.literal("connect.challenge"),
  payload: z.object({ nonce: z.string().min(16).max(128), ts: z.number() }),
});

/** Text, or a phrase of ours with at most two levels of others inside. */
const MAX_NESTED = 2;
const wordingOf = (depth: number): z.ZodType<Wording> => {
  const value: z.ZodType =
    depth === 0
      ? z.union([z.number(), z.string().max(2_000)])
      : z.union([z.number(), wordingOf(depth - 1), z.array(wordingOf(depth - 1)).max(16)]);
  return z.union([
    z.string().max(2_000),
    z.object({
      phrase: z.string().max(64),
      values: z.record(z.string().max(32), value),
      text: z.string().max(2_000),
    }) as unknown as z.ZodType<Wording>,
  ]);
};
const wording = wordingOf(MAX_NESTED);

const errorBody = z.object({
  code: z.string().max(64),
  message: z.string().max(2_000),
  /** The message for whoever reads another language. */
  wording: wording.optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type NodeErrorBody = z.output<typeof errorBody>;

export const helloFrame = z.discriminatedUnion("ok", [
  z.object({
    type: z.literal("res"),
    id: z.string(),
    ok: z.literal(true),
    payload: z.object({
      protocol: z.number(),
      server: z.object({ version: z.string(), connId: z.string(), gatewayId: z.string().max(128) }),
      auth: z.object({ role: z.literal("node"), deviceToken: z.string().max(128).optional() }),
      node: z.object({ name: z.string(), commands: z.array(z.string()) }),
      policy: z.object({ tickMs: z.number().min(50), maxPayload: z.number() }),
    }),
  }),
  z.object({ type: z.literal("res"), id: z.string(), ok: z.literal(false), error: errorBody }),
]);
export type Hello = Extract<z.output<typeof helloFrame>, { ok: true }>["payload"];

const security = z.enum(SECURITY_LEVELS);
const ask = z.enum(ASK_LEVELS);
const strings = z.array(z.string().max(4_096)).max(1_000);
const env = z.record(z.string().max(256), z.string().max(131_072));

const plan = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("argv"), file: z.string(), argv0: z.string(), args: z.array(z.string()) }),
  z.object({ kind: z.literal("rebuilt"), text: z.string() }),
  z.object({ kind: z.literal("verbatim"), text: z.string() }),
]);

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const binding = z.object({
  hash,
  cwd: z.object({ path: z.string(), dev: z.number(), ino: z.number() }),
  files: z
    .array(
      z.object({
        role: z.enum(["executable", "script"]),
        path: z.string(),
        dev: z.number(),
        ino: z.number(),
        size: z.number(),
        mtimeMs: z.number(),
        sha256: hash.optional(),
        absent: z.literal(true).optional(),
      }),
    )
    .max(1_000),
});

const span = z.object({ start: whole, end: whole });
const reason = z.object({
  code: z.custom<ReasonCode>((value) => typeof value === "string" && isReasonCode(value)),
  subject: z.string().max(4_096).optional(),
  span: span.optional(),
});
const rule = z.object({
  pattern: z.string().max(4_096),
  argPattern: z.string().max(8_192).optional(),
  id: z.string().max(128).optional(),
  source: z.literal("allow-always").optional(),
});
const segment = z.object({
  text: z.string(),
  argv: z.array(z.string()),
  next: z.enum(["|", "|&", "&&", "||", ";"]).optional(),
  executableSpan: span.optional(),
  resolvedPath: z.string().optional(),
  realPath: z.string().optional(),
  satisfiedBy: z.enum(["allowlist", "safe-bin", "builtin", "none"]),
  entry: rule.optional(),
  reasons: z.array(reason).max(200),
});
const seen = { segments: z.array(segment).max(500), reasons: z.array(reason).max(500) };
const layer = z.enum([
  "default",
  "config:tools.exec",
  "config:agent",
  "session:/exec",
  "host-file:defaults",
  "host-file:*",
  "host-file:agent",
  "host-file:damaged",
  "call",
  "elevated",
]);
const decision = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("allow"), plan, binding, ...seen }),
  z.object({
    kind: z.literal("ask"),
    plan,
    binding,
    ...seen,
    offered: z.array(z.enum(["allow-once", "allow-always", "deny"])).max(3),
    alwaysStores: z.array(rule).max(500),
    reviewable: z.boolean(),
    explicitOnly: z.boolean(),
    pinned: z.object({ plan, binding }).optional(),
  }),
  z.object({ kind: z.literal("deny"), ...seen, layer }),
]);

const gatewayPolicy = z.object({
  security,
  ask,
  askFallback: security,
  autoReview: z.boolean(),
  strictInlineEval: z.boolean().optional(),
  argumentGuard: z.boolean().optional(),
  strictBinding: z.boolean().optional(),
  safeBins: strings.optional(),
  safeBinTrustedDirs: strings.optional(),
  safeBinProfiles: z
    .record(
      z.string(),
      z.object({
        minPositional: whole.optional(),
        maxPositional: whole.optional(),
        allowedValueFlags: strings.optional(),
        deniedFlags: strings.optional(),
      }),
    )
    .optional(),
});

const ticket = z.string().max(MAX_TICKET_CHARS);

export const prepareParams = z.object({
  runId,
  command: z.string().min(1).max(262_144),
  cwd: z.string().max(4_096).optional(),
  env,
  agentId: z.string().min(1).max(64),
  sessionKey: z.string().min(1).max(512),
  policy: gatewayPolicy,
  ttlMs: z.number().int().min(1),
});

export const preparedPayload = z.object({
  cwd: z.string().min(1).max(4_096),
  decision,
  security,
  ask,
  askFallback: security,
  ticket: ticket.optional(),
});

export const runParams = z.object({
  runId,
  command: z.string().min(1).max(262_144),
  plan,
  binding,
  cwd: z.string().min(1).max(4_096),
  env,
  channelContext: z.string().max(2_048).optional(),
  agentId: z.string().min(1).max(64),
  sessionKey: z.string().min(1).max(512),
  policy: gatewayPolicy,
  ticket,
  consent: z
    .object({
      approvalId: z.string().max(128).optional(),
      decision: z.enum(["allow-once", "allow-always", "fallback", "reviewed"]),
    })
    .optional(),
  pty: z.boolean(),
  stdin: z.enum(["closed", "open"]),
  timeoutMs: z.number().int().min(1).optional(),
});

export const startedPayload = z.object({
  pty: z.boolean(),
  stdinWritable: z.boolean(),
  warnings: z.array(z.string().max(500)).max(8),
});

export const whichParams = z.object({ bins: z.array(z.string().min(1).max(256)).min(1).max(64) });
export const whichPayload = z.object({ bins: z.record(z.string(), z.string()) });

export const runEnd = z.object({
  reason: z.enum(["exit", "signal", "manual-cancel", "overall-timeout", "shutdown", "spawn-failed", "lost"]),
  exitCode: z.number().int().nullable(),
  exitSignal: z.string().max(16).nullable(),
  timedOut: z.boolean(),
  durationMs: z.number().min(0),
  notes: z.array(wording).max(16),
  lastSeq: whole,
  /** Comes without having been through a terminal's cleaning: what is not plain text is left out. */
  tail: z
    .string()
    .max(16_384)
    .transform((text) => text.replace(/[\p{Cc}\p{Cf}]/gu, (char) => (char === "\n" || char === "\t" ? char : ""))),
});

const event = <N extends string, P extends z.ZodType>(name: N, payload: P) =>
  z.object({ type: z.literal("event"), event: z.literal(name), payload });

const invokeRequest = z.object({
  id,
  command: z.string().max(64),
  params: z.unknown(),
  timeoutMs: z.number().int().min(1),
});

export const toNode = z.discriminatedUnion("event", [
  event("tick", z.object({ atMs: z.number() })),
  event("shutdown", z.object({ reason: z.string() })),
  event("node.invoke.request", invokeRequest),
  event("node.invoke.cancel", z.object({ id })),
  event("node.run.input", z.object({ runId, id: whole, data: base64(1_048_576), end: z.boolean() })),
  event("node.run.resize", z.object({ runId, cols: z.number().int().min(1), rows: z.number().int().min(1) })),
  event("node.run.stop", z.object({ runId, reason: z.enum(["manual-cancel", "overall-timeout", "shutdown"]) })),
  event("node.run.ack", z.object({ runId, seq: whole })),
  event("node.run.resume", z.object({ runId, seq: whole })),
  event("node.run.settled", z.object({ runId })),
]);
export type ToNode = z.input<typeof toNode>;

const knownRun = z.discriminatedUnion("state", [
  z.object({ runId, state: z.literal("running"), started: startedPayload }),
  z.object({ runId, state: z.literal("ended"), end: runEnd }),
]);

export const fromNode = z.discriminatedUnion("event", [
  event(
    "node.invoke.result",
    z.union([
      z.object({ id, ok: z.literal(true), payload: z.unknown() }),
      z.object({ id, ok: z.literal(false), error: errorBody }),
    ]),
  ),
  event("node.runs", z.object({ runs: z.array(knownRun).max(MAX_KNOWN_RUNS) })),
  event(
    "node.run.output",
    z.object({
      runId,
      seq: z.number().int().min(1),
      stream: z.enum(["stdout", "stderr"]),
      data: bytes(MAX_OUTPUT_PIECE_BYTES),
    }),
  ),
  event(
    "node.run.input-taken",
    z.object({ runId, id: whole, error: z.string().max(500).optional(), queued: whole, writable: z.boolean() }),
  ),
  event("node.run.ended", z.object({ runId, end: runEnd })),
]);
export type FromNode = z.output<typeof fromNode>;

/** The frame of an order about a run. */
export function orderFrame({ kind, ...payload }: RunOrder): ToNode {
  return { type: "event", event: `node.run.${kind}`, payload } as ToNode;
}

/** The text of a report about a run. */
export function reportText(report: RunReport): string {
  const { kind, ...payload } = report;
  return JSON.stringify({
    type: "event",
    event: `node.run.${kind}`,
    payload: kind === "output" ? { ...payload, data: report.data.toString("base64") } : payload,
  });
}

/** Undefined for frames that are about no run. */
export function reportOf(frame: FromNode): RunReport | undefined {
  switch (frame.event) {
    case "node.run.output":
      return { kind: "output", ...frame.payload };
    case "node.run.input-taken":
      return withoutUndefined({ kind: "input-taken", ...frame.payload }) as RunReport;
    case "node.run.ended":
      return { kind: "ended", runId: frame.payload.runId, end: frame.payload.end };
    default:
      return undefined;
  }
}

/** Undefined for frames that are about no run. */
export function orderOf(frame: z.output<typeof toNode>): RunOrder | undefined {
  switch (frame.event) {
    case "node.run.input":
      return { kind: "input", ...frame.payload };
    case "node.run.resize":
      return { kind: "resize", ...frame.payload };
    case "node.run.stop":
      return { kind: "stop", ...frame.payload };
    case "node.run.ack":
      return { kind: "ack", ...frame.payload };
    case "node.run.resume":
      return { kind: "resume", ...frame.payload };
    case "node.run.settled":
      return { kind: "settled", ...frame.payload };
    default:
      return undefined;
  }
}

/** Of `system.run.revoke`, both ways: rules that "Allow always" stored, and those of them that were there. */
export const revokeParams = z.object({ agentId: z.string().min(1).max(64), rules: z.array(rule).max(500) });
export const revokedPayload = z.object({ rules: z.array(rule).max(500) });

type Parse<T> = (value: unknown) => T;
/** zod says `T | undefined` for keys that may be absent; in the product an absent key is absent. */
const parsing =
  <T>(schema: z.ZodType): Parse<T> =>
  (value) =>
    withoutUndefined(schema.parse(value)) as T;

export const parsePrepare: Parse<PrepareRequest> = parsing(prepareParams);
export const parsePrepared: Parse<Prepared> = parsing(preparedPayload);
export const parseRun: Parse<NodeRunRequest> = parsing(runParams);
export const parseRevoke: Parse<{ readonly agentId: string; readonly rules: readonly AllowlistEntry[] }> =
  parsing(revokeParams);
export const parseRevoked: Parse<{ readonly rules: readonly AllowlistEntry[] }> = parsing(revokedPayload);
export const parseStarted: Parse<NodeRunStarted> = parsing(startedPayload);
export const parseKnownRuns: Parse<readonly KnownRun[]> = parsing(z.array(knownRun).max(MAX_KNOWN_RUNS));

function withoutUndefined<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutUndefined) as T;
  if (value === null || typeof value !== "object" || Buffer.isBuffer(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (member === undefined ? [] : [[key, withoutUndefined(member)]])),
  ) as T;
}

/** Names a node may declare that this version knows. */
export function isNodeCommand(name: string): boolean {
  return (NODE_COMMANDS as readonly string[]).includes(name);
}
