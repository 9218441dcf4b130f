import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { openState, type State } from "../../../src/core/store/open-state.ts";
import { startChild } from "../../support/child.ts";
import { redisAvailable, startRedis } from "../../support/redis.ts";
import { requireOrSkip } from "../../support/require.ts";

const options = { clock: systemClock, newId: randomUUID, onTrouble: () => {} };
const WAIT = { timeout: 10_000, interval: 10 };

let stateDir: string;
beforeEach(async () => {
  stateDir = join(await mkdtemp(join(tmpdir(), "openclaw-state-")), "state");
});
afterEach(() => rm(join(stateDir, ".."), { recursive: true, force: true }));

/** A job that writes to the store while the state is closed must still find it open. */
async function closesQueueFirst(state: State): Promise<void> {
  let started: () => void = () => {};
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  await state.queue.process("closing", async () => {
    started();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await state.store.put("ns", "written", "while closing");
  });
  await state.queue.add({ name: "closing", data: 1 });
  await running;
  await state.close();
}

describe("openState without Redis", () => {
  it("keeps everything in one private directory over a restart", async () => {
    const before = await openState({ ...options, stateDir });
    await closesQueueFirst(before);
    expect((await stat(stateDir)).mode & 0o777).toBe(0o700);
    for (const file of await readdir(stateDir)) {
      expect([file, (await stat(join(stateDir, file))).mode & 0o777]).toEqual([file, 0o600]);
    }
    const after = await openState({ ...options, stateDir });
    expect((await after.store.get("ns", "written"))?.value).toBe("while closing");
    expect(await after.queue.counts("closing")).toMatchObject({ completed: 1, waiting: 0, active: 0 });
    await after.close();
  });

  it("refuses a second gateway on the directory and leaves the first one alone", async () => {
    const first = await openState({ ...options, stateDir });
    await expect(openState({ ...options, stateDir })).rejects.toMatchObject({ code: "state-unavailable" });
    await first.store.health();
    await first.queue.health();
    await first.close();
  });

  it("does not load the Redis libraries", async () => {
    const child = startChild("state-child.ts", stateDir);
    expect(await child.line((line) => line.startsWith("loaded"))).toBe("loaded libsql");
  });
});

requireOrSkip("redis-server", redisAvailable)("openState with Redis", () => {
  it("shares store and queue between gateways under one prefix", async () => {
    const redis = await startRedis();
    const shared = { ...options, stateDir, redisUrl: redis.url, redisPrefix: "team:" };
    const [one, two] = [await openState(shared), await openState(shared)];
    const seen: unknown[] = [];
    await two.queue.process("work", async ({ data }) => {
      seen.push(data);
    });
    await one.queue.add({ name: "work", data: "from one" });
    await vi.waitFor(() => expect(seen).toEqual(["from one"]), WAIT);
    await one.store.put("ns", "k", 1);
    expect((await two.store.get("ns", "k"))?.value).toBe(1);
    await closesQueueFirst(one);
    expect((await two.store.get("ns", "written"))?.value).toBe("while closing");
    await two.close();
    await redis.stop();
  });
});
