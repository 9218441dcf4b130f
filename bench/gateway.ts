/**
 * The main path of the built product, each figure beside a control of the same run: start, memory, `exec` against the
 * same shell spawned plainly, decision to start, exit to message. `npm run bench -- gateway`
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Person, startTestGateway } from "../test/support/gateway.ts";

const BIN = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 60);
const STARTS = 7;
/** Product and control run the same one. */
const SHELL = "/bin/bash";

const quantile = (values: readonly number[], q: number) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
};
const ms = (value: number) => `${value.toFixed(1)} ms`;

async function treeRssMb(root: number): Promise<number> {
  const parents = new Map<number, number>();
  for (const name of (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry))) {
    const status = await readFile(`/proc/${name}/status`, "utf8").catch(() => "");
    parents.set(Number(name), Number(/PPid:\s+(\d+)/.exec(status)?.[1] ?? 0));
  }
  const inTree = (pid: number): boolean => pid === root || (parents.has(pid) && inTree(parents.get(pid) ?? 0));
  let kb = 0;
  for (const pid of parents.keys()) {
    if (!inTree(pid)) continue;
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    kb += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
  }
  return kb / 1024;
}

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  readonly readyMs: number;
}

async function start(stateDir: string): Promise<Started> {
  const begun = performance.now();
  const child = spawn(process.execPath, [BIN, "gateway", "--port", "0"], {
    cwd: stateDir,
    env: { PATH: process.env.PATH ?? "", HOME: stateDir, OPENCLAW_STATE_DIR: stateDir, SHELL },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise<string>((resolve) => {
    let text = "";
    child.stdout?.on("data", (chunk) => {
      text += chunk;
      const found = /listens on (http:\S+)/.exec(text)?.[1];
      if (found) resolve(found);
    });
  });
  while (!(await fetch(`${url}/readyz`)).ok) await new Promise((resolve) => setTimeout(resolve, 2));
  return { child, url, readyMs: performance.now() - begun };
}

async function stop({ child }: Started): Promise<void> {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await gone;
}

function nodeAlone(): number {
  const begun = performance.now();
  execFileSync(process.execPath, ["-e", "require('node:http').createServer().listen(0,()=>process.exit())"]);
  return performance.now() - begun;
}

async function spawnPlain(command: string, cwd: string): Promise<number> {
  const begun = performance.now();
  await new Promise((resolve) => {
    spawn(SHELL, ["--noprofile", "--norc", "-c", command], { cwd, stdio: ["ignore", "pipe", "pipe"] }).once(
      "close",
      resolve,
    );
  });
  return performance.now() - begun;
}

/** The least a server can do: the same shell, spawned plainly for each request. */
const PLAIN_SERVER = `
  const { spawn } = require("node:child_process");
  require("node:http").createServer((request, response) => {
    request.resume().on("end", () => {
      spawn(${JSON.stringify(SHELL)}, ["--noprofile", "--norc", "-c", "true"], { stdio: ["ignore", "pipe", "pipe"] })
        .once("close", (code) => response.end(JSON.stringify({ code })));
    });
  }).listen(0, "127.0.0.1", function () { console.log(this.address().port); });
`;

async function startPlainServer(): Promise<{ readonly url: string; stop(): void }> {
  const child = spawn(process.execPath, ["-e", PLAIN_SERVER], { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise((resolve) => child.stdout.once("data", (chunk) => resolve(String(chunk).trim())));
  return { url: `http://127.0.0.1:${port}`, stop: () => child.kill() };
}

/** The tool as an agent of this process calls it, beside a plain spawn in this process: a fork costs by the parent's size. */
async function execInProcess(): Promise<void> {
  process.env.SHELL = SHELL;
  const { gateway, stateDir, stop } = await startTestGateway({ config: { tools: { exec: { mode: "full" } } } });
  const actor = { kind: "person", channel: "api", accountId: "default", id: "operator" } as const;
  const ours: number[] = [];
  const plain: number[] = [];
  for (let index = -ROUNDS; index < 3 * ROUNDS; index++) {
    const begun = performance.now();
    await gateway.invokeTool({ tool: "exec", args: { command: "true" }, actor });
    if (index >= 0) ours.push(performance.now() - begun);
    const spawned = await spawnPlain("true", stateDir);
    if (index >= 0) plain.push(spawned);
  }
  await stop();
  row(
    "exec of `true`, the tool itself, p50",
    ms(quantile(ours, 0.5)),
    `${ms(quantile(plain, 0.5))} (spawn of the same shell, same process)`,
    (quantile(ours, 0.5) / quantile(plain, 0.5)).toFixed(2),
    "≤ 1.2",
  );
}

const rows: string[][] = [];
const row = (what: string, ours: string, control: string, ratio: string, aim: string) =>
  rows.push([what, ours, control, ratio, aim]);

const stateDir = await mkdtemp(join(tmpdir(), "openclaw-exec-bench-"));
await writeFile(join(stateDir, "openclaw.json"), '{ tools: { exec: { mode: "full" } } }', { mode: 0o600 });
try {
  const starts: number[] = [];
  const nodes: number[] = [];
  for (let index = 0; index <= STARTS; index++) {
    const started = await start(stateDir);
    if (index > 0) {
      starts.push(started.readyMs);
      nodes.push(nodeAlone());
    }
    await stop(started);
  }
  row(
    "start to /readyz",
    ms(quantile(starts, 0.5)),
    `${ms(quantile(nodes, 0.5))} (node that listens)`,
    (quantile(starts, 0.5) / quantile(nodes, 0.5)).toFixed(1),
    "≤ 800 ms",
  );

  const gateway = await start(stateDir);
  const bare = spawn(process.execPath, ["-e", "require('node:http').createServer().listen(0)"], { stdio: "ignore" });
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const [rss, bareRss] = [await treeRssMb(gateway.child.pid ?? 0), await treeRssMb(bare.pid ?? 0)];
  bare.kill();
  row(
    "idle memory, process tree",
    `${rss.toFixed(0)} MB`,
    `${bareRss.toFixed(0)} MB (node that listens)`,
    (rss / bareRss).toFixed(2),
    "≤ 110 MB",
  );

  const token = (await readFile(join(stateDir, "gateway-token"), "utf8")).trim();
  const workspace = join(stateDir, "workspace");
  const invoke = async (command: string): Promise<number> => {
    const begun = performance.now();
    const response = await fetch(`${gateway.url}/tools/invoke`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ tool: "exec", args: { command } }),
    });
    const body = (await response.json()) as { result: { details: { status: string } } };
    if (body.result.details.status !== "completed") throw new Error(JSON.stringify(body));
    return performance.now() - begun;
  };
  await invoke("true");
  const plainServer = await startPlainServer();
  const invokePlain = async (): Promise<number> => {
    const begun = performance.now();
    await (await fetch(plainServer.url, { method: "POST", body: "{}" })).json();
    return performance.now() - begun;
  };
  await invokePlain();
  const execs: number[] = [];
  const plain: number[] = [];
  const served: number[] = [];
  // As in this process below: as many calls to warm up, and three times as many that count.
  for (let index = -ROUNDS; index < 3 * ROUNDS; index++) {
    const took = [await invoke("true"), await spawnPlain("true", workspace), await invokePlain()] as const;
    if (index < 0) continue;
    execs.push(took[0]);
    plain.push(took[1]);
    served.push(took[2]);
  }
  plainServer.stop();
  row(
    "exec of `true` over HTTP, p50",
    ms(quantile(execs, 0.5)),
    `${ms(quantile(served, 0.5))} (bare HTTP server that spawns it)`,
    (quantile(execs, 0.5) / quantile(served, 0.5)).toFixed(2),
    "≤ 1.2",
  );

  const person = await Person.join(gateway.url, "bench", token);
  const messages: number[] = [];
  for (let index = 0; index < ROUNDS; index++) {
    const command = `: ${index}; date +%s%N`;
    await person.say(`/exec ${command}`);
    const card = await person.see("run", (one) => one.command === command && one.state === "finished");
    messages.push(Date.now() - Number(card.tail.trim()) / 1e6);
  }
  row(
    "exit to message shown, p50 / p95",
    `${ms(quantile(messages, 0.5))} / ${ms(quantile(messages, 0.95))}`,
    "",
    "",
    "p95 ≤ 50 ms",
  );

  await person.say("/exec ask=always security=allowlist");
  await person.see("text", (one) => one.title === "Set for this conversation");
  const presses: number[] = [];
  for (let index = 0; index < ROUNDS; index++) {
    const command = `: p${index}; date +%s%N`;
    await person.say(`/exec ${command}`);
    const card = await person.request(command);
    const pressed = Date.now();
    await person.decide(card, "allow-once");
    const ended = await person.ended(command);
    presses.push(Number(ended.tail.trim()) / 1e6 - pressed);
  }
  row(
    "approve press to command started, p50 / p95",
    `${ms(quantile(presses, 0.5))} / ${ms(quantile(presses, 0.95))}`,
    `${ms(quantile(plain, 0.5))} (spawn of the same shell)`,
    "",
    "p50 ≤ 30 ms",
  );
  await person.leave();
  await stop(gateway);
  await execInProcess();
} finally {
  await rm(stateDir, { recursive: true, force: true });
}

console.log("| what | product | control | ratio | aim |\n| --- | --- | --- | --- | --- |");
for (const cells of rows) console.log(`| ${cells.join(" | ")} |`);
