/**
 * Jobs per second and time from add to start, of both drivers and of BullMQ alone, in one run. They take turns for
 * several rounds, so that a busy moment of the machine hits them all; shown are the medians, and of the ratios the
 * median over the rounds. `npx tsx bench/queue.ts [jobs] [rounds]` prints a table. BullMQ needs redis-server on the
 * PATH and is left out without it.
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

const JOBS = Number(process.argv[2] ?? 4_000);
const ROUNDS = Number(process.argv[3] ?? 5);
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

function bullmqAlone(url: string, prefix: string): Subject {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const options = { connection: connection as never, prefix };
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
const directory = await mkdtemp(join(tmpdir(), "openclaw-bench-"));
const redis = redisAvailable ? await startRedis() : undefined;
if (!redis) process.stderr.write("redis-server is not installed: BullMQ is left out.\n");

const embedded =
  (label: string, keys: number, durability: "process" | "power" = "process") =>
  async (round: number): Promise<Subject> =>
    ours(label, openEmbeddedQueue({ ...options, file: join(directory, label, `${round}.db`), durability }), keys);
const onBullmq =
  (label: string, keys: number, url: string) =>
  async (round: number): Promise<Subject> =>
    ours(label, await openBullmqQueue({ ...options, url, prefix: `keys-${keys}-${round}:` }), keys);

const subjects: readonly ((round: number) => Promise<Subject>)[] = [
  embedded("embedded, no keys", 0),
  embedded("embedded, 100 keys", 100),
  embedded("embedded, 100 keys, power-safe", 100, "power"),
  ...(redis
    ? [
        async (round: number) => bullmqAlone(redis.url, `alone-${round}`),
        onBullmq("openclaw on BullMQ, no keys", 0, redis.url),
        onBullmq("openclaw on BullMQ, 100 keys", 100, redis.url),
      ]
    : []),
];
const CONTROL = "BullMQ alone, no keys";

/** The first round warms up the code and is not shown. */
const rounds: Row[][] = [];
for (let round = 0; round <= ROUNDS; round++) {
  const rows: Row[] = [];
  for (const subject of subjects) rows.push(await measure(await subject(round)));
  if (round > 0) rounds.push(rows);
}
await redis?.stop();
await rm(directory, { recursive: true, force: true });

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const lines = (rounds[0] ?? []).map(({ label }, at) => {
  const own = rounds.flatMap((rows) => rows[at] ?? []);
  const ratio = median(
    rounds.map(
      (rows) =>
        (rows[at]?.jobsPerSecond ?? 0) / (rows.find((row) => row.label === CONTROL)?.jobsPerSecond ?? Number.NaN),
    ),
  );
  const of = (field: Exclude<keyof Row, "label">): number => median(own.map((row) => row[field]));
  const shown = [
    of("addsPerSecond").toFixed(0),
    of("jobsPerSecond").toFixed(0),
    ratio.toFixed(2),
    of("p50").toFixed(2),
    of("p95").toFixed(2),
  ];
  return `| ${label} | ${shown.join(" | ")} |`;
});
process.stdout.write(
  [
    `${JOBS} jobs waiting, ${JOBS} more while they are worked, concurrency ${CONCURRENCY}, ${ROUNDS} rounds; Node ${process.version}`,
    "",
    "| queue | adds per second | jobs per second | of BullMQ alone | add to start, p50 ms | p95 ms |",
    "|---|---|---|---|---|---|",
    ...lines,
    "",
  ].join("\n"),
);
