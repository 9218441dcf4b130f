/** What docs/operations.md says of backups: a copied state directory is the whole gateway. */
import { copyFile, cp, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterEach, describe, expect, it } from "vitest";
import { type ProductLives, productLives } from "../support/product-lives.ts";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { eventually } from "../support/state.ts";

const ASK = { tools: { exec: { mode: "ask" } } };
let product: ProductLives | undefined;
let copy: string | undefined;

afterEach(async () => {
  await product?.dispose();
  if (copy) await rm(copy, { recursive: true, force: true });
});

describe("a copy of the state directory", () => {
  it.each([
    ["made while the gateway was stopped", "stopped"],
    ["made of what a crash left, as a snapshot of the disk is", "killed"],
  ])("%s brings back rules, requests, jobs, history and the audit trail", async (_, how) => {
    product = await productLives({ config: ASK });
    const before = await product.person();
    await before.say("/exec echo kept");
    await before.decide(await before.request("echo kept"), "allow-always");
    await before.ended("echo kept");
    await before.say("/exec echo waiting");
    const waiting = await before.request("echo waiting");
    await before.call("cron.add", { every: "1h", command: "true", name: "hourly" });
    const { head } = await before.call("audit.read", { limit: 1 });
    if (how === "stopped") await product.terminate();
    else await product.kill();

    const { stateDir } = product;
    copy = await mkdtemp(join(tmpdir(), "openclaw-exec-backup-"));
    await cp(stateDir, copy, { recursive: true, preserveTimestamps: true });
    for (const name of await readdir(stateDir)) await rm(join(stateDir, name), { recursive: true });
    await cp(copy, stateDir, { recursive: true, preserveTimestamps: true });
    await product.start();

    const after = await product.person();
    await after.see("approval", (card) => card.approvalId === waiting.approvalId && card.state === "pending");
    expect(after.screen().some((card) => card.kind === "said" && card.text === "/exec echo kept")).toBe(true);
    expect((await after.call("cron.list", {})).jobs).toMatchObject([{ name: "hourly" }]);
    await after.say("/exec echo kept");
    await eventually(
      () => after.screen().filter((card) => card.kind === "run" && card.command === "echo kept").length === 2,
    );
    const page = await after.call("audit.read", { after: (head?.seq ?? 0) - 1, limit: 1 });
    expect(page.entries[0]?.seq).toBe(head?.seq);
    expect((await stat(join(stateDir, "gateway-token"))).mode & 0o777).toBe(0o600);
  });
});

requireOrSkip("redis-server", redisAvailable)("a snapshot of Redis beside a copy of the state directory", () => {
  let redis: RedisServer | undefined;
  afterEach(() => redis?.stop());

  it("brings back requests, jobs and history on an empty Redis", async () => {
    redis = await startRedis();
    product = await productLives({ config: ASK, env: { REDIS_URL: redis.url } });
    const before = await product.person();
    await before.say("/exec echo kept > kept");
    await before.decide(await before.request("echo kept > kept"), "allow-once");
    await before.ended("echo kept > kept");
    await before.say("/exec echo waiting");
    const waiting = await before.request("echo waiting");
    await before.call("cron.add", { every: "1h", command: "true", name: "hourly" });
    await product.terminate();

    const admin = new Redis(redis.url);
    await admin.save();
    const [, directory = ""] = (await admin.config("GET", "dir")) as string[];
    admin.disconnect();
    copy = await mkdtemp(join(tmpdir(), "openclaw-exec-backup-"));
    await copyFile(join(directory, "dump.rdb"), join(copy, "dump.rdb"));
    await redis.kill();
    await rm(join(directory, "dump.rdb"));
    await redis.start();
    const empty = new Redis(redis.url);
    expect(await empty.dbsize()).toBe(0);
    empty.disconnect();
    await redis.kill();
    await copyFile(join(copy, "dump.rdb"), join(directory, "dump.rdb"));
    await redis.start();
    await product.start();

    const after = await product.person();
    const still = await after.see("approval", (card) => card.approvalId === waiting.approvalId);
    expect((await after.call("cron.list", {})).jobs).toMatchObject([{ name: "hourly" }]);
    expect(after.screen().some((card) => card.kind === "run" && card.command === "echo kept > kept")).toBe(true);
    await after.decide(still, "allow-once");
    expect(await after.ended("echo waiting")).toMatchObject({ outcome: "completed" });
  }, 120_000);
});
