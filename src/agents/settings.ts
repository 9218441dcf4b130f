/** Which model an agent thinks with, and how far a turn of it may go: the agent's own values over the defaults. */
import type { Config } from "../core/config/schema.ts";
import { findAgent, heartbeatSettings } from "../core/exec/settings.ts";

export type TurnLimits = Config["agents"]["defaults"]["turn"];

export function turnLimits(config: Config, agentId: string): TurnLimits {
  return { ...config.agents.defaults.turn, ...findAgent(config, agentId)?.turn };
}

/** `provider/model`; absent: the agent has none. A heartbeat may have its own. */
export function modelOf(config: Config, agentId: string, purpose: "heartbeat" | "other" = "other"): string | undefined {
  const own = findAgent(config, agentId)?.model ?? config.agents.defaults.model;
  return purpose === "heartbeat" ? (heartbeatSettings(config, agentId).model ?? own) : own;
}

export function instructionsOf(config: Config, agentId: string): string | undefined {
  return findAgent(config, agentId)?.instructions ?? config.agents.defaults.instructions;
}

export function agentName(config: Config, agentId: string): string {
  return findAgent(config, agentId)?.name ?? agentId;
}
