/**
 * The policy as the gateway asks it: layers are collected here (config, agent, session, host file, call) and judged by
 * the pure functions of `core/policy`. Also what `/exec` without arguments and `/exec explain` show.
 */

import type { CommandScope, PolicyField } from "../commands/services.ts";
import type { ApprovalsFile } from "../core/approvals/approvals-file.ts";
import type { Card } from "../core/cards.ts";
import type { Config } from "../core/config/schema.ts";
import type { DecideQuery, PolicyQuery } from "../core/exec/exec-tool.ts";
import { agentSettings, findAgent } from "../core/exec/settings.ts";
import { decide } from "../core/policy/decide.ts";
import type { Decision } from "../core/policy/decision.ts";
import { planText } from "../core/policy/explain.ts";
import { explainLayer, explainReason } from "../core/policy/reasons.ts";
import { displayMode, resolvePolicy } from "../core/policy/resolve.ts";
import type { EffectivePolicy, FileFacts } from "../core/policy/types.ts";
import type { Sessions } from "../core/sessions/sessions.ts";
import type { SearchPath } from "./search-path.ts";

export interface PolicyServiceOptions {
  readonly config: () => Config;
  readonly stateDir: string;
  readonly home: string;
  readonly sessions: Sessions;
  readonly approvalsFile: ApprovalsFile;
  /** May answer from a short cache: what is decided is checked again, uncached, right before it runs. */
  readonly facts: FileFacts;
  /** The gateway's PATH, frozen once it is known. */
  readonly searchPath: SearchPath;
}

export interface PolicyService {
  resolve(query: PolicyQuery): Promise<EffectivePolicy>;
  decide(query: DecideQuery): Decision;
  fields(scope: CommandScope): Promise<readonly PolicyField[]>;
}

export function createPolicyService(options: PolicyServiceOptions): PolicyService {
  async function resolve(query: PolicyQuery): Promise<EffectivePolicy> {
    const config = options.config();
    await options.searchPath.ready();
    const session = await options.sessions.overrides(query.sessionKey);
    return resolvePolicy({
      host: query.host,
      config: config.tools.exec,
      agent: findAgent(config, query.agentId)?.tools?.exec ?? {},
      session: {
        ...(session.security ? { security: session.security } : {}),
        ...(session.ask ? { ask: session.ask } : {}),
      },
      hostFile: options.approvalsFile.policyFor(query.agentId),
      call: { fromChannel: query.fromChannel, ...(query.callAsk ? { ask: query.callAsk } : {}) },
      elevatedFull: query.elevatedFull ?? false,
    });
  }

  return {
    resolve,

    decide: (query) =>
      decide({ ...query, path: options.searchPath.folders(), home: options.home, facts: options.facts }),

    async fields(scope) {
      const config = options.config();
      const settings = agentSettings(config, scope.agentId, options.stateDir);
      const overrides = await options.sessions.overrides(scope.sessionKey);
      const policy = await resolve({ ...scope, host: "gateway", fromChannel: true });
      const ownExec = findAgent(config, scope.agentId)?.tools?.exec;
      const from = (key: "host" | "node") =>
        overrides[key] !== undefined
          ? explainLayer("session:/exec")
          : ownExec?.[key] !== undefined
            ? explainLayer("config:agent")
            : config.tools.exec[key] !== undefined
              ? explainLayer("config:tools.exec")
              : explainLayer("default");
      const node = overrides.node ?? settings.exec.node;
      return [
        {
          label: "mode",
          value: displayMode(policy.security.value, policy.ask.value, policy.autoReview),
          note: "the two below in one word",
        },
        { label: "security", value: policy.security.value, note: explainLayer(policy.security.from) },
        { label: "ask", value: policy.ask.value, note: explainLayer(policy.ask.from) },
        { label: "host", value: overrides.host ?? settings.exec.host ?? "auto", note: from("host") },
        { label: "node", value: node ?? "not set", note: from("node") },
        { label: "workdir", value: settings.workspace, note: `agent ${settings.agentId}` },
      ];
    },
  };
}

/** `/exec explain`: decision, reasons, what matched, what would run, what "always" would store. */
export function explainCard(command: string, decision: Decision): Card {
  const verdict = {
    allow: "It would run without asking",
    ask: "It would ask first",
    deny: "It would be refused",
  }[decision.kind];
  const fields = [
    ...decision.reasons.map((reason) => ({ label: "because", value: explainReason(reason) })),
    ...decision.segments.map((segment) => ({
      label: segment.argv[0] ?? "?",
      value: segment.satisfiedBy === "none" ? "no rule matches" : `matched by ${segment.satisfiedBy}`,
      ...(segment.realPath ? { note: segment.realPath } : {}),
    })),
    ...(decision.kind === "deny" ? [] : [{ label: "would run", value: planText(decision.plan) }]),
    ...(decision.kind === "ask" && decision.alwaysStores.length > 0
      ? decision.alwaysStores.map((entry) => ({
          label: "always stores",
          value: entry.pattern,
          note: "with exactly these arguments, in this directory",
        }))
      : []),
  ];
  return {
    kind: "text",
    tone: decision.kind === "allow" ? "success" : decision.kind === "ask" ? "info" : "warning",
    title: verdict,
    code: command,
    fields,
    hint: "Nothing was run.",
  };
}
