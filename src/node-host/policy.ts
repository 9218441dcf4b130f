/**
 * This node's own word on commands: what its exec-approvals.json says, under what the gateway demands; the stricter
 * wins. Asked twice for every run: when it is prepared, and again right before it starts.
 */
import type { KeyObject } from "node:crypto";
import type { ApprovalsFile } from "../core/approvals/approvals-file.ts";
import type { Clock } from "../core/clock.ts";
import { type ErrorCode, ExecError } from "../core/errors.ts";
import { checkEnvOverrides } from "../core/exec/env.ts";
import { cachedFileFacts, freshFileFacts } from "../core/exec/file-facts.ts";
import { preflight } from "../core/exec/preflight.ts";
import { resolveWorkdir } from "../core/exec/workdir.ts";
import type { NodeRunRequest, Prepared, PrepareRequest } from "../core/hosts/node/types.ts";
import { recheckBinding } from "../core/policy/binding.ts";
import { decide, fallbackFor } from "../core/policy/decide.ts";
import type { Decision } from "../core/policy/decision.ts";
import type { GatewayPolicy } from "../core/policy/node-target.ts";
import { layerPhrase, reasonPhrase } from "../core/policy/reasons.ts";
import { resolvePolicy, strictestSecurity } from "../core/policy/resolve.ts";
import type { AllowlistEntry, EffectivePolicy, FileFacts } from "../core/policy/types.ts";
import { type Phrase, phrase } from "../core/words/phrase.ts";
import { publicKeyOf } from "../protocol/device-auth.ts";
import { issueTicket, readTicket } from "../protocol/run-ticket.ts";

/** A decision may be acted on this long after the time the gateway gives people to answer. */
const TICKET_MARGIN_MS = 10 * 60_000;
/** And never longer than this: the once-marker of a run is kept for seven days. */
export const MAX_TICKET_MS = 48 * 3_600_000;

/** Why a run was refused here (hosts.md 4.6). */
export type Denial =
  | "security=deny"
  | "approval-required"
  | "allowlist-miss"
  | "execution-plan-miss"
  | "cwd-unavailable"
  | "ticket-invalid"
  | "duplicate"
  | "cancelled";

export interface NodePolicyOptions {
  readonly approvalsFile: ApprovalsFile;
  readonly deviceId: string;
  readonly privateKey: KeyObject;
  readonly publicKey: string;
  readonly clock: Clock;
  /** Folders that programs are looked up in. */
  readonly path: () => readonly string[];
  readonly home: string;
  /** Where commands start that name no directory. */
  readonly workspace: string;
}

export interface Cleared {
  /** Rules to keep once it has been taken: a person allowed it always. */
  readonly grants: readonly AllowlistEntry[];
  readonly decision: Decision;
}

export class NodePolicy {
  readonly #options: NodePolicyOptions;
  readonly #cached: FileFacts;

  constructor(options: NodePolicyOptions) {
    this.#options = options;
    this.#cached = cachedFileFacts(options.clock);
  }

  async prepare(request: PrepareRequest, gatewayId: string): Promise<Prepared> {
    const { workspace, clock, privateKey, deviceId } = this.#options;
    checkEnvOverrides(request.env, "node");
    const cwd = resolveWorkdir(request.cwd, workspace);
    const policy = this.#policy(request.agentId, request.policy);
    const decision = this.#decide({ ...request, cwd }, policy, this.#cached);
    const answer = {
      cwd,
      decision,
      security: policy.security.value,
      ask: policy.ask.value,
      askFallback: policy.askFallback.value,
    };
    if (decision.kind === "deny") return answer;
    if (decision.kind === "ask" || policy.security.value !== "full") await preflight(request.command, cwd);
    const pinned = decision.kind === "ask" ? decision.pinned : undefined;
    const ticket = issueTicket(
      {
        v: 1,
        device: deviceId,
        gateway: gatewayId,
        run: request.runId,
        agent: request.agentId,
        session: request.sessionKey,
        bindings: [decision.binding.hash, ...(pinned ? [pinned.binding.hash] : [])],
        expires: clock.now() + Math.min(MAX_TICKET_MS, request.ttlMs + TICKET_MARGIN_MS),
      },
      privateKey,
    );
    return { ...answer, ticket };
  }

  /** @throws ExecError when it must not run. Nothing is remembered of it here. */
  clear(run: NodeRunRequest, gatewayId: string): Cleared {
    this.#checkTicket(run, gatewayId);
    checkEnvOverrides(run.env, "node");
    const policy = this.#policy(run.agentId, run.policy);
    if (policy.security.value === "deny") {
      throw denied(
        "security=deny",
        phrase("error.exec.denied", {
          why: reasonPhrase({ code: "security-deny" }),
          layer: layerPhrase(policy.security.from),
        }),
      );
    }
    const facts = freshFileFacts();
    const changed = recheckBinding(run.binding, { ...run, host: "node" }, facts);
    if (changed) {
      const reason: Denial = changed.code === "changed-directory" ? "cwd-unavailable" : "execution-plan-miss";
      throw denied(reason, reasonPhrase(changed), "approval-changed");
    }
    const decision = this.#decide(run, policy, facts);
    this.#checkConsent(run, decision, policy);
    const always = decision.kind === "ask" && run.consent?.decision === "allow-always";
    return { decision, grants: always && decision.offered.includes("allow-always") ? decision.alwaysStores : [] };
  }

  #checkTicket(run: NodeRunRequest, gatewayId: string): void {
    const { deviceId, publicKey, clock } = this.#options;
    const key = publicKeyOf(publicKey);
    const claims = key && readTicket(run.ticket, key);
    const good =
      claims !== undefined &&
      claims.device === deviceId &&
      claims.gateway === gatewayId &&
      claims.run === run.runId &&
      claims.agent === run.agentId &&
      claims.session === run.sessionKey &&
      claims.bindings.includes(run.binding.hash) &&
      claims.expires > clock.now() &&
      claims.expires - clock.now() <= MAX_TICKET_MS;
    if (!good) throw denied("ticket-invalid", phrase("error.nodeRun.ticket"));
  }

  #checkConsent(run: NodeRunRequest, decision: Decision, policy: EffectivePolicy): void {
    const { consent } = run;
    if (decision.kind === "deny") {
      const [first] = decision.reasons;
      throw denied(
        "allowlist-miss",
        phrase("error.exec.denied", {
          why: first ? reasonPhrase(first) : phrase("error.exec.policy"),
          layer: layerPhrase(decision.layer),
        }),
      );
    }
    const byPerson = consent?.decision === "allow-once" || consent?.decision === "allow-always";
    // What a person has seen may run as they have seen it; the binding was compared above.
    if (byPerson) return;
    if (decision.kind === "allow") {
      if (decision.binding.hash === run.binding.hash) return;
      throw denied("execution-plan-miss", phrase("error.nodeRun.changed"), "approval-changed");
    }
    if (consent?.decision === "reviewed" && decision.reviewable && policy.autoReview) return;
    if (consent?.decision === "fallback") {
      const fallback = fallbackFor(decision, policy.askFallback.value);
      if (fallback && fallback !== "denied" && fallback.binding.hash === run.binding.hash) return;
    }
    throw denied("approval-required", phrase("error.nodeRun.approvalRequired"));
  }

  #policy(agentId: string, asked: GatewayPolicy): EffectivePolicy {
    const { security, ask, askFallback, autoReview, ...flags } = asked;
    const policy = resolvePolicy({
      host: "node",
      config: { ...flags, ...(autoReview ? { mode: "auto" } : { security, ask }) },
      hostFile: this.#options.approvalsFile.policyFor(agentId),
    });
    const gateway = { value: askFallback, from: "config:tools.exec" } as const;
    return { ...policy, askFallback: strictestSecurity(policy.askFallback, gateway) };
  }

  #decide(
    run: Pick<NodeRunRequest, "command" | "cwd" | "agentId" | "env">,
    policy: EffectivePolicy,
    facts: FileFacts,
  ): Decision {
    const { command, cwd, agentId, env } = run;
    const { path, home } = this.#options;
    return decide({ command, cwd, agentId, env, host: "node", policy, path: path(), home, facts });
  }
}

/** The text starts with what tools look for; the rest is for people. */
export function denied(reason: Denial, why: Phrase, code: ErrorCode = "exec-denied"): ExecError {
  return new ExecError(code, why, { code: "SYSTEM_RUN_DENIED", reason });
}
