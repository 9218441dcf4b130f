/** The exec settings of one agent: its own `tools.exec` over the global one, field by field (hosts.md section 5). */
import { homedir } from "node:os";
import { join } from "node:path";
import type { AgentEntry, Config, ExecConfig } from "../config/schema.ts";
import type { ToolLists } from "./tool-policy.ts";

const DEFAULT_AGENT_ID = "main";

/** Yield window when neither config nor environment says otherwise (seed 002). */
export const DEFAULT_YIELD_MS = 10_000;

export interface AgentSettings {
  readonly agentId: string;
  readonly exec: ExecConfig;
  readonly toolLayers: readonly ToolLists[];
  /** Directory commands start in. */
  readonly workspace: string;
}

export function findAgent(config: Config, agentId: string): AgentEntry | undefined {
  return config.agents.list.find((agent) => agent.id.toLowerCase() === agentId.toLowerCase());
}

/** The agent that gets what nobody else is bound to. */
export function defaultAgentId(config: Config): string {
  const { list } = config.agents;
  return (list.find((agent) => agent.default) ?? list[0])?.id ?? DEFAULT_AGENT_ID;
}

export function agentSettings(config: Config, agentId: string, stateDir: string): AgentSettings {
  const agent = findAgent(config, agentId);
  const { applyPatch, reviewer, ...own } = agent?.tools?.exec ?? {};
  const global = config.tools.exec;
  return {
    agentId: agent?.id ?? agentId,
    exec: {
      ...global,
      ...own,
      applyPatch: { ...global.applyPatch, ...applyPatch },
      reviewer: { ...global.reviewer, ...reviewer },
    },
    toolLayers: [config.tools, agent?.tools ?? {}],
    workspace: expandHome(agent?.workspace ?? config.agents.defaults.workspace ?? join(stateDir, "workspace")),
  };
}

function expandHome(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}

/** The agent's own `heartbeat` over the defaults, field by field. */
export function heartbeatSettings(config: Config, agentId: string): Config["agents"]["defaults"]["heartbeat"] {
  return { ...config.agents.defaults.heartbeat, ...findAgent(config, agentId)?.heartbeat };
}

/** Whether this session has to run in a sandbox (hosts.md section 2.1). Without a backend such calls fail closed. */
export function isSandboxed(config: Config, sessionKey: string, agentId: string): boolean {
  const mode = findAgent(config, agentId)?.sandbox?.mode ?? config.agents.defaults.sandbox.mode;
  if (mode === "off") return false;
  return mode === "all" || sessionKey !== `agent:${agentId}:main`;
}
