/** What the policy says of a call, before anything is asked or run: parse → route → policy → decision. */
import type { Config } from "../config/schema.ts";
import { ExecError } from "../errors.ts";
import type { ExecNodes } from "../hosts/node/nodes.ts";
import type { DecideInput, Decision } from "../policy/decision.ts";
import type { NodeTarget } from "../policy/node-target.ts";
import { layerPhrase } from "../policy/reasons.ts";
import type { Ask, EffectiveHost, EffectivePolicy } from "../policy/types.ts";
import type { Actor } from "../route.ts";
import type { SessionOverrides, Sessions } from "../sessions/sessions.ts";
import { phrase, type Wording } from "../words/phrase.ts";
import { type ExecArgs, parseExecArgs } from "./exec-args.ts";
import { resolveHost } from "./routing.ts";
import { deniedInSandbox, sessionSettings } from "./sandbox-settings.ts";
import { type AgentSettings, agentSettings } from "./settings.ts";
import { isToolAllowed } from "./tool-policy.ts";
import { resolveWorkdir } from "./workdir.ts";

/** For whom a call is judged. */
export interface Caller {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly actor: Actor;
  /** A chat message, or an agent turn that one started (policy.md 2.3). */
  readonly fromChannel: boolean;
  /** The run this is to become; absent: it is only looked at. */
  readonly runId?: string;
}

export interface Judged {
  readonly args: ExecArgs;
  readonly cwd: string;
  readonly host: EffectiveHost;
  readonly policy: EffectivePolicy;
  readonly decision: Decision;
  readonly settings: AgentSettings;
  /** With host=node: which one, and its word on this decision. */
  readonly node?: NodeTarget;
}

export interface PolicyQuery {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly host: EffectiveHost;
  readonly callAsk?: Ask;
  readonly fromChannel: boolean;
  /** What is set for the conversation, where it has been read already: one call is judged by one reading. */
  readonly overrides?: SessionOverrides;
  readonly elevatedFull?: boolean;
}

export type DecideQuery = Pick<DecideInput, "command" | "cwd" | "host" | "agentId" | "env" | "policy">;

export interface JudgeOptions {
  readonly config: () => Config;
  readonly stateDir: string;
  readonly sessions: Sessions;
  /** Layers → effective policy, for the host the call goes to. */
  readonly resolvePolicy: (query: PolicyQuery) => Promise<EffectivePolicy>;
  readonly decide: (query: DecideQuery) => Decision;
  /** Refuses forbidden names with `env-forbidden` or `env-invalid`. */
  readonly checkEnv: (env: Readonly<Record<string, string>>, host: EffectiveHost) => void;
  /** Throws when a script operand can not be what was meant (exec.md 9.2). */
  readonly preflight: (command: string, cwd: string) => Promise<void>;
  readonly sandboxActive: (sessionKey: string, agentId: string) => boolean;
  /** The directory of a call in the session's sandbox, as this machine knows it. Throws `workdir-unavailable`, or why there is no sandbox. */
  readonly sandboxWorkdir: (requested: string | undefined, agentId: string, sessionKey: string) => string;
  /** Paired nodes. Absent: there are none here, and host=node is not available. */
  readonly nodes?: ExecNodes;
  /** Elevated access of this actor, or the sentence that says which gate is closed. */
  readonly elevated: (
    query: PolicyQuery & { readonly actor: Actor },
  ) => Promise<{ full: boolean } | { refused: Wording }>;
}

export type Judge = (input: unknown, caller: Caller) => Promise<Judged>;

export function createJudge(options: JudgeOptions): Judge {
  const { sessions } = options;
  return async (input, caller) => {
    const config = options.config();
    const ofAgent = agentSettings(config, caller.agentId, options.stateDir);
    if (!isToolAllowed("exec", ofAgent.toolLayers)) {
      throw new ExecError("tool-denied", phrase("error.tool.denied"));
    }
    const sandboxActive = options.sandboxActive(caller.sessionKey, ofAgent.agentId);
    const key = deniedInSandbox(config, "exec", { agentId: ofAgent.agentId, sessionKey: caller.sessionKey });
    if (key !== undefined) throw new ExecError("tool-denied", phrase("error.sandbox.tool", { key }));
    const settings = sessionSettings(config, ofAgent.agentId, options.stateDir, caller.sessionKey);
    const args = parseExecArgs(input, { maxCommandChars: config.limits.maxCommandChars });
    const overrides = await sessions.overrides(caller.sessionKey);
    const base = {
      agentId: settings.agentId,
      sessionKey: caller.sessionKey,
      fromChannel: caller.fromChannel,
      overrides,
      ...(args.ask ? { callAsk: args.ask } : {}),
    };
    let elevatedFull = false;
    if (args.elevated) {
      const granted = await options.elevated({ ...base, host: "gateway", actor: caller.actor });
      if ("refused" in granted) throw new ExecError("elevated-unavailable", granted.refused);
      elevatedFull = granted.full;
    }
    const host = resolveHost({
      configured: overrides.host ?? settings.exec.host ?? "auto",
      sandboxActive,
      elevated: args.elevated,
      nodeFromSandbox: settings.exec.nodeFromSandbox,
      ...(args.host ? { requested: args.host } : {}),
    });
    const policy = await options.resolvePolicy({ ...base, host, elevatedFull });
    if (policy.security.value === "deny") {
      throw new ExecError(
        "exec-denied",
        phrase("error.exec.securityDeny", { host, layer: layerPhrase(policy.security.from) }),
        { layer: policy.security.from },
      );
    }
    if (host === "node") {
      if (!options.nodes) {
        throw new ExecError("host-unavailable", phrase("error.host.unavailable", { host }));
      }
      options.checkEnv(args.env, host);
      const wish = { call: args.node, session: overrides.node, bound: settings.exec.node };
      const judged = await options.nodes.judge(wish, {
        runId: caller.runId ?? "explain",
        command: args.command,
        env: args.env,
        agentId: settings.agentId,
        sessionKey: caller.sessionKey,
        policy,
        ttlMs: options.config().approvals.timeoutSec * 1000,
        ...(args.workdir === undefined ? {} : { workdir: args.workdir }),
      });
      return { args, host, settings, ...judged };
    }
    const cwd =
      host === "sandbox"
        ? options.sandboxWorkdir(args.workdir, settings.agentId, caller.sessionKey)
        : resolveWorkdir(args.workdir, settings.workspace);
    options.checkEnv(args.env, host);
    const decision = options.decide({
      command: args.command,
      cwd,
      host,
      agentId: settings.agentId,
      env: args.env,
      policy,
    });
    if (decision.kind === "ask" || !(policy.security.value === "full" && policy.ask.value === "off")) {
      if (decision.kind !== "deny") await options.preflight(args.command, cwd);
    }
    return { args, cwd, host, policy, decision, settings };
  };
}
