/** Opens the model of a turn and runs it. What it needs of libraries is loaded with the first turn. */
import type { Config } from "../core/config/schema.ts";
import { agentSettings } from "../core/exec/settings.ts";
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
    async run({ agentId, model: name, sessionKey: _, ...turn }) {
      const now = config();
      const settings = agentSettings(now, agentId, stateDir);
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
          workspace: settings.workspace,
          tools: tools.map((tool) => tool.name),
          ...(instructions === undefined ? {} : { instructions }),
        }),
        ...(onUsage ? { onUsage: (tokens) => onUsage(agentId, tokens) } : {}),
      });
    },
  };
}
