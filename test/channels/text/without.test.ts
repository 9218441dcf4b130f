import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { without } from "../../../src/channels/text/without.ts";

const whole = fc
  .array(fc.constantFrom("a", "b", "é", "😀", "-", "--", "\n"), { maxLength: 30 })
  .map((all) => all.join(""));

describe("a text without some of its characters", () => {
  it("is what is left, in its order", () => {
    fc.assert(
      fc.property(whole, (text) => {
        expect(without(text, /-/g).text).toBe(text.replaceAll("-", ""));
      }),
    );
  });

  it("knows for every part where it stood, and leaves out what stood in between", () => {
    fc.assert(
      fc.property(whole, fc.nat(40), fc.nat(40), (text, one, other) => {
        const shorter = without(text, /-/g);
        const [start, end] = [Math.min(one, other), Math.max(one, other)];
        const sources = shorter.sources({ start, end });
        expect(sources.map((span) => text.slice(span.start, span.end)).join("")).toBe(shorter.text.slice(start, end));
        for (const { start: from, end: to } of sources) expect(text.slice(from, to)).toMatch(/^[^-]+$/);
      }),
    );
  });
});
