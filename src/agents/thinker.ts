/** Opens the model of a turn and runs it. What it needs of libraries is loaded with the first turn. */
import type { Config } from "../core/config/schema.ts";
import { sandboxSettings, sessionSettings } from "../core/exec/sandbox-settings.ts";
import { isSandboxed } from "../core/exec/settings.ts";
import type { Thinker } from "./attempt.ts";
import { openModel, splitModelName } from "./provider.ts";
import { agentName, instructionsOf } from "./settings.ts";

export interface ThinkerOptions {
  readonly config: () => Config;
  readonly stateDir: string;
  /** API keys by provider name. */
  readonly keys: Readonly<Record<string, string>>;
  readonly onUsage?: (agentId: string, tokens: { readonly input: number; readonly output: number }) => void;
}

export function createThinker({ config, stateDir, keys, onUsage }: ThinkerOptions): Thinker {
  return {
    async run({ agentId, model: name, sessionKey, ...turn }) {
      const now = config();
      const settings = sessionSettings(now, agentId, stateDir, sessionKey);
      const host = settings.exec.host ?? "auto";
      const sandboxed = isSandboxed(now, sessionKey, settings.agentId) && (host === "auto" || host === "sandbox");
      const [model, { runTurn }, { toolsFor }, { systemPrompt }] = await Promise.all([
        openModel({ name, providers: now.models.providers, keys }),
        import("./turn.ts"),
        import("./tool-schemas.ts"),
        import("./prompt.ts"),
      ]);
      const tools = toolsFor(settings, splitModelName(name));
      const instructions = instructionsOf(now, agentId);
      return runTurn({
        ...turn,
        model,
        tools,
        system: systemPrompt({
          name: agentName(now, agentId),
          workspace: sandboxed
            ? `${sandboxSettings(now, agentId, stateDir).docker.workdir} in a sandbox without network; what commands change elsewhere is forgotten`
            : settings.workspace,
          tools: tools.map((tool) => tool.name),
          ...(instructions === undefined ? {} : { instructions }),
        }),
        ...(onUsage ? { onUsage: (tokens) => onUsage(agentId, tokens) } : {}),
      });
    },
  };
}
