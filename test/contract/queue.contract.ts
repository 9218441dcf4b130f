import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type Job, type JobSpec, PermanentFailure, type Queue, RetryLater } from "../../src/core/events/queue.ts";

/** One driver under test. Queues opened one after the other see the same jobs. */
export interface QueueHarness {
  open(): Promise<Queue>;
  stop(): Promise<void>;
}

const HOUR_MS = 3_600_000;
const WAIT = { timeout: 10_000, interval: 10 };

/** A promise that someone else resolves. */
function gate<T = void>(): { readonly opened: Promise<T>; readonly open: (value: T) => void } {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Remembers every run of a handler. */
class Runs<T = unknown> {
  readonly jobs: Job<T>[] = [];
  get data(): T[] {
    return this.jobs.map((job) => job.data);
  }
  readonly handler = async (job: Job<T>): Promise<void> => {
    this.jobs.push(job);
  };
  async count(expected: number): Promise<void> {
    await vi.waitFor(() => expect(this.jobs.length).toBeGreaterThanOrEqual(expected), WAIT);
  }
}

export function queueContract(driver: string, start: () => Promise<QueueHarness>): void {
  describe(`queue contract: ${driver}`, () => {
    let harness: QueueHarness;
    let queue: Queue;
    let serial = 0;
    let name = "";

    beforeAll(async () => {
      harness = await start();
    });
    afterAll(async () => {
      await harness?.stop();
    });
    beforeEach(async () => {
      name = `job-${++serial}`;
      queue = await harness.open();
    });
    afterEach(async () => {
      await queue.close({ drainMs: 0 });
    });

    const reopen = async (options?: { readonly drainMs?: number }): Promise<void> => {
      await queue.close(options);
      queue = await harness.open();
    };
    const done = async (completed: number): Promise<void> => {
      await vi.waitFor(async () => expect((await queue.counts(name)).completed).toBe(completed), WAIT);
    };

    describe("running", () => {
      it("gives the handler the data, the id, the attempt and the time of adding", async () => {
        const runs = new Runs();
        const before = Date.now();
        await queue.process(name, runs.handler);
        const { id, added } = await queue.add({ name, data: { text: "ü", list: [1, null] }, key: "k:1" });
        expect(added).toBe(true);
        await runs.count(1);
        const [job] = runs.jobs;
        expect(job).toMatchObject({ id, name, key: "k:1", attempt: 1, data: { text: "ü", list: [1, null] } });
        expect(job?.enqueuedAtMs).toBeGreaterThanOrEqual(before);
        expect(job?.enqueuedAtMs).toBeLessThanOrEqual(Date.now());
        expect(job?.signal.aborted).toBe(false);
        await done(1);
      });

      it("works off what was added before there was a handler, in order", async () => {
        for (let n = 0; n < 20; n++) await queue.add({ name, data: n });
        const runs = new Runs<number>();
        await queue.process(name, runs.handler);
        await runs.count(20);
        expect(runs.data).toEqual(Array.from({ length: 20 }, (_, n) => n));
      });

      it("starts a delayed job not before its time, and others meanwhile", async () => {
        const runs = new Runs<string>();
        await queue.process(name, runs.handler);
        const added = performance.now();
        await queue.add({ name, data: "later", delayMs: 150 });
        await queue.add({ name, data: "now" });
        expect((await queue.counts(name)).delayed).toBe(1);
        await runs.count(2);
        expect(runs.data).toEqual(["now", "later"]);
        expect(performance.now() - added).toBeGreaterThanOrEqual(145);
      });

      it("runs as many jobs of a name at a time as its concurrency, and no more", async () => {
        let active = 0;
        let most = 0;
        const full = gate();
        const release = gate();
        await queue.process(
          name,
          async () => {
            most = Math.max(most, ++active);
            if (active === 3) full.open();
            await release.opened;
            active--;
          },
          { concurrency: 3 },
        );
        await Promise.all(Array.from({ length: 10 }, (_, n) => queue.add({ name, data: n })));
        await full.opened;
        expect(await queue.counts(name)).toMatchObject({ active: 3, waiting: 7 });
        release.open();
        await done(10);
        expect(most).toBe(3);
      });

      it("does not let one name wait for another", async () => {
        const release = gate();
        await queue.process(`${name}-slow`, () => release.opened);
        const runs = new Runs();
        await queue.process(name, runs.handler);
        await queue.add({ name: `${name}-slow`, data: 1 });
        await queue.add({ name, data: 1 });
        await runs.count(1);
        release.open();
      });

      it("refuses a second handler for a name, and specs it can not keep", async () => {
        const twice = await Promise.allSettled([1, 2].map(() => queue.process(name, async () => {})));
        expect(twice.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
        await expect(queue.process(name, async () => {})).rejects.toMatchObject({ code: "invalid-argument" });
        const bad: JobSpec[] = [
          { name: "Not A Name", data: 1 },
          { name: "a:b", data: 1 },
          { name, data: undefined },
          { name, data: 1, attempts: 0 },
          { name, data: 1, delayMs: -1 },
          { name, data: 1, delayMs: Number.NaN },
          { name, data: 1, id: "half \ud800" },
          { name, data: 1, backoff: { type: "steps", stepsMs: [] } },
          { name, data: 1, backoff: { type: "exponential", baseMs: 1, maxMs: 1, jitter: 2 } },
        ];
        for (const spec of bad) await expect(queue.add(spec)).rejects.toMatchObject({ code: "invalid-argument" });
        await expect(queue.process("other", async () => {}, { concurrency: 0 })).rejects.toMatchObject({
          code: "invalid-argument",
        });
        expect(await queue.counts(name)).toMatchObject({ waiting: 0, completed: 0 });
      });
    });

    describe("ids", () => {
      it("adds nothing for an id that is waiting, delayed, active, done or dead", async () => {
        const ids = ["waiting", "delayed", "active", "done", "dead"].map((state) => `${name}/${state}`);
        const [waiting, delayed, active, finished, dead] = ids as [string, string, string, string, string];
        const again = async (id: string): Promise<boolean> => (await queue.add({ name, id, data: "again" })).added;
        const release = gate();
        const started = gate();
        const seen: unknown[] = [];
        await queue.process(name, async (job) => {
          seen.push(job.data);
          if (job.data === "dies") throw new PermanentFailure("on purpose");
          if (job.data === "holds") {
            started.open();
            await release.opened;
          }
        });
        expect(await queue.add({ name, id: finished, data: "ends" })).toEqual({ id: finished, added: true });
        await queue.add({ name, id: dead, data: "dies" });
        await queue.add({ name, id: active, data: "holds" });
        await queue.add({ name, id: waiting, data: "waits" });
        await queue.add({ name, id: delayed, data: "delayed", delayMs: HOUR_MS });
        await started.opened;
        for (const id of ids) expect([id, await again(id)]).toEqual([id, false]);
        release.open();
        await done(3);
        for (const id of ids) expect([id, await again(id)]).toEqual([id, false]);
        expect(seen).toEqual(["ends", "dies", "holds", "waits"]);
      });

      it("adds one of 50 concurrent adds with the same id", async () => {
        const runs = new Runs();
        await queue.process(name, runs.handler, { concurrency: 10 });
        const results = await Promise.all(
          Array.from({ length: 50 }, (_, n) => queue.add({ name, id: `${name}-same`, data: n, key: `k${n % 3}` })),
        );
        expect(results.filter(({ added }) => added)).toHaveLength(1);
        await done(1);
        expect(runs.jobs).toHaveLength(1);
      });

      it("takes any text as id and key (mq-jobid-syntax)", async () => {
        const runs = new Runs<string>();
        await queue.process(name, runs.handler, { concurrency: 4 });
        const known = ["a:b", "a:b:c", "agent:main:slack:C1", "123", "12345678", "", "0", " ", "a\0b", "\x01", "é😀"];
        const random = fc.sample(fc.string({ unit: "binary", maxLength: 20 }), 40);
        const ids = [...new Set([...known, ...random])].map((id) => (id === "" ? id : `${id}${name}`));
        for (const id of ids) {
          expect(await queue.add({ name, id, key: id, data: id })).toEqual({ id, added: true });
          expect(await queue.add({ name, id, key: id, data: id })).toEqual({ id, added: false });
        }
        await runs.count(ids.length);
        expect(runs.data.toSorted()).toEqual(ids.toSorted());
        for (const job of runs.jobs) expect([job.id, job.key]).toEqual([job.data, job.data]);
      });
    });

    describe("order per key", () => {
      it("runs jobs of one key one at a time in order, and keys side by side", async () => {
        const active = new Set<string>();
        const order = new Map<string, number[]>();
        let sideBySide = 0;
        await queue.process<{ key: string; n: number }>(
          name,
          async ({ data }) => {
            expect(active.has(data.key)).toBe(false);
            active.add(data.key);
            sideBySide = Math.max(sideBySide, active.size);
            await new Promise((resolve) => setTimeout(resolve, 1 + ((data.n * 7) % 5)));
            order.set(data.key, [...(order.get(data.key) ?? []), data.n]);
            active.delete(data.key);
          },
          { concurrency: 8 },
        );
        const adds: Promise<unknown>[] = [];
        for (let n = 0; n < 15; n++) {
          for (const key of ["a", "b", "c", "d"]) adds.push(queue.add({ name, key, data: { key, n } }));
        }
        await Promise.all(adds);
        await done(60);
        for (const seen of order.values()) expect(seen).toEqual(Array.from({ length: 15 }, (_, n) => n));
        expect(sideBySide).toBeGreaterThan(1);
      });

      it("holds back only the key of a job that is retried (wake-poison-blocks-lane)", async () => {
        const seen: string[] = [];
        await queue.process<string>(
          name,
          async ({ data, attempt }) => {
            seen.push(`${data}#${attempt}`);
            if (data === "poison" && attempt < 3) throw new Error("chat is gone");
          },
          { concurrency: 2 },
        );
        const backoff = { type: "steps", stepsMs: [120], jitter: 0 } as const;
        await queue.add({ name, key: "dead chat", data: "poison", attempts: 5, backoff });
        await queue.add({ name, key: "dead chat", data: "behind" });
        for (let n = 0; n < 5; n++) await queue.add({ name, key: "live chat", data: `live${n}` });
        await done(7);
        expect(seen.filter((run) => !run.startsWith("live"))).toEqual(["poison#1", "poison#2", "poison#3", "behind#1"]);
        expect(seen.indexOf("live4#1")).toBeLessThan(seen.indexOf("poison#2"));
      });

      it("frees the key when its job dies, at once for a permanent failure", async () => {
        const runs = new Runs<string>();
        await queue.process<string>(name, async (job) => {
          await runs.handler(job);
          if (job.data === "kicked") throw new PermanentFailure("bot was kicked");
          if (job.data === "fails") throw new Error("no luck");
        });
        await queue.add({ name, key: "k", data: "kicked", attempts: 50 });
        await queue.add({ name, key: "k", data: "fails", attempts: 2, backoff: { type: "steps", stepsMs: [10] } });
        await queue.add({ name, key: "k", data: "next" });
        await done(1);
        expect(runs.data).toEqual(["kicked", "fails", "fails", "next"]);
        expect(await queue.counts(name)).toMatchObject({ dead: 2, waiting: 0, delayed: 0, active: 0 });
      });

      it("keeps the order when the first job of the key is delayed", async () => {
        const runs = new Runs<string>();
        await queue.process(name, runs.handler, { concurrency: 3 });
        await queue.add({ name, key: "k", data: "first", delayMs: 150 });
        await queue.add({ name, key: "k", data: "second" });
        await queue.add({ name, key: "other", data: "free" });
        expect(await queue.counts(name)).toMatchObject({ delayed: 1 });
        await runs.count(3);
        expect(runs.data).toEqual(["free", "first", "second"]);
      });

      it("does not mix keys of different names", async () => {
        const release = gate();
        await queue.process(`${name}-a`, () => release.opened);
        const runs = new Runs();
        await queue.process(name, runs.handler);
        await queue.add({ name: `${name}-a`, key: "k", data: 1 });
        await queue.add({ name, key: "k", data: 1 });
        await runs.count(1);
        release.open();
      });
    });

    describe("failures", () => {
      it("retries with the backoff and then succeeds (wake-failed-dropped)", async () => {
        const at: number[] = [];
        await queue.process(name, async ({ attempt }) => {
          at.push(performance.now());
          if (attempt < 3) throw new Error("502");
        });
        await queue.add({ name, data: 1, attempts: 3, backoff: { type: "steps", stepsMs: [50, 120], jitter: 0 } });
        await done(1);
        const [first = 0, second = 0, third = 0] = at;
        expect(second - first).toBeGreaterThanOrEqual(45);
        expect(third - second).toBeGreaterThanOrEqual(115);
        expect(await queue.deadLetters({ name })).toEqual([]);
      });

      it("keeps what failed for good as a dead letter with its reason", async () => {
        const before = Date.now();
        await queue.process(name, async () => {
          throw new Error("channel_not_found");
        });
        const { id } = await queue.add({
          name,
          key: "k",
          data: { to: "C1" },
          attempts: 2,
          backoff: { type: "steps", stepsMs: [10] },
        });
        await vi.waitFor(async () => expect((await queue.counts(name)).dead).toBe(1), WAIT);
        const [letter] = await queue.deadLetters({ name });
        expect(letter).toMatchObject({
          id,
          name,
          key: "k",
          data: { to: "C1" },
          error: "channel_not_found",
          attempts: 2,
        });
        expect(letter?.diedAtMs).toBeGreaterThanOrEqual(before);
      });

      it("waits as long as RetryLater says without using up an attempt", async () => {
        const attempts: number[] = [];
        await queue.process(name, async ({ attempt }) => {
          attempts.push(attempt);
          if (attempts.length < 4) throw new RetryLater(20);
        });
        const added = performance.now();
        await queue.add({ name, key: "k", data: 1, attempts: 1 });
        await done(1);
        expect(attempts).toEqual([1, 1, 1, 1]);
        expect(performance.now() - added).toBeGreaterThanOrEqual(55);
      });

      it("drops a job unrun once its time is over, counts it and frees its key", async () => {
        await queue.add({ name, key: "k", data: "stale", notAfterMs: Date.now() - 1, id: `${name}-stale` });
        await queue.add({ name, key: "k", data: "fresh", notAfterMs: Date.now() + HOUR_MS });
        const runs = new Runs();
        await queue.process(name, runs.handler);
        await done(1);
        expect(runs.data).toEqual(["fresh"]);
        expect(await queue.counts(name)).toMatchObject({ expired: 1, dead: 0, waiting: 0 });
        expect((await queue.add({ name, data: "stale", id: `${name}-stale` })).added).toBe(false);
      });

      it("puts a dead letter back with fresh attempts, or removes it", async () => {
        let broken = true;
        const runs = new Runs<string>();
        await queue.process<string>(name, async (job) => {
          await runs.handler(job);
          // Deaths within one millisecond have no order that Redis could tell.
          await new Promise((resolve) => setTimeout(resolve, 3));
          if (broken) throw new PermanentFailure("misconfigured");
        });
        for (const data of ["one", "two", "three"]) await queue.add({ name, id: `${name}-${data}`, data, key: "k" });
        await vi.waitFor(async () => expect((await queue.counts(name)).dead).toBe(3), WAIT);
        const letters = await queue.deadLetters({ name });
        expect(letters.map(({ data }) => data)).toEqual(["three", "two", "one"]);
        expect(await queue.deadLetters({ name, limit: 1 })).toEqual(letters.slice(0, 1));
        expect((await queue.deadLetters()).slice(0, 3)).toEqual(letters);
        broken = false;
        expect(await queue.retryDead(`${name}-two`)).toBe(true);
        expect(await queue.retryDead(`${name}-two`)).toBe(false);
        await done(1);
        expect(runs.jobs.at(-1)).toMatchObject({ data: "two", attempt: 1 });
        expect(await queue.removeDead(`${name}-one`)).toBe(true);
        expect(await queue.removeDead(`${name}-one`)).toBe(false);
        expect(await queue.removeDead(`${name}-two`)).toBe(false);
        expect((await queue.deadLetters({ name })).map(({ data }) => data)).toEqual(["three"]);
        expect((await queue.add({ name, id: `${name}-one`, data: "one again" })).added).toBe(true);
        await done(2);
      });
    });

    describe("cancel", () => {
      it("removes what has not started, frees its key, and forgets its id", async () => {
        await queue.add({ name, key: "k", id: `${name}-head`, data: "head", delayMs: HOUR_MS });
        await queue.add({ name, key: "k", id: `${name}-held`, data: "held" });
        await queue.add({ name, key: "k", data: "stays" });
        await queue.add({ name, id: `${name}-plain`, data: "plain" });
        for (const id of ["head", "held", "plain"]) {
          expect(await queue.cancel(`${name}-${id}`)).toBe(true);
          expect(await queue.cancel(`${name}-${id}`)).toBe(false);
        }
        expect((await queue.add({ name, id: `${name}-plain`, data: "again" })).added).toBe(true);
        const runs = new Runs();
        await queue.process(name, runs.handler);
        await done(2);
        expect(runs.data.toSorted()).toEqual(["again", "stays"]);
        expect(await queue.counts(name)).toMatchObject({ waiting: 0, delayed: 0, completed: 2 });
      });

      it("leaves what runs or is done, and says so for what is unknown", async () => {
        const started = gate();
        const release = gate();
        await queue.process(name, async () => {
          started.open();
          await release.opened;
        });
        await queue.add({ name, id: `${name}-runs`, data: 1, key: "k" });
        await started.opened;
        expect(await queue.cancel(`${name}-runs`)).toBe(false);
        release.open();
        await done(1);
        expect(await queue.cancel(`${name}-runs`)).toBe(false);
        expect(await queue.cancel("never heard of")).toBe(false);
      });
    });

    describe("schedules", () => {
      it("runs a recurring job again and again until it is unscheduled", async () => {
        const runs = new Runs();
        await queue.process(name, runs.handler);
        await queue.schedule(`${name}/tick:1`, { everyMs: 40 }, { name, data: { tick: true } });
        await runs.count(3);
        expect(runs.data[0]).toEqual({ tick: true });
        expect(await queue.unschedule(`${name}/tick:1`)).toBe(true);
        expect(await queue.unschedule(`${name}/tick:1`)).toBe(false);
        // A tick that was under way may still add its job; then it is over for good.
        await new Promise((resolve) => setTimeout(resolve, 200));
        const ended = runs.jobs.length;
        await new Promise((resolve) => setTimeout(resolve, 200));
        expect(runs.jobs).toHaveLength(ended);
      });

      it("keeps the next tick when the same schedule is declared again, and replaces it when it differs", async () => {
        const id = `${name}-heartbeat`;
        await queue.schedule(id, { everyMs: HOUR_MS }, { name, data: 1 });
        const next = async (): Promise<number | undefined> =>
          (await queue.schedules()).find((schedule) => schedule.id === id)?.nextAtMs;
        const first = await next();
        expect(Math.abs((first ?? 0) - Date.now() - HOUR_MS)).toBeLessThan(5000);
        await reopen();
        await new Promise((resolve) => setTimeout(resolve, 30));
        await queue.schedule(id, { everyMs: HOUR_MS }, { name, data: 2 });
        expect(await next()).toBe(first);
        await queue.schedule(id, { everyMs: 2 * HOUR_MS }, { name, data: 2 });
        expect(await next()).toBeGreaterThan(Date.now() + HOUR_MS);
        expect((await queue.schedules()).filter((schedule) => schedule.id === id)).toHaveLength(1);
        await queue.unschedule(id);
      });

      it("takes cron expressions with a time zone, and refuses bad ones", async () => {
        const id = `${name}-cron`;
        await queue.schedule(id, { cron: "30 9 * * *", timezone: "Asia/Kolkata" }, { name, data: 1 });
        const schedule = (await queue.schedules()).find((known) => known.id === id);
        expect(new Date(schedule?.nextAtMs ?? 0).toISOString()).toMatch(/T04:00:00\.000Z$/);
        expect(schedule?.cadence).toEqual({ cron: "30 9 * * *", timezone: "Asia/Kolkata" });
        await queue.unschedule(id);
        for (const cadence of [
          { cron: "61 * * * *" },
          { cron: "not cron" },
          { cron: "* * * * *", timezone: "Mars/Olympus" },
          { everyMs: 0 },
          { everyMs: 0.5 },
        ]) {
          await expect(queue.schedule(id, cadence, { name, data: 1 })).rejects.toMatchObject({
            code: "invalid-argument",
          });
        }
        expect((await queue.schedules()).some((known) => known.id === id)).toBe(false);
      });

      it("collapses the ticks missed while closed into one", async () => {
        const id = `${name}-missed`;
        await queue.schedule(id, { everyMs: 100 }, { name, data: 1 });
        await queue.close();
        await new Promise((resolve) => setTimeout(resolve, 450));
        queue = await harness.open();
        const runs = new Runs();
        await queue.process(name, runs.handler);
        await runs.count(1);
        const immediately = runs.jobs.length;
        await queue.unschedule(id);
        expect(immediately).toBeLessThanOrEqual(2);
      });
    });

    describe("closing and coming back", () => {
      it("waits for active jobs, takes adds from them, and starts no others (mq-graceful-shutdown)", async () => {
        const started = gate();
        const release = gate();
        const runs = new Runs<string>();
        await queue.process<string>(name, async (job) => {
          await runs.handler(job);
          if (job.data !== "slow") return;
          started.open();
          await release.opened;
          await queue.add({ name, data: "added while closing" });
        });
        await queue.add({ name, data: "slow" });
        await queue.add({ name, data: "waits" });
        await started.opened;
        const closed = queue.close({ drainMs: 5000 });
        release.open();
        await closed;
        expect(runs.data).toEqual(["slow"]);
        queue = await harness.open();
        await queue.process(name, runs.handler);
        await done(3);
        expect(runs.data).toEqual(["slow", "waits", "added while closing"]);
      });

      it("tells jobs that outlast the drain time, and runs them again later as the same attempt", async () => {
        const started = gate();
        const aborted = gate();
        await queue.process(name, async ({ signal }) => {
          started.open();
          await new Promise((_, reject) => {
            signal.addEventListener("abort", () => {
              aborted.open();
              reject(signal.reason);
            });
          });
        });
        await queue.add({ name, key: "k", data: 1 });
        await queue.add({ name, key: "k", data: 2 });
        await started.opened;
        await queue.close({ drainMs: 20 });
        await aborted.opened;
        queue = await harness.open();
        const runs = new Runs<number>();
        await queue.process(name, runs.handler);
        await runs.count(2);
        expect(runs.data).toEqual([1, 2]);
        expect(runs.jobs[0]?.attempt).toBe(1);
        expect(await queue.deadLetters({ name })).toEqual([]);
      });

      it("runs a job again whose handler ignored the signal", async () => {
        const started = gate();
        const never = gate();
        await queue.process(name, async () => {
          started.open();
          await never.opened;
        });
        await queue.add({ name, data: 1 });
        await started.opened;
        const began = performance.now();
        await queue.close({ drainMs: 20 });
        expect(performance.now() - began).toBeLessThan(3000);
        queue = await harness.open();
        const runs = new Runs<number>();
        await queue.process(name, runs.handler);
        await runs.count(1);
        never.open();
        expect(runs.jobs[0]?.attempt).toBe(1);
      });

      it("keeps waiting, delayed, held, dead and remembered jobs over a restart", async () => {
        await queue.process(name, async ({ data }) => {
          if (data === "dies") throw new PermanentFailure("on purpose");
        });
        await queue.add({ name, id: `${name}-done`, data: "ends" });
        await queue.add({ name, id: `${name}-dead`, data: "dies" });
        await vi.waitFor(async () => expect(await queue.counts(name)).toMatchObject({ completed: 1, dead: 1 }), WAIT);
        await reopen();
        await queue.add({ name, data: "delayed", delayMs: 100, key: "k" });
        await queue.add({ name, data: "held", key: "k" });
        await queue.add({ name, data: "plain" });
        await reopen();
        expect((await queue.add({ name, id: `${name}-done`, data: "again" })).added).toBe(false);
        expect((await queue.deadLetters({ name })).map(({ data }) => data)).toEqual(["dies"]);
        const runs = new Runs();
        await queue.process(name, runs.handler);
        await runs.count(3);
        expect(runs.data).toEqual(["plain", "delayed", "held"]);
      });

      it("rejects every call after close, and closes once however often it is asked", async () => {
        await queue.health();
        await Promise.all([queue.close(), queue.close()]);
        const closed = { code: "state-unavailable" };
        await expect(queue.add({ name, data: 1 })).rejects.toMatchObject(closed);
        await expect(queue.process(name, async () => {})).rejects.toMatchObject(closed);
        await expect(queue.counts()).rejects.toMatchObject(closed);
        await expect(queue.health()).rejects.toMatchObject(closed);
      });
    });

    it("keeps order, attempts and ids for random work (property)", async () => {
      const job = fc.record({
        key: fc.constantFrom("a", "b", undefined),
        id: fc.option(fc.constantFrom("i1", "i2", "i3"), { nil: undefined }),
        /** How often it fails before it succeeds; -1: a permanent failure. */
        failures: fc.constantFrom(0, 0, 0, 1, 2, -1),
        attempts: fc.constantFrom(1, 2, 3),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(job, { maxLength: 25 }),
          fc.integer({ min: 1, max: 4 }),
          async (jobs, concurrency) => {
            const run = randomUUID();
            name = `job-${++serial}`;
            const seen: { n: number; attempt: number }[] = [];
            const active = new Set<string>();
            await queue.process<{ n: number; failures: number }>(
              name,
              async ({ data, attempt, key }) => {
                if (key !== undefined) {
                  expect(active.has(key)).toBe(false);
                  active.add(key);
                }
                seen.push({ n: data.n, attempt });
                await new Promise((resolve) => setImmediate(resolve));
                if (key !== undefined) active.delete(key);
                if (data.failures < 0) throw new PermanentFailure("permanent");
                if (attempt <= data.failures) throw new Error("again");
              },
              { concurrency },
            );
            const accepted: { n: number; key: string | undefined; runs: number; dies: boolean }[] = [];
            const ids = new Set<string>();
            for (const [n, { key, id, failures, attempts }] of jobs.entries()) {
              const spec = { name, data: { n, failures }, attempts, backoff: { type: "steps", stepsMs: [1] } } as const;
              const { added } = await queue.add({
                ...spec,
                ...(key === undefined ? {} : { key }),
                ...(id === undefined ? {} : { id: `${run}-${id}` }),
              });
              expect(added).toBe(id === undefined || !ids.has(id));
              if (id !== undefined) ids.add(id);
              if (!added) continue;
              const runs = failures < 0 ? 1 : Math.min(failures + 1, attempts);
              accepted.push({ n, key, runs, dies: failures < 0 || failures >= attempts });
            }
            const dead = accepted.filter(({ dies }) => dies).length;
            await vi.waitFor(
              async () =>
                expect(await queue.counts(name)).toEqual({
                  waiting: 0,
                  delayed: 0,
                  active: 0,
                  dead,
                  completed: accepted.length - dead,
                  expired: 0,
                }),
              WAIT,
            );
            for (const { n, runs } of accepted) {
              const attempts = seen.filter((entry) => entry.n === n).map(({ attempt }) => attempt);
              expect(attempts).toEqual(Array.from({ length: runs }, (_, at) => at + 1));
            }
            for (const key of ["a", "b"]) {
              const expected = accepted
                .filter((entry) => entry.key === key)
                .flatMap(({ n, runs }) => Array(runs).fill(n));
              expect(seen.map(({ n }) => n).filter((n) => jobs[n]?.key === key)).toEqual(expected);
            }
          },
        ),
        { numRuns: 15 },
      );
    });
  });
}
