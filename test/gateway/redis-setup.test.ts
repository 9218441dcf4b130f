/** Redis as operators have it: behind TLS, with a user of its own that may do little, shared with others by a prefix. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterEach, expect, it } from "vitest";
import { type ProductLives, productLives } from "../support/product-lives.ts";
import { opensslAvailable, type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";

const PASSWORD = "correct-horse-battery";
const FULL = { tools: { exec: { mode: "full" } } };
/** As docs/operations.md has it. */
const ACL_RULES = ["~team-a:*", "&team-a:*", "+@all", "-@admin", "-@dangerous", "+info"];

requireOrSkip("redis-server", redisAvailable)("a Redis of an operator", () => {
  let redis: RedisServer | undefined;
  const lives: ProductLives[] = [];
  afterEach(async () => {
    for (const one of lives.splice(0)) await one.dispose();
    await redis?.stop();
    redis = undefined;
  });
  const product = async (env: Record<string, string>, config: object = FULL): Promise<ProductLives> => {
    const one = await productLives({ config, env });
    lives.push(one);
    return one;
  };
  const withUser = (url: string) => url.replace("://", `://openclaw:${PASSWORD}@`);

  requireOrSkip("openssl", opensslAvailable)("with TLS", () => {
    it("is used over TLS by a user that may only touch its own prefix, and every key begins with it", async () => {
      redis = await startRedis({ tls: true });
      const admin = new Redis(redis.url, { tls: { ca: await readFile(redis.caFile) } });
      await admin.acl("SETUSER", "openclaw", "on", `>${PASSWORD}`, ...ACL_RULES);
      await admin.set("somebody-elses", "untouched");
      const one = await product(
        { REDIS_URL: withUser(redis.url), NODE_EXTRA_CA_CERTS: redis.caFile },
        { tools: { exec: { mode: "ask" } }, redis: { prefix: "team-a:" } },
      );
      const person = await one.person();
      await person.say("/exec echo over tls >> once");
      await person.decide(await person.request("echo over tls >> once"), "allow-once");
      expect(await person.ended("echo over tls >> once")).toMatchObject({ outcome: "completed" });
      await person.say("/cron add every=1h -- echo later");
      await person.see("text", (card) => /is set/.test(card.title ?? ""));
      expect(await readFile(join(one.workspace, "once"), "utf8")).toBe("over tls\n");
      // A restart takes everything again that only a start needs: leases, schedules, what was left open.
      await one.terminate();
      await one.start();
      const again = await one.person();
      await again.say("/exec echo again");
      await again.decide(await again.request("echo again"), "allow-once");
      expect(await again.ended("echo again")).toMatchObject({ outcome: "completed" });
      const keys = await admin.keys("*");
      expect(keys.filter((key) => !key.startsWith("team-a:"))).toEqual(["somebody-elses"]);
      expect(keys.length).toBeGreaterThan(10);
      expect(await admin.acl("LOG")).toEqual([]);
      expect(one.output).not.toContain(PASSWORD);
      admin.disconnect();
    }, 120_000);

    it("is not trusted when nobody knows who signed its certificate", async () => {
      redis = await startRedis({ tls: true });
      const failed = product({ REDIS_URL: redis.url });
      await expect(failed).rejects.toThrow(/did not start.*Redis at rediss:\/\/localhost.*self-signed certificate/s);
    }, 60_000);
  });

  it("is refused clearly when its password is wrong, and the password is not shown", async () => {
    redis = await startRedis({ args: ["--requirepass", PASSWORD] });
    const wrong = redis.url.replace("://", "://:not-the-password@");
    const said = await product({ REDIS_URL: wrong }).then(
      () => "it started",
      (error: Error) => error.message,
    );
    expect(said).toMatch(/did not start.*WRONGPASS/s);
    expect(said).not.toContain("not-the-password");
  }, 60_000);

  it("mq-eviction-and-growth: one that may throw keys away is warned about at the start", async () => {
    redis = await startRedis({ args: ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"] });
    const one = await product({ REDIS_URL: redis.url });
    expect(one.output).toMatch(/maxmemory-policy is allkeys-lru; set it to noeviction/);
  }, 60_000);
});
