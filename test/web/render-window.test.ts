import fc from "fast-check";
import { expect, test } from "vitest";
import { earlier, later, type RenderWindow, stretch, WINDOW_MAX, WINDOW_STEP } from "../../src/web/render-window.ts";

const orders = (count: number) => Array.from({ length: count }, (_, at) => at * 3 + 1);

test("the newest are drawn first", () => {
  expect(stretch(undefined, orders(5000))).toEqual({ start: 5000 - WINDOW_STEP, end: 5000 });
  expect(stretch(undefined, orders(3))).toEqual({ start: 0, end: 3 });
});

test("scrolling up reaches the first message, scrolling down the last one again", () => {
  const all = orders(5000);
  let window: RenderWindow | undefined;
  for (let steps = 0; stretch(window, all).start > 0; steps++) {
    expect(steps).toBeLessThan(100);
    window = earlier(stretch(window, all), all);
  }
  for (let steps = 0; stretch(window, all).end < all.length; steps++) {
    expect(steps).toBeLessThan(100);
    window = later(stretch(window, all), all);
  }
  expect(window?.to).toBeUndefined();
});

test("never more than the limit is drawn, and a step keeps what is in view", () => {
  fc.assert(
    fc.property(fc.nat(2000), fc.array(fc.boolean(), { maxLength: 40 }), (count, steps) => {
      const all = orders(count);
      let window: RenderWindow | undefined;
      for (const up of steps) {
        const before = stretch(window, all);
        window = up ? earlier(before, all) : later(before, all);
        const after = stretch(window, all);
        expect(after.end - after.start).toBeLessThanOrEqual(WINDOW_MAX);
        // At the edge one scrolls to, the old and the new stretch overlap.
        if (up) expect(after.start <= before.start && after.end > before.start).toBe(count > 0);
        else expect(after.end >= before.end && after.start <= before.end).toBe(true);
      }
    }),
  );
});

test("messages that are loaded above do not move the drawn stretch", () => {
  const all = orders(500);
  const window = earlier(stretch(undefined, all), all);
  const { start, end } = stretch(window, all);
  const more = [-8, -5, -2, ...all];
  expect(stretch(window, more)).toEqual({ start: start + 3, end: end + 3 });
});
