import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Lane, SendBudget, type Urgency } from "../../../src/channels/pacing/send-budget.ts";
import type { Clock } from "../../../src/core/clock.ts";

function manualClock(): Clock & { advance(ms: number): void } {
  let nowMs = 1_000_000;
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
  };
}

const lane = (key: string, count: number, perMs: number, keep = 0): Lane => ({ key, rates: [{ count, perMs, keep }] });

function go(budget: SendBudget, id: string, lanes: readonly Lane[], urgency: Urgency = "answer"): () => void {
  const permit = budget.ask(id, lanes, urgency);
  if (permit.kind === "wait") throw new Error(`${id} was told to wait ${permit.afterMs} ms`);
  return permit.done;
}

function waits(budget: SendBudget, id: string, lanes: readonly Lane[], urgency: Urgency = "answer"): number {
  const permit = budget.ask(id, lanes, urgency);
  if (permit.kind === "go") throw new Error(`${id} was let through`);
  return permit.afterMs;
}

describe("a send budget", () => {
  it("lets the first call of a quiet lane and a burst go at once, then one per share of the window", () => {
    const clock = manualClock();
    const budget = new SendBudget(clock);
    const chat = [lane("chat", 3, 3_000)];
    for (const id of ["a", "b", "c"]) go(budget, id, chat)();
    expect(waits(budget, "d", chat)).toBe(3_000);
    clock.advance(2_999);
    expect(waits(budget, "d", chat)).toBe(1);
    clock.advance(1);
    go(budget, "d", chat)();
  });

  it("counts a call until the window has passed since its end, since nobody knows when it arrived", () => {
    const clock = manualClock();
    const budget = new SendBudget(clock);
    const chat = [lane("chat", 1, 1_000)];
    const done = go(budget, "a", chat);
    clock.advance(5_000);
    expect(waits(budget, "b", chat)).toBe(1_000);
    done();
    clock.advance(999);
    expect(waits(budget, "b", chat)).toBe(1);
    clock.advance(1);
    go(budget, "b", chat);
  });

  it("whoever asks for a place now or never leaves nobody waiting behind them", () => {
    const clock = manualClock();
    const budget = new SendBudget(clock);
    const reads = [lane("reads", 2, 60_000)];
    for (let n = 0; n < 2; n++) {
      const permit = budget.tryNow(reads);
      if (permit.kind === "go") permit.done();
    }
    for (let n = 0; n < 50; n++) expect(budget.tryNow(reads)).toEqual({ kind: "wait", afterMs: 60_000 });
    clock.advance(60_000);
    expect(budget.tryNow(reads).kind).toBe("go");
    budget.refused(reads[0] as Lane, 90_000);
    expect(budget.tryNow(reads)).toEqual({ kind: "wait", afterMs: 90_000 });
  });

  it("serves in the order of asking, and what is decided or over before what only goes on", () => {
    const clock = manualClock();
    const budget = new SendBudget(clock);
    const all = [lane("all", 1, 1_000)];
    go(budget, "now", all)();
    const asked: [string, Urgency][] = [
      ["p", "progress"],
      ["a1", "answer"],
      ["a2", "answer"],
      ["d", "decision"],
    ];
    for (const [id, urgency] of asked) waits(budget, id, all, urgency);
    const served: string[] = [];
    for (let n = 0; n < 4; n++) {
      clock.advance(1_000);
      // Whoever happens to come first: the places are the same.
      for (const [id, urgency] of asked.filter(([one]) => !served.includes(one))) {
        const permit = budget.ask(id, all, urgency);
        if (permit.kind === "go") {
          permit.done();
          served.push(id);
        }
      }
    }
    expect(served).toEqual(["d", "a1", "a2", "p"]);
  });

  it("one busy chat holds back no other", () => {
    const clock = manualClock();
    const budget = new SendBudget(clock);
    const of = (chat: string) => [lane(chat, 1, 60_000), lane("all", 30, 1_000)];
    go(budget, "a1", of("a"))();
    for (let n = 0; n < 50; n++) waits(budget, `a-waits-${n}`, of("a"));
    go(budget, "b1", of("b"))();
  });

  it("gives the place of one who does not come back to the next", () => {
    const clock = manualClock();
    const budget = new SendBudget(clock);
    const all = [lane("all", 1, 1_000)];
    go(budget, "now", all)();
    waits(budget, "gone", all);
    expect(waits(budget, "next", all)).toBe(2_000);
    clock.advance(2_001);
    go(budget, "next", all);
  });

  it("lets live changes through only where nobody waits and places are kept free, spread over a long window", () => {
    const clock = manualClock();
    const budget = new SendBudget(clock);
    const group = [lane("group", 20, 60_000, 5)];
    const went: number[] = [];
    for (let at = 0; at < 120_000; at += 500) {
      const done = budget.tryLive(group);
      if (done) went.push(at);
      done?.();
      clock.advance(500);
    }
    const gaps = went.slice(1).map((at, index) => at - (went[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(5_000);
    expect(went.filter((at) => at < 60_000).length).toBeLessThanOrEqual(15);
    for (let n = 0; n < 5; n++) go(budget, `m${n}`, group)();
    for (let n = 0; budget.ask(`more${n}`, group, "answer").kind === "go"; n++);
    expect(budget.tryLive(group)).toBeUndefined();
  });

  it("429: keeps quiet for the time named, then live changes come half as often for a minute", () => {
    const clock = manualClock();
    const budget = new SendBudget(clock);
    const chat = lane("chat", 20, 60_000);
    const paceOf = (): number => {
      budget.tryLive([chat])?.();
      let waited = 0;
      for (let done = budget.tryLive([chat]); !done; done = budget.tryLive([chat])) {
        clock.advance(100);
        waited += 100;
      }
      return waited;
    };
    const before = paceOf();
    clock.advance(120_000);
    budget.refused(chat, 7_000);
    expect(waits(budget, "a", [chat])).toBe(7_000);
    expect(budget.tryLive([chat])).toBeUndefined();
    clock.advance(7_000);
    go(budget, "a", [chat])();
    clock.advance(10_000);
    expect(paceOf()).toBeGreaterThan(before * 1.8);
  });

  it("never lets more through than a lane takes in any span, loses nobody, and keeps the order of each chat", () => {
    const call = fc.record({
      chat: fc.integer({ min: 0, max: 4 }),
      atMs: fc.integer({ min: 0, max: 8_000 }),
      wayMs: fc.integer({ min: 0, max: 400 }),
      arrives: fc.double({ min: 0, max: 1, noNaN: true }),
      urgency: fc.constantFrom<Urgency>("decision", "answer", "progress"),
    });
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 60 }), fc.integer({ min: 0, max: 50 }), (calls, late) => {
        const clock = manualClock();
        const budget = new SendBudget(clock);
        const lanesFor = (chat: number) => [lane(`chat${chat}`, 2, 2_000), lane("all", 5, 1_000)];
        const arrivals: { chat: number; at: number; id: number }[] = [];
        // As the deliveries queue works: one of a chat at a time, in order; who must wait comes back, a little late.
        const queues = [0, 1, 2, 3, 4].map((chat) =>
          calls
            .map((one, id) => ({ ...one, id }))
            .filter((one) => one.chat === chat)
            .sort((a, b) => a.atMs - b.atMs),
        );
        const readyAt = [0, 0, 0, 0, 0];
        const open: { endsAt: number; done: () => void }[] = [];
        for (let now = 0; queues.some((queue) => queue.length > 0) && now < 300_000; now += 25, clock.advance(25)) {
          for (const one of open.filter((each) => each.endsAt <= now)) one.done();
          for (const [chat, queue] of queues.entries()) {
            const next = queue[0];
            if (!next || next.atMs > now || (readyAt[chat] ?? 0) > now) continue;
            const permit = budget.ask(String(next.id), lanesFor(chat), next.urgency);
            if (permit.kind === "wait") {
              readyAt[chat] = now + permit.afterMs + late;
              continue;
            }
            arrivals.push({ chat, at: now + next.wayMs * next.arrives, id: next.id });
            open.push({ endsAt: now + next.wayMs, done: permit.done });
            readyAt[chat] = now + next.wayMs;
            queue.shift();
          }
        }
        expect(arrivals).toHaveLength(calls.length);
        for (const chat of [0, 1, 2, 3, 4]) {
          const times = arrivals.filter((one) => one.chat === chat).map((one) => one.at);
          expect(times).toEqual([...times].sort((a, b) => a - b));
          for (const [index, at] of times.entries()) {
            const third = times[index + 2];
            if (third !== undefined) expect(third - at).toBeGreaterThanOrEqual(2_000);
          }
        }
        const all = arrivals.map((one) => one.at).sort((a, b) => a - b);
        for (const [index, at] of all.entries()) {
          const sixth = all[index + 5];
          if (sixth !== undefined) expect(sixth - at).toBeGreaterThanOrEqual(1_000);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("forgets chats in which nothing happens any more", () => {
    const clock = manualClock();
    const budget = new SendBudget(clock);
    for (let n = 0; n < 5_000; n++) {
      go(budget, `m${n}`, [lane(`chat${n}`, 1, 1_000)])();
      clock.advance(1_000);
    }
    expect(budget.lanes).toBeLessThan(1_000);
  });
});
