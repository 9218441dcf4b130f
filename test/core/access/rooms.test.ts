import { describe, expect, it } from "vitest";
import { switchedOff } from "../../../src/core/access/rooms.ts";
import { type Config, configSchema } from "../../../src/core/config/schema.ts";
import type { Route } from "../../../src/core/route.ts";

const GUILD = "900000000000000000";
const [ROOM, THREAD] = ["300000000000000000", "400000000000000000"];
const config = (channels: object): Config => configSchema.parse({ channels }) as Config;
const route = (channel: Route["channel"], chatId: string, more: Partial<Route> = {}): Route => ({
  ...{ channel, accountId: "default", chatType: "channel", chatId },
  ...more,
});
const slack = config({ slack: { channels: { C1: {}, C2: { enabled: false } } } });
const discord = config({
  discord: { guilds: { [GUILD]: { channels: { [ROOM]: { enabled: false }, [THREAD]: {}, "*": {} } } } },
});
const telegram = config({
  telegram: { groups: { "-1": { topics: { "7": { enabled: false } } }, "-2": { enabled: false } } },
});

describe("row 11: a room that was switched off", () => {
  it.each<[string, Config, Route, boolean]>([
    ["a Slack room that is on", slack, route("slack", "C1"), false],
    ["one that is off", slack, route("slack", "C2"), true],
    ["one that is not listed, where cards may be sent on purpose", slack, route("slack", "C3"), false],
    ["a direct message", slack, route("slack", "C2", { chatType: "dm" }), false],
    ["a Discord channel that is off", discord, route("discord", ROOM, { scopeId: GUILD }), true],
    ["a thread in it", discord, route("discord", ROOM, { scopeId: GUILD, threadId: "5".repeat(18) }), true],
    ["a thread with an entry of its own", discord, route("discord", ROOM, { scopeId: GUILD, threadId: THREAD }), false],
    ["another channel of that server", discord, route("discord", "6".repeat(18), { scopeId: GUILD }), false],
    ["a topic that is off", telegram, route("telegram", "-1", { chatType: "group", threadId: "7" }), true],
    ["another topic of that group", telegram, route("telegram", "-1", { chatType: "group", threadId: "8" }), false],
    ["a topic of a group that is off", telegram, route("telegram", "-2", { chatType: "group", threadId: "7" }), true],
    ["the web chat", telegram, route("web", "main", { chatType: "dm" }), false],
  ])("%s", (_what, now, to, isOff) => {
    expect(switchedOff(now, to) !== undefined).toBe(isOff);
  });
});
