/** The product is killed in the middle of an agent's turn: nothing is lost, nothing is done twice, and people are told the truth. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { ModelEmulator } from "../emulators/model/model-emulator.ts";
import type { Person } from "../support/gateway.ts";
import { ensureBuilt } from "../support/product.ts";
import { type ProductLives, productLives } from "../support/product-lives.ts";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { eventually } from "../support/state.ts";

const WAIT_MS = 40_000;

beforeAll(ensureBuilt, 180_000);

let product: ProductLives | undefined;
let second: ProductLives | undefined;
let model: ModelEmulator | undefined;
let redis: RedisServer | undefined;

afterEach(async () => {
  await product?.dispose();
  await second?.dispose();
  await model?.stop();
  await redis?.stop();
  product = undefined;
  second = undefined;
  model = undefined;
  redis = undefined;
});

const open = (house: ModelEmulator, mode: string, env: Record<string, string>): Promise<ProductLives> =>
  productLives({
    config: {
      tools: { exec: { mode } },
      models: { providers: house.providers("openai-completions") },
      agents: { defaults: { model: "house/small", heartbeat: { every: "0m" } } },
    },
    env: { ...env, ...house.env },
  });

async function start(
  mode: string,
  env: Record<string, string>,
): Promise<{ lives: ProductLives; house: ModelEmulator }> {
  const house = await ModelEmulator.start();
  model = house;
  const lives = await open(house, mode, env);
  product = lives;
  return { lives, house };
}

const says = (person: Person, words: RegExp) => person.see("text", (card) => words.test(card.text ?? ""), WAIT_MS);
const count = (person: Person, words: RegExp) =>
  person.screen().filter((card) => card.kind === "text" && words.test(card.text ?? "")).length;

function killedInTheMiddle(optionsFor: () => Promise<Record<string, string>>): void {
  it("while the model thinks: the turn is begun again, and answered once; what was said meanwhile is not lost", async () => {
    const { lives, house } = await start("full", await optionsFor());
    house.script({ text: "Never heard.", delayMs: 60_000 });
    const before = await lives.person();
    await before.say("what is the answer");
    await eventually(() => house.requests.length === 1, WAIT_MS);
    await before.say("and the question");
    await lives.kill();
    await before.leave();
    house.think(({ lastUser }) => ({ text: `On: ${lastUser.split("\n").at(-1)}.` }));
    await lives.start();
    const after = await lives.person();
    await says(after, /On: (?:what is the answer|and the question)\./);
    await says(after, /On: and the question\./);
    expect(
      house.requests
        .slice(1)
        .map((one) => one.body)
        .join(),
    ).toContain("what is the answer");
    expect(count(after, /^On: what is the answer/)).toBeLessThanOrEqual(1);
    expect(count(after, /^On: and the question/)).toBe(1);
    expect(count(after, /gateway was stopped/)).toBe(0);
  });

  it("while its command runs: the command is not started again, the chat is told what had been started, and the model later", async () => {
    const { lives, house } = await start("full", await optionsFor());
    house.script({ calls: [{ name: "exec", args: { command: "echo ran >> once; sleep 300" } }] });
    const before = await lives.person();
    await before.say("do the long thing");
    const once = join(lives.workspace, "once");
    await eventually(async () => (await readFile(once, "utf8").catch(() => "")) === "ran\n", WAIT_MS);
    await lives.kill();
    await before.leave();
    house.script({ text: "I look first." });
    await lives.start();
    const after = await lives.person();
    const told = await says(after, /gateway was stopped while I worked on this/);
    expect(told.text).toContain("`exec echo ran >> once; sleep 300`");
    expect(house.requests.filter((one) => one.lastUser.includes("do the long thing"))).toHaveLength(1);
    await after.say("go on");
    await says(after, /I look first\./);
    expect(house.requests.at(-1)?.body).toMatch(/Outcome unknown/);
    expect(house.violations).toEqual([]);
    expect(await readFile(once, "utf8")).toBe("ran\n");
    expect(count(after, /gateway was stopped/)).toBe(1);
  });

  it("while its request waits for a person: it can be allowed afterwards, runs once, and the agent is told", async () => {
    const { lives, house } = await start("ask", await optionsFor());
    const command = "echo ran >> later";
    house.script({ calls: [{ name: "exec", args: { command } }] }, { text: "Asked." });
    const before = await lives.person();
    await before.say("do it when allowed");
    await says(before, /^Asked\.$/);
    await before.request(command);
    await lives.kill();
    await before.leave();
    house.script({ text: "Now it has run." });
    await lives.start();
    const after = await lives.person();
    await after.decide(await after.request(command), "allow-once");
    await says(after, /^Now it has run\.$/);
    expect(house.requests.at(-1)?.lastUser).toMatch(/Exec finished/);
    expect(await readFile(join(lives.workspace, "later"), "utf8")).toBe("ran\n");
    expect(count(after, /^Asked\.$/)).toBe(1);
  });
}

describe("an agent's gateway is killed, embedded", () => {
  killedInTheMiddle(async () => ({}));
});

requireOrSkip("redis-server", redisAvailable)("an agent's gateway is killed, on Redis", () => {
  killedInTheMiddle(async () => {
    redis = await startRedis({ persist: true });
    return { REDIS_URL: redis.url };
  });

  it("while its command runs and another gateway is there: that one tells it, and starts nothing again", async () => {
    redis = await startRedis({ persist: true });
    const env = { REDIS_URL: redis.url };
    const { lives, house } = await start("full", env);
    house.script({ calls: [{ name: "exec", args: { command: "echo ran >> once; sleep 300" } }] });
    const before = await lives.person();
    await before.say("do the long thing");
    const once = join(lives.workspace, "once");
    await eventually(async () => (await readFile(once, "utf8").catch(() => "")) === "ran\n", WAIT_MS);
    const other = await open(house, "full", env);
    second = other;
    await lives.kill();
    await before.leave();
    const after = await other.person();
    await says(after, /gateway was stopped while I worked on this/);
    house.script({ text: "I look first, from here." });
    await after.say("go on");
    await says(after, /from here/);
    expect(house.requests.at(-1)?.body).toMatch(/Outcome unknown/);
    expect(await readFile(once, "utf8")).toBe("ran\n");
    expect(await readFile(join(other.workspace, "once"), "utf8").catch(() => "")).toBe("");
    expect(count(after, /gateway was stopped/)).toBe(1);
  }, 120_000);
});
