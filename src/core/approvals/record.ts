/** The durable record of one question to a person. Cards, `/approve`, CLI and web are views of it. */
import type { ApprovalState } from "../cards.ts";
import type { Binding, Plan, Reason } from "../policy/decision.ts";
import type { NodeTarget } from "../policy/node-target.ts";
import type { AllowlistEntry, ApprovalDecision, Ask, EffectiveHost, Security } from "../policy/types.ts";
import type { Actor, Route } from "../route.ts";
import type { Wording } from "../words/phrase.ts";

/** What was asked, frozen. An approval is worth exactly this and nothing else. */
export interface ApprovalRequest {
  readonly command: string;
  /** For the reader alone: what shells inside it would run, unquoted. */
  readonly inner?: readonly string[];
  readonly cwd: string;
  readonly host: EffectiveHost;
  readonly node?: NodeTarget;
  readonly env: Readonly<Record<string, string>>;
  readonly plan: Plan;
  readonly binding: Binding;
  readonly reasons: readonly Reason[];
  readonly highlights: readonly { readonly start: number; readonly end: number }[];
  readonly warnings: readonly Wording[];
  readonly offered: readonly ApprovalDecision[];
  readonly alwaysStores: readonly AllowlistEntry[];
  readonly security: Security;
  readonly ask: Ask;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly requester: Actor;
  readonly route?: Route;
  readonly pty: boolean;
  readonly stdin: "closed" | "open";
  readonly timeoutMs?: number;
  readonly notifyOnExit: boolean;
  /** What `askFallback` lets run when nobody answers in time (policy.md 2.4). Absent: nothing does. */
  readonly fallback?: { readonly plan: Plan; readonly binding: Binding };
}

/** Put off in one of the places that show it. */
export interface Snooze {
  readonly by: Actor;
  readonly untilMs: number;
  /** Where the card stood: it is asked again there. */
  readonly at: Route;
  /** It has been asked again. */
  readonly over?: true;
}

export interface ApprovalRecord {
  readonly id: string;
  /** Fixed before anybody is asked, so that the run's once-marker is the same whoever starts it. */
  readonly runId: string;
  readonly status: ApprovalState;
  readonly request: ApprovalRequest;
  /** The gateway that asked: only it may run the command. */
  readonly gatewayId: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly decision?: ApprovalDecision;
  readonly decidedBy?: Actor;
  readonly decidedAtMs?: number;
  readonly comment?: string;
  /** Somebody took back what "Allow always" had stored. */
  readonly revoked?: { readonly by: Actor; readonly atMs: number };
  /** At most one for each place. */
  readonly snoozes?: readonly Snooze[];
  /** Somebody asked the same once more, after nobody had decided it; `id` of the new request, when there had to be one. */
  readonly askedAgain?: { readonly by: Actor; readonly atMs: number; readonly id?: string };
  /** Shown under the card: what became of it. */
  readonly statusLine?: Wording;
  /** Every place the card was sent to. */
  readonly shownAt: readonly Route[];
  /** Those of them that did not take it: nobody there has seen it. */
  readonly lostAt?: readonly Route[];
}

/** Nobody decided it and it did not run: the same may be asked once more. */
export function isAskable({ status, request, askedAgain }: ApprovalRecord): boolean {
  if (askedAgain) return false;
  return status === "cancelled" || (status === "expired" && request.fallback === undefined);
}

/** What a person types: the first 8 characters of the id (decisions.md D13). */
export function slugOf(id: string): string {
  return id.slice(0, 8);
}
