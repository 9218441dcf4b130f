/**
 * What the audit trail keeps. A closed set: every event says who and from where, and never carries the value of an
 * environment variable. Command text is kept, with secrets masked before it is hashed.
 */
import type { RunOutcome } from "../cards.ts";
import type { ErrorCode } from "../errors.ts";
import type { Plan, ReasonCode } from "../policy/decision.ts";
import type { ApprovalDecision, Ask, EffectiveHost, Security } from "../policy/types.ts";
import type { Actor, Route } from "../route.ts";
import type { ChangedValue, PolicySource } from "./policy-change.ts";

export type AuditEvent =
  | {
      readonly type: "gateway-started";
      readonly version: string;
      readonly pid: number;
      /** Where it listens; absent for a call that runs without a server. */
      readonly url?: string;
    }
  | { readonly type: "gateway-stopped"; readonly reason: string }
  /** Someone asked for a command to run; what the policy says follows as `decision` with the same `requestId`. */
  | {
      readonly type: "request";
      readonly requestId: string;
      readonly actor: Actor;
      readonly agentId: string;
      readonly sessionKey: string;
      readonly tool: string;
      readonly command: string;
      readonly cwd?: string;
      readonly host?: EffectiveHost;
      /** Names only. */
      readonly envKeys?: readonly string[];
      readonly route?: Route;
    }
  | {
      readonly type: "decision";
      readonly requestId: string;
      readonly outcome: "allow" | "ask" | "deny";
      readonly reasons: readonly ReasonCode[];
      readonly security?: Security;
      readonly ask?: Ask;
      /** The automatic reviewer or the policy itself. */
      readonly by?: "policy" | "reviewer";
    }
  | {
      readonly type: "approval-requested";
      readonly approvalId: string;
      readonly requestId: string;
      readonly offered: readonly ApprovalDecision[];
      readonly expiresAtMs: number;
    }
  | {
      readonly type: "approval-resolved";
      readonly approvalId: string;
      readonly state: "allowed" | "denied" | "expired" | "cancelled";
      readonly decision?: ApprovalDecision;
      readonly actor: Actor;
      /** The conversation the answer came from. */
      readonly route?: Route;
      readonly comment?: string;
    }
  /** Somebody who may decide it put it off; it is asked again then. */
  | {
      readonly type: "approval-snoozed";
      readonly approvalId: string;
      readonly untilMs: number;
      readonly actor: Actor;
      readonly route?: Route;
    }
  /** Nobody had decided it, and somebody asked the same once more. */
  | {
      readonly type: "approval-asked-again";
      readonly approvalId: string;
      /** Absent: by now it ran without asking. */
      readonly newApprovalId?: string;
      readonly actor: Actor;
    }
  /** A rule was added to or removed from the allowlist. */
  | {
      readonly type: "allowlist-changed";
      readonly change: "added" | "removed";
      readonly agentId: string;
      readonly patterns: readonly string[];
      readonly actor: Actor;
      readonly approvalId?: string;
    }
  | {
      readonly type: "run-started";
      readonly runId: string;
      readonly requestId: string;
      readonly approvalId?: string;
      readonly command: string;
      readonly cwd: string;
      readonly host: EffectiveHost;
      readonly node?: { readonly id: string; readonly name: string };
      readonly plan?: Plan["kind"];
      /** Hash of what was decided on: must equal what ran. */
      readonly bindingHash?: string;
      readonly pid?: number;
    }
  | {
      readonly type: "run-ended";
      readonly runId: string;
      readonly outcome: RunOutcome;
      readonly exitCode?: number | null;
      readonly exitSignal?: string | null;
      readonly durationMs?: number;
    }
  /** How a `request` for the tool `apply_patch` ended. The patch itself is not kept. */
  | {
      readonly type: "patch-ended";
      readonly requestId: string;
      readonly outcome: "applied" | "failed";
      /** SHA-256 (hex) of the patch's text. */
      readonly patchHash: string;
      /** `A path`, `M path` or `D path`; of a large patch only the first, `fileCount` counts all. */
      readonly files: readonly string[];
      readonly fileCount: number;
      readonly error?: ErrorCode | "aborted";
    }
  /** Someone reached into a running command: keys, input, kill. What was typed is not kept. */
  | {
      readonly type: "run-touched";
      readonly runId: string;
      readonly action: string;
      readonly actor: Actor;
      /** UTF-16 units of input. */
      readonly inputChars?: number;
    }
  /** A machine was paired as a node, is no longer one, or may be used for more. */
  | {
      readonly type: "node-changed";
      readonly change: "paired" | "widened" | "rejected" | "removed" | "renamed";
      readonly nodeId: string;
      readonly name: string;
      readonly commands: readonly string[];
      readonly by?: Actor;
      /** What let it in without anybody being asked. */
      readonly why?: string;
    }
  | { readonly type: "config-changed"; readonly paths: readonly string[]; readonly actor: Actor }
  /** What may run, or who may decide about it, is not what it was. */
  | {
      readonly type: "policy-changed";
      readonly source: PolicySource;
      readonly changes: readonly ChangedValue[];
      readonly actor: Actor;
    }
  | { readonly type: "access-granted"; readonly actor: Actor; readonly grant: string; readonly by: Actor }
  /** Somebody who asked to be let in was not. They may ask again. */
  | { readonly type: "access-dismissed"; readonly actor: Actor; readonly by: Actor }
  | {
      readonly type: "access-refused";
      readonly surface: "http" | "websocket" | "channel";
      readonly reason: string;
      /** Network address of the peer, for http and websocket. */
      readonly address?: string;
      readonly actor?: Actor;
      readonly route?: Route;
    };

/** One link of the chain. `hash` is SHA-256 (hex) over the canonical JSON of `{seq, prevHash, atMs, event}`. */
export interface AuditEntry {
  readonly seq: number;
  /** Hash of the entry before; 64 zeros for the first. */
  readonly prevHash: string;
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly event: AuditEvent;
}

/** The last link that was written, kept apart from the log so that a log cut short at its end is noticed. */
export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

export interface AuditPage {
  readonly gatewayId: string;
  readonly entries: readonly AuditEntry[];
  readonly head: AuditHead | undefined;
}
