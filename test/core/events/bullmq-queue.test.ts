import { createHash, randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { LANE_SCRIPTS } from "../../../src/core/events/bullmq-lanes.ts";
import { openBullmqQueue } from "../../../src/core/events/bullmq-queue.ts";
import { MAX_CRASHES } from "../../../src/core/events/job-spec.ts";
import type { Queue } from "../../../src/core/events/queue.ts";
import { COMMAND_TIMEOUT_MS, READY_WAIT_MS } from "../../../src/core/store/redis-connection.ts";
import { startChild, type TestChild } from "../../support/child.ts";
import { type RedisServer, redisAvailable, startRedis } from "../../support/redis.ts";
import { requireOrSkip } from "../../support/require.ts";
import { tcpProxy } from "../../support/tcp-proxy.ts";

const WAIT = { timeout: 15_000, interval: 20 };

requireOrSkip("redis-server", redisAvailable)("the BullMQ queue", () => {
  let redis: RedisServer;
  let raw: Redis;
  let name = "";
  let serial = 0;
  const queues: Queue[] = [];
  const children: TestChild[] = [];
  const troubles: string[] = [];

  const opened = async (url = redis.url): Promise<Queue> => {
    const queue = await openBullmqQueue({
      ...{ url, prefix: "test:", clock: systemClock, newId: randomUUID, lockMs: 500 },
      onTrouble: (what, error) => troubles.push(`${what}: ${(error as Error).message}`),
    });
    queues.push(queue);
    return queue;
  };
  const startWorker = async (): Promise<TestChild> => {
    const child = startChild("queue-child.ts", "bullmq", redis.url, name);
    children.push(child);
    await child.line((line) => line === "ready");
    return child;
  };

  beforeAll(async () => {
    redis = await startRedis({ persist: true });
    raw = new Redis(redis.url);
    raw.on("error", () => {});
  });
  beforeEach(() => {
    name = `work-${++serial}`;
    troubles.length = 0;
  });
  afterEach(async () => {
    for (const child of children.splice(0)) await child.kill();
    for (const queue of queues.splice(0)) await queue.close({ drainMs: 0 });
  });
  afterAll(async () => {
    raw.disconnect();
    await redis.stop();
  });

  it("runs what a killed gateway had in hand on another one, as the same attempt and in the order of its key", async () => {
    const queue = await opened();
    await queue.add({ name, data: "hang a1", key: "a", attempts: 3 });
    for (const data of ["a2", "a3"]) await queue.add({ name, data, key: "a" });
    for (const data of ["b1", "b2"]) await queue.add({ name, data, key: "b" });
    const child = await startWorker();
    await child.line((line) => line === "end b2");
    expect(child.lines).toContain("start hang a1 1");
    // Else the end of b2 might not be stored yet, and b2 would rightly run again.
    await vi.waitFor(async () => expect((await queue.counts(name)).completed).toBe(2), WAIT);
    await child.kill();
    const runs: string[] = [];
    await queue.process<string>(name, async ({ data, attempt }) => {
      runs.push(`${data} ${attempt}`);
    });
    await vi.waitFor(() => expect(runs).toEqual(["hang a1 1", "a2 1", "a3 1"]), WAIT);
  });

  it("makes a job a dead letter whose gateway died too often, frees its key, and runs it when it is put back", async () => {
    const queue = await opened();
    await queue.add({ name, data: "hang", key: "k", id: `${name}-suspect`, attempts: 10 });
    await queue.add({ name, data: "next", key: "k" });
    for (let n = 1; n <= MAX_CRASHES; n++) {
      const child = await startWorker();
      await child.line((line) => line === "start hang 1");
      await child.kill();
    }
    const runs: string[] = [];
    await queue.process<string>(name, async ({ data }) => {
      runs.push(data);
    });
    await vi.waitFor(() => expect(runs).toEqual(["next"]), WAIT);
    expect(await queue.deadLetters({ name })).toMatchObject([{ id: `${name}-suspect`, data: "hang" }]);
    expect(await queue.retryDead(`${name}-suspect`)).toBe(true);
    await vi.waitFor(() => expect(runs).toEqual(["next", "hang"]), WAIT);
  });

  it("keeps the order of a key over two gateways that work side by side", async () => {
    const [one, two] = [await opened(), await opened()];
    const seen: string[] = [];
    const active = new Set<string>();
    const by = new Set<string>();
    const handler =
      (gateway: string) =>
      async ({ data, key = "" }: { data: unknown; key?: string }) => {
        expect(active.has(key)).toBe(false);
        active.add(key);
        by.add(gateway);
        seen.push(`${key}${data}`);
        await new Promise((resolve) => setTimeout(resolve, 2));
        active.delete(key);
      };
    await one.process(name, handler("one"), { concurrency: 3 });
    await two.process(name, handler("two"), { concurrency: 3 });
    for (let n = 10; n < 40; n++) {
      for (const key of ["a", "b", "c"]) await (n % 2 ? one : two).add({ name, key, data: n });
    }
    await vi.waitFor(() => expect(seen).toHaveLength(90), WAIT);
    for (const key of ["a", "b", "c"]) {
      const order = seen.filter((entry) => entry.startsWith(key));
      expect(order).toEqual(order.toSorted());
    }
    expect(by).toEqual(new Set(["one", "two"]));
  });

  it("frees a lane whose gateway died between the end of one job and the release of the next", async () => {
    const queue = await opened();
    for (const data of ["first", "second"]) await queue.add({ name, key: "k", data });
    // What such a death leaves: the head is finished and gone, its place in the lane is not, the next is still parked.
    const lane = (await raw.keys(`test:queue:lane:${name}:*`))[0] ?? "";
    const head = (await raw.zrange(lane, "0", "0"))[0] ?? "";
    await raw.lrem(`test:queue:jobs:${name}:wait`, 1, head);
    await raw.del(`test:queue:jobs:${name}:${head}`);
    const runs: unknown[] = [];
    await queue.process(name, async ({ data }) => {
      runs.push(data);
    });
    await vi.waitFor(() => expect(runs).toEqual(["second"]), WAIT);
  });

  it("goes on within 10 s after Redis was restarted, with every job that was added (mq-redis-restart)", async () => {
    const queue = await opened();
    const runs: number[] = [];
    let working: () => void = () => {};
    const busy = new Promise<void>((resolve) => {
      working = resolve;
    });
    await queue.process<number>(name, async ({ data }) => {
      working();
      await new Promise((resolve) => setTimeout(resolve, 20));
      runs.push(data);
    });
    for (let n = 0; n < 30; n++) await queue.add({ name, data: n, key: `k${n % 2}` });
    await busy;
    await redis.kill();
    const began = performance.now();
    await expect(queue.add({ name, data: -1 })).rejects.toMatchObject({ code: "state-unavailable" });
    expect(performance.now() - began).toBeLessThan(READY_WAIT_MS + COMMAND_TIMEOUT_MS + 1000);
    await redis.start();
    const back = performance.now();
    const before = runs.length;
    await vi.waitFor(() => expect(runs.length).toBeGreaterThan(before), WAIT);
    expect(performance.now() - back).toBeLessThan(10_000);
    // The job that was at work when Redis went is taken up again once its lock has run out.
    await vi.waitFor(() => expect(new Set(runs.filter((n) => n >= 0)).size).toBe(30), {
      timeout: 60_000,
      interval: 20,
    });
    for (const parity of [0, 1]) {
      const order = [...new Set(runs.filter((n) => n >= 0 && n % 2 === parity))];
      expect(order).toEqual(order.toSorted((a, b) => a - b));
    }
    await vi.waitFor(async () => expect(await queue.counts(name)).toMatchObject({ waiting: 0, active: 0 }), WAIT);
  }, 120_000);

  it("loses no job whose turn could not be asked because the connection broke just then", async () => {
    const wire = await tcpProxy(Number(new URL(redis.url).port));
    const queue = await opened(`redis://127.0.0.1:${wire.port}`);
    const { lua } = LANE_SCRIPTS.openclawIsHead;
    const sha = createHash("sha1").update(lua).digest("hex");
    let cuts = 0;
    wire.cutAt((sent) => (sent.includes(sha) || sent.includes(lua)) && ++cuts <= 3);
    const runs: number[] = [];
    await queue.process<number>(name, async ({ data }) => {
      runs.push(data);
    });
    // One try each: a question that got no answer is none.
    for (let n = 0; n < 6; n++) {
      await vi.waitFor(() => queue.add({ name, id: `${name}-${n}`, data: n, key: "k", attempts: 1 }), WAIT);
    }
    await vi.waitFor(() => expect(runs).toHaveLength(6), WAIT);
    expect(runs).toEqual([0, 1, 2, 3, 4, 5]);
    expect(cuts).toBeGreaterThan(3);
    expect((await queue.counts(name)).dead).toBe(0);
    await queue.close({ drainMs: 0 });
    await wire.stop();
  });

  it("fails a call within its limit while Redis is frozen, and closes all the same", async () => {
    const queue = await opened();
    await queue.process(name, async () => {});
    const thaw = await redis.pause();
    const began = performance.now();
    await expect(queue.add({ name, data: 1 })).rejects.toMatchObject({ code: "state-unavailable" });
    expect(performance.now() - began).toBeLessThan(READY_WAIT_MS + COMMAND_TIMEOUT_MS + 1000);
    const closing = performance.now();
    await queue.close({ drainMs: 0 });
    expect(performance.now() - closing).toBeLessThan(6000);
    thaw();
  });

  it("aborts the signal of a job that lost its lock to another gateway (mq-stalled-double-run)", async () => {
    const queue = await opened();
    const signals: AbortSignal[] = [];
    await queue.process(name, async ({ signal }) => {
      signals.push(signal);
      if (signals.length > 1) return;
      const [lock] = await raw.keys(`test:queue:jobs:${name}:*:lock`);
      await raw.set(lock ?? "", "another gateway");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    await queue.add({ name, data: 1 });
    await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true), WAIT);
    const [lock] = await raw.keys(`test:queue:jobs:${name}:*:lock`);
    if (lock) await raw.del(lock);
    await vi.waitFor(async () => expect((await queue.counts(name)).completed).toBe(1), WAIT);
  });

  it("keeps no finished job but for its id, and no trace of lanes (mq-eviction-and-growth)", async () => {
    const queue = await opened();
    await queue.process(name, async () => {}, { concurrency: 10 });
    for (let n = 0; n < 100; n++) await queue.add({ name, data: "x".repeat(100), key: `k${n % 10}` });
    await queue.add({ name, data: 1, id: `${name}-remembered` });
    await vi.waitFor(async () => expect((await queue.counts(name)).completed).toBe(101), WAIT);
    await queue.close();
    expect(await raw.keys(`test:queue:jobs:${name}:j-*`)).toHaveLength(1);
    expect(await raw.keys(`test:queue:lane*:${name}*`)).toEqual([]);
  });

  it("warns when Redis may throw jobs away (mq-eviction-and-growth)", async () => {
    const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
    await raw.config("SET", "maxmemory-policy", "allkeys-lru");
    await opened();
    await raw.config("SET", "maxmemory-policy", "noeviction");
    warned.mockRestore();
    expect(troubles).toEqual([expect.stringContaining("maxmemory-policy is allkeys-lru; set it to noeviction")]);
  });
});
