/** Agents as the gateway runs them: a model's calls take the same way as everybody's, and its words leave by the deliveries. */

import { splitModelName } from "../agents/provider.ts";
import { createThinker } from "../agents/thinker.ts";
import type { CallResult } from "../agents/tool-results.ts";
import { createTurns, type Turns, type TurnsOptions } from "../agents/turns.ts";
import type { Channel } from "../channels/channel.ts";
import type { Redactor } from "../channels/text/redact.ts";
import { ExecError } from "../core/errors.ts";
import type { Deliveries } from "../core/events/deliveries.ts";
import type { InvokeTool } from "./tools.ts";

export interface GatewayAgentsOptions
  extends Pick<
    TurnsOptions,
    "store" | "queue" | "clock" | "config" | "events" | "batchLimits" | "onEnd" | "onTrouble"
  > {
  readonly stateDir: string;
  /** API keys by provider name. */
  readonly keys: Readonly<Record<string, string>>;
  readonly invokeTool: InvokeTool;
  readonly deliveries: Pick<Deliveries, "post">;
  readonly channels: readonly Channel[];
  readonly redactor: Redactor;
  readonly onUsage: (agentId: string, tokens: { readonly input: number; readonly output: number }) => void;
  readonly onError: (error: unknown, what: string) => void;
}

export function createGatewayAgents(options: GatewayAgentsOptions): Turns {
  const { deliveries, channels, redactor, invokeTool, onError } = options;
  const { config, stateDir, keys, onUsage } = options;

  const callTool: TurnsOptions["callTool"] = async (call): Promise<CallResult> => {
    const { name, input, model, route, signal, ...rest } = call;
    if (typeof input !== "object" || input === null || Array.isArray(input)) {
      return { text: `The arguments of ${name} are not an object. Nothing was run.`, isError: true };
    }
    try {
      const result = await invokeTool({
        tool: name,
        args: input as Readonly<Record<string, unknown>>,
        agentId: rest.agentId,
        sessionKey: rest.sessionKey,
        actor: rest.actor,
        requestId: rest.requestId,
        model: splitModelName(model),
        fromChannel: route !== undefined,
        signal,
        ...(route ? { route } : {}),
      });
      return {
        // The provider is told no secret of this gateway, whatever a command prints.
        text: redactor.redact(result.content.map((part) => part.text).join("\n")).text,
        isError: result.details.status === "failed",
      };
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof ExecError) return { text: error.message, isError: true };
      onError(error, `a call of ${name} by an agent`);
      return {
        text: `${name} failed inside the gateway. It may have run; look before you call it again.`,
        isError: true,
      };
    }
  };

  return createTurns({
    ...options,
    thinker: createThinker({ config, stateDir, keys, onUsage }),
    callTool,
    post: ({ key, route, tone, text, hint, maxAgeMs }) =>
      deliveries.post({
        key,
        route,
        card: { kind: "text", tone, text, ...(hint === undefined ? {} : { hint }) },
        ...(maxAgeMs === undefined ? {} : { notAfterMs: options.clock.now() + maxAgeMs }),
      }),
    typing(route) {
      const channel = channels.find((one) => one.id === route.channel && one.accountId === route.accountId);
      // Worth nothing a second later, so nothing is made of it when it fails.
      channel?.typing?.(route).catch(() => {});
    },
  });
}
