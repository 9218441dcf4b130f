/** What a program may call, as a model is told of it. A file of its own: the descriptions are loaded when somebody asks. */
import { type ToolDescription, toolsForProgram } from "../agents/tool-schemas.ts";
import type { Config } from "../core/config/schema.ts";
import { agentSettings } from "../core/exec/settings.ts";
import { knownAgent } from "./tools.ts";

/** Throws `invalid-argument` when there is no such agent. */
export function listTools(config: Config, stateDir: string, wanted: string | undefined): readonly ToolDescription[] {
  return toolsForProgram(agentSettings(config, knownAgent(config, wanted), stateDir));
}
