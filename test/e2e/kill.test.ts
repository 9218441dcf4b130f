import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { BIN, type ProductLives, productLives } from "../support/product-lives.ts";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { eventually } from "../support/state.ts";
import { tied } from "../support/tied.ts";

const ASK = { tools: { exec: { mode: "ask" } } };
let product: ProductLives | undefined;
let redis: RedisServer | undefined;

afterEach(async () => {
  await product?.dispose();
  await redis?.stop();
  product = undefined;
  redis = undefined;
});

/** How many processes of this machine carry the mark in their command line. */
async function alive(mark: string): Promise<number> {
  let count = 0;
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const text = await readFile(`/proc/${pid}/cmdline`, "latin1").catch(() => "");
    if (text.includes(mark) && Number(pid) !== process.pid) count++;
  }
  return count;
}

async function killInTheMiddle(env: Record<string, string>): Promise<void> {
  product = await productLives({ config: ASK, env });
  const before = await product.person();
  const mark = `mark${Math.random().toString(36).slice(2)}`;
  const running = `echo ran >> once; sleep 300; echo ${mark}`;
  const waiting = `echo ran >> later; echo ${mark}`;
  await before.say(`/exec ${running}`);
  await before.decide(await before.request(running), "allow-once");
  const shown = await before.see("run", (card) => card.command === running && card.state === "running");
  await before.say(`/exec ${waiting}`);
  const pending = await before.request(waiting);
  const once = join(product.workspace, "once");
  await eventually(async () => (await readFile(once, "utf8").catch(() => "")) === "ran\n");

  await product.kill();
  await before.leave();
  expect(await alive(mark)).toBeGreaterThan(0);
  await product.start();

  const after = await product.person();
  const lost = await after.see("run", (card) => card.runId === shown.runId && card.state === "finished");
  expect(lost).toMatchObject({ outcome: "lost" });
  expect(lost.notes.join()).toMatch(/killed while this ran; it was stopped at the restart.*not be run again/);
  expect(await alive(mark)).toBe(0);
  expect(await readFile(once, "utf8")).toBe("ran\n");

  const still = await after.see(
    "approval",
    (card) => card.approvalId === pending.approvalId && /restarted/.test(card.statusLine ?? ""),
  );
  expect(still.state).toBe("pending");
  await after.decide(still, "allow-once");
  await after.ended(waiting);
  expect(await readFile(join(product.workspace, "later"), "utf8")).toBe("ran\n");
  expect(
    after
      .screen()
      .filter((card) => card.kind === "said")
      .map((card) => card.kind === "said" && card.text),
  ).toEqual([`/exec ${running}`, `/exec ${waiting}`]);
}

describe("kill -9 with one approval pending and one command running", () => {
  it("restart-loses-session-but-not-the-fact: embedded, after the restart the cards say what became of them and nothing runs twice", () =>
    killInTheMiddle({}));

  requireOrSkip("redis-server", redisAvailable)("with REDIS_URL", () => {
    it("after the restart the cards say what became of them and nothing runs twice", async () => {
      redis = await startRedis({ persist: true });
      await killInTheMiddle({ REDIS_URL: redis.url });
    });
  });
});

async function killWhilePutOff(env: Record<string, string>): Promise<void> {
  product = await productLives({ config: { ...ASK, approvals: { snoozeSec: 3 } }, env });
  const before = await product.person();
  const command = "echo ran >> put-off";
  await before.say(`/exec ${command}`);
  const { approvalId } = await before.request(command);
  const snooze = { kind: "approval-action", action: "snooze", approvalId } as const;
  await before.press(snooze);
  await before.see("approval", (card) => card.approvalId === approvalId && card.snoozes?.length === 1);
  await product.kill();
  await before.leave();
  await product.start();

  const after = await product.person();
  const again = await after.see("approval", (card) => card.snoozes?.[0]?.over === true);
  expect(again).toMatchObject({ approvalId, state: "pending" });
  await after.see("text", ({ text }) => text === `Request ${again.slug} is asked again below.`);
  expect(after.screen().filter(({ kind }) => kind === "approval")).toHaveLength(1);
  await after.decide(again, "allow-once");
  await after.ended(command);
  expect(await readFile(join(product.workspace, "put-off"), "utf8")).toBe("ran\n");
}

describe("kill -9 while a request is put off", () => {
  it("embedded: it is asked again once after the restart, as a new message, and decided there", () =>
    killWhilePutOff({}));

  requireOrSkip("redis-server", redisAvailable)("with REDIS_URL", () => {
    it("it is asked again once after the restart, as a new message, and decided there", async () => {
      redis = await startRedis({ persist: true });
      await killWhilePutOff({ REDIS_URL: redis.url });
    });
  });
});

describe("starting and stopping", () => {
  it("mq-graceful-shutdown: SIGTERM ends children, keeps what waits, and exits 0 within 10 s", async () => {
    product = await productLives({ config: ASK });
    const person = await product.person();
    const mark = `mark${Math.random().toString(36).slice(2)}`;
    const running = `sleep 300; echo ${mark}`;
    await person.say(`/exec ${running}`);
    await person.decide(await person.request(running), "allow-once");
    await person.see("run", (card) => card.command === running && card.state === "running");
    await person.say(`/exec echo ${mark}`);
    await person.request(`echo ${mark}`);
    const begun = performance.now();
    expect(await product.terminate()).toBe(0);
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(await alive(mark)).toBe(0);
    await product.start();
    const after = await product.person();
    expect(await after.ended(running)).toMatchObject({ outcome: "killed" });
    await after.see("approval", (card) => card.command === `echo ${mark}` && card.state === "pending");
  }, 120_000);

  const second = (stateDir: string, args: readonly string[]) =>
    new Promise<{ code: number | null; text: string }>((resolve) => {
      const child = spawn(...tied(process.execPath, [BIN, "gateway", ...args]), {
        env: { PATH: process.env.PATH ?? "", HOME: stateDir, OPENCLAW_STATE_DIR: stateDir },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let text = "";
      child.stdout.on("data", (chunk) => {
        text += chunk;
      });
      child.stderr.on("data", (chunk) => {
        text += chunk;
      });
      child.once("exit", (code) => resolve({ code, text }));
    });

  it("refuses a second gateway on the same state directory, naming the first", async () => {
    product = await productLives({ config: ASK });
    const { code, text } = await second(product.stateDir, ["--port", "0"]);
    expect(code).toBe(1);
    expect(text).toContain(String(product.pid));
    expect(text).toContain(`port ${new URL(product.url).port}`);
    const person = await product.person();
    await person.say("/status");
    await person.see("text", (card) => card.title === "All is well");
  });

  it("says that a port is in use and how to choose another", async () => {
    const blocker = createServer();
    const port = await new Promise<number>((resolve) =>
      blocker.listen(0, "127.0.0.1", () => resolve((blocker.address() as { port: number }).port)),
    );
    try {
      product = await productLives({ config: ASK });
      await product.terminate();
      const { code, text } = await second(product.stateDir, ["--port", String(port)]);
      expect(code).toBe(1);
      expect(text).toMatch(new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is in use.*--port`));
    } finally {
      blocker.close();
    }
  });

  it("writes a commented starter configuration at the first start and says so", async () => {
    product = await productLives();
    const text = await readFile(join(product.stateDir, "openclaw.json"), "utf8");
    expect(text).toMatch(/\/\/ .*\n[\s\S]*mode: "ask"/);
    // Printed behind the line that tells us it listens.
    await vi.waitFor(() => expect(product?.output).toMatch(/#token=/), { timeout: 10_000 });
    expect(product.output).toMatch(/Wrote .*openclaw\.json.*mode: "ask"/);
  });
});
