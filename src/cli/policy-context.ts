/** What the policy commands of the command line share: the configuration, the approvals file, the search for programs. */
import { randomUUID } from "node:crypto";
import { delimiter, join } from "node:path";
import { EVERY_AGENT, scopesOf } from "../core/approvals/approvals-document.ts";
import { APPROVALS_FILE, type ApprovalsFile, openApprovalsFile } from "../core/approvals/approvals-file.ts";
import { systemClock } from "../core/clock.ts";
import { type LoadedConfig, loadConfig, renderProblems } from "../core/config/load.ts";
import { ensureStateDir } from "../core/config/paths.ts";
import { ExecError } from "../core/errors.ts";
import { freshFileFacts } from "../core/exec/file-facts.ts";
import { agentSettings, defaultAgentId, findAgent } from "../core/exec/settings.ts";
import type { SearchContext } from "../core/policy/executables.ts";
import { type PolicyLayers, resolvePolicy } from "../core/policy/resolve.ts";
import type { EffectivePolicy } from "../core/policy/types.ts";
import type { Cli } from "./io.ts";

export interface PolicyContext {
  readonly loaded: LoadedConfig;
  readonly file: ApprovalsFile;
  /** `freshFileFacts`, the PATH of this terminal, the workspace of the default agent. */
  readonly search: SearchContext & { readonly home: string };
}

/** @throws ExecError `invalid-argument` when the configuration can not be used. */
export async function openPolicy(cli: Cli): Promise<PolicyContext> {
  const loaded = await loadConfig({ env: cli.env, workingDir: cli.cwd });
  if (!loaded.ok) throw new ExecError("invalid-argument", renderProblems(loaded.file.path, loaded.problems));
  const { config, stateDir, home } = loaded;
  const folder = ensureStateDir(stateDir);
  const file = await openApprovalsFile({
    path: join(folder, APPROVALS_FILE),
    clock: systemClock,
    newId: randomUUID,
  });
  return {
    loaded,
    file,
    search: {
      cwd: agentSettings(config, defaultAgentId(config), stateDir).workspace,
      path: (cli.env.PATH ?? "").split(delimiter),
      facts: freshFileFacts(),
      trustedDirs: config.tools.exec.safeBinTrustedDirs,
      home,
    },
  };
}

/** Layers for an agent, as a command on the gateway host gets them, without what `/exec` set in a session. */
export function layersFor({ loaded, file }: PolicyContext, agentId: string): PolicyLayers {
  return {
    host: "gateway",
    config: loaded.config.tools.exec,
    agent: findAgent(loaded.config, agentId)?.tools?.exec ?? {},
    hostFile: file.policyFor(agentId),
  };
}

export function policyFor(context: PolicyContext, agentId: string): EffectivePolicy {
  return resolvePolicy(layersFor(context, agentId));
}

/** Every agent that the configuration or the approvals file knows, the default one first. */
export function knownAgents({ loaded, file }: PolicyContext): string[] {
  const { config } = loaded;
  const inFile = file.damage() === undefined ? scopesOf(file.snapshot().document) : [];
  const named = inFile.filter((scope) => scope !== EVERY_AGENT && scope !== "default");
  return [...new Set([defaultAgentId(config), ...config.agents.list.map((agent) => agent.id), ...named])];
}
