/**
 * What the HTTP and WebSocket server needs from the composition root. The server knows transport, authentication
 * and framing; everything it answers comes through this interface.
 */
import type { RequestListener } from "node:http";
import type { Logger } from "pino";
import type { WebSocket } from "ws";
import type { ToolDescription } from "../agents/tool-schemas.ts";
import type { WebChats } from "../channels/web/chats.ts";
import type { Audit } from "../core/audit/audit.ts";
import type { Clock, NewId } from "../core/clock.ts";
import type { CronJob, CronRequest, ListedCronJob } from "../core/events/cron.ts";
import type { DeadLetterDesk } from "../core/events/dead-letters.ts";
import type { ApprovalDecision } from "../core/policy/types.ts";
import type { Actor } from "../core/route.ts";
import type {
  ChannelReport,
  CompletionItem,
  MethodResults,
  NodeEntry,
  PairingEntry,
  PendingApproval,
  PendingNodeEntry,
} from "../protocol/frames.ts";
import type { TokenGate } from "./auth.ts";
import type { ServerLimits } from "./limits.ts";
import type { GatewayMetrics } from "./metrics.ts";
import type { Peer } from "./peer.ts";
import type { QueueBoard } from "./queue-board.ts";
import type { Refusals } from "./refusals.ts";

export interface ServerAuth {
  /** Absent: anybody on this machine may use the gateway (`gateway.auth.mode: "none"`); the server then binds loopback only. */
  readonly token: string | undefined;
  /** Origins of other pages that may talk to the gateway, `https://chat.example.org`. */
  readonly allowedOrigins: readonly string[];
  /** Host names under which the gateway may be reached besides loopback, IP literals and the hosts of `allowedOrigins`. */
  readonly allowedHosts: readonly string[];
}

export interface ToolCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly agentId?: string;
  readonly sessionKey?: string;
  /** Who calls: holder of the token, over HTTP (`api`), a terminal (`cli`) or the web chat. */
  readonly actor: Actor;
  /** The caller has gone: a command in the foreground is stopped, one in the background lives on. */
  readonly signal?: AbortSignal;
}

export interface ToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly details: unknown;
}

export interface ReadinessCheck {
  readonly name: string;
  readonly ok: boolean;
  /** For holders of the token only. */
  readonly detail?: string;
}

export interface ServerDeps {
  readonly version: string;
  readonly gatewayId: string;
  readonly startedAtMs: number;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
  readonly auth: ServerAuth;
  readonly metrics: GatewayMetrics;
  readonly audit: Audit;
  readonly webChats: WebChats;
  /**
   * Request URLs of chat platforms, by path. They come through a proxy under its public name and are checked by their
   * own signature, so the page's Host, Origin and token rules do not apply to them.
   */
  readonly platformRequests?: ReadonlyMap<string, RequestListener>;
  /** Opens Bull Board; absent: there is nothing at `/queues`. */
  readonly openQueueBoard?: () => Promise<QueueBoard>;
  /** The built page; absent: `dist/web` of this package. */
  readonly staticDir?: string;

  complete(text: string, actor: Actor): Promise<readonly CompletionItem[]>;
  /** Rejects with `not-found` for a run nobody knows. `offset` and `limit` count lines. */
  runLog(request: {
    readonly runId: string;
    readonly offset?: number;
    readonly limit?: number;
  }): Promise<MethodResults["run.log"]>;
  readonly recordings: {
    list(): Promise<MethodResults["recordings.list"]>;
    /** Rejects with `not-found` for a run that was not recorded, or not kept. */
    read(request: { readonly runId: string; readonly offset?: number }): Promise<MethodResults["recordings.read"]>;
  };
  /** Rejects with an `ExecError`; a command that ran and failed is a result, not a rejection. */
  invokeTool(call: ToolCall): Promise<ToolResult>;
  /** What may be called for this agent. Rejects with `invalid-argument` when there is no such agent. */
  listTools(agentId: string | undefined): Promise<readonly ToolDescription[]>;
  listApprovals(): Promise<readonly PendingApproval[]>;
  resolveApproval(request: {
    readonly id: string;
    readonly decision: ApprovalDecision;
    readonly comment?: string;
    readonly actor: Actor;
  }): Promise<MethodResults["approvals.resolve"]>;
  readonly cron: {
    list(): Promise<readonly ListedCronJob[]>;
    add(
      request: CronRequest & { readonly agentId?: string; readonly chatId?: string },
      by: Actor,
    ): Promise<ListedCronJob>;
    remove(job: string): Promise<CronJob>;
    run(job: string): Promise<CronJob>;
  };
  readonly deadLetters: DeadLetterDesk;
  readonly pairing: {
    list(channel?: string): Promise<readonly PairingEntry[]>;
    approve(code: string, by: Actor): Promise<PairingEntry>;
    dismiss(code: string, by: Actor): Promise<PairingEntry>;
  };
  readonly nodes: NodeDesk;
  channelReports(): readonly ChannelReport[];
  readiness(): Promise<{ readonly ready: boolean; readonly checks: readonly ReadinessCheck[] }>;
}

/** Nodes as the server and its clients see them. */
export interface NodeDesk {
  /** A socket of `/ws/node`; the door has let it in, nothing more is known of it. */
  accept(socket: WebSocket, peer: Peer, door: NodeDoor): void;
  /** Sockets that are open now, let in or not. */
  readonly sockets: number;
  list(): Promise<MethodResults["nodes.list"]>;
  code(by: Actor): Promise<MethodResults["nodes.code"]>;
  approve(request: string, by: Actor): Promise<NodeEntry>;
  reject(request: string, by: Actor): Promise<PendingNodeEntry>;
  remove(node: string, by: Actor): Promise<NodeEntry>;
  rename(node: string, name: string, by: Actor): Promise<NodeEntry>;
  /** Refuses to run commands: that takes the exec tool, with its policy and approvals. */
  invoke(request: {
    readonly node: string;
    readonly command: string;
    readonly params: Readonly<Record<string, unknown>>;
    readonly timeoutMs: number;
  }): Promise<unknown>;
}

/** What a new socket of a node is met with. */
export interface NodeDoor {
  readonly limits: Pick<ServerLimits, "connectDeadlineMs" | "tickMs" | "maxBufferedBytes">;
  readonly gate: TokenGate;
  readonly refusals: Pick<Refusals, "note">;
}

export interface ListenOptions {
  /** Address to bind: `127.0.0.1`, `::1`, `0.0.0.0`, an interface's address. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** From the configuration; absent values are `DEFAULT_LIMITS` of limits.ts. */
  readonly limits?: Partial<ServerLimits>;
}

export interface RunningServer {
  /** `http://127.0.0.1:18789`, an address a person on this machine can open. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Tells clients, refuses new work, waits up to `drainMs` for calls at work, then closes everything. */
  close(options: { readonly drainMs: number; readonly reason?: string }): Promise<void>;
}
