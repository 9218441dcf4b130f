/**
 * Jobs per second and time from add to start, of both drivers and of BullMQ alone, in one run.
 * `npx tsx bench/queue.ts [jobs]` prints a table. BullMQ needs redis-server on the PATH and is left out without it.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Queue as BullQueue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { systemClock } from "../src/core/clock.ts";
import { openBullmqQueue } from "../src/core/events/bullmq-queue.ts";
import { openEmbeddedQueue } from "../src/core/events/embedded-queue.ts";
import type { Queue } from "../src/core/events/queue.ts";
import { redisAvailable, startRedis } from "../test/support/redis.ts";

const JOBS = Number(process.argv[2] ?? 10_000);
const LATENCY_JOBS = 500;
const CONCURRENCY = 50;
/** Adds under way at a time: as many as a busy gateway may have, and few enough not to measure memory. */
const ADDING = 200;

/** The two things measured, for a driver that can add a job and tell when one starts. */
interface Subject {
  readonly label: string;
  readonly add: (n: number) => Promise<unknown>;
  readonly work: (onStart: () => void) => Promise<void>;
  readonly close: () => Promise<void>;
}

interface Row {
  readonly label: string;
  readonly addsPerSecond: number;
  readonly jobsPerSecond: number;
  readonly p50: number;
  readonly p95: number;
}

async function measure(subject: Subject): Promise<Row> {
  let started = 0;
  let onStart: () => void = () => {};
  let began = performance.now();
  await inParallel(JOBS, ADDING, subject.add);
  const addsPerSecond = (JOBS / (performance.now() - began)) * 1000;

  // The backlog and as many again that are added while it is worked off.
  began = performance.now();
  const all = new Promise<void>((resolve) => {
    onStart = () => ++started === 2 * JOBS && resolve();
  });
  await subject.work(() => onStart());
  await inParallel(JOBS, ADDING, (n) => subject.add(JOBS + n));
  await all;
  const jobsPerSecond = ((2 * JOBS) / (performance.now() - began)) * 1000;

  const waits: number[] = [];
  for (let n = 0; n < LATENCY_JOBS; n++) {
    const added = performance.now();
    const start = new Promise<void>((resolve) => {
      onStart = () => {
        waits.push(performance.now() - added);
        resolve();
      };
    });
    await subject.add(2 * JOBS + n);
    await start;
  }
  await subject.close();
  waits.sort((a, b) => a - b);
  const at = (share: number): number => waits[Math.floor(waits.length * share)] ?? Number.NaN;
  return { label: subject.label, addsPerSecond, jobsPerSecond, p50: at(0.5), p95: at(0.95) };
}

async function inParallel(count: number, width: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: width }, lane));
}

function ours(label: string, queue: Queue, keys: number): Subject {
  return {
    label,
    add: (n) => queue.add({ name: "bench", data: { n }, ...(keys > 0 ? { key: `key-${n % keys}` } : {}) }),
    work: (onStart) => queue.process("bench", async () => onStart(), { concurrency: CONCURRENCY }),
    close: () => queue.close(),
  };
}

function bullmqAlone(url: string): Subject {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const options = { connection: connection as never, prefix: "alone" };
  const queue = new BullQueue("bench", options);
  let worker: Worker | undefined;
  return {
    label: "BullMQ alone, no keys",
    add: (n) => queue.add("bench", { n }, { removeOnComplete: true }),
    work: async (onStart) => {
      worker = new Worker("bench", async () => onStart(), { ...options, concurrency: CONCURRENCY });
    },
    close: async () => {
      await worker?.close();
      await queue.close();
      await connection.quit();
    },
  };
}

const options = { clock: systemClock, newId: randomUUID };
const rows: Row[] = [];
for (const [label, keys, durability] of [
  ["embedded, no keys", 0, "process"],
  ["embedded, 100 keys", 100, "process"],
  ["embedded, 100 keys, power-safe", 100, "power"],
] as const) {
  const directory = await mkdtemp(join(tmpdir(), "openclaw-bench-"));
  const file = join(directory, "state.db");
  rows.push(await measure(ours(label, openEmbeddedQueue({ ...options, file, durability }), keys)));
  await rm(directory, { recursive: true, force: true });
}
if (redisAvailable) {
  const redis = await startRedis();
  rows.push(await measure(bullmqAlone(redis.url)));
  for (const [label, keys] of [
    ["openclaw on BullMQ, no keys", 0],
    ["openclaw on BullMQ, 100 keys", 100],
  ] as const) {
    const queue = await openBullmqQueue({ ...options, url: redis.url, prefix: `keys-${keys}:` });
    rows.push(await measure(ours(label, queue, keys)));
  }
  await redis.stop();
} else {
  process.stderr.write("redis-server is not installed: BullMQ is left out.\n");
}

const lines = rows.map(
  ({ label, addsPerSecond, jobsPerSecond, p50, p95 }) =>
    `| ${label} | ${Math.round(addsPerSecond)} | ${Math.round(jobsPerSecond)} | ${p50.toFixed(2)} | ${p95.toFixed(2)} |`,
);
process.stdout.write(
  [
    `${JOBS} jobs waiting, ${JOBS} more while they are worked, concurrency ${CONCURRENCY}; Node ${process.version}`,
    "",
    "| queue | adds per second | jobs per second | add to start, p50 ms | p95 ms |",
    "|---|---|---|---|---|",
    ...lines,
    "",
  ].join("\n"),
);
