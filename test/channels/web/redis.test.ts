import { afterAll, beforeAll, expect, test } from "vitest";
import { WebChannel } from "../../../src/channels/web/adapter.ts";
import type { Card, TextCard } from "../../../src/core/cards.ts";
import { systemClock } from "../../../src/core/clock.ts";
import type { Store } from "../../../src/core/store/store.ts";
import { type RedisServer, redisAvailable, startRedis } from "../../support/redis.ts";
import { requireOrSkip } from "../../support/require.ts";
import { ChatClient } from "./chat-client.ts";

requireOrSkip("redis-server", redisAvailable)("two gateways on one Redis", () => {
  let redis: RedisServer;
  let stores: Store[] = [];
  let here: WebChannel;
  let there: WebChannel;
  const route = { channel: "web", accountId: "default", chatType: "dm", chatId: "main" } as const;
  const text = (words: string): Card => ({ kind: "text", tone: "info", text: words });

  beforeAll(async () => {
    const { openRedisStore } = await import("../../../src/core/store/redis-store.ts");
    redis = await startRedis();
    stores = [await openRedisStore({ url: redis.url }), await openRedisStore({ url: redis.url })];
    const [a, b] = stores as [Store, Store];
    here = new WebChannel({ store: a, clock: systemClock, instanceId: "here" });
    there = new WebChannel({ store: b, clock: systemClock, instanceId: "there" });
    await here.start(async () => undefined);
    await there.start(async () => undefined);
  });

  afterAll(async () => {
    await here?.stop();
    await there?.stop();
    await Promise.all(stores.map((store) => store.close()));
    await redis?.stop();
  });

  test("what one sends, edits and shows live reaches the watchers of the other, in order", async () => {
    const client = await ChatClient.open(there, "main");
    const result = await here.send({ key: "k1", route, card: text("running") });
    if (result.kind !== "sent") throw new Error(result.kind);
    await here.live(result.ref, text("half way"));
    await there.say({ chatId: "main", clientId: "c1", text: "hello" });
    await here.edit(result.ref, { key: "k1", route, card: text("finished") });
    await client.until(() => client.seq === 3 && client.lives.length === 1);
    expect(client.faults).toEqual([]);
    expect(client.shown().map(({ card }) => (card as TextCard).text)).toEqual(["finished", "hello"]);
    await client.close();
  });

  test("the same message sent by both at the same time is one message", async () => {
    const send = (channel: WebChannel) => channel.send({ key: "same", route, card: text("once") });
    const results = await Promise.all([send(here), send(there)]);
    expect(results.map(({ kind }) => kind)).toContain("sent");
    for (const { kind } of results) expect(["sent", "retry"]).toContain(kind);
    const client = await ChatClient.open(here, "main");
    expect(client.shown().filter(({ card }) => (card as TextCard).text === "once")).toHaveLength(1);
    await client.close();
  });
});
