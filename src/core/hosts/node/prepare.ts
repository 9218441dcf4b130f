/**
 * The policy of a call to a node: the node looks at the command with its own files and its own rules under what the
 * gateway demands, and the stricter of both counts. What the node says is checked here as far as it can be; it can make
 * a decision stricter, never looser than this gateway's policy.
 */
import { ExecError } from "../../errors.ts";
import { isBindingOf } from "../../policy/binding.ts";
import type { Decision } from "../../policy/decision.ts";
import type { GatewayPolicy, NodeTarget } from "../../policy/node-target.ts";
import { strictestAsk, strictestSecurity } from "../../policy/resolve.ts";
import type { EffectivePolicy } from "../../policy/types.ts";
import { phrase } from "../../words/phrase.ts";
import { NodeTimeout } from "./node-host.ts";
import type { NodeLink, Prepared, PrepareRequest } from "./types.ts";

/** The node resolves programs and hashes scripts meanwhile. */
export const PREPARE_TIMEOUT_MS = 15_000;

export interface NodeQuery {
  /** What the decision is to be worth one run of. */
  readonly runId: string;
  readonly command: string;
  /** As given with the call; absent: the node's own default, never a directory of this machine. */
  readonly workdir?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly policy: EffectivePolicy;
  /** How long somebody may take to decide it. */
  readonly ttlMs: number;
}

export interface JudgedOnNode {
  readonly cwd: string;
  readonly policy: EffectivePolicy;
  readonly decision: Decision;
  readonly node: NodeTarget;
}

export interface PrepareParts {
  readonly parsePrepared: (payload: unknown) => Prepared;
  /** Is it this node's word on exactly this run? */
  readonly isTicketFor: (ticket: string, link: NodeLink, query: NodeQuery, bindings: readonly string[]) => boolean;
}

export async function judgeOnNode(link: NodeLink, query: NodeQuery, parts: PrepareParts): Promise<JudgedOnNode> {
  const gatewayPolicy = policyForNode(query.policy);
  const request: PrepareRequest = {
    runId: query.runId,
    command: query.command,
    env: query.env,
    agentId: query.agentId,
    sessionKey: query.sessionKey,
    policy: gatewayPolicy,
    ttlMs: query.ttlMs,
    ...(query.workdir === undefined ? {} : { cwd: query.workdir }),
  };
  const prepared = await ask(link, request, parts);
  const policy = merged(query.policy, prepared);
  const decision = noLooser(prepared.decision, policy);
  if (decision.kind === "deny") {
    return {
      cwd: prepared.cwd,
      policy,
      decision,
      node: { id: link.nodeId, name: link.name, ticket: "", policy: gatewayPolicy },
    };
  }
  const { ticket } = prepared;
  const about = {
    command: query.command,
    cwd: prepared.cwd,
    host: "node",
    agentId: query.agentId,
    env: query.env,
  } as const;
  const pinned = decision.kind === "ask" ? decision.pinned : undefined;
  const bound = [decision, ...(pinned ? [pinned] : [])];
  const bindings = bound.map((one) => one.binding.hash);
  const holds =
    bound.every((one) => isBindingOf(one.binding, { ...about, plan: one.plan })) &&
    ticket !== undefined &&
    parts.isTicketFor(ticket, link, query, bindings);
  if (!holds || ticket === undefined) {
    throw new ExecError("host-unavailable", phrase("error.node.nonsense", { node: link.name }));
  }
  return {
    cwd: prepared.cwd,
    policy,
    decision,
    node: { id: link.nodeId, name: link.name, ticket, policy: gatewayPolicy },
  };
}

async function ask(link: NodeLink, request: PrepareRequest, parts: PrepareParts): Promise<Prepared> {
  let payload: unknown;
  try {
    payload = await link.invoke("system.run.prepare", request, PREPARE_TIMEOUT_MS);
  } catch (error) {
    if (error instanceof NodeTimeout) {
      throw new ExecError("host-unavailable", phrase("error.node.silent", { node: link.name }));
    }
    throw error;
  }
  try {
    return parts.parsePrepared(payload);
  } catch {
    throw new ExecError("host-unavailable", phrase("error.node.nonsense", { node: link.name }));
  }
}

export function policyForNode(policy: EffectivePolicy): GatewayPolicy {
  return {
    security: policy.security.value,
    ask: policy.ask.value,
    askFallback: policy.askFallback.value,
    autoReview: policy.autoReview,
    strictInlineEval: policy.strictInlineEval,
    argumentGuard: policy.argumentGuard,
    strictBinding: policy.strictBinding,
    safeBins: policy.safeBins,
    safeBinTrustedDirs: policy.safeBinTrustedDirs,
    safeBinProfiles: policy.safeBinProfiles,
  };
}

/** The stricter of both, value by value. */
function merged(own: EffectivePolicy, there: Prepared): EffectivePolicy {
  const from = "host-file:defaults";
  const security = strictestSecurity(own.security, { value: there.security, from });
  const ask = strictestAsk(own.ask, { value: there.ask, from });
  return {
    ...own,
    security,
    ask,
    askFallback: strictestSecurity(own.askFallback, { value: there.askFallback, from }),
    autoReview: own.autoReview && security === own.security && ask === own.ask,
    bypass: false,
    allowlist: [],
  };
}

/** What no honest node of this version answers is not believed. */
function noLooser(decision: Decision, policy: EffectivePolicy): Decision {
  if (policy.security.value === "deny" && decision.kind !== "deny") {
    return { kind: "deny", reasons: [{ code: "security-deny" }], segments: [], layer: policy.security.from };
  }
  if (decision.kind === "allow" && policy.ask.value === "always") {
    return {
      ...decision,
      kind: "ask",
      reasons: [{ code: "ask-always" }],
      offered: ["allow-once", "deny"],
      alwaysStores: [],
      reviewable: false,
      explicitOnly: true,
    };
  }
  return decision;
}
