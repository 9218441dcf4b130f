/** Where the gateway speaks of its own accord: with the operator, and with the owners of a chat account. */
import { WEB_ACCOUNT } from "../channels/web/adapter.ts";
import { ownersOf } from "../core/access/people.ts";
import type { Config } from "../core/config/schema.ts";
import type { Route } from "../core/route.ts";

/** The operator's own chat; also where requests go that come from no chat. */
export const OPERATOR_ROUTE: Route = { channel: "web", accountId: WEB_ACCOUNT, chatType: "dm", chatId: "main" };

/** Direct messages with the owners of a channel, by the account that is meant. */
export function ownerRoutes(config: Config, { channel, accountId }: Pick<Route, "channel" | "accountId">): Route[] {
  return ownersOf(config, channel).map((chatId) => ({ channel, accountId, chatType: "dm", chatId }));
}
