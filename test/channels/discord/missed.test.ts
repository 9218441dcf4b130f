/** What people say on Discord while the product is down: killed, started again, or taken over by another gateway. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DiscordEmulator } from "../../emulators/discord/emulator.ts";
import { type ProductLives, productLives } from "../../support/product-lives.ts";
import { type RedisServer, redisAvailable, startRedis } from "../../support/redis.ts";
import { requireOrSkip } from "../../support/require.ts";

const HISTORY = "GET /channels/{channel_id}/messages";

let emulator: DiscordEmulator;
let owner: string;
let member: string;
let stranger: string;
let guild: string;
let room: string;
let closed: string;
const lives: ProductLives[] = [];

beforeEach(async () => {
  emulator = new DiscordEmulator();
  await emulator.start();
  owner = emulator.addPerson("olga");
  member = emulator.addPerson("mia");
  stranger = emulator.addPerson("sam");
  guild = emulator.addGuild("Ops", [owner, member, stranger]);
  room = emulator.addChannel(guild, "deploys");
  closed = emulator.addChannel(guild, "small-talk");
});

afterEach(async () => {
  for (const product of lives.splice(0)) await product.dispose();
  await emulator.stop();
  expect(emulator.violations).toEqual([]);
});

async function product(env: Record<string, string> = {}): Promise<ProductLives> {
  const one = await productLives({
    env,
    config: {
      tools: { exec: { mode: "full" } },
      commands: { ownerAllowFrom: [`discord:${owner}`] },
      channels: {
        discord: {
          token: emulator.token,
          apiRoot: `${emulator.url}/api`,
          dmPolicy: "allowlist",
          allowFrom: [member],
          guilds: { [guild]: { requireMention: false, users: [owner, member], channels: { [room]: {} } } },
        },
      },
    },
  });
  lives.push(one);
  return one;
}

const connected = () => expect.poll(() => emulator.gateway.connected(), { timeout: 30_000 }).toBe(1);
/** Runs whose output names it. */
const runsOf = (word: string, place = room) =>
  emulator.world.channel(place).messages.filter((one) => emulator.textOf(one).includes(`\n${word}\n`)).length;
const ran = (word: string, place = room) => expect.poll(() => runsOf(word, place), { timeout: 20_000 }).toBe(1);

describe("said while the product is down", () => {
  it("row 44: after kill -9 and a new start it is answered once, in the room and directly; what was answered before is not", async () => {
    const first = await product();
    await connected();
    const dm = emulator.dm(member);
    await emulator.say(owner, room, "/exec echo be''fore");
    await emulator.say(member, dm, "/exec echo he''llo");
    await Promise.all([ran("before"), ran("hello", dm)]);
    await emulator.say(stranger, closed, "/exec echo ne''ver");
    await first.kill();
    await emulator.say(owner, room, "/exec echo mean''while");
    await emulator.say(member, dm, "/exec echo priv''ately");
    await emulator.say(stranger, room, "/exec echo stran''ger");
    await emulator.say(member, closed, "/exec echo clo''sed");
    const asked = emulator.journal.calls(HISTORY).length;
    await first.start();
    await Promise.all([ran("meanwhile"), ran("privately", dm)]);
    await emulator.say(owner, room, "/exec echo af''ter");
    await ran("after");
    expect(["before", "meanwhile", "after", "stranger"].map((word) => runsOf(word))).toEqual([1, 1, 1, 0]);
    expect([runsOf("hello", dm), runsOf("privately", dm), runsOf("closed", closed)]).toEqual([1, 1, 0]);
    // A room where nobody is listened to is not read.
    expect(emulator.journal.calls(HISTORY).length - asked).toBe(2);
    // A third life finds nothing new.
    await first.kill();
    await first.start();
    await connected();
    await emulator.say(owner, room, "/exec echo la''st");
    await ran("last");
    expect(["before", "meanwhile", "after"].map((word) => runsOf(word))).toEqual([1, 1, 1]);
  }, 120_000);

  it("row 50: twelve answers that wait for their turn when the product is ended come after the next start, each once", async () => {
    const first = await product();
    await connected();
    const words = Array.from({ length: 12 }, (_, one) => `answer-${one}`);
    for (const word of words) {
      await emulator.say(owner, room, `/exec echo ${word.replace("answer", "an''swer")} | tee -a ran`);
    }
    const done = async () =>
      (await readFile(join(first.workspace, "ran"), "utf8").catch(() => "")).split("\n").length - 1;
    await expect.poll(done, { timeout: 30_000 }).toBe(12);
    expect(await first.terminate()).toBe(0);
    // Discord takes five in five seconds: some still wait.
    expect(words.filter((word) => runsOf(word) > 0).length).toBeLessThan(12);
    await first.start();
    await expect.poll(() => words.map((word) => runsOf(word)), { timeout: 60_000 }).toEqual(words.map(() => 1));
  }, 120_000);

  requireOrSkip("redis-server", redisAvailable)("on one Redis", () => {
    let redis: RedisServer;
    beforeEach(async () => {
      redis = await startRedis();
    });
    afterEach(() => redis.stop());

    it("a gateway that takes the account over answers once what was said between the two", async () => {
      const env = { REDIS_URL: redis.url };
      const holder = await product(env);
      await connected();
      await emulator.say(owner, room, "/exec echo be''fore");
      await ran("before");
      await product(env);
      await holder.kill();
      await emulator.say(owner, room, "/exec echo bet''ween");
      await ran("between");
      expect(["before", "between"].map((word) => runsOf(word))).toEqual([1, 1]);
    }, 120_000);
  });
});
