/** A gateway and its Redis come up in any order. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ensureBuilt } from "../support/product.ts";
import { BIN } from "../support/product-lives.ts";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { eventually } from "../support/state.ts";
import { tied } from "../support/tied.ts";

const WAIT_MS = 25_000;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

requireOrSkip("redis-server", redisAvailable)("a gateway whose Redis is not there when it starts", () => {
  let redis: RedisServer;
  let stateDir: string;
  let child: ChildProcess | undefined;
  let output = "";
  let ended: Promise<number | null>;
  let url: string;

  beforeEach(async () => {
    await ensureBuilt();
    redis = await startRedis();
    stateDir = await mkdtemp(join(tmpdir(), "openclaw-exec-start-"));
  });
  afterEach(async () => {
    child?.kill("SIGKILL");
    await ended;
    await redis.stop();
    await rm(stateDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });

  async function start(config: object = {}, redisUrl = redis.url): Promise<void> {
    await writeFile(join(stateDir, "openclaw.json"), JSON.stringify(config), { mode: 0o600 });
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    output = "";
    const env = { PATH: process.env.PATH ?? "", HOME: stateDir, OPENCLAW_STATE_DIR: stateDir, REDIS_URL: redisUrl };
    const started = spawn(...tied(process.execPath, [BIN, "gateway", "--port", String(port)]), {
      cwd: stateDir,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child = started;
    for (const stream of [started.stdout, started.stderr]) stream?.on("data", (data) => (output += String(data)));
    ended = new Promise((resolve) => started.once("exit", (code) => resolve(code)));
  }
  const status = (path: string) =>
    fetch(`${url}${path}`).then(
      (response) => response.status,
      () => 0,
    );
  const waits = () =>
    eventually(async () => output.includes("waiting for Redis") && (await status("/healthz")) === 200, WAIT_MS);

  it("waits, says so, is alive and not ready, and starts when Redis is there", async () => {
    await redis.kill();
    await start();
    await waits();
    expect(await status("/readyz")).toBe(503);
    expect(await status("/")).toBe(503);
    // Longer than a call to Redis may take.
    await eventually(() => /"waitedMs":[6-9]\d{3}/.test(output), WAIT_MS);
    await redis.start();
    await eventually(() => output.includes("listens on"), WAIT_MS);
    expect(await status("/readyz")).toBe(200);
    child?.kill("SIGTERM");
    expect(await ended).toBe(0);
  }, 90_000);

  it("that answers nothing for a while is waited for too", async () => {
    const thaw = await redis.pause();
    await start();
    await waits();
    thaw();
    await eventually(() => output.includes("listens on"), WAIT_MS);
    expect(await status("/readyz")).toBe(200);
  }, 90_000);

  it("ends when it does not come in time, and says which setting that is", async () => {
    await redis.kill();
    await start({ redis: { startWaitSec: 2 } });
    expect(await ended).toBe(1);
    expect(output).toMatch(/did not come up within 2 s \(redis\.startWaitSec\)/);
  }, 60_000);

  it("does not wait for one that refuses the password", async () => {
    await redis.stop();
    redis = await startRedis({ args: ["--requirepass", "correct-horse"] });
    await start({}, redis.url.replace("://", "://:wrong-horse@"));
    expect(await ended).toBe(1);
    expect(output).toMatch(/WRONGPASS/);
    expect(output).not.toContain("wrong-horse");
  }, 60_000);

  it("ends at once when it is told to while it waits", async () => {
    await redis.kill();
    await start();
    await waits();
    child?.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(output).not.toContain("listens on");
  }, 60_000);
});
