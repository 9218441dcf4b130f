/**
 * Redis goes away in the middle (restarted, frozen, cut off): not ready meanwhile, nothing lost, nothing run twice, well
 * again by itself.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type Person, startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { eventually } from "../support/state.ts";
import { type TcpProxy, tcpProxy } from "../support/tcp-proxy.ts";

const OUTAGE_LIMIT_MS = 20_000;
const FULL = { tools: { exec: { mode: "full" } } };
/** Much longer than leases, locks and time limits of single calls. */
const PAUSE_MS = 60_000;
const CUTS = 6;
const COMMANDS_PER_CUT = 6;

requireOrSkip("redis-server", redisAvailable)("an outage of Redis", () => {
  let redis: RedisServer | undefined;
  let gateway: TestGateway | undefined;
  let wire: TcpProxy | undefined;
  afterEach(async () => {
    await gateway?.stop();
    await wire?.stop();
    await redis?.stop();
    gateway = undefined;
    wire = undefined;
    redis = undefined;
  });
  const readiness = (url: string) => fetch(`${url}/readyz`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const readyz = async (url: string) => (await readiness(url)).status;
  /** Names of the checks that fail now. */
  const failing = async (url: string): Promise<string[]> => {
    const { checks } = (await (await readiness(url)).json()) as { checks: { name: string; ok: boolean }[] };
    return checks.filter((one) => !one.ok).map((one) => one.name);
  };

  it("mq-redis-restart: a command that ends meanwhile is told when Redis is back, and ran once", async () => {
    redis = await startRedis({ persist: true });
    gateway = await startTestGateway({ redisUrl: redis.url, config: FULL });
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

  it("a command that is asked for the moment Redis is back runs, though the gateway's lease ran out meanwhile", async () => {
    redis = await startRedis({ persist: true });
    gateway = await startTestGateway({ redisUrl: redis.url, config: FULL });
    const { url, stateDir } = gateway;
    await redis.kill();
    await eventually(async () => (await failing(url)).includes("cluster"), OUTAGE_LIMIT_MS);
    await redis.start();
    await eventually(async () => !(await failing(url)).some((name) => name !== "cluster"), OUTAGE_LIMIT_MS);
    const { body } = await gateway.tool("exec", { command: "echo at once >> once" });
    expect(body).toMatchObject({ ok: true, result: { details: { status: "completed" } } });
    expect(await readFile(join(stateDir, "workspace", "once"), "utf8")).toBe("at once\n");
  }, 90_000);

  it("a Redis that answers nothing for 60 s: calls are refused in time, ends are kept, all goes on", async () => {
    redis = await startRedis({ persist: true });
    gateway = await startTestGateway({ redisUrl: redis.url, config: { tools: { exec: { mode: "ask" } } } });
    const { url, stateDir } = gateway;
    const before = await gateway.person();
    await before.say("/exec echo allowed >> later");
    const asked = await before.request("echo allowed >> later");
    await before.say("/exec ask=off security=full");
    await before.see("text", (card) => JSON.stringify(card).includes("off"));
    const running = "echo ran >> once; sleep 2; echo ended meanwhile | tee ended";
    await before.say(`/exec ${running}`);
    await before.see("run", (card) => card.command === running && card.state === "running");

    const thaw = await redis.pause();
    const frozenAt = performance.now();
    await eventually(async () => (await readyz(url)) === 503, OUTAGE_LIMIT_MS);
    const refused = await gateway.tool("exec", { command: "echo ran >> refused" });
    expect(refused.body).toMatchObject({ ok: false });
    await expect(before.decide(asked, "allow-once")).rejects.toThrow();
    await eventually(
      async () => (await readFile(join(stateDir, "workspace", "ended"), "utf8").catch(() => "")) !== "",
      OUTAGE_LIMIT_MS,
    );
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS - (performance.now() - frozenAt)));
    thaw();

    await eventually(async () => (await readyz(url)) === 200, OUTAGE_LIMIT_MS);
    const after = await gateway.person();
    const card = await after.see("run", (one) => one.command === running && one.state === "finished", OUTAGE_LIMIT_MS);
    expect(card).toMatchObject({ outcome: "completed", exitCode: 0 });
    expect(await readFile(join(stateDir, "workspace", "once"), "utf8")).toBe("ran\n");
    await expect(readFile(join(stateDir, "workspace", "refused"), "utf8")).rejects.toThrow("ENOENT");
    const still = await after.see("approval", (one) => one.approvalId === asked.approvalId);
    if (still.state === "pending") await after.decide(still, "allow-once");
    expect(await after.ended("echo allowed >> later")).toMatchObject({ outcome: "completed" });
    expect(await readFile(join(stateDir, "workspace", "later"), "utf8")).toBe("allowed\n");
  }, 180_000);

  it("connections that are cut in the middle: every command ends once and none ran twice", async () => {
    redis = await startRedis({ persist: true });
    wire = await tcpProxy(Number(new URL(redis.url).port));
    gateway = await startTestGateway({ redisUrl: `redis://127.0.0.1:${wire.port}`, config: FULL });
    const { stateDir } = gateway;
    const person = await gateway.person();
    const commands: string[] = [];
    for (let turn = 0; turn < CUTS; turn++) {
      const now = Array.from(
        { length: COMMANDS_PER_CUT },
        (_, n) => `echo ${turn}-${n} >> counter; echo said ${turn}-${n}`,
      );
      commands.push(...now);
      const said = now.map((command) => sayUntilTaken(person, `/exec ${command}`));
      // Each cut comes a little later in the life of what was just said.
      await new Promise((resolve) => setTimeout(resolve, 15 * turn));
      // After a cut it may be a second before there is something to cut again.
      const proxy = wire;
      await eventually(async () => proxy.open > 0, OUTAGE_LIMIT_MS);
      proxy.cut();
      await Promise.all(said);
    }
    for (const command of commands) {
      const card = await person.see("run", (one) => one.command === command && one.state === "finished", 40_000);
      expect(["completed", "not-started"]).toContain(card.outcome);
    }
    const shown = person.screen().filter((card) => card.kind === "run");
    expect(shown).toHaveLength(commands.length);
    const completed = shown
      .filter((card) => card.outcome === "completed")
      .map((card) => card.tail.replace(/^said /, "").trim());
    const counted = (await readFile(join(stateDir, "workspace", "counter"), "utf8")).trim().split("\n");
    expect(counted.toSorted()).toEqual(completed.toSorted());
    expect(completed.length).toBeGreaterThan(commands.length / 2);
    await eventually(async () => (await readyz(gateway?.url ?? "")) === 200, OUTAGE_LIMIT_MS);
  }, 120_000);
});

/** As the web chat does: under the same id again until it is acknowledged. */
async function sayUntilTaken(person: Person, text: string): Promise<void> {
  const id = crypto.randomUUID();
  const deadline = performance.now() + OUTAGE_LIMIT_MS;
  for (;;) {
    try {
      return await person.say(text, id);
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}
