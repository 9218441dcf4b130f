/** Which agent a message belongs to: the first binding that fits, else the default agent. */
import type { Actor, Route } from "../route.ts";
import type { Config } from "./schema.ts";

type Match = Config["bindings"][number]["match"];

/** The id of the bound agent, or undefined when no binding fits. */
export function boundAgent(config: Config, route: Route, actor: Actor): string | undefined {
  return config.bindings.find(({ match }) => fits(match, route, actor))?.agentId;
}

function fits(match: Match, route: Route, actor: Actor): boolean {
  if (match.channel !== undefined && match.channel !== route.channel) return false;
  if (match.accountId !== undefined && match.accountId !== route.accountId) return false;
  if (match.scopeId !== undefined && match.scopeId !== route.scopeId) return false;
  if (match.peer === undefined) return true;
  const id = route.chatType === "dm" ? actor.id : route.chatId;
  return match.peer.kind === route.chatType && match.peer.id === id;
}
