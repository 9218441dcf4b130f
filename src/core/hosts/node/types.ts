/** What the gateway and a node say to each other about commands. The frames around it are in `protocol/node-frames.ts`. */
import type { Binding, Decision, Plan } from "../../policy/decision.ts";
import type { GatewayPolicy, RunConsent } from "../../policy/node-target.ts";
import type { Ask, Security } from "../../policy/types.ts";
import type { EndReason, StreamName } from "../../process/types.ts";
import type { Wording } from "../../words/phrase.ts";

/** Commands a node can have. `system.run` is of use only together with `system.run.prepare`. */
export const NODE_COMMANDS = ["system.run", "system.run.prepare", "system.which"] as const;
export type NodeCommand = (typeof NODE_COMMANDS)[number];

/** `system.run.prepare` */
export interface PrepareRequest {
  readonly runId: string;
  readonly command: string;
  /** Absent: the node's own default directory. */
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly policy: GatewayPolicy;
  /** How long the decision may be acted on. */
  readonly ttlMs: number;
}

export interface Prepared {
  /** Real path on the node. */
  readonly cwd: string;
  readonly decision: Decision;
  /** What counts there: the stricter of both. */
  readonly security: Security;
  readonly ask: Ask;
  readonly askFallback: Security;
  /** Absent when it is denied. */
  readonly ticket?: string;
}

/** `system.run` */
export interface NodeRunRequest {
  readonly runId: string;
  readonly command: string;
  readonly plan: Plan;
  readonly binding: Binding;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** `OPENCLAW_CHANNEL_CONTEXT`, where there is a conversation. */
  readonly channelContext?: string;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly policy: GatewayPolicy;
  readonly ticket: string;
  readonly consent?: RunConsent;
  readonly pty: boolean;
  readonly stdin: "closed" | "open";
  readonly timeoutMs?: number;
}

export interface NodeRunStarted {
  readonly pty: boolean;
  readonly stdinWritable: boolean;
  readonly warnings: readonly string[];
}

/** How a run on a node ended. */
export interface NodeRunEnd {
  readonly reason: EndReason;
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
  readonly notes: readonly Wording[];
  /** The `seq` of its last piece of output; 0: there was none. */
  readonly lastSeq: number;
  /** Its end, for a gateway that has not seen the pieces. */
  readonly tail: string;
}

/** A run the node still knows when it comes back. */
export type KnownRun =
  | { readonly runId: string; readonly state: "running"; readonly started: NodeRunStarted }
  | { readonly runId: string; readonly state: "ended"; readonly end: NodeRunEnd };

/** From the gateway about a run. */
export type RunOrder =
  | {
      readonly kind: "input";
      readonly runId: string;
      readonly id: number;
      readonly data: string;
      readonly end: boolean;
    }
  | { readonly kind: "resize"; readonly runId: string; readonly cols: number; readonly rows: number }
  | { readonly kind: "stop"; readonly runId: string; readonly reason: "manual-cancel" | "overall-timeout" | "shutdown" }
  /** Everything up to `seq` has arrived; the node need not keep it. */
  | { readonly kind: "ack"; readonly runId: string; readonly seq: number }
  /** After a reconnect: send what comes after `seq` (again). */
  | { readonly kind: "resume"; readonly runId: string; readonly seq: number }
  /** The end is recorded; the node may forget the run but for its once-marker. */
  | { readonly kind: "settled"; readonly runId: string };

/** From the node about a run. */
export type RunReport =
  | {
      readonly kind: "output";
      readonly runId: string;
      /** 1, 2, 3 … per run. */
      readonly seq: number;
      readonly stream: StreamName;
      readonly data: Buffer;
    }
  | {
      readonly kind: "input-taken";
      readonly runId: string;
      readonly id: number;
      readonly error?: string;
      readonly queued: number;
      readonly writable: boolean;
    }
  | { readonly kind: "ended"; readonly runId: string; readonly end: NodeRunEnd };

/** One connected node, as the rest of the gateway sees it. */
export interface NodeLink {
  readonly nodeId: string;
  readonly name: string;
  readonly platform: string;
  readonly version: string;
  readonly address: string;
  readonly connectedAtMs: number;
  /** base64url of the raw key. */
  readonly publicKey: string;
  /** Declared, approved and not forbidden here. */
  readonly commands: ReadonlySet<string>;
  /**
   * Rejects with an `ExecError`: the node's own refusal, `host-unavailable` when the connection went before the answer,
   * or with `NodeTimeout` when none came in time; the node was told to drop it then.
   */
  invoke(command: string, params: unknown, timeoutMs: number): Promise<unknown>;
  order(order: RunOrder): void;
  /** Idempotent. */
  close(why: "replaced" | "removed" | "restart" | "protocol", reason: string): void;
}
