import { afterAll } from "vitest";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { cronJobs } from "./cron.ts";

cronJobs("embedded", async () => ({}));

let redis: RedisServer | undefined;
afterAll(async () => {
  await redis?.stop();
});
requireOrSkip("redis-server", redisAvailable)("on Redis", () => {
  cronJobs("distributed", async () => {
    redis ??= await startRedis({ persist: true });
    return { redisUrl: redis.url };
  });
});
