import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Place, type RunLimits, RunQueue } from "../../../src/core/exec/run-queue.ts";

const limits = (over: Partial<RunLimits> = {}): RunLimits => ({ total: 2, perAgent: 2, queued: 100, ...over });

function line(over: Partial<RunLimits> = {}) {
  let current = limits(over);
  const queue = new RunQueue(() => current);
  const order: string[] = [];
  const enter = (sessionKey: string, label = sessionKey, agentId = "main"): Place => {
    const place = queue.enter({ sessionKey, agentId });
    place.taken.then(
      (taken) => taken && order.push(label),
      () => {},
    );
    return place;
  };
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { queue, enter, order, settle, set: (next: Partial<RunLimits>) => (current = limits(next)) };
}

describe("the line in front of the spawn", () => {
  it("gives a place at once while there is one, then says which limit is in the way", () => {
    const { enter } = line({ total: 3, perAgent: 2 });
    expect(enter("a").waitsFor).toBeUndefined();
    expect(enter("a").waitsFor).toBeUndefined();
    expect(enter("a").waitsFor).toBe("agent-busy");
    expect(enter("b", "b", "other").waitsFor).toBeUndefined();
    expect(enter("c", "c", "third").waitsFor).toBe("gateway-busy");
  });

  it("lets conversations take turns: one command after a flood of 50 is next but one", async () => {
    const { enter, order, settle } = line({ total: 1, perAgent: 1 });
    const places = [enter("flood", "flood 0")];
    for (let n = 1; n <= 50; n++) places.push(enter("flood", `flood ${n}`));
    enter("quiet");
    places[0]?.leave();
    places[1]?.leave();
    await settle();
    expect(order).toEqual(["flood 0", "flood 1", "quiet"]);
  });

  it("keeps the order within a conversation", async () => {
    const { enter, order, settle } = line({ total: 1 });
    const places = ["a0", "a1", "a2", "a3"].map((label) => enter("a", label));
    for (const place of places) {
      place.leave();
      await settle();
    }
    expect(order).toEqual(["a0", "a1", "a2", "a3"]);
  });

  it("does not let a busy agent hold back another", async () => {
    const { enter, order, settle } = line({ total: 3, perAgent: 1 });
    enter("a");
    enter("a", "a2");
    enter("b", "b", "other");
    await settle();
    expect(order).toEqual(["a", "b"]);
  });

  it("leaving the line resolves to false and moves nobody up twice", async () => {
    const { enter, queue, order, settle } = line({ total: 1 });
    const first = enter("a");
    const second = enter("a", "second");
    enter("a", "third");
    second.leave();
    second.leave();
    expect(await second.taken).toBe(false);
    first.leave();
    await settle();
    expect(order).toEqual(["a", "third"]);
    expect([queue.running, queue.waiting]).toEqual([1, 0]);
  });

  it("refuses a conversation that has half of the places and still takes another", () => {
    const { enter, queue } = line({ total: 1, queued: 4 });
    for (let n = 0; n < 3; n++) enter("flood");
    expect(() => enter("flood")).toThrow(/2 commands of this conversation wait in line.*\/stop/);
    expect(() => enter("quiet")).not.toThrow();
    expect(queue.waiting).toBe(3);
  });

  it("refuses everybody once the line is full, naming the limit", () => {
    const { enter } = line({ total: 1, queued: 2 });
    for (const key of ["a", "b", "c"]) enter(key);
    expect(() => enter("d")).toThrow(/limits\.maxQueuedRuns.*Nothing was run/);
  });

  it("with maxQueuedRuns 0 nothing waits", () => {
    const { enter } = line({ total: 1, queued: 0 });
    enter("a");
    expect(() => enter("b")).toThrow(/maxQueuedRuns/);
  });

  it("takes back what stood in line before a restart, full or not", () => {
    const { enter, queue } = line({ total: 1, queued: 0 });
    enter("a");
    expect(queue.enter({ sessionKey: "b", agentId: "main" }, { readmit: true }).waitsFor).toBe("gateway-busy");
  });

  it("a limit that grows lets in those who wait first, one that shrinks stops nobody who runs", async () => {
    const { enter, queue, order, settle, set } = line({ total: 1 });
    for (const key of ["a", "b", "c", "d"]) enter(key);
    set({ total: 3, perAgent: 3 });
    enter("e");
    await settle();
    expect(order).toEqual(["a", "b", "c"]);
    set({ total: 1 });
    enter("f");
    expect(queue.running).toBe(3);
  });

  it("tells who waits that the gateway stops, and lets nobody in any more", async () => {
    const { enter, queue } = line({ total: 1 });
    const first = enter("a");
    const waiting = enter("b");
    queue.close();
    await expect(waiting.taken).rejects.toMatchObject({ code: "draining" });
    waiting.leave();
    first.leave();
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
    expect(() => enter("c")).toThrow(expect.objectContaining({ code: "draining" }));
  });

  it("property: never more than the limits allow, nobody lost, nobody served twice, all served in the end", async () => {
    const step = fc.record({ session: fc.integer({ min: 0, max: 4 }), agent: fc.integer({ min: 0, max: 2 }) });
    const actions = fc.array(fc.oneof(step, fc.constant("leave" as const)), { maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(
        actions,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3 }),
        async (todo, total, perAgent) => {
          const queue = new RunQueue(() => ({ total, perAgent, queued: 1_000 }));
          const running = new Map<number, { agent: number; place: Place }>();
          const left = new Set<number>();
          let entered = 0;
          const take = (id: number, agent: number, place: Place) =>
            place.taken.then(() => {
              expect(running.has(id) || left.has(id)).toBe(false);
              running.set(id, { agent, place });
              const ofAgent = [...running.values()].filter((one) => one.agent === agent).length;
              expect(running.size).toBeLessThanOrEqual(total);
              expect(ofAgent).toBeLessThanOrEqual(perAgent);
            });
          const end = async () => {
            const [id, one] = [...running][0] ?? [];
            if (id === undefined || !one) return false;
            running.delete(id);
            left.add(id);
            one.place.leave();
            await new Promise((resolve) => setImmediate(resolve));
            return true;
          };
          for (const action of todo) {
            if (action === "leave") await end();
            else {
              const id = entered++;
              void take(
                id,
                action.agent,
                queue.enter({ sessionKey: `s${action.session}`, agentId: `${action.agent}` }),
              );
              await new Promise((resolve) => setImmediate(resolve));
            }
          }
          while (await end());
          expect(left.size).toBe(entered);
          expect([queue.running, queue.waiting]).toEqual([0, 0]);
        },
      ),
      { numRuns: 60 },
    );
  });
});
