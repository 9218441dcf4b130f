import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/core/clock.ts";
import { openBullmqQueue } from "../../src/core/events/bullmq-queue.ts";
import { openEmbeddedQueue } from "../../src/core/events/embedded-queue.ts";
import { redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { queueContract } from "./queue.contract.ts";

const onTrouble = (): void => {};

queueContract("embedded", async () => {
  const directory = await mkdtemp(join(tmpdir(), "openclaw-queue-"));
  return {
    open: async () =>
      openEmbeddedQueue({ file: join(directory, "state.db"), clock: systemClock, newId: randomUUID, onTrouble }),
    stop: () => rm(directory, { recursive: true, force: true }),
  };
});

requireOrSkip("redis-server", redisAvailable)("with Redis", () => {
  queueContract("BullMQ", async () => {
    const redis = await startRedis();
    return {
      open: () =>
        openBullmqQueue({
          ...{ url: redis.url, prefix: "test:", clock: systemClock, newId: randomUUID, onTrouble },
          lockMs: 1000,
        }),
      stop: redis.stop,
    };
  });
});
