import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { openEmbeddedQueue } from "../../../src/core/events/embedded-queue.ts";
import { MAX_CRASHES } from "../../../src/core/events/job-spec.ts";
import type { Queue } from "../../../src/core/events/queue.ts";
import { openSqliteStore } from "../../../src/core/store/sqlite-store.ts";
import { startChild, type TestChild } from "../../support/child.ts";

const WAIT = { timeout: 10_000, interval: 10 };

let directory: string;
let file: string;
const queues: Queue[] = [];
const children: TestChild[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "openclaw-embedded-"));
  file = join(directory, "state.db");
});
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
  for (const queue of queues.splice(0)) await queue.close({ drainMs: 0 });
  await rm(directory, { recursive: true, force: true });
});

function opened(options: { readonly now?: () => number; readonly onTrouble?: () => void } = {}): Queue {
  const { now = systemClock.now, onTrouble = () => {} } = options;
  const clock = { now, monotonic: systemClock.monotonic };
  const queue = openEmbeddedQueue({ file, clock, newId: randomUUID, onTrouble });
  queues.push(queue);
  return queue;
}

async function startWorker(): Promise<TestChild> {
  const child = startChild("queue-child.ts", "embedded", file, "work");
  children.push(child);
  await child.line((line) => line === "ready");
  return child;
}

describe("one owner", () => {
  it("refuses a second queue on the file in the same process and in another, until the first is closed", async () => {
    const first = opened();
    const second = { code: "state-unavailable", message: expect.stringContaining("in use by another gateway") };
    expect(() => opened()).toThrow(expect.objectContaining(second));
    await first.close();
    await startWorker();
    expect(() => opened()).toThrow(expect.objectContaining(second));
  });

  it("lets other processes read and write the store meanwhile", async () => {
    await startWorker();
    const store = openSqliteStore({ file, clock: systemClock });
    await store.put("ns", "k", 1);
    expect((await store.get("ns", "k"))?.value).toBe(1);
    await store.close();
  });

  it("is free at once after the owner was killed", async () => {
    const child = await startWorker();
    await child.kill();
    await opened().health();
  });
});

describe("a kill in the middle", () => {
  it("loses nothing that was added, runs what was active again as the same attempt, and keeps the order of keys", async () => {
    const before = opened();
    await before.add({ name: "work", data: "hang a1", key: "a", attempts: 3 });
    for (const data of ["a2", "a3"]) await before.add({ name: "work", data, key: "a" });
    // When the last of the key has started, the ends of those before it are stored.
    for (const data of ["b1", "b2", "hang b3"]) await before.add({ name: "work", data, key: "b" });
    await before.close();
    const child = await startWorker();
    await child.line((line) => line === "start hang b3 1");
    expect(child.lines).toContain("start hang a1 1");
    await child.kill();

    const runs: string[] = [];
    const after = opened();
    expect(await after.counts("work")).toMatchObject({ waiting: 4, active: 0, completed: 2 });
    await after.process<string>("work", async ({ data, attempt }) => {
      runs.push(`${data} ${attempt}`);
    });
    await vi.waitFor(() => expect(runs).toHaveLength(4), WAIT);
    expect(runs.filter((run) => run.includes("b"))).toEqual(["hang b3 1"]);
    expect(runs.filter((run) => !run.includes("b"))).toEqual(["hang a1 1", "a2 1", "a3 1"]);
  });

  it("makes a job a dead letter that was running at too many of them, and frees its key", async () => {
    const before = opened();
    await before.add({ name: "work", data: "hang", key: "k", id: "suspect", attempts: 10 });
    await before.add({ name: "work", data: "next", key: "k" });
    await before.close();
    for (let n = 1; n <= MAX_CRASHES; n++) {
      const child = await startWorker();
      await child.line((line) => line === "start hang 1");
      await child.kill();
    }
    const child = await startWorker();
    await child.line((line) => line === "end next");
    expect(child.lines.some((line) => line.startsWith("start hang"))).toBe(false);
    await child.kill();
    expect(await opened().deadLetters()).toMatchObject([{ id: "suspect", data: "hang" }]);
  });
});

describe("a file that can not be written", () => {
  it("rejects adds, keeps what was done to write it later, and goes on by itself", async () => {
    const troubles: unknown[] = [];
    const queue = opened({ onTrouble: () => troubles.push(1) });
    const started = new Promise<() => void>((resolve) => {
      void queue.process("work", () => new Promise<void>((end) => resolve(end)));
    });
    await queue.add({ name: "work", data: 1, id: "running" });
    const end = await started;
    const other = new Libsql(file);
    other.exec("BEGIN IMMEDIATE");
    await expect(queue.add({ name: "work", data: 2, id: "rejected" })).rejects.toMatchObject({
      code: "state-unavailable",
    });
    end();
    await vi.waitFor(() => expect(troubles.length).toBeGreaterThanOrEqual(2), WAIT);
    other.exec("ROLLBACK");
    other.close();
    await vi.waitFor(async () => expect((await queue.counts("work")).completed).toBe(1), WAIT);
    expect(await queue.add({ name: "work", data: 2, id: "rejected" })).toEqual({ id: "rejected", added: true });
    expect(await queue.add({ name: "work", data: 1, id: "running" })).toEqual({ id: "running", added: false });
  });
});

describe("bounded growth", () => {
  it("remembers a finished id for 24 h and then forgets it, in the file too", async () => {
    let now = systemClock.now();
    const queue = opened({ now: () => now });
    await queue.process("work", async () => {});
    const completed = (n: number) =>
      vi.waitFor(async () => expect((await queue.counts("work")).completed).toBe(n), WAIT);
    for (let n = 0; n < 50; n++) await queue.add({ name: "work", data: n, id: `id-${n}` });
    for (let n = 0; n < 50; n++) await queue.add({ name: "work", data: n });
    await completed(100);
    now += 24 * 3_600_000 - 60_000;
    expect((await queue.add({ name: "work", data: 0, id: "id-0" })).added).toBe(false);
    now += 61_000;
    expect((await queue.add({ name: "work", data: 0, id: "id-0" })).added).toBe(true);
    for (let n = 0; n < 30; n++) await queue.add({ name: "work", data: n });
    await completed(131);
    const db = new Libsql(file);
    expect(db.prepare("SELECT count(*) AS n FROM done_jobs").get()).toMatchObject({ n: 1 });
    expect(db.prepare("SELECT count(*) AS n FROM jobs").get()).toMatchObject({ n: 0 });
    db.close();
  });
});
