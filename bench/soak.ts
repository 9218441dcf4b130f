/**
 * Many commands and many at once, then nothing may be left: no process, no descriptor, no listener, no timer, no memory.
 *
 *     node --expose-gc --import tsx bench/soak.ts [short commands] [concurrent sessions]
 *
 * Exits with 1 when something leaked.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { createLeftovers } from "../src/core/process/leftovers.ts";
import { processLimits } from "../src/core/process/limits.ts";
import { procSource } from "../src/core/process/proc-table.ts";
import { ProcessSessions } from "../src/core/process/registry.ts";
import { RUN_MARK } from "../src/core/process/run-mark.ts";
import type { ProcessSession } from "../src/core/process/session.ts";
import { createSupervisor } from "../src/core/process/supervisor.ts";

const { positionals } = parseArgs({ allowPositionals: true });
const shortCommands = Number(positionals[0] ?? 2000);
const concurrent = Number(positionals[1] ?? 300);
/** Short commands run at the same time. */
const LANES = 8;
const TERMINALS = 30;
const RSS_SLACK_MB = 25;
const HEAP_SLACK_MB = 3;

const folder = mkdtempSync(join(tmpdir(), "openclaw-soak-"));
const supervisor = createSupervisor();
const sessions = new ProcessSessions({ limits: () => processLimits({}), logFolder: join(folder, "logs") });
await sessions.start();
let runs = 0;

function start(command: string, pty = false): ProcessSession {
  const session = sessions.reserve({
    runId: `soak-${++runs}`,
    command,
    cwd: "/tmp",
    host: "gateway",
    agentId: "soak",
    sessionKey: "soak",
  });
  const args = ["--noprofile", "--norc", "-c", command];
  const env = { PATH: process.env.PATH ?? "/usr/bin:/bin", [RUN_MARK]: session.runId };
  const plan = { file: "/bin/bash", args, cwd: "/tmp", env, stdin: "closed" as const };
  session.attach(supervisor.start(pty ? { ...plan, pty: { cols: 120, rows: 30 } } : plan));
  return session;
}

interface Census {
  readonly descriptors: number;
  readonly children: number;
  readonly listeners: number;
  readonly resources: number;
  readonly rssMb: number;
  readonly heapMb: number;
}

async function census(): Promise<Census> {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    descriptors: readdirSync("/proc/self/fd").length,
    children: [...(procSource.table()?.values() ?? [])].filter((stat) => stat.ppid === process.pid).length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
    resources: process.getActiveResourcesInfo().length,
    rssMb: process.memoryUsage.rss() / 1e6,
    heapMb: process.memoryUsage().heapUsed / 1e6,
  };
}

async function short(count: number): Promise<void> {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const session = start(`echo ${left}; exit ${left % 3}`);
      const { exitCode } = await session.ended;
      if (exitCode !== left % 3 && exitCode === null) throw new Error(`command ${left} ended with ${exitCode}`);
      sessions.forget(session);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

async function many(count: number): Promise<void> {
  const all = Array.from({ length: count }, (_, index) => {
    const session = start(`while :; do echo line $RANDOM; sleep 0.${(index % 7) + 2}; done`, index < TERMINALS);
    session.background();
    return session;
  });
  await Promise.all(all.map((session) => session.waitForNews(30_000)));
  const silent = all.filter((session) => session.totalChars === 0).length;
  if (silent > 0) throw new Error(`${silent} sessions printed nothing within 30 s`);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  for (const session of all) session.stop();
  await Promise.all(all.map((session) => session.ended));
  for (const session of all) sessions.forget(session);
}

async function timed(what: string, work: () => Promise<void>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const since = performance.now();
  await work();
  const seconds = (performance.now() - since) / 1000;
  delay.disable();
  const ms = (value: number): string => (value / 1e6).toFixed(1);
  console.log(
    `${what}: ${seconds.toFixed(1)} s, event loop delay p50 ${ms(delay.percentile(50))} ms, p99 ${ms(delay.percentile(99))} ms, worst ${ms(delay.max)} ms`,
  );
}

console.log(`Node ${process.version}`);
// The allocator and the compiler reach their size with the first rounds; what grows after that is a leak.
await short(Math.ceil(shortCommands / 2));
await many(Math.ceil(concurrent / 2));
const before = await census();
console.log("before", before);
await timed(`${shortCommands} short commands, ${LANES} at a time`, () => short(shortCommands));
console.log("after short commands", await census());
await timed(`${concurrent} concurrent sessions (${TERMINALS} terminals), then all stopped`, () => many(concurrent));
const after = await census();
console.log("after sessions", after);
const since = performance.now();
for (let index = 0; index < concurrent; index++) start("sleep 600 & sleep 600");
await supervisor.shutdown();
console.log(
  `shutdown of ${concurrent} sessions: ${((performance.now() - since) / 1000).toFixed(1)} s, live ${supervisor.live}`,
);
await sessions.close();
rmSync(folder, { recursive: true, force: true });

const orphans = [...(await createLeftovers().find()).keys()].filter((runId) => runId.startsWith("soak-")).length;
const leaks = [
  ...(after.descriptors > before.descriptors ? [`${after.descriptors - before.descriptors} descriptors`] : []),
  ...(after.children > before.children ? [`${after.children - before.children} processes`] : []),
  ...(after.listeners > before.listeners ? [`${after.listeners - before.listeners} listeners`] : []),
  ...(after.resources > before.resources ? [`${after.resources - before.resources} active resources`] : []),
  ...(after.rssMb > before.rssMb + RSS_SLACK_MB ? [`${(after.rssMb - before.rssMb).toFixed(0)} MB resident`] : []),
  ...(after.heapMb > before.heapMb + HEAP_SLACK_MB ? [`${(after.heapMb - before.heapMb).toFixed(1)} MB of heap`] : []),
  ...(orphans > 0 ? [`${orphans} orphans`] : []),
  ...(supervisor.live > 0 ? [`${supervisor.live} children after shutdown`] : []),
];
console.log(leaks.length === 0 ? "nothing leaked" : `LEAKED: ${leaks.join(", ")}`);
process.exitCode = leaks.length === 0 ? 0 : 1;
