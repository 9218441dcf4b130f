/** Gateway and node as two processes of the built product: paired by the command line, killed, and back again. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { BIN, type ProductLives, productLives } from "../support/product-lives.ts";
import { eventually } from "../support/state.ts";
import { tied } from "../support/tied.ts";

const OPEN = { tools: { exec: { mode: "full" } } };
let product: ProductLives | undefined;
const nodes: NodeLives[] = [];

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.dispose();
  await product?.dispose();
  product = undefined;
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** `openclaw-exec node run` through several lives on one state directory. */
class NodeLives {
  readonly stateDir: string;
  readonly #port: number;
  output = "";
  #child: ChildProcess | undefined;
  ended: Promise<number | null> = Promise.resolve(null);

  constructor(stateDir: string, port: number) {
    this.stateDir = stateDir;
    this.#port = port;
  }

  static async make(port: number): Promise<NodeLives> {
    const node = new NodeLives(await mkdtemp(join(tmpdir(), "openclaw-exec-e2e-node-")), port);
    nodes.push(node);
    return node;
  }

  start(stdin = "", ...flags: string[]): void {
    this.output = "";
    const args = [BIN, "node", "run", "--port", String(this.#port), "--display-name", "mac-1", ...flags];
    const child = spawn(...tied(process.execPath, args), {
      env: {
        PATH: process.env.PATH,
        HOME: this.stateDir,
        OPENCLAW_STATE_DIR: this.stateDir,
        OPENCLAW_SHELL_ENV_TIMEOUT_MS: "0",
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    child.stdin?.end(stdin);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (data) => {
        this.output += String(data);
      });
    }
    this.ended = new Promise((resolve) => child.on("close", (code) => resolve(code)));
  }

  async says(pattern: RegExp): Promise<string> {
    return eventually(() => pattern.exec(this.output)?.[0], 60_000).catch(() => {
      throw new Error(`The node did not say ${pattern}:\n${this.output}`);
    });
  }

  async kill(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.ended;
  }

  async terminate(): Promise<number | null> {
    this.#child?.kill("SIGTERM");
    return this.ended;
  }

  file(name: string): string {
    return join(this.stateDir, "workspace", name);
  }

  async dispose(): Promise<void> {
    await this.kill();
    await rm(this.stateDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

async function cli(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(...tied(process.execPath, [BIN, ...args]), {
    env: { PATH: process.env.PATH, HOME: product?.stateDir, OPENCLAW_STATE_DIR: product?.stateDir },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout?.on("data", (data) => {
    out += String(data);
  });
  child.stderr?.on("data", (data) => {
    err += String(data);
  });
  const [code] = (await once(child, "close")) as [number];
  return { code, out, err };
}

async function pairedWorld(config: object = OPEN): Promise<NodeLives> {
  const port = await freePort();
  product = await productLives({ config, port });
  const node = await NodeLives.make(port);
  node.start();
  const [, request = ""] = /nodes approve (\w+)/.exec(await node.says(/nodes approve \w+/)) ?? [];
  expect(await cli("nodes", "approve", request)).toMatchObject({ code: 0 });
  await node.says(/Connected to gateway/);
  return node;
}

const ranTimes = async (path: string) =>
  (await readFile(path, "utf8").catch(() => "")).split("\n").filter((line) => line !== "").length;

/** One whose parent was killed may be left as a zombie: it runs no more. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

const pidOf = (path: string) =>
  eventually(async () => {
    const pid = Number(await readFile(path, "utf8").catch(() => ""));
    return pid > 0 ? pid : undefined;
  }, 20_000);

describe("a gateway and a node, as two processes", () => {
  it("are paired from the command line, and every nodes command does what it says", async () => {
    const node = await pairedWorld({ tools: { exec: { mode: "ask" } } });
    const person = await product?.person();
    if (!person) throw new Error("no gateway");
    await person.say("/exec host=node node=mac-1 echo there > file; cat file");
    const command = "echo there > file; cat file";
    const card = await person.request(command);
    expect(card).toMatchObject({ host: "node", node: "mac-1" });
    await person.decide(card, "allow-once");
    expect((await person.ended(command)).tail).toContain("there");
    expect(existsSync(node.file("file"))).toBe(true);

    expect((await cli("nodes", "list")).out).toMatch(/mac-1 {2}connected/);
    expect((await cli("nodes", "status")).out).toMatch(/mac-1 +connected.*0 running\n.*usable: system\.run/);
    expect((await cli("nodes", "pending")).out).toMatch(/No node waits/);
    expect((await cli("nodes", "describe", "mac-1")).out).toMatch(/Paired .* by owner/);
    expect((await cli("nodes", "rename", "mac-1", "build box")).out).toMatch(/is called build box now/);
    const which = await cli("nodes", "invoke", "build box", "system.which", "--params", '{"bins":["sh"]}');
    expect(JSON.parse(which.out)).toMatchObject({ bins: { sh: expect.stringMatching(/\/sh$/) } });
    expect(await cli("nodes", "invoke", "build box", "system.run")).toMatchObject({ code: 1 });
    expect((await cli("nodes", "remove", "build box")).out).toMatch(/has to be paired again/);
    expect(await node.ended).toBe(1);
    expect(node.output).toMatch(/removed/);

    const code = (await cli("nodes", "code")).out.trim();
    node.start(`${code}\n`, "--pair");
    await node.says(/Connected to gateway/);
    expect((await cli("nodes", "describe", "mac-1")).out).toMatch(/Paired .* by setup code/);
    expect(await node.terminate()).toBe(0);
  }, 180_000);

  it("gateway kill -9: the run is reported lost at the restart, stopped on the node, told once, and never run again", async () => {
    const node = await pairedWorld();
    const before = await product?.person();
    if (!product || !before) throw new Error("no gateway");
    const command = "echo ran >> once; echo $$ > pid; exec sleep 300";
    await before.say(`/exec host=node ${command}`);
    const shown = await before.see("run", (card) => card.command === command && card.state === "running");
    const pid = await pidOf(node.file("pid"));
    await product.kill();
    await before.leave();
    await product.start();
    await eventually(() => node.output.split("Connected to gateway").length > 2, 60_000);
    await eventually(() => !isAlive(pid), 30_000);
    const after = await product.person();
    const told = await after.see("run", (card) => card.runId === shown.runId && card.outcome === "killed", 30_000);
    expect(told.notes.join()).toMatch(/mac-1 is back and told how it ended/);
    expect(after.screen().filter((card) => card.kind === "run" && card.runId === shown.runId)).toHaveLength(1);
    expect(await ranTimes(node.file("once"))).toBe(1);
    const { entries } = await after.call("audit.read", { limit: 200 });
    const ends = entries.map(({ event }) => event).filter((event) => event.type === "run-ended");
    expect(ends.map((event) => event.outcome)).toEqual(["lost", "killed"]);
  }, 180_000);

  it("node kill -9: what it ran is stopped when it starts again, the gateway is told, and nothing runs twice", async () => {
    const node = await pairedWorld();
    const person = await product?.person();
    if (!product || !person) throw new Error("no gateway");
    const command = "echo ran >> once; echo $$ > pid; exec sleep 300";
    await person.say(`/exec host=node ${command}`);
    await person.see("run", (card) => card.command === command && card.state === "running");
    const pid = await pidOf(node.file("pid"));
    await node.kill();
    expect(isAlive(pid)).toBe(true);
    node.start();
    await node.says(/Connected to gateway/);
    const lost = await person.see("run", (card) => card.command === command && card.state === "finished", 30_000);
    expect(lost).toMatchObject({ outcome: "lost" });
    expect(lost.notes.join()).toMatch(/node was restarted while this ran; what was left of it was stopped/);
    await eventually(() => !isAlive(pid));
    expect(await ranTimes(node.file("once"))).toBe(1);
    await person.say("/exec host=node echo alive again");
    expect((await person.ended("echo alive again")).outcome).toBe("completed");
  }, 180_000);
});

describe("openclaw-exec node", () => {
  it("takes no token on the command line, refuses plaintext to public addresses, and prints its identity", async () => {
    const node = await NodeLives.make(await freePort());
    product = undefined;
    for (const [flags, why] of [
      [["--token", "secret"], /unknown option '--token'/i],
      [["--host", "203.0.113.7"], /unencrypted connection to 203\.0\.113\.7/],
      [["--host", "gateway.example.org"], /unencrypted connection/],
      [["--commands", "system.rm"], /no command "system\.rm"/],
      [["--tls-fingerprint", "abc"], /64 hex digits/],
    ] as const) {
      node.start("", ...flags);
      expect(await node.ended).not.toBe(0);
      expect(node.output).toMatch(why);
    }
    node.start();
    await node.says(/No connection to ws:\/\/127\.0\.0\.1:\d+\/ws\/node \(ECONNREFUSED\)\. Trying again/);
    expect(await node.terminate()).toBe(0);
  }, 120_000);
});
