import { expect, test } from "vitest";
import { boundAgent } from "../../../src/core/config/bindings.ts";
import type { Actor, Route } from "../../../src/core/route.ts";
import { scratch } from "./scratch.ts";

const route = (change: Partial<Route> = {}): Route => ({
  channel: "slack",
  accountId: "default",
  chatType: "channel",
  chatId: "C1",
  scopeId: "T1",
  ...change,
});
const alice: Actor = { kind: "person", channel: "slack", accountId: "default", id: "U1" };

test("the first binding that fits decides, and what it leaves out matches anything", async () => {
  const home = scratch();
  home.write(`{
    agents: { list: [{ id: "room" }, { id: "alice" }, { id: "team" }, { id: "slack" }] },
    bindings: [
      { agentId: "room", match: { channel: "slack", peer: { kind: "channel", id: "C1" } } },
      { agentId: "alice", match: { peer: { kind: "dm", id: "U1" } } },
      { agentId: "team", match: { scopeId: "T2" } },
      { agentId: "slack", match: { channel: "slack", accountId: "work" } },
    ],
  }`);
  const { config } = await home.good();
  expect(boundAgent(config, route(), alice)).toBe("room");
  expect(boundAgent(config, route({ chatType: "dm", chatId: "D9" }), alice)).toBe("alice");
  expect(boundAgent(config, route({ chatType: "dm", chatId: "D9" }), { ...alice, id: "U2" })).toBeUndefined();
  expect(boundAgent(config, route({ chatId: "C2", scopeId: "T2" }), alice)).toBe("team");
  expect(boundAgent(config, route({ chatId: "C2", accountId: "work" }), alice)).toBe("slack");
  expect(boundAgent(config, route({ channel: "telegram", chatId: "C1" }), alice)).toBeUndefined();
});
