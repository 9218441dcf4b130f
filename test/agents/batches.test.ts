import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BatchLimits, batchesOf, finished } from "../../src/agents/batches.ts";
import type { Waiting, WaitingMessage } from "../../src/agents/inbox.ts";
import type { Route } from "../../src/core/route.ts";

const LIMITS: BatchLimits = { quietMs: 300, cutQuietMs: 1_500, maxMessages: 12, maxChars: 50_000, maxWaitMs: 7_500 };
const limitsOf = () => LIMITS;
const room: Route = { channel: "telegram", accountId: "default", chatType: "group", chatId: "-1" };
const topic: Route = { ...room, threadId: "7" };

let next = 0;
const said = (atMs: number, more: Partial<WaitingMessage> & { by?: string } = {}): WaitingMessage => {
  const { by = "1", ...rest } = more;
  const actor = { kind: "person", channel: "telegram", accountId: "default", id: by } as const;
  return { kind: "message", id: `m${next++}`, sessionKey: "s", atMs, text: "words", actor, route: room, ...rest };
};
const wake = (atMs: number): Waiting => ({
  kind: "wake",
  id: `w${next++}`,
  sessionKey: "s",
  atMs,
  reason: "exec-event",
});
const sizes = (waiting: readonly Waiting[]) => batchesOf(waiting, limitsOf).map((batch) => batch.length);

describe("what one person says in a row", () => {
  it.each<[string, readonly Waiting[], readonly number[]]>([
    ["belongs together", [said(0), said(200), said(499)], [3]],
    ["unless there is a pause", [said(0), said(300), said(310)], [1, 2]],
    [
      "after a text that may be cut the pause is longer",
      [said(0, { mayBeCut: true }), said(1_499), said(1_799)],
      [2, 1],
    ],
    ["another person's is their own", [said(0), said(10, { by: "2" }), said(20)], [2, 1]],
    ["another topic's too", [said(0), said(10, { route: topic }), said(20)], [2, 1]],
    ["twelve at most", Array.from({ length: 13 }, (_, n) => said(n)), [12, 1]],
    [
      "50,000 characters at most",
      [said(0, { text: "x".repeat(30_000) }), said(1, { text: "x".repeat(20_001) })],
      [1, 1],
    ],
    ["and as many fit", [said(0, { text: "x".repeat(30_000) }), said(1, { text: "x".repeat(20_000) })], [2]],
    ["7.5 seconds at most", Array.from({ length: 40 }, (_, n) => said(n * 250)).slice(0, 32), [12, 12, 8]],
  ])("%s", (_name, waiting, expected) => {
    expect(sizes(waiting)).toEqual(expected);
  });

  it("ends after 7.5 seconds although the person goes on", () => {
    const slow: BatchLimits = { ...LIMITS, maxMessages: 1_000 };
    const waiting = Array.from({ length: 40 }, (_, n) => said(n * 250));
    expect(batchesOf(waiting, () => slow).map((batch) => batch.length)).toEqual([30, 10]);
  });

  it("stands each for itself where nothing is gathered", () => {
    expect(batchesOf([said(0), said(0)], () => undefined).map((batch) => batch.length)).toEqual([1, 1]);
    expect(finished([said(0)], () => undefined, 0)).toMatchObject({ waitMs: 0 });
  });
});

describe("how long a turn waits", () => {
  const waits = (waiting: readonly Waiting[], nowMs: number) => finished(waiting, limitsOf, nowMs);

  it.each<[string, readonly Waiting[], number, number, number]>([
    ["300 ms after a message", [said(0)], 0, 300, 0],
    ["counted from the newest", [said(0), said(250)], 400, 150, 0],
    ["1.5 s after one that may be cut", [said(0, { mayBeCut: true })], 1_400, 100, 0],
    ["not when it is over", [said(0)], 300, 0, 1],
    ["not for the twelfth", Array.from({ length: 12 }, (_, n) => said(n)), 12, 0, 12],
    ["not beyond 7.5 s", Array.from({ length: 11 }, (_, n) => said(n * 290, { mayBeCut: true })), 7_499, 0, 11],
    ["not for a clock that is ahead", [said(10_000)], 0, 0, 1],
    ["for each person by themselves", [said(0, { mayBeCut: true }), said(10, { by: "2" })], 400, 1_100, 1],
    ["a wake does not wait for anybody", [said(0), wake(10)], 20, 280, 1],
  ])("%s", (_name, waiting, nowMs, waitMs, ready) => {
    const found = waits(waiting, nowMs);
    expect([found.waitMs, found.ready.length]).toEqual([waitMs, ready]);
  });

  it("whatever is said, nothing is lost, doubled or put out of order, no limit is passed, and nobody waits for ever", () => {
    const anything = fc.array(
      fc.record({
        gapMs: fc.integer({ min: 0, max: 2_000 }),
        by: fc.constantFrom("1", "2"),
        chars: fc.integer({ min: 0, max: 30_000 }),
        mayBeCut: fc.boolean(),
        route: fc.constantFrom(room, topic),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(anything, fc.integer({ min: 0, max: 8_000 }), (pieces, laterMs) => {
        let atMs = 0;
        const waiting = pieces.map(({ gapMs, by, chars, mayBeCut, route }) => {
          atMs += gapMs;
          return said(atMs, { by, text: "x".repeat(chars), mayBeCut, route });
        });
        const batches = batchesOf(waiting, limitsOf);
        expect(
          batches
            .flat()
            .map((one) => one.id)
            .sort(),
        ).toEqual(waiting.map((one) => one.id).sort());
        for (const batch of batches) {
          expect(new Set(batch.map((one) => `${one.actor.id} ${one.route.threadId}`)).size).toBe(1);
          expect(batch.map((one) => waiting.indexOf(one))).toEqual(
            batch.map((one) => waiting.indexOf(one)).sort((one, other) => one - other),
          );
          expect(batch.length).toBeLessThanOrEqual(12);
          if (batch.length > 1)
            expect(batch.reduce((sum, one) => sum + one.text.length, 0)).toBeLessThanOrEqual(50_000);
          expect((batch.at(-1)?.atMs ?? 0) - batch[0].atMs).toBeLessThan(7_500);
        }
        const { ready, waitMs } = finished(waiting, limitsOf, atMs + laterMs);
        expect(waitMs).toBeLessThanOrEqual(1_500);
        expect(waitMs === 0).toBe(ready.length === waiting.length);
        expect(finished(waiting, limitsOf, atMs + 7_500).ready).toHaveLength(waiting.length);
      }),
    );
  });
});
