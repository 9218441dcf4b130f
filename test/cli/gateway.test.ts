import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { tied } from "../support/tied.ts";
import { type CliHome, cliHome } from "./run-cli.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** The started product, as a process of its own. */
class Product {
  readonly process: ChildProcess;
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  out = "";
  err = "";
  #waiting: (() => void)[] = [];

  constructor(home: CliHome, ...args: string[]) {
    this.process = spawn(...tied(process.execPath, ["--import", "tsx", MAIN, "gateway", ...args]), {
      env: { PATH: process.env.PATH, HOME: home.dir, OPENCLAW_STATE_DIR: home.dir },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process.stdout?.on("data", (data) => this.#take("out", data));
    this.process.stderr?.on("data", (data) => this.#take("err", data));
    this.ended = new Promise((resolve) => this.process.on("close", (code, signal) => resolve({ code, signal })));
    onTestFinished(() => {
      this.process.kill("SIGKILL");
    });
  }

  static async started(home: CliHome, ...args: string[]): Promise<Product> {
    const product = new Product(home, ...args);
    await product.see("out", /listens on \S+/);
    return product;
  }

  get url(): string {
    return /listens on (\S+)/.exec(this.out)?.[1] as string;
  }

  async see(stream: "out" | "err", pattern: RegExp): Promise<void> {
    const ended = this.ended.then(() => {
      throw new Error(`it ended before:\n${this.out}${this.err}`);
    });
    while (!pattern.test(this[stream])) {
      await Promise.race([ended, new Promise<void>((resolve) => this.#waiting.push(resolve))]);
    }
    ended.catch(() => undefined);
  }

  #take(stream: "out" | "err", data: unknown): void {
    this[stream] += String(data);
    for (const look of this.#waiting.splice(0)) look();
  }
}

function call(product: Product, token: string, command: string, more: object = {}): Promise<Response> {
  return fetch(`${product.url}/tools/invoke`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ tool: "exec", args: { command, ...more } }),
  });
}

test("the first start says where it listens, what it wrote and the link; the second keeps the link to itself", async () => {
  const home = cliHome();
  const first = await Product.started(home, "--port", "0");
  await first.see("out", /Web chat: /);
  const token = readFileSync(join(home.dir, "gateway-token"), "utf8").trim();
  expect(first.out.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/^openclaw-exec \d+\.\d+\.\d+ listens on http:\/\/127\.0\.0\.1:\d+ \(state in .*\)\.$/),
    expect.stringContaining('commands ask before they run (tools.exec.mode: "ask")'),
    `Web chat: ${first.url}/#token=${token}`,
  ]);
  expect((await home.run("gateway", "--print-link")).out).toBe(`${first.url}/#token=${token}`);

  const refused = await home.run("gateway", "--port", "0");
  expect(refused.code).toBe(1);
  expect(refused.err).toMatch(new RegExp(`already runs on .*: pid ${first.process.pid}, port \\d+, since `));

  first.process.kill("SIGTERM");
  expect(await first.ended).toEqual({ code: 0, signal: null });
  expect(first.err).not.toContain(token);
  expect(existsSync(join(home.dir, "gateway.lock"))).toBe(false);
  for (const file of ["gateway-token", "openclaw.json", "state.db"]) {
    expect(statSync(join(home.dir, file)).mode & 0o777).toBe(0o600);
  }

  const second = await Product.started(home, "--port", "0");
  second.process.kill("SIGINT");
  expect(await second.ended).toEqual({ code: 0, signal: null });
  expect(second.out).not.toContain(token);
}, 90_000);

test("a signal ends running commands and the gateway within the drain time; a second signal ends it at once", async () => {
  const home = cliHome();
  await home.run("config", "set", "tools.exec.mode", "full");
  const product = await Product.started(home, "--port", "0", "--show-link");
  await product.see("out", /#token=/);
  const token = /#token=(\S+)/.exec(product.out)?.[1] as string;
  const answer = await call(product, token, "trap '' TERM; sleep 300 & echo $!; wait", { yieldMs: 500 });
  expect(await answer.json()).toMatchObject({ ok: true, result: { details: { status: "running" } } });

  const before = performance.now();
  product.process.kill("SIGTERM");
  await product.see("err", /stopping/);
  const first = await product.ended;
  expect(performance.now() - before).toBeLessThan(12_000);
  expect(first).toEqual({ code: 0, signal: null });
  expect((await home.run("audit")).out).toMatch(/run-ended[\s\S]*gateway-stopped {2}Stopped by SIGTERM/);

  const hasty = await Product.started(home, "--port", "0");
  await call(hasty, token, "trap '' TERM; sleep 15 & wait", { yieldMs: 500 });
  const second = performance.now();
  hasty.process.kill("SIGTERM");
  await hasty.see("err", /stopping/);
  hasty.process.kill("SIGINT");
  expect(await hasty.ended).toEqual({ code: 1, signal: null });
  expect(performance.now() - second).toBeLessThan(2_000);
}, 90_000);

test("a port in use and a broken configuration are told in one line, and nothing stays behind", async () => {
  const home = cliHome();
  const squatter = createServer();
  await new Promise<void>((resolve) => squatter.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void squatter.close());
  const { port } = squatter.address() as { port: number };
  const product = new Product(home, "--port", String(port));
  expect((await product.ended).code).toBe(1);
  expect(product.err).toContain(`Port ${port} on 127.0.0.1 is in use by another program. Choose another with:`);
  expect(existsSync(join(home.dir, "gateway.lock"))).toBe(false);

  writeFileSync(join(home.dir, "openclaw.json"), '{ tools: { exec: { mdoe: "ask" } } }', { mode: 0o600 });
  const broken = await home.run("gateway");
  expect(broken.code).toBe(1);
  expect(broken.err).toContain("mdoe");
}, 90_000);

test("a port that is none is a usage error", async () => {
  const { code, err } = await cliHome().run("gateway", "--port", "99999");
  expect(code).toBe(2);
  expect(err).toContain("65535");
});
