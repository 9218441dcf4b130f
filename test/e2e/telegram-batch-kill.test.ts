/** The product is killed while somebody is still writing on Telegram: nothing of it is lost, and nothing is told twice. */
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { ModelEmulator } from "../emulators/model/model-emulator.ts";
import { TelegramEmulator } from "../emulators/telegram/emulator.ts";
import { ensureBuilt } from "../support/product.ts";
import { type ProductLives, productLives } from "../support/product-lives.ts";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { eventually } from "../support/state.ts";

const OWNER = "1001";
const WAIT_MS = 40_000;
/** Before the first message is taken, while it waits, when the turn begins, and while the model thinks. */
const KILLED_AFTER_MS = [0, 40, 150, 280, 320, 500];

let product: ProductLives | undefined;
let redis: RedisServer | undefined;
let emulator: TelegramEmulator;
let model: ModelEmulator;

beforeAll(ensureBuilt, 180_000);

afterEach(async () => {
  await product?.dispose();
  await redis?.stop();
  await emulator.stop();
  await model.stop();
  product = undefined;
  redis = undefined;
});

function killedWhileWriting(envFor: () => Promise<Record<string, string>>): void {
  it("every message reaches the model once, whenever it was", async () => {
    emulator = new TelegramEmulator();
    await emulator.start();
    emulator.addPerson(Number(OWNER), "Olga", { username: "olga" });
    model = await ModelEmulator.start();
    const lives = await productLives({
      config: {
        models: { providers: model.providers("openai-completions") },
        agents: { defaults: { model: "house/small", heartbeat: { every: "0m" } } },
        channels: {
          telegram: { botToken: emulator.token, apiRoot: emulator.url, dmPolicy: "allowlist", allowFrom: [OWNER] },
        },
      },
      env: { ...(await envFor()), ...model.env },
    });
    product = lives;
    model.think(async ({ lastUser }) => ({ text: `Heard: ${lastUser.split("\n").at(-1)}.`, delayMs: 150 }));
    for (const [round, afterMs] of KILLED_AFTER_MS.entries()) {
      const pieces = ["a", "b", "c"].map((letter) => `piece-${round}${letter}`);
      for (const piece of pieces) await emulator.say(OWNER, OWNER, piece);
      await pause(afterMs);
      await lives.kill();
      await lives.start();
      const texts = () => model.requests.at(-1)?.messages.filter((one) => one.role === "user") ?? [];
      const all = () =>
        texts()
          .map((one) => one.text)
          .join("\n");
      await eventually(() => pieces.every((piece) => all().includes(piece)), WAIT_MS);
      for (const piece of pieces) expect(all().split(piece)).toHaveLength(2);
      await eventually(() => emulator.screenText(OWNER, OWNER).includes(`Heard: ${pieces.at(-1)}.`), WAIT_MS);
    }
    expect(model.violations).toEqual([]);
    expect(emulator.violations).toEqual([]);
  }, 240_000);
}

describe("somebody writes to the agent and the gateway is killed, embedded", () => {
  killedWhileWriting(async () => ({}));
});

requireOrSkip("redis-server", redisAvailable)(
  "somebody writes to the agent and the gateway is killed, on Redis",
  () => {
    killedWhileWriting(async () => {
      redis = await startRedis({ persist: true });
      return { REDIS_URL: redis.url };
    });
  },
);
