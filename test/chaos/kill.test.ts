import { afterAll, describe, expect, it } from "vitest";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { type CampaignOptions, campaign } from "./campaign.ts";

/** `npm run chaos` sets both; a failure names its seed. */
const ROUNDS = Number(process.env.OPENCLAW_CHAOS_ROUNDS ?? 8);
const SEED = Number(process.env.OPENCLAW_CHAOS_SEED ?? 1);
const SECONDS_PER_ROUND = 45;

async function shown(mode: string, options: Omit<CampaignOptions, "seed">): Promise<void> {
  const result = await campaign({
    ...options,
    seed: SEED,
    onRound: (round, problems) => {
      if (problems.length > 0 || (ROUNDS > 20 && round % 10 === 0)) {
        process.stderr.write(`${mode} seed ${SEED} round ${round}: ${problems.join("; ") || "well"}\n`);
      }
    },
  });
  process.stderr.write(`${mode} seed ${SEED}: ${JSON.stringify(result)}\n`);
  expect(result.problems).toEqual([]);
}

describe("killed at random moments of a conversation", () => {
  const rounds = Math.max(1, Math.ceil(ROUNDS / 2));
  it(
    "embedded: nothing runs twice, nothing is lost, no message is doubled",
    () => shown("embedded", { rounds }),
    rounds * SECONDS_PER_ROUND * 1_000,
  );

  let redis: RedisServer | undefined;
  afterAll(() => redis?.stop());
  requireOrSkip("redis-server", redisAvailable)("with REDIS_URL", () => {
    it(
      "on Redis: nothing runs twice, nothing is lost, no message is doubled",
      async () => {
        redis = await startRedis({ persist: true });
        await shown("Redis", { rounds, env: { REDIS_URL: redis.url } });
      },
      rounds * SECONDS_PER_ROUND * 1_000,
    );
  });
});
