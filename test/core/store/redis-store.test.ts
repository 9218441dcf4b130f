import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { COMMAND_TIMEOUT_MS, READY_WAIT_MS } from "../../../src/core/store/redis-connection.ts";
import { OPEN_TIMEOUT_MS, openRedisStore } from "../../../src/core/store/redis-store.ts";
import type { Store } from "../../../src/core/store/store.ts";
import { type RedisServer, redisAvailable, startRedis } from "../../support/redis.ts";
import { requireOrSkip } from "../../support/require.ts";
import { tcpProxy } from "../../support/tcp-proxy.ts";

const WAIT = { timeout: 10_000, interval: 20 };

requireOrSkip("redis-server", redisAvailable)("the Redis store", () => {
  let redis: RedisServer;
  const stores: Store[] = [];
  const troubles: string[] = [];
  const opened = async (): Promise<Store> => {
    const store = await openRedisStore({
      url: redis.url,
      onTrouble: (what, error) => troubles.push(`${what}: ${(error as Error).message}`),
    });
    stores.push(store);
    return store;
  };

  beforeAll(async () => {
    redis = await startRedis({ persist: true });
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    troubles.length = 0;
  });
  afterAll(() => redis.stop());

  it("fails a call within its limit while Redis is down, tells of it once, and goes on by itself when it is back", async () => {
    const store = await opened();
    await store.put("outage", "k", 1);
    await redis.kill();
    // The first round may still meet the old socket; the second finds none and waits for one.
    for (let round = 1; round <= 2; round++) {
      if (round === 2) await vi.waitFor(() => expect(troubles).toHaveLength(1), WAIT);
      const began = performance.now();
      const calls = [store.get("outage", "k"), store.put("outage", "k", 2), store.append("s", 1), store.health()];
      for (const call of await Promise.allSettled(calls)) {
        expect(call).toMatchObject({ status: "rejected", reason: { code: "state-unavailable" } });
      }
      expect(performance.now() - began).toBeLessThan(READY_WAIT_MS + 1000);
    }
    await redis.start();
    await vi.waitFor(() => store.health(), WAIT);
    expect(await store.get("outage", "k")).toEqual({ value: 1, version: 1 });
    expect(troubles).toHaveLength(1);
  });

  it("never does a call later that it has rejected while there was no connection", async () => {
    const store = await opened();
    await redis.kill();
    await vi.waitFor(() => expect(troubles).toHaveLength(1), WAIT);
    await expect(store.setIfAbsent("marker", "once", 1)).rejects.toMatchObject({ code: "state-unavailable" });
    await redis.start();
    await vi.waitFor(() => store.health(), WAIT);
    expect(await store.setIfAbsent("marker", "once", 2)).toBe(true);
  });

  it("fails a call within its limit while Redis is frozen", async () => {
    const store = await opened();
    const thaw = await redis.pause();
    const began = performance.now();
    await expect(store.get("frozen", "k")).rejects.toMatchObject({ code: "state-unavailable" });
    expect(performance.now() - began).toBeLessThan(COMMAND_TIMEOUT_MS + 1000);
    thaw();
    await vi.waitFor(() => store.health(), WAIT);
  });

  it("tells subscribers of other gateways, also after Redis was restarted", async () => {
    const [one, two] = [await opened(), await opened()];
    const seen: unknown[] = [];
    await two.subscribe("topic", (message) => seen.push(message));
    await one.publish("topic", "before");
    await vi.waitFor(() => expect(seen).toEqual(["before"]), WAIT);
    await redis.restart();
    await vi.waitFor(async () => {
      await one.publish("topic", "after");
      expect(seen).toContain("after");
    }, WAIT);
  });

  it("survives that the connection breaks just when it subscribes again, and hears the others afterwards", async () => {
    const wire = await tcpProxy(Number(new URL(redis.url).port));
    const far = await openRedisStore({ url: `redis://127.0.0.1:${wire.port}`, onTrouble: () => {} });
    stores.push(far);
    const near = await opened();
    const seen: unknown[] = [];
    await far.subscribe("topic", (message) => seen.push(message));
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      let cuts = 0;
      wire.cutAt((sent) => /subscribe/i.test(sent) && ++cuts <= 3);
      wire.cut();
      await vi.waitFor(async () => {
        await near.publish("topic", "after");
        expect(seen).toContain("after");
      }, WAIT);
      expect(cuts).toBeGreaterThan(3);
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
      await far.close();
      await wire.stop();
    }
  });

  it("does not let the index of a namespace grow with records that have expired and are never listed", async () => {
    const store = await opened();
    for (let n = 0; n < 200; n++) await store.setIfAbsent("dedupe", `event-${n}`, 1, { ttlMs: 20 });
    await new Promise((resolve) => setTimeout(resolve, 40));
    for (let n = 0; n < 20; n++) await store.setIfAbsent("dedupe", `later-${n}`, 1, { ttlMs: 60_000 });
    const raw = new Redis(redis.url);
    expect(await raw.zcard("openclaw:i:dedupe")).toBe(20);
    expect(await raw.zcard("openclaw:x")).toBe(20);
    await raw.quit();
  });

  it("keeps stores with different prefixes apart", async () => {
    const store = await opened();
    const other = await openRedisStore({ url: redis.url, prefix: "other:", onTrouble: () => {} });
    stores.push(other);
    await store.put("ns", "apart", 1);
    expect(await other.get("ns", "apart")).toBeUndefined();
    expect(await other.list("ns")).toEqual([]);
  });

  it("opens with a clear error within its limit when nothing listens, and never shows the password", async () => {
    const began = performance.now();
    const refused = openRedisStore({ url: "redis://user:hunter2@127.0.0.1:1", onTrouble: () => {} });
    await expect(refused).rejects.toMatchObject({ code: "state-unavailable" });
    await expect(refused).rejects.toThrow(/127\.0\.0\.1:1.*ECONNREFUSED/);
    await expect(refused).rejects.not.toThrow(/hunter2/);
    expect(performance.now() - began).toBeLessThan(OPEN_TIMEOUT_MS + 2000);
    await expect(openRedisStore({ url: "http://127.0.0.1" })).rejects.toMatchObject({ code: "invalid-argument" });
    await expect(openRedisStore({ url: "not an address" })).rejects.toMatchObject({ code: "invalid-argument" });
  });
});

requireOrSkip("redis-server", redisAvailable)("a Redis with a password", () => {
  it("is opened with it and refused clearly without", async () => {
    const redis = await startRedis({ args: ["--requirepass", "hunter2"] });
    const withPassword = redis.url.replace("redis://", "redis://:hunter2@");
    const store = await openRedisStore({ url: withPassword });
    await store.health();
    await store.close();
    await expect(openRedisStore({ url: redis.url, onTrouble: () => {} })).rejects.toMatchObject({
      code: "state-unavailable",
    });
    await redis.stop();
  });
});
