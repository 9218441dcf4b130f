/**
 * What the process room costs, each figure beside a plain control measured in the same run, in turns:
 *
 *     npx tsx bench/exec.ts [rounds]
 *
 * Times are medians. "ratio" is ours to the control; for floods it is control to ours (1 means as fast).
 */
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { spawn as spawnPty } from "node-pty";
import { systemClock } from "../src/core/clock.ts";
import { type Config, configSchema } from "../src/core/config/schema.ts";
import { createProcessTool } from "../src/core/exec/process-tool.ts";
import { sandboxSettings } from "../src/core/exec/sandbox-settings.ts";
import { bwrapOptions } from "../src/core/hosts/sandbox/bwrap-options.ts";
import { createSandboxHost } from "../src/core/hosts/sandbox/sandbox-host.ts";
import { Sandboxes } from "../src/core/hosts/sandbox/sandboxes.ts";
import { processLimits } from "../src/core/process/limits.ts";
import { ProcessSessions } from "../src/core/process/registry.ts";
import { createSupervisor } from "../src/core/process/supervisor.ts";

const BWRAP = "/usr/bin/bwrap";
const FLOOD_BYTES = 100 * 1024 * 1024;
const FLOOD_ROUNDS = 9;
const { positionals } = parseArgs({ allowPositionals: true });
const rounds = Number(positionals[0] ?? 40);
const shellArgs = ["--noprofile", "--norc", "-c"];
const env = { PATH: process.env.PATH ?? "/usr/bin:/bin" };

const supervisor = createSupervisor();
const sessions = new ProcessSessions({ limits: () => processLimits({}) });
const tool = createProcessTool({ sessions });
let runs = 0;

function start(command: string, pty = false) {
  const session = sessions.reserve({
    runId: `bench-${++runs}`,
    command,
    cwd: "/tmp",
    host: "gateway",
    agentId: "bench",
    sessionKey: "bench",
  });
  const plan = { file: "/bin/bash", args: [...shellArgs, command], cwd: "/tmp", env, stdin: "closed" as const };
  session.attach(supervisor.start(pty ? { ...plan, pty: { cols: 120, rows: 30 } } : plan));
  return session;
}

async function ours(command: string, pty = false): Promise<number> {
  const since = performance.now();
  const session = start(command, pty);
  await session.ended;
  session.aggregated();
  sessions.forget(session);
  return performance.now() - since;
}

function plain(command: string, onData: (chunk: Buffer) => void = () => {}): Promise<number> {
  const since = performance.now();
  const child = spawn("/bin/bash", [...shellArgs, command], {
    cwd: "/tmp",
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.on("data", onData);
  child.stderr.on("data", onData);
  return new Promise((resolve) => child.on("close", () => resolve(performance.now() - since)));
}

function plainPty(command: string): Promise<number> {
  const since = performance.now();
  const pty = spawnPty("/bin/bash", [...shellArgs, command], { cols: 120, rows: 30, cwd: "/tmp", env });
  return new Promise((resolve) => pty.onExit(() => resolve(performance.now() - since)));
}

async function compare(
  what: string,
  control: () => Promise<number>,
  measured: () => Promise<number>,
  times = rounds,
): Promise<void> {
  const a: number[] = [];
  const b: number[] = [];
  for (let round = 0; round < times; round++) {
    a.push(await control());
    b.push(await measured());
  }
  report(what, median(b), median(a), median(b) / median(a));
}

async function flood(what: string, command: string): Promise<void> {
  const counts: Measured[] = [];
  const decodes: Measured[] = [];
  const own: Measured[] = [];
  await ours(command);
  for (let round = 0; round < FLOOD_ROUNDS; round++) {
    let bytes = 0;
    counts.push(
      await measured(() =>
        plain(command, (chunk) => {
          bytes += chunk.length;
        }),
      ),
    );
    const decoder = new TextDecoder("utf-8");
    decodes.push(
      await measured(() =>
        plain(command, (chunk) => {
          bytes += decoder.decode(chunk, { stream: true }).length;
        }),
      ),
    );
    own.push(await measured(() => ours(command)));
    if (bytes < 2 * FLOOD_BYTES) throw new Error(`the controls saw ${bytes} bytes`);
  }
  // Neighbours are compared: what else the machine does changes from round to round.
  const compared = (control: readonly Measured[]) =>
    median(control.map(({ ms }, round) => ms / (own[round]?.ms ?? Number.NaN)));
  const ms = (all: readonly Measured[]) => median(all.map((one) => one.ms));
  report(`${what} (control counts bytes)`, ms(own), ms(counts), compared(counts));
  report(`${what} (control decodes text)`, ms(own), ms(decodes), compared(decodes));
  const grown = (all: readonly Measured[]) => median(all.map((one) => one.grownMb)).toFixed(1);
  console.log(
    `${"".padEnd(46)} RSS grows by ${grown(own)} MB, that of the controls by ${grown(counts)} and ${grown(decodes)} MB`,
  );
}

interface Measured {
  readonly ms: number;
  readonly grownMb: number;
}

/** Chunks that nobody holds any more stay in memory until the next collection; all contenders start behind one. */
async function measured(run: () => Promise<number>): Promise<Measured> {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  const ms = await run();
  return { ms, grownMb: (process.memoryUsage.rss() - before) / 1e6 };
}

async function waitingPoll(): Promise<void> {
  const late: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const session = start("sleep 0.05");
    session.background();
    let endedAt = 0;
    void session.handle?.ended.then(() => {
      endedAt = performance.now();
    });
    await tool.call({ action: "poll", sessionId: session.id, timeout: 30_000 }, { agentId: "bench" });
    late.push(performance.now() - endedAt);
    sessions.forget(session);
  }
  console.log(
    `${"waiting poll after exit".padEnd(46)} ${median(late).toFixed(2)} ms, worst ${Math.max(...late).toFixed(2)} ms`,
  );
}

/** A command in a sandbox beside bubblewrap started by hand with the same options and the same shell. */
async function sandboxed(): Promise<void> {
  if (!existsSync(BWRAP)) {
    console.log(`${"true in a sandbox".padEnd(46)} bubblewrap is not installed`);
    return;
  }
  const stateDir = mkdtempSync(join(tmpdir(), "openclaw-bench-"));
  const config = configSchema.parse({ agents: { defaults: { sandbox: { mode: "all" } } } }) as Config;
  const sandboxes = new Sandboxes({
    settings: (agentId) => sandboxSettings(config, agentId, stateDir),
    roots: () => [],
    ...{ stateDir, homes: [homedir()], clock: systemClock, path: [], onError: console.error },
  });
  const host = createSandboxHost({ supervisor, sandboxes });
  const place = sandboxes.place("main", "agent:main:main");
  const { features } = await sandboxes.engine(place);
  const layout = sandboxes.layout(place);
  const options = bwrapOptions(layout, features, {
    chdir: "/workspace",
    env: { PATH: "/usr/bin:/bin", HOME: "/workspace" },
    terminal: false,
  });
  const byHand = (): Promise<number> => {
    const filter = layout.filter === undefined ? "ignore" : openSync(layout.filter, "r");
    const since = performance.now();
    const child = spawn(BWRAP, [...options, "--", "/bin/sh", "-lc", "true"], {
      cwd: "/",
      env: {},
      detached: true,
      // The filter of system calls is read from descriptor 8.
      stdio: ["ignore", "pipe", "pipe", ...Array<"ignore">(5).fill("ignore"), filter],
    });
    if (filter !== "ignore") closeSync(filter);
    child.stdout?.resume();
    child.stderr?.resume();
    return new Promise((resolve, reject) =>
      child.on("close", (code) =>
        code === 0 ? resolve(performance.now() - since) : reject(new Error(`bwrap ended with ${code}`)),
      ),
    );
  };
  const inSandbox = async (): Promise<number> => {
    const since = performance.now();
    const handle = await host.run({
      ...{ plan: { kind: "verbatim", text: "true" }, cwd: sandboxes.workdir(undefined, "main", "agent:main:main") },
      ...{ env: {}, marks: { OPENCLAW_RUN_ID: `bench:${++runs}` }, pathPrepend: [], pty: false, stdin: "closed" },
      ...{ agentId: "main", sessionKey: "agent:main:main" },
    });
    const { exitCode } = await handle.ended;
    if (exitCode !== 0) throw new Error(`the sandbox ended with ${exitCode}`);
    return performance.now() - since;
  };
  await compare("true in a sandbox (control: bwrap by hand)", byHand, inSandbox);
  rmSync(stateDir, { recursive: true, force: true });
}

async function backgroundStart(): Promise<void> {
  const took: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const since = performance.now();
    const session = start("sleep 0.01");
    session.background();
    session.tail(2000);
    took.push(performance.now() - since);
    await session.ended;
    sessions.forget(session);
  }
  const control: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const since = performance.now();
    const child = spawn("/bin/bash", [...shellArgs, "sleep 0.01"], {
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    control.push(performance.now() - since);
    await new Promise((resolve) => child.on("close", resolve));
  }
  report("background start", median(took), median(control), median(took) / median(control));
}

function report(what: string, measured: number, control: number, ratio: number): void {
  console.log(
    `${what.padEnd(46)} ${measured.toFixed(2).padStart(9)} ms  control ${control.toFixed(2).padStart(9)} ms  ratio ${ratio.toFixed(2)}`,
  );
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

console.log(`Node ${process.version}, ${rounds} rounds`);
await compare(
  "true",
  () => plain("true"),
  () => ours("true"),
);
await compare(
  "echo hi",
  () => plain("echo hi"),
  () => ours("echo hi"),
);
await compare(
  "true in a terminal",
  () => plainPty("true"),
  () => ours("true", true),
);
await sandboxed();
await backgroundStart();
await waitingPoll();
await flood("100 MB in one line", `head -c ${FLOOD_BYTES} /dev/zero | tr '\\0' x`);
await flood("100 MB in lines of 80", `yes ${"0123456789".repeat(8).slice(0, 79)} | head -c ${FLOOD_BYTES}`);
await flood(
  "100 MB with colours",
  `yes "$(printf '\\033[31mred\\033[0m and more text on a line')" | head -c ${FLOOD_BYTES}`,
);
await supervisor.shutdown();
await sessions.close();
