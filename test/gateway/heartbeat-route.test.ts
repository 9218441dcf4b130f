import { describe, expect, it } from "vitest";
import { type Config, configSchema } from "../../src/core/config/schema.ts";
import type { Route } from "../../src/core/route.ts";
import { heartbeatRoute } from "../../src/gateway/heartbeats.ts";

const LAST: Route = { channel: "discord", accountId: "default", chatType: "channel", chatId: "9" };
const OPERATOR: Route = { channel: "web", accountId: "default", chatType: "dm", chatId: "main" };
const telegram = { telegram: { botToken: "7:x" } };

describe("where a heartbeat speaks", () => {
  it.each<[string, object, object, Partial<Route> | undefined]>([
    ["last, the default: where a person spoke last", {}, telegram, LAST],
    ["none: nowhere", { target: "none" }, telegram, undefined],
    [
      "owner: to the first owner directly",
      { target: "owner" },
      telegram,
      { channel: "telegram", chatType: "dm", chatId: "5" },
    ],
    ["owner, of a chat that is not connected: the operator", { target: "owner" }, {}, OPERATOR],
    [
      "a chat and a topic of it",
      { target: "telegram", to: "-1001:topic:7" },
      telegram,
      { channel: "telegram", chatId: "-1001", threadId: "7", accountId: "default" },
    ],
    [
      "a chat of another account",
      { target: "telegram", to: "-1001", accountId: "ops" },
      telegram,
      { channel: "telegram", chatId: "-1001", accountId: "ops" },
    ],
    ["a platform without a chat: nowhere", { target: "telegram" }, telegram, undefined],
    ["the web chat", { target: "web" }, telegram, OPERATOR],
  ])("%s", (_name, heartbeat, channels, expected) => {
    const config = configSchema.parse({
      agents: { defaults: { heartbeat } },
      commands: { ownerAllowFrom: ["telegram:5"] },
      channels,
    }) as Config;
    const found = heartbeatRoute(config, "main", LAST, OPERATOR);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(expected);
  });
});
