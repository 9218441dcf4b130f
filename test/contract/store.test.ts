import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/core/clock.ts";
import { openRedisStore } from "../../src/core/store/redis-store.ts";
import { openSqliteStore } from "../../src/core/store/sqlite-store.ts";
import { redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { storeContract } from "./store.contract.ts";

const onTrouble = (): void => {};

storeContract("SQLite", async () => {
  const directory = await mkdtemp(join(tmpdir(), "openclaw-store-"));
  let passed = 0;
  const clock = { now: () => systemClock.now() + passed, monotonic: () => systemClock.monotonic() + passed };
  return {
    open: async () => openSqliteStore({ file: join(directory, "state.db"), clock, onTrouble }),
    elapse: async (ms) => {
      passed += ms;
    },
    stop: () => rm(directory, { recursive: true, force: true }),
  };
});

requireOrSkip("redis-server", redisAvailable)("with Redis", () => {
  storeContract("Redis", async () => {
    const redis = await startRedis();
    return {
      open: () => openRedisStore({ url: redis.url, prefix: "test:", onTrouble }),
      elapse: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      stop: redis.stop,
    };
  });
});
