import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Store } from "../../src/core/store/store.ts";

/** One driver under test. Two stores opened by one harness share their state where the driver can. */
export interface StoreHarness {
  open(): Promise<Store>;
  /** Lets `ms` of store time pass. */
  elapse(ms: number): Promise<void>;
  stop(): Promise<void>;
}

/** Short enough to let it pass for real on drivers with a clock of their own. */
const TTL_MS = 120;

const anyText = fc.string({ unit: "binary", maxLength: 12 });
const json = fc.jsonValue({ maxDepth: 2 });

/** JSON itself turns -0 into 0. */
const asStored = <T>(value: T): T => JSON.parse(JSON.stringify(value));
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

export function storeContract(driver: string, start: () => Promise<StoreHarness>): void {
  describe(`store contract: ${driver}`, () => {
    let harness: StoreHarness;
    let store: Store;
    let serial = 0;
    const fresh = (): string => `ns-${serial++}`;

    beforeAll(async () => {
      harness = await start();
      store = await harness.open();
    });
    afterAll(async () => {
      await store?.close();
      await harness?.stop();
    });

    describe("records", () => {
      it("gives back what was put, with a version that grows by one from 1", async () => {
        const ns = fresh();
        expect(await store.get(ns, "k")).toBeUndefined();
        expect(await store.put(ns, "k", { a: [1, null, "ü"] })).toBe(1);
        expect(await store.put(ns, "k", "second")).toBe(2);
        expect(await store.get(ns, "k")).toEqual({ value: "second", version: 2 });
      });

      it("keeps any JSON value under any text as namespace and key", async () => {
        await fc.assert(
          fc.asyncProperty(anyText, anyText, json, async (ns, key, value) => {
            await store.put(`any-${ns}`, key, value);
            expect((await store.get(`any-${ns}`, key))?.value).toEqual(asStored(value));
          }),
          { numRuns: 150 },
        );
      });

      it("does not mix up namespaces and keys that read the same when joined", async () => {
        await store.put("a:b", "c", 1);
        await store.put("a", "b:c", 2);
        await store.put("a%3Ab", "c", 3);
        expect((await store.get("a:b", "c"))?.value).toBe(1);
        expect((await store.get("a", "b:c"))?.value).toBe(2);
        expect((await store.get("a%3Ab", "c"))?.value).toBe(3);
      });

      it("refuses what it could not give back unchanged", async () => {
        const circular: Record<string, unknown> = {};
        circular.self = circular;
        for (const value of [undefined, () => 1, 10n, circular]) {
          await expect(store.put(fresh(), "k", value)).rejects.toMatchObject({ code: "invalid-argument" });
        }
        await expect(store.put(fresh(), "half \ud800", 1)).rejects.toMatchObject({ code: "invalid-argument" });
        await expect(store.put(fresh(), "k".repeat(5000), 1)).rejects.toMatchObject({ code: "invalid-argument" });
        await expect(store.put(fresh(), "k", "x".repeat(5_000_000))).rejects.toMatchObject({
          code: "payload-too-large",
        });
        await expect(store.put(fresh(), "k", 1, { ttlMs: -1 })).rejects.toMatchObject({ code: "invalid-argument" });
      });

      it("creates once: of 50 concurrent setIfAbsent exactly one wins", async () => {
        const ns = fresh();
        const won = await Promise.all(Array.from({ length: 50 }, (_, n) => store.setIfAbsent(ns, "once", n)));
        expect(won.filter(Boolean)).toHaveLength(1);
        expect((await store.get(ns, "once"))?.value).toBe(won.indexOf(true));
      });

      it("creates a marker with what belongs to it, and of 50 at once only one, wholly", async () => {
        const [ns, beside] = [fresh(), fresh()];
        await store.put(beside, "old", "old");
        const create = (n: number) =>
          store.createWith({ ns, key: "once", value: n }, [
            { ns: beside, key: "old", value: n },
            { ns: beside, key: "new", value: n },
          ]);
        const won = await Promise.all(Array.from({ length: 50 }, (_, n) => create(n)));
        expect(won.filter(Boolean)).toHaveLength(1);
        const winner = won.indexOf(true);
        expect(await store.get(ns, "once")).toEqual({ value: winner, version: 1 });
        expect(await store.list(beside)).toEqual([
          { key: "new", value: winner, version: 1 },
          { key: "old", value: winner, version: 2 },
        ]);
      });

      it("creates nothing when one of what belongs together can not be stored", async () => {
        const [ns, beside] = [fresh(), fresh()];
        const others = [
          { ns: beside, key: "good", value: 1 },
          { ns: beside, key: "bad", value: undefined },
        ];
        await expect(store.createWith({ ns, key: "once", value: 1 }, others)).rejects.toMatchObject({
          code: "invalid-argument",
        });
        expect(await store.get(ns, "once")).toBeUndefined();
        expect(await store.list(beside)).toEqual([]);
      });

      it("of 50 concurrent compareAndSet on one version exactly one wins", async () => {
        const ns = fresh();
        const other = await harness.open();
        await store.put(ns, "k", "pending");
        const results = await Promise.all(
          Array.from({ length: 50 }, (_, n) => (n % 2 ? store : other).compareAndSet(ns, "k", 1, n)),
        );
        expect(results.filter((version) => version !== undefined)).toEqual([2]);
        expect(await store.get(ns, "k")).toEqual({ value: results.indexOf(2), version: 2 });
        await other.close();
      });

      it("counts to 50 when 50 clients increment by compare-and-set with retries", async () => {
        const ns = fresh();
        await store.put(ns, "n", 0);
        const increment = async (): Promise<void> => {
          for (;;) {
            const read = await store.get<number>(ns, "n");
            if (read && (await store.compareAndSet(ns, "n", read.version, read.value + 1)) !== undefined) return;
          }
        };
        await Promise.all(Array.from({ length: 50 }, increment));
        expect(await store.get(ns, "n")).toEqual({ value: 50, version: 51 });
      });

      it("compareAndSet never creates, whatever version is named", async () => {
        const ns = fresh();
        for (const expected of [0, 1, -1]) expect(await store.compareAndSet(ns, "k", expected, 1)).toBeUndefined();
        expect(await store.get(ns, "k")).toBeUndefined();
      });

      it("deletes once, and only the expected version when one is named", async () => {
        const ns = fresh();
        await store.put(ns, "k", 1);
        await store.put(ns, "k", 2);
        expect(await store.delete(ns, "k", 1)).toBe(false);
        expect(await store.delete(ns, "k", 2)).toBe(true);
        expect(await store.delete(ns, "k")).toBe(false);
        expect(await store.list(ns)).toEqual([]);
      });
    });

    describe("time to live", () => {
      it("makes an expired record absent for every operation", async () => {
        const ns = fresh();
        const own = ["get", "cas", "delete", "absent", "put"];
        for (const key of own) await store.put(ns, key, 1, { ttlMs: TTL_MS });
        const marker = { ns, key: "marker", value: 1, ttlMs: TTL_MS };
        await store.createWith(marker, [{ ns, key: "beside", value: 1, ttlMs: TTL_MS }]);
        await store.put(ns, "stays", 1);
        expect(await store.list(ns)).toHaveLength(8);
        await harness.elapse(TTL_MS + 1);
        expect(await store.get(ns, "get")).toBeUndefined();
        expect(await store.compareAndSet(ns, "cas", 1, 2)).toBeUndefined();
        expect(await store.delete(ns, "delete")).toBe(false);
        expect((await store.list(ns)).map(({ key }) => key)).toEqual(["stays"]);
        expect(await store.setIfAbsent(ns, "absent", 2)).toBe(true);
        expect(await store.createWith({ ns, key: "marker", value: 2 }, [{ ns, key: "beside", value: 2 }])).toBe(true);
        for (const key of ["marker", "beside"]) expect((await store.get(ns, key))?.version).toBe(1);
        expect(await store.put(ns, "put", 2)).toBe(1);
      });

      it("ends when a later write has none, and starts anew when it has one", async () => {
        const ns = fresh();
        await store.put(ns, "put", 1, { ttlMs: TTL_MS });
        await store.put(ns, "cas", 1, { ttlMs: TTL_MS });
        await store.put(ns, "shorter", 1);
        await store.put(ns, "put", 2);
        await store.compareAndSet(ns, "cas", 1, 2);
        await store.put(ns, "shorter", 2, { ttlMs: TTL_MS });
        await harness.elapse(TTL_MS + 1);
        expect((await store.list(ns)).map(({ key }) => key)).toEqual(["cas", "put"]);
      });
    });

    describe("list", () => {
      it("is in byte order, by prefix, after a key, in pages", async () => {
        const ns = fresh();
        const keys = ["a", "a/1", "a/10", "a/2", "a/é", "a/😀", "a/\uffff", "b", "B", "", "a\0", "a\x01"];
        for (const key of keys) await store.put(ns, key, key);
        const listed = async (options?: Parameters<Store["list"]>[1]): Promise<string[]> =>
          (await store.list(ns, options)).map(({ key }) => key);
        const sorted = keys.toSorted(byBytes);
        expect(await listed()).toEqual(sorted);
        expect(await listed({ prefix: "a/" })).toEqual(sorted.filter((key) => key.startsWith("a/")));
        expect(await listed({ prefix: "a/", after: "a/10" })).toEqual(["a/2", "a/é", "a/\uffff", "a/😀"]);
        expect(await listed({ after: "a/10", limit: 1 })).toEqual(["a/2"]);
        expect(await listed({ prefix: "a/", after: "" })).toHaveLength(6);
        expect(await listed({ prefix: "a/", after: "zzz" })).toEqual([]);
        expect(await listed({ limit: 0 })).toEqual([]);
      });

      it("fills a page although expired records lie in between", async () => {
        const ns = fresh();
        for (let n = 0; n < 20; n++) await store.put(ns, `k${n + 10}`, n, n % 2 ? {} : { ttlMs: TTL_MS });
        await harness.elapse(TTL_MS + 1);
        const page = await store.list<number>(ns, { limit: 7 });
        expect(page.map(({ value }) => value)).toEqual([1, 3, 5, 7, 9, 11, 13]);
      });
    });

    describe("streams", () => {
      it("numbers entries without gaps under concurrent appends and reads them in order", async () => {
        const stream = fresh();
        const seqs = await Promise.all(Array.from({ length: 50 }, (_, n) => store.append(stream, { n })));
        expect(seqs.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
        const all = await store.read<{ n: number }>(stream);
        expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
        for (const { seq, value } of all) expect(seqs[value.n]).toBe(seq);
        expect((await store.read(stream, { after: 48 })).map(({ seq }) => seq)).toEqual([49, 50]);
        expect((await store.read(stream, { after: 10, limit: 2 })).map(({ seq }) => seq)).toEqual([11, 12]);
        expect((await store.tail(stream, 3)).map(({ seq }) => seq)).toEqual([48, 49, 50]);
      });

      it("drops the oldest beyond maxLength and goes on counting", async () => {
        const stream = fresh();
        for (let n = 1; n <= 10; n++) await store.append(stream, n, { maxLength: 3 });
        expect(await store.read(stream)).toEqual([8, 9, 10].map((n) => ({ seq: n, value: n })));
        expect(await store.tail(stream, 100)).toHaveLength(3);
        expect(await store.append(stream, "next")).toBe(11);
      });

      it("appends several in one step: others' entries come before or after, never between", async () => {
        const stream = fresh();
        const groups = Array.from({ length: 20 }, (_, group) => group);
        const lasts = await Promise.all(
          groups.map((group) => store.appendAll(stream, [0, 1, 2].map((part) => ({ group, part })) as [object])),
        );
        const all = await store.read<{ group: number; part: number }>(stream);
        expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 60 }, (_, n) => n + 1));
        for (const group of groups) {
          const mine = all.filter(({ value }) => value.group === group);
          expect(mine.map(({ value }) => value.part)).toEqual([0, 1, 2]);
          expect(mine.map(({ seq }) => seq)).toEqual([2, 1, 0].map((before) => (lasts[group] as number) - before));
        }
        expect(await store.appendAll(stream, ["a", "b"], { maxLength: 3 })).toBe(62);
        expect((await store.read(stream)).map(({ seq }) => seq)).toEqual([60, 61, 62]);
      });

      it("refuses a group with an entry it could not give back, and stores none of it", async () => {
        const stream = fresh();
        await expect(store.appendAll(stream, ["good", undefined])).rejects.toThrow("The entry");
        expect(await store.read(stream)).toEqual([]);
      });

      it("is empty when nothing was appended", async () => {
        expect(await store.read(fresh())).toEqual([]);
        expect(await store.tail(fresh(), 5)).toEqual([]);
      });
    });

    describe("topics", () => {
      const received = (
        count: number,
      ): { seen: unknown[]; handler: (message: unknown) => void; all: Promise<void> } => {
        const seen: unknown[] = [];
        let done: () => void = () => {};
        const all = new Promise<void>((resolve) => {
          done = resolve;
        });
        const handler = (message: unknown): void => {
          seen.push(message);
          if (seen.length === count) done();
        };
        return { seen, handler, all };
      };

      it("tells every subscriber of the topic and nobody else, in order", async () => {
        const topic = fresh();
        const one = received(2);
        const two = received(2);
        const other = received(1);
        await store.subscribe(topic, one.handler);
        await store.subscribe(topic, two.handler);
        await store.subscribe(`${topic}-other`, other.handler);
        await store.publish(topic, { n: 1 });
        await store.publish(topic, { n: 2 });
        await Promise.all([one.all, two.all]);
        expect(one.seen).toEqual([{ n: 1 }, { n: 2 }]);
        expect(two.seen).toEqual(one.seen);
        expect(other.seen).toEqual([]);
      });

      it("is not disturbed by a subscriber that throws or that changes the message", async () => {
        const topic = fresh();
        await store.subscribe(topic, (message) => {
          (message as { n: number }).n = 99;
          throw new Error("subscriber failed on purpose");
        });
        const good = received(1);
        await store.subscribe(topic, good.handler);
        await store.publish(topic, { n: 1 });
        await good.all;
        expect(good.seen).toEqual([{ n: 1 }]);
      });

      it("ends with unsubscribe, and only for that subscriber", async () => {
        const topic = fresh();
        const gone = received(1);
        const stays = received(1);
        const unsubscribe = await store.subscribe(topic, gone.handler);
        await store.subscribe(topic, stays.handler);
        await unsubscribe();
        await unsubscribe();
        await store.publish(topic, 1);
        await stays.all;
        expect(gone.seen).toEqual([]);
      });
    });

    it("behaves like a plain map under random operations", async () => {
      const key = fc.constantFrom("a", "b", "ab", "a\0", "é");
      const operation = fc.oneof(
        fc.record({ op: fc.constant("put" as const), key, value: json }),
        fc.record({ op: fc.constant("setIfAbsent" as const), key, value: json }),
        fc.record({ op: fc.constant("createWith" as const), key, value: json, beside: key }),
        fc.record({ op: fc.constant("cas" as const), key, value: json, off: fc.constantFrom(0, 0, 0, 1, -1) }),
        fc.record({ op: fc.constant("delete" as const), key, off: fc.constantFrom(undefined, 0, 1) }),
        fc.record({ op: fc.constant("list" as const), prefix: fc.constantFrom("", "a"), limit: fc.nat({ max: 5 }) }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
          const ns = fresh();
          const model = new Map<string, { value: unknown; version: number }>();
          for (const step of operations) {
            if (step.op === "list") {
              const { prefix, limit } = step;
              const expected = [...model]
                .filter(([k]) => k.startsWith(prefix))
                .toSorted(([a], [b]) => byBytes(a, b))
                .slice(0, limit)
                .map(([k, record]) => ({ key: k, ...record }));
              expect(await store.list(ns, { prefix, limit })).toEqual(expected);
              continue;
            }
            const known = model.get(step.key);
            const version = known?.version ?? 0;
            if (step.op === "put") {
              expect(await store.put(ns, step.key, step.value)).toBe(version + 1);
              model.set(step.key, { value: asStored(step.value), version: version + 1 });
            } else if (step.op === "setIfAbsent") {
              expect(await store.setIfAbsent(ns, step.key, step.value)).toBe(!known);
              if (!known) model.set(step.key, { value: asStored(step.value), version: 1 });
            } else if (step.op === "createWith") {
              const beside = { ns, key: step.beside, value: "beside" };
              expect(await store.createWith({ ns, key: step.key, value: step.value }, [beside])).toBe(!known);
              if (!known) {
                model.set(step.key, { value: asStored(step.value), version: 1 });
                model.set(step.beside, { value: "beside", version: (model.get(step.beside)?.version ?? 0) + 1 });
              }
            } else if (step.op === "cas") {
              const hit = known !== undefined && step.off === 0;
              const result = await store.compareAndSet(ns, step.key, version + step.off, step.value);
              expect(result).toBe(hit ? version + 1 : undefined);
              if (hit) model.set(step.key, { value: asStored(step.value), version: version + 1 });
            } else {
              const hit = known !== undefined && (step.off ?? 0) === 0;
              const named = step.off === undefined ? undefined : version + step.off;
              expect(await store.delete(ns, step.key, named)).toBe(hit);
              if (hit) model.delete(step.key);
            }
            expect(await store.get(ns, step.key)).toEqual(model.get(step.key));
          }
        }),
        { numRuns: 40 },
      );
    });

    it("is healthy, and rejects every call after close", async () => {
      const short = await harness.open();
      await short.health();
      await short.close();
      await expect(short.health()).rejects.toMatchObject({ code: "state-unavailable" });
      await expect(short.put("ns", "k", 1)).rejects.toMatchObject({ code: "state-unavailable" });
    });
  });
}
