/** Heartbeats as the configuration has them: which agents, how often, and where an agent speaks of its own accord. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ownersOf } from "../core/access/people.ts";
import type { Clock } from "../core/clock.ts";
import { durationMs } from "../core/config/schema/values.ts";
import type { Config } from "../core/config/schema.ts";
import {
  createHeartbeats,
  type HeartbeatAgent,
  type HeartbeatSkip,
  type Heartbeats,
} from "../core/events/heartbeat.ts";
import { heartbeatVisibility, isVisible } from "../core/events/heartbeat-visibility.ts";
import type { Queue } from "../core/events/queue.ts";
import type { Wakes } from "../core/events/wakes.ts";
import { agentSettings, defaultAgentId, heartbeatSettings } from "../core/exec/settings.ts";
import type { Route } from "../core/route.ts";
import type { Store } from "../core/store/store.ts";

const CHECKLIST_FILE = "HEARTBEAT.md";
const LAST_NS = "last-route";

export interface GatewayHeartbeatsOptions {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly wakes: Wakes;
  readonly config: () => Config;
  readonly stateDir: string;
  readonly hasModel: (agentId: string) => boolean;
  readonly operatorRoute: Route;
  readonly onSkip: (agentId: string, why: HeartbeatSkip) => void;
}

export function createGatewayHeartbeats(options: GatewayHeartbeatsOptions): Heartbeats {
  const { store, queue, clock, wakes, config, stateDir } = options;
  return createHeartbeats({
    queue,
    clock,
    wakes,
    agents: () => heartbeatAgents(config()),
    hasModel: options.hasModel,
    async checklist(agentId) {
      const { workspace } = agentSettings(config(), agentId, stateDir);
      return readFile(join(workspace, CHECKLIST_FILE), "utf8").catch(() => undefined);
    },
    async routeFor(agentId) {
      const last = (await store.get<Route>(LAST_NS, agentId))?.value;
      return heartbeatRoute(config(), agentId, last, options.operatorRoute);
    },
    isSeenAt: (route) => isVisible(heartbeatVisibility(config(), route)),
    onSkip: options.onSkip,
  });
}

/** A person spoke to the agent here: where `target: last` speaks. */
export async function rememberRoute(store: Store, agentId: string, route: Route): Promise<void> {
  await store.put(LAST_NS, agentId, route);
}

function heartbeatAgents(config: Config): readonly HeartbeatAgent[] {
  const ids = config.agents.list.length > 0 ? config.agents.list.map((agent) => agent.id) : [defaultAgentId(config)];
  return ids.map((agentId) => {
    const { every, activeHours, prompt, session } = heartbeatSettings(config, agentId);
    return {
      agentId,
      sessionKey: session ?? `agent:${agentId}:main`,
      everyMs: durationMs(every),
      ...(activeHours ? { activeHours } : {}),
      ...(prompt ? { prompt } : {}),
    };
  });
}

/** Where a heartbeat speaks (channels.md 9.2); `undefined`: nowhere. */
export function heartbeatRoute(
  config: Config,
  agentId: string,
  last: Route | undefined,
  operator: Route,
): Route | undefined {
  const { target, to, accountId = "default" } = heartbeatSettings(config, agentId);
  switch (target) {
    case "none":
      return undefined;
    case "last":
      return last;
    case "owner": {
      for (const channel of ["slack", "discord", "telegram"] as const) {
        const [owner] = ownersOf(config, channel);
        if (owner && config.channels[channel]?.accounts[accountId]?.enabled)
          return { channel, accountId, chatType: "dm", chatId: owner };
      }
      return operator;
    }
    case "web":
    case "slack":
    case "discord":
    case "telegram": {
      if (to === undefined) return target === "web" ? operator : undefined;
      const [, chatId = String(to), topic] = /^(.+):topic:(\d+)$/.exec(String(to)) ?? [];
      return { channel: target, accountId, chatType: "channel", chatId, ...(topic ? { threadId: topic } : {}) };
    }
  }
}
