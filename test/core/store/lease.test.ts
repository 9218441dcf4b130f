import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Clock, systemClock } from "../../../src/core/clock.ts";
import { ExecError } from "../../../src/core/errors.ts";
import { type Lease, Leases } from "../../../src/core/store/lease.ts";
import { LeaseKeeper } from "../../../src/core/store/lease-keeper.ts";
import { openSqliteStore } from "../../../src/core/store/sqlite-store.ts";
import type { Store } from "../../../src/core/store/store.ts";

const TTL_MS = 1000;

let directory: string;
let store: Store;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "openclaw-lease-"));
  store = openSqliteStore({ file: join(directory, "state.db"), clock: systemClock });
});
afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true, force: true });
});

/** Each holder has a clock of its own, and their wall clocks do not agree. */
class Machine implements Clock {
  #ms: number;
  readonly #wallMs: number;
  constructor(startMs: number, wallMs: number) {
    this.#ms = startMs;
    this.#wallMs = wallMs;
  }
  now(): number {
    return this.#wallMs + this.#ms;
  }
  monotonic(): number {
    return this.#ms;
  }
  pass(ms: number): void {
    this.#ms += ms;
  }
}

function holders(): { a: Leases; b: Leases; pass: (ms: number) => void } {
  const machines = [new Machine(5, 1_700_000_000_000), new Machine(900_000, 1_600_000_000_000)] as const;
  const [a, b] = machines.map((clock, n) => new Leases({ store, clock, holder: `gateway-${n}`, ttlMs: TTL_MS })) as [
    Leases,
    Leases,
  ];
  const pass = (ms: number): void => {
    for (const machine of machines) machine.pass(ms);
  };
  return { a, b, pass };
}

async function acquired(leases: Leases, name = "slack/default"): Promise<Lease> {
  const lease = await leases.acquire(name);
  if (!lease) throw new Error("the lease was not free");
  return lease;
}

describe("Leases", () => {
  it("has one holder at a time, however often others ask while it renews", async () => {
    const { a, b, pass } = holders();
    const lease = await acquired(a);
    for (let n = 0; n < 10; n++) {
      pass(TTL_MS / 2);
      expect(await lease.renew()).toBe(true);
      expect(await b.acquire("slack/default")).toBeUndefined();
    }
    expect(lease.isHeld()).toBe(true);
    expect(await b.acquire("slack/other")).toBeDefined();
  });

  it("passes to another only after the first holder's own time is over, whatever the wall clocks say", async () => {
    const { a, b, pass } = holders();
    const lease = await acquired(a);
    expect(await b.acquire("slack/default")).toBeUndefined();
    pass(TTL_MS - 1);
    expect(lease.isHeld()).toBe(true);
    expect(await b.acquire("slack/default")).toBeUndefined();
    pass(1);
    expect(lease.isHeld()).toBe(false);
    const next = await acquired(b);
    expect(next.token).toBeGreaterThan(lease.token);
    expect(await lease.renew()).toBe(false);
    expect(next.isHeld()).toBe(true);
  });

  it("does not count the time before a contender first looked", async () => {
    const { a, b, pass } = holders();
    await acquired(a);
    pass(10 * TTL_MS);
    expect(await b.acquire("slack/default")).toBeUndefined();
    pass(TTL_MS);
    expect(await b.acquire("slack/default")).toBeDefined();
  });

  it("passes at once when it is released, with a larger token", async () => {
    const { a, b } = holders();
    const tokens: number[] = [];
    for (const leases of [a, b, a, b]) {
      const lease = await acquired(leases);
      tokens.push(lease.token);
      await lease.release();
      await lease.release();
      expect(lease.isHeld()).toBe(false);
    }
    expect(tokens).toEqual(tokens.toSorted((x, y) => x - y));
    expect(new Set(tokens).size).toBe(4);
  });

  it("is given again at once to the holder that restarted, and its former self has lost it", async () => {
    const { a, b } = holders();
    const before = await acquired(a);
    const after = await acquired(a);
    expect(after.token).toBeGreaterThan(before.token);
    expect(await before.renew()).toBe(false);
    await before.release();
    expect(await b.acquire("slack/default")).toBeUndefined();
    expect(await after.renew()).toBe(true);
  });

  it("goes to exactly one of 20 that ask at once", async () => {
    const all = Array.from(
      { length: 20 },
      (_, n) => new Leases({ store, clock: systemClock, holder: `gateway-${n}`, ttlMs: TTL_MS }),
    );
    const results = await Promise.all(all.map((leases) => leases.acquire("once")));
    expect(results.filter(Boolean)).toHaveLength(1);
  });

  it("may be renewed late when nobody took it", async () => {
    const { a, pass } = holders();
    const lease = await acquired(a);
    pass(3 * TTL_MS);
    expect(lease.isHeld()).toBe(false);
    expect(await lease.renew()).toBe(true);
    expect(lease.isHeld()).toBe(true);
  });
});

describe("LeaseKeeper", () => {
  const keeper = (holder: string, ttlMs: number, onHeld: (lease: Lease, lost: AbortSignal) => void): LeaseKeeper =>
    new LeaseKeeper({
      leases: new Leases({ store, clock: systemClock, holder, ttlMs }),
      ...{ name: "slack/default", ttlMs, onHeld, onTrouble: () => {} },
    });

  it("keeps the lease renewed, and the next one wins it when it stops", async () => {
    const won: string[] = [];
    const first = keeper("a", 150, () => won.push("a"));
    await vi.waitFor(() => expect(won).toEqual(["a"]), { timeout: 5000 });
    const second = keeper("b", 150, () => won.push("b"));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(won).toEqual(["a"]);
    expect(first.lease).toBeDefined();
    expect(second.lease).toBeUndefined();
    await first.stop();
    await vi.waitFor(() => expect(won).toEqual(["a", "b"]), { timeout: 5000 });
    await second.stop();
  });

  it("aborts its signal when another holder has taken the lease, and tries to win it again", async () => {
    const signals: AbortSignal[] = [];
    const kept = keeper("a", 150, (_, lost) => signals.push(lost));
    await vi.waitFor(() => expect(signals).toHaveLength(1), { timeout: 5000 });
    const usurper = await new Leases({ store, clock: systemClock, holder: "a", ttlMs: 150 }).acquire("slack/default");
    expect(usurper).toBeDefined();
    await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true), { timeout: 5000 });
    await vi.waitFor(() => expect(signals).toHaveLength(2), { timeout: 5000 });
    await kept.stop();
    expect(signals[1]?.aborted).toBe(true);
  });

  it("aborts its signal by the deadline when the store is gone", async () => {
    const signals: AbortSignal[] = [];
    const kept = keeper("a", 150, (_, lost) => signals.push(lost));
    await vi.waitFor(() => expect(signals).toHaveLength(1), { timeout: 5000 });
    await store.close();
    await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true), { timeout: 2000 });
    expect(kept.lease).toBeUndefined();
    await kept.stop();
  });

  it("has the lease back at once when it is asked for, and says so when it can not be had", async () => {
    const ttlMs = 30_000;
    const kept = keeper("a", ttlMs, () => {});
    expect(await kept.held(5000)).toBe(true);
    const other = keeper("b", ttlMs, () => {});
    expect(await other.held(50)).toBe(false);
    await kept.stop();
    // The next try of its own would be in ten seconds.
    expect(await other.held(5000)).toBe(true);
    await other.stop();
    expect(await other.held(5000)).toBe(false);
  });

  it("renews as soon as the store is back, so that a lease outlives an outage that is shorter than it", async () => {
    const ttlMs = 3_000;
    let failures = Number.NEGATIVE_INFINITY;
    const flaky: Store = Object.assign(Object.create(store), {
      compareAndSet: async (...args: Parameters<Store["compareAndSet"]>) => {
        if (++failures > 0 && failures <= 4) throw new ExecError("state-unavailable", "away");
        return store.compareAndSet(...args);
      },
      get: (...args: Parameters<Store["get"]>) => store.get(...args),
      setIfAbsent: (...args: Parameters<Store["setIfAbsent"]>) => store.setIfAbsent(...args),
    });
    const signals: AbortSignal[] = [];
    const told: string[] = [];
    const kept = new LeaseKeeper({
      leases: new Leases({ store: flaky, clock: systemClock, holder: "a", ttlMs }),
      ...{ name: "outlives", ttlMs, onHeld: (_: Lease, lost: AbortSignal) => signals.push(lost) },
      onTrouble: (what) => told.push(what),
    });
    expect(await kept.held(5000)).toBe(true);
    // Four renewals fail in a row; at their usual distance of a second the lease would be over by then.
    failures = 0;
    await vi.waitFor(() => expect(failures).toBeGreaterThan(4), { timeout: 10_000 });
    await vi.waitFor(() => expect(kept.lease?.remainingMs() ?? 0).toBeGreaterThan(ttlMs / 2), { timeout: 5000 });
    expect(signals.map((one) => one.aborted)).toEqual([false]);
    expect(told).toHaveLength(1);
    await kept.stop();
  });
});
