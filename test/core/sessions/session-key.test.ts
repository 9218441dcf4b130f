import { describe, expect, it } from "vitest";
import type { Actor, Route } from "../../../src/core/route.ts";
import { type DmScope, sessionKey } from "../../../src/core/sessions/sessions.ts";

const person = (channel: Actor["channel"], id: string): Actor => ({ kind: "person", channel, accountId: "work", id });
const direct = (channel: Route["channel"], chatId: string): Route => ({
  channel,
  accountId: "work",
  chatType: "dm",
  chatId,
});
const links = { alice: ["slack:U1", "telegram:42"] };

describe("the session of a conversation", () => {
  it.each<[DmScope, string, string]>([
    ["main", "agent:a:main", "agent:a:main"],
    ["per-peer", "agent:a:direct:U1", "agent:a:direct:alice"],
    ["per-channel-peer", "agent:a:slack:direct:U1", "agent:a:direct:alice"],
    ["per-account-channel-peer", "agent:a:slack:work:direct:U1", "agent:a:direct:alice"],
  ])("direct messages with dmScope %s are %s; of somebody linked %s", (dmScope, alone, linked) => {
    const key = (identityLinks: Readonly<Record<string, string[]>>) =>
      sessionKey("a", direct("slack", "D1"), person("slack", "U1"), { dmScope, identityLinks });
    expect(key({})).toBe(alone);
    expect(key(links)).toBe(linked);
    expect(key({ bob: ["discord:U1"] })).toBe(alone);
  });

  it("one person on two channels has one direct conversation, the same number elsewhere is somebody else", () => {
    const rules = { dmScope: "per-channel-peer", identityLinks: links } as const;
    const key = (channel: Route["channel"], id: string) =>
      sessionKey("a", direct(channel, id), person(channel, id), rules);
    expect(key("telegram", "42")).toBe(key("slack", "U1"));
    expect(key("discord", "42")).not.toBe(key("telegram", "42"));
  });

  it.each<[Partial<Route>, string]>([
    [{ channel: "slack", chatType: "channel", chatId: "C1" }, "agent:a:slack:channel:C1"],
    [{ channel: "slack", chatType: "channel", chatId: "C1", threadId: "1.2" }, "agent:a:slack:channel:C1:thread:1.2"],
    [{ channel: "slack", chatType: "group", chatId: "G1" }, "agent:a:slack:group:G1"],
    [{ channel: "discord", chatType: "channel", chatId: "5" }, "agent:a:discord:channel:5"],
    [{ channel: "telegram", chatType: "group", chatId: "-100" }, "agent:a:telegram:group:-100"],
    [{ channel: "telegram", chatType: "group", chatId: "-100", threadId: "7" }, "agent:a:telegram:group:-100:topic:7"],
  ])("a room %j is shared by everybody in it: %s", (route, expected) => {
    const rules = { dmScope: "per-channel-peer", identityLinks: links } as const;
    for (const id of ["U1", "U2"]) {
      const full = { accountId: "work", ...route } as Route;
      expect(sessionKey("a", full, person(full.channel, id), rules)).toBe(expected);
    }
  });
});
