/** One tool call from HTTP, a terminal or an agent. The same pipeline as the chats; only the answer has another shape. */
import type { Config } from "../core/config/schema.ts";
import { ExecError } from "../core/errors.ts";
import type { CallingModel, PatchRequests } from "../core/exec/apply-patch/request.ts";
import type { ExecTool } from "../core/exec/exec-tool.ts";
import type { ToolResult } from "../core/exec/results.ts";
import { deniedInSandbox } from "../core/exec/sandbox-settings.ts";
import { agentSettings, defaultAgentId } from "../core/exec/settings.ts";
import { isToolAllowed } from "../core/exec/tool-policy.ts";
import { nearestOf } from "../core/nearest.ts";
import type { Actor, Route } from "../core/route.ts";
import { phrase } from "../core/words/phrase.ts";

const TOOL_NAMES = ["exec", "process", "apply_patch"] as const;
type ToolName = (typeof TOOL_NAMES)[number];

export interface ToolsOptions {
  readonly config: () => Config;
  readonly stateDir: string;
  readonly newId: () => string;
  readonly exec: ExecTool;
  readonly process: (
    args: Readonly<Record<string, unknown>>,
    agentId: string,
    signal?: AbortSignal,
  ) => Promise<ToolResult>;
  readonly applyPatch: PatchRequests;
}

export interface ToolCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly agentId?: string;
  readonly sessionKey?: string;
  readonly actor: Actor;
  /** The model whose turn makes the call; absent: a program of the operator. */
  readonly model?: CallingModel;
  readonly route?: Route;
  readonly signal?: AbortSignal;
  /** The same id never starts a second command; default a fresh one. */
  readonly requestId?: string;
  /** An agent's turn that a chat started (policy.md 2.3). */
  readonly fromChannel?: boolean;
}

export type InvokeTool = (call: ToolCall) => Promise<ToolResult>;

export function createTools(options: ToolsOptions): InvokeTool {
  return async (call) => {
    const tool = call.tool.trim().toLowerCase();
    if (!isTool(tool)) {
      const near = nearestOf(tool, TOOL_NAMES);
      throw new ExecError(
        "tool-unknown",
        `There is no tool "${call.tool.slice(0, 64)}".${near ? ` Did you mean "${near}"?` : ""} Known: ${TOOL_NAMES.join(", ")}.`,
      );
    }
    const config = options.config();
    const agentId = knownAgent(config, call.agentId);
    const settings = agentSettings(config, agentId, options.stateDir);
    if (!isToolAllowed(tool, settings.toolLayers)) {
      throw new ExecError("tool-denied", `${tool} is switched off here by tool policy (tools.allow/tools.deny).`);
    }
    const requestId = call.requestId ?? `tool:${options.newId()}`;
    const sessionKey = call.sessionKey ?? `agent:${settings.agentId}:${call.actor.channel}`;
    const key = deniedInSandbox(config, tool, { agentId: settings.agentId, sessionKey });
    if (key !== undefined) throw new ExecError("tool-denied", phrase("error.sandbox.tool", { key }));
    switch (tool) {
      case "exec":
        return options.exec.call(call.args, {
          requestId,
          agentId: settings.agentId,
          sessionKey,
          // A program holding the token speaks for an agent; it can ask, never decide (decisions.md D13).
          actor: call.actor,
          fromChannel: call.fromChannel ?? false,
          isTold: call.model !== undefined || call.route !== undefined,
          ...(call.route ? { route: call.route } : {}),
          ...(call.signal ? { signal: call.signal } : {}),
        });
      case "process":
        return options.process(call.args, settings.agentId, call.signal);
      case "apply_patch":
        return options.applyPatch(call.args, {
          requestId,
          settings,
          sessionKey,
          actor: call.actor,
          ...(call.model ? { model: call.model } : {}),
          ...(call.route ? { route: call.route } : {}),
          ...(call.signal ? { signal: call.signal } : {}),
        });
    }
  };
}

function isTool(name: string): name is ToolName {
  return (TOOL_NAMES as readonly string[]).includes(name);
}

export function knownAgent(config: Config, wanted: string | undefined): string {
  if (wanted === undefined) return defaultAgentId(config);
  const known = config.agents.list.map((agent) => agent.id);
  if (known.length === 0 && wanted.toLowerCase() === defaultAgentId(config)) return wanted.toLowerCase();
  const found = known.find((id) => id.toLowerCase() === wanted.toLowerCase());
  if (found !== undefined) return found;
  throw new ExecError(
    "invalid-argument",
    `There is no agent "${wanted.slice(0, 64)}". Known: ${known.length > 0 ? known.join(", ") : defaultAgentId(config)}.`,
  );
}
