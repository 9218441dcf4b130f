import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_BACKOFF, retryDelayMs } from "../../../src/core/events/backoff.ts";
import type { Backoff } from "../../../src/core/events/queue.ts";

const delays = (backoff: Backoff, attempts: number, random = 0.5): number[] =>
  Array.from({ length: attempts }, (_, n) => retryDelayMs(backoff, n + 1, () => random));

describe("retryDelayMs", () => {
  it("doubles up to the largest delay", () => {
    expect(delays({ type: "exponential", baseMs: 100, maxMs: 1000 }, 6)).toEqual([100, 200, 400, 800, 1000, 1000]);
    expect(delays(DEFAULT_BACKOFF, 8)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  });

  it("takes the steps one by one and then repeats the last", () => {
    expect(delays({ type: "steps", stepsMs: [1000, 5000, 25_000] }, 5)).toEqual([1000, 5000, 25_000, 25_000, 25_000]);
  });

  it("spreads by the jitter to both sides, a tenth when none is named", () => {
    const steps = { type: "steps", stepsMs: [1000] } as const;
    expect([0, 0.5, 1].map((random) => retryDelayMs(steps, 1, () => random))).toEqual([900, 1000, 1100]);
    expect([0, 1].map((random) => retryDelayMs({ ...steps, jitter: 0.5 }, 1, () => random))).toEqual([500, 1500]);
    expect(retryDelayMs({ ...steps, jitter: 0 }, 1, () => 0)).toBe(1000);
  });

  it("stays within its bounds for any attempt, however many there were", () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 100_000 }),
        fc.nat({ max: 1_000_000 }),
        fc.integer({ min: 1, max: 5000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (baseMs, maxMs, attempt, jitter, random) => {
          const delay = retryDelayMs({ type: "exponential", baseMs, maxMs, jitter }, attempt, () => random);
          expect(delay).toBeGreaterThanOrEqual(0);
          expect(delay).toBeLessThanOrEqual(Math.ceil(maxMs * (1 + jitter)));
        },
      ),
    );
  });
});
