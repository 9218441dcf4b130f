/**
 * What the configuration says about the sandbox of one agent: `agents.list[].sandbox` over `agents.defaults.sandbox`,
 * field by field (hosts.md section 2.1). At scope `shared` one sandbox serves every agent, so `docker` and `prune` of a
 * single agent count for nothing there.
 */
import { join } from "node:path";
import type { Config } from "../config/schema.ts";
import { type AgentSettings, agentSettings, findAgent, isSandboxed } from "./settings.ts";
import { isToolAllowed, type ToolLists } from "./tool-policy.ts";

type Defaults = Config["agents"]["defaults"]["sandbox"];
export type SandboxScope = Defaults["scope"];
export type SandboxBackend = NonNullable<Defaults["backend"]>;
export type WorkspaceAccess = Defaults["workspaceAccess"];
export type ContainerSettings = Defaults["docker"];

export interface SandboxSettings {
  readonly agentId: string;
  readonly mode: Defaults["mode"];
  readonly scope: SandboxScope;
  readonly backend: SandboxBackend;
  readonly workspaceAccess: WorkspaceAccess;
  /** Where private directories are. */
  readonly workspaceRoot: string;
  /** The agent's own workspace. */
  readonly workspace: string;
  /** Workspaces of all agents: binds may come from them. */
  readonly workspaces: readonly string[];
  /** Those of them that some agent's sandboxed commands can write in. */
  readonly writableWorkspaces: readonly string[];
  readonly docker: ContainerSettings;
  readonly prune: Defaults["prune"];
  /** `docker.image` to the key that has it: `agents.defaults.sandbox.docker.image`, or the one of the agent. */
  readonly keyOf: (field: string) => string;
}

export function sandboxSettings(config: Config, agentId: string, stateDir: string): SandboxSettings {
  const { defaults, list } = config.agents;
  const agent = findAgent(config, agentId);
  const own = agent?.sandbox ?? {};
  const scope = own.scope ?? defaults.sandbox.scope;
  const alone = scope !== "shared";
  const docker = { ...defaults.sandbox.docker, ...(alone ? own.docker : {}) };
  const everyone = list.length === 0 ? [agentId] : list.map(({ id }) => id);
  const workspaceOf = (id: string): string => agentSettings(config, id, stateDir).workspace;
  return {
    agentId: agent?.id ?? agentId,
    mode: own.mode ?? defaults.sandbox.mode,
    scope,
    backend: own.backend ?? defaults.sandbox.backend ?? (process.platform === "linux" ? "bwrap" : "docker"),
    workspaceAccess: own.workspaceAccess ?? defaults.sandbox.workspaceAccess,
    workspaceRoot: own.workspaceRoot ?? defaults.sandbox.workspaceRoot ?? join(stateDir, "sandboxes"),
    workspace: workspaceOf(agentId),
    workspaces: [...new Set(everyone.map(workspaceOf))],
    writableWorkspaces: [
      ...new Set(
        everyone
          .filter((id) => {
            const access = findAgent(config, id)?.sandbox?.workspaceAccess ?? defaults.sandbox.workspaceAccess;
            return access === "rw";
          })
          .map(workspaceOf),
      ),
    ],
    docker: {
      ...docker,
      env: { ...defaults.sandbox.docker.env, ...(alone ? own.docker?.env : {}) },
      binds: [...defaults.sandbox.docker.binds, ...(alone ? (own.docker?.binds ?? []) : [])],
    },
    prune: { ...defaults.sandbox.prune, ...(alone ? own.prune : {}) },
    keyOf(field) {
      const [section, name] = field.split(".") as [keyof typeof own, string | undefined];
      const value = name === undefined ? own[section] : (own[section] as Record<string, unknown> | undefined)?.[name];
      const index = list.findIndex((one) => one.id === agent?.id);
      const ofAgent = value !== undefined && (alone || name === undefined);
      return ofAgent ? `agents.list[${index}].sandbox.${field}` : `agents.defaults.sandbox.${field}`;
    },
  };
}

/** The second gate of sandboxed sessions, `tools.sandbox.tools`; an agent's replaces the global one (hosts.md 2.4). */
export function sandboxTools(config: Config, agentId: string): { readonly lists: ToolLists; readonly key: string } {
  const own = findAgent(config, agentId)?.tools?.sandbox?.tools;
  // Filled in as an empty group where an agent has `tools.sandbox` at all.
  if (own?.allow !== undefined || own?.deny !== undefined) {
    const index = config.agents.list.findIndex((one) => one.id.toLowerCase() === agentId.toLowerCase());
    return { lists: own, key: `agents.list[${index}].tools.sandbox.tools` };
  }
  return { lists: config.tools.sandbox.tools, key: "tools.sandbox.tools" };
}

/** The key that switches `tool` off in this session because it is sandboxed; undefined when nothing does. */
export function deniedInSandbox(
  config: Config,
  tool: string,
  { agentId, sessionKey }: { readonly agentId: string; readonly sessionKey: string },
): string | undefined {
  if (!isSandboxed(config, sessionKey, agentId)) return undefined;
  const { lists, key } = sandboxTools(config, agentId);
  return isToolAllowed(tool, [lists]) ? undefined : key;
}

/** The settings of an agent as they are in one session: a sandboxed one has a gate more, and no apply_patch. */
export function sessionSettings(config: Config, agentId: string, stateDir: string, sessionKey: string): AgentSettings {
  const settings = agentSettings(config, agentId, stateDir);
  if (!isSandboxed(config, sessionKey, settings.agentId)) return settings;
  const { lists } = sandboxTools(config, settings.agentId);
  return { ...settings, toolLayers: [...settings.toolLayers, lists, { deny: ["apply_patch"] }] };
}
