/**
 * The policy as the gateway asks it: layers are collected here (config, agent, session, host file, call) and judged by
 * the pure functions of `core/policy`. Also what `/exec` without arguments and `/exec explain` show.
 */

import type { CommandScope, CommandServices, PolicyField } from "../commands/services.ts";
import type { ApprovalsFile } from "../core/approvals/approvals-file.ts";
import type { UnspokenCard } from "../core/cards.ts";
import type { Config } from "../core/config/schema.ts";
import type { DecideQuery, PolicyQuery } from "../core/exec/exec-judge.ts";
import { sandboxSettings } from "../core/exec/sandbox-settings.ts";
import { agentSettings, findAgent, isSandboxed } from "../core/exec/settings.ts";
import { decide } from "../core/policy/decide.ts";
import type { Decision } from "../core/policy/decision.ts";
import { planText } from "../core/policy/explain.ts";
import { layerPhrase, reasonPhrase } from "../core/policy/reasons.ts";
import { displayMode, isLooser, resolvePolicy } from "../core/policy/resolve.ts";
import type { EffectivePolicy, FileFacts } from "../core/policy/types.ts";
import type { SessionOverrides, Sessions } from "../core/sessions/sessions.ts";
import { phrase } from "../core/words/phrase.ts";
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
  loosening: CommandServices["loosening"];
}

export function createPolicyService(options: PolicyServiceOptions): PolicyService {
  async function resolve(query: PolicyQuery): Promise<EffectivePolicy> {
    const config = options.config();
    await options.searchPath.ready();
    const session = query.overrides ?? (await options.sessions.overrides(query.sessionKey));
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

    async loosening(change, scope) {
      const current = await options.sessions.overrides(scope.sessionKey);
      const under = (overrides: SessionOverrides) =>
        resolve({ ...scope, host: "gateway", fromChannel: true, overrides });
      const [configured, before, after] = await Promise.all([
        under({}),
        under(current),
        under({ ...current, ...change }),
      ]);
      if (!isLooser(after, configured) || !isLooser(after, before)) return undefined;
      return { before: pairText(before), after: pairText(after) };
    },

    async fields(scope) {
      const config = options.config();
      const settings = agentSettings(config, scope.agentId, options.stateDir);
      const overrides = await options.sessions.overrides(scope.sessionKey);
      const configured = overrides.host ?? settings.exec.host ?? "auto";
      const sandboxed =
        (configured === "auto" || configured === "sandbox") && isSandboxed(config, scope.sessionKey, settings.agentId);
      const policy = await resolve({ ...scope, host: sandboxed ? "sandbox" : "gateway", fromChannel: true, overrides });
      const ownExec = findAgent(config, scope.agentId)?.tools?.exec;
      const from = (key: "host" | "node") =>
        overrides[key] !== undefined
          ? layerPhrase("session:/exec")
          : ownExec?.[key] !== undefined
            ? layerPhrase("config:agent")
            : config.tools.exec[key] !== undefined
              ? layerPhrase("config:tools.exec")
              : layerPhrase("default");
      const node = overrides.node ?? settings.exec.node;
      return [
        {
          label: "mode",
          value: displayMode(policy.security.value, policy.ask.value, policy.autoReview),
          note: phrase("policy.mode"),
        },
        { label: "security", value: policy.security.value, note: layerPhrase(policy.security.from) },
        { label: "ask", value: policy.ask.value, note: layerPhrase(policy.ask.from) },
        {
          label: "host",
          value: sandboxed && configured === "auto" ? "auto (sandbox)" : configured,
          note: from("host"),
        },
        { label: "node", value: node ?? phrase("policy.notSet"), note: from("node") },
        {
          label: "workdir",
          value: sandboxed
            ? sandboxSettings(config, settings.agentId, options.stateDir).docker.workdir
            : settings.workspace,
          note: phrase("policy.agent", { agent: settings.agentId }),
        },
      ];
    },
  };
}

function pairText({ security, ask }: Pick<EffectivePolicy, "security" | "ask">): string {
  return `security=${security.value} ask=${ask.value}`;
}

/** `/exec explain`: decision, reasons, what matched, what would run, what "always" would store. */
export function explainCard(command: string, decision: Decision): UnspokenCard {
  const fields = [
    ...decision.reasons.map((reason) => ({ label: phrase("explain.because"), value: reasonPhrase(reason) })),
    ...decision.segments.map((segment) => ({
      label: segment.argv[0] ?? "?",
      value:
        segment.satisfiedBy === "none"
          ? phrase("explain.noRule")
          : phrase("explain.matched", { rule: segment.satisfiedBy }),
      ...(segment.realPath ? { note: segment.realPath } : {}),
    })),
    ...(decision.kind === "deny" ? [] : [{ label: phrase("explain.wouldRun"), value: planText(decision.plan) }]),
    ...(decision.kind === "ask" && decision.alwaysStores.length > 0
      ? decision.alwaysStores.map((entry) => ({
          label: phrase("explain.alwaysStores"),
          value: entry.pattern,
          note: phrase("explain.exactly"),
        }))
      : []),
  ];
  return {
    kind: "text",
    tone: decision.kind === "allow" ? "success" : decision.kind === "ask" ? "info" : "warning",
    title: phrase(`explain.${decision.kind}`),
    code: command,
    fields,
    hint: phrase("explain.nothingRun"),
  };
}
