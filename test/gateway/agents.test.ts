import { afterAll } from "vitest";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { agentsInChats } from "./agents.ts";

agentsInChats("embedded", "openai-completions", async () => ({}));

let redis: RedisServer | undefined;
afterAll(async () => {
  await redis?.stop();
});
requireOrSkip("redis-server", redisAvailable)("on Redis", () => {
  agentsInChats("distributed", "anthropic-messages", async () => {
    redis ??= await startRedis({ persist: true });
    return { redisUrl: redis.url };
  });
});
