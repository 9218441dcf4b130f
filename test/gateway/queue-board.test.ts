/** Bull Board at /queues: off unless asked for, behind the operator's token, and only to look at. */
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";

const basic = (password: string) => `Basic ${Buffer.from(`operator:${password}`).toString("base64")}`;

requireOrSkip("redis-server", redisAvailable)("Bull Board", () => {
  let redis: RedisServer;
  let gateway: TestGateway | undefined;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    await gateway?.stop();
    gateway = undefined;
  });
  afterAll(() => redis.stop());
  const up = async (board: boolean) => {
    const prefix = `${randomBytes(4).toString("hex")}:`;
    gateway = await startTestGateway({
      redisUrl: redis.url,
      config: { tools: { exec: { mode: "full" } }, redis: { board, prefix } },
    });
    const { url } = gateway;
    return (path: string, headers: Record<string, string> = {}, method = "GET") =>
      fetch(`${url}${path}`, { method, headers });
  };

  it("is not there unless it is asked for", async () => {
    const get = await up(false);
    for (const path of ["/queues", "/queues/api/queues"]) {
      expect((await get(path, { authorization: basic(TOKEN) })).status).toBe(404);
    }
  });

  it("asks for the token as a password, and takes nothing else", async () => {
    const get = await up(true);
    for (const path of ["/queues", "/queues/api/queues", "/queues/static/favicon-32x32.png"]) {
      const asked = await get(path);
      expect(asked.status).toBe(401);
      expect(asked.headers.get("www-authenticate")).toMatch(/^Basic realm=".*gateway token.*"/);
      expect((await get(path, { authorization: basic("wrong-token-0123456789") })).status).toBe(401);
      expect((await get(path, { authorization: basic("") })).status).toBe(401);
      expect((await get(path, { authorization: basic(TOKEN) })).status).toBe(200);
    }
    expect((await get("/queues", { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    expect((await get("/metrics", { authorization: basic(TOKEN) })).status).toBe(401);
  });

  it("slows down who tries passwords", async () => {
    const get = await up(true);
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++) statuses.push((await get("/queues", { authorization: basic(`guess-${n}`) })).status);
    expect(statuses.at(0)).toBe(401);
    expect(statuses.at(-1)).toBe(429);
  });

  it("shows each kind of job with what it holds, secrets masked, and lets nobody change anything", async () => {
    const get = await up(true);
    const auth = { authorization: basic(TOKEN) };
    const person = await gateway?.person();
    await person?.say(`/exec echo shown-on-the-board ${TOKEN}`);
    await person?.see("run", (card) => card.state === "finished");
    const page = await get("/queues", auth);
    expect(await page.text()).toContain("<title>openclaw-exec<");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/script-src 'self';.*frame-ancestors 'none'/);
    const answer = await get("/queues/api/queues?activeQueue=inbound&status=completed&page=1", auth);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const text = await answer.text();
    const { queues } = JSON.parse(text) as { queues: { name: string; readOnlyMode: boolean }[] };
    expect(queues.map((queue) => queue.name)).toEqual(expect.arrayContaining(["delivery", "inbound", "wake"]));
    expect(queues.every((queue) => queue.readOnlyMode)).toBe(true);
    expect(text).toContain("shown-on-the-board");
    expect(text).not.toContain(TOKEN);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      expect((await get("/queues/api/queues/inbound/add", auth, method)).status).toBe(405);
      expect(
        (await get("/queues/api/queues/inbound/add", { ...auth, origin: "http://evil.example" }, method)).status,
      ).toBe(403);
    }
    expect((await get("/queues/api/queues?activeQueue=inbound", auth)).status).toBe(200);
  });
});
