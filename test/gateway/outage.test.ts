/** Redis goes away in the middle: not ready meanwhile, nothing lost, nothing run twice, well again by itself. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { eventually } from "../support/state.ts";

const OUTAGE_LIMIT_MS = 20_000;

requireOrSkip("redis-server", redisAvailable)("an outage of Redis", () => {
  let redis: RedisServer | undefined;
  let gateway: TestGateway | undefined;
  afterEach(async () => {
    await gateway?.stop();
    await redis?.stop();
  });
  const readyz = async (url: string) =>
    (await fetch(`${url}/readyz`, { headers: { authorization: `Bearer ${TOKEN}` } })).status;

  it("mq-redis-restart: a command that ends meanwhile is told when Redis is back, and ran once", async () => {
    redis = await startRedis({ persist: true });
    gateway = await startTestGateway({ redisUrl: redis.url, config: { tools: { exec: { mode: "full" } } } });
    const { url, stateDir } = gateway;
    const before = await gateway.person();
    const command = "echo ran >> once; sleep 1.5; echo ended meanwhile | tee ended";
    await before.say(`/exec ${command}`);
    await before.see("run", (card) => card.command === command && card.state === "running");
    expect(await readyz(url)).toBe(200);

    await redis.kill();
    await eventually(async () => (await readyz(url)) === 503, OUTAGE_LIMIT_MS);
    const refused = await gateway.tool("exec", { command: "echo ran >> refused" });
    expect(refused.body).toMatchObject({ ok: false });
    // Its end falls into the outage.
    const ended = join(stateDir, "workspace", "ended");
    await eventually(async () => (await readFile(ended, "utf8").catch(() => "")) !== "");
    await redis.start();

    await eventually(async () => (await readyz(url)) === 200, OUTAGE_LIMIT_MS);
    const after = await gateway.person();
    const card = await after.see("run", (one) => one.command === command && one.state === "finished", OUTAGE_LIMIT_MS);
    expect(card).toMatchObject({ outcome: "completed", exitCode: 0 });
    expect(card.tail).toContain("ended meanwhile");
    expect(await readFile(join(stateDir, "workspace", "once"), "utf8")).toBe("ran\n");
    await after.say("/exec echo well again");
    expect(await after.ended("echo well again")).toMatchObject({ outcome: "completed" });
  }, 90_000);
});
