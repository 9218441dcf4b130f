import { afterAll, describe, expect, it } from "vitest";
import { openDiscord } from "../conversation/places/discord.ts";
import { openSlack } from "../conversation/places/slack.ts";
import { openTelegram } from "../conversation/places/telegram.ts";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { type CampaignOptions, campaign } from "./campaign.ts";
import { chatCampaign } from "./chat-campaign.ts";

/** `npm run chaos` sets both; a failure names its seed. */
const ROUNDS = Number(process.env.OPENCLAW_CHAOS_ROUNDS ?? 8);
const SEED = Number(process.env.OPENCLAW_CHAOS_SEED ?? 1);
const SECONDS_PER_ROUND = 45;
/** Over all platforms and both modes. */
const CHAT_ROUNDS = Number(process.env.OPENCLAW_CHAOS_CHAT_ROUNDS ?? 6);
const CHAT_SECONDS_PER_ROUND = 120;

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

const PLATFORMS = [
  ["slack", openSlack],
  ["telegram", openTelegram],
  ["discord", openDiscord],
] as const;

/** Rounds wait for the platform's time limits far more than they compute: the platforms go side by side. */
describe.concurrent("killed at random moments of a conversation on a chat platform", () => {
  const rounds = Math.max(1, Math.ceil(CHAT_ROUNDS / (2 * PLATFORMS.length)));
  const limitMs = rounds * CHAT_SECONDS_PER_ROUND * 1_000;
  const shownOn = async (mode: string, [name, open]: (typeof PLATFORMS)[number], env: Record<string, string> = {}) => {
    const result = await chatCampaign({
      ...{ name, open, env, rounds },
      seed: SEED,
      onRound: (round, problems) => {
        if (problems.length > 0 || (CHAT_ROUNDS > 20 && round % 10 === 0)) {
          process.stderr.write(`${name} ${mode} seed ${SEED} round ${round}: ${problems.join("; ") || "well"}\n`);
        }
      },
    });
    process.stderr.write(`${name} ${mode} seed ${SEED}: ${JSON.stringify(result)}\n`);
    expect(result.problems).toEqual([]);
  };

  for (const platform of PLATFORMS) {
    const [name] = platform;
    const title = `${name}, embedded: wake-delivered-then-crash: nothing runs twice, nothing is lost`;
    it(title, () => shownOn("embedded", platform), limitMs);
  }

  requireOrSkip("redis-server", redisAvailable)("with REDIS_URL", () => {
    for (const platform of PLATFORMS) {
      const [name] = platform;
      it(
        `${name}, on Redis: wake-delivered-then-crash: nothing runs twice, nothing is lost`,
        async () => {
          const redis = await startRedis({ persist: true });
          try {
            await shownOn("Redis", platform, { REDIS_URL: redis.url });
          } finally {
            await redis.stop();
          }
        },
        limitMs,
      );
    }

    it(
      "two gateways on one Redis: another takes over within 10 s under load, nothing runs twice, nothing is lost",
      async () => {
        const redis = await startRedis({ persist: true });
        try {
          const result = await chatCampaign({
            ...{ name: "telegram", open: openTelegram, seed: SEED, rounds: 3, gateways: 2 },
            env: { REDIS_URL: redis.url },
          });
          process.stderr.write(`telegram, two gateways, seed ${SEED}: ${JSON.stringify(result)}\n`);
          expect(result.problems).toEqual([]);
          expect(result.takeoversMs.length).toBeGreaterThanOrEqual(3);
          expect(Math.max(...result.takeoversMs)).toBeLessThan(10_000);
        } finally {
          await redis.stop();
        }
      },
      6 * CHAT_SECONDS_PER_ROUND * 1_000,
    );
  });
});
