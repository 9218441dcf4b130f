import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertName, fromSqlText, prefixEnd, toSqlText } from "../../../src/core/store/keys.ts";

const text = fc.string({ unit: "binary", maxLength: 8 });
/** Few characters, at the borders of the encodings, so that prefixes and equal texts come up. */
const borders = fc
  .array(fc.constantFrom("\0", "\x01", "\x02", "a", "\x7f", "\x80", "\ud7ff", "\ue000", "\uffff", "😀", "\u{10ffff}"), {
    maxLength: 4,
  })
  .map((characters) => characters.join(""));
const byBytes = (a: string, b: string): number => Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));

describe("prefixEnd", () => {
  it("bounds exactly the texts that start with the prefix, in byte order", () => {
    fc.assert(
      fc.property(fc.oneof(text, borders), borders, borders, (other, prefix, rest) => {
        const end = prefixEnd(prefix);
        for (const candidate of [other, prefix + rest, prefix]) {
          const within = byBytes(candidate, prefix) >= 0 && (end === undefined || byBytes(candidate, end) < 0);
          expect(within).toBe(candidate.startsWith(prefix));
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe("SQL text", () => {
  it("gives every name back and has no NUL", () => {
    fc.assert(
      fc.property(fc.oneof(text, borders), (name) => {
        expect(fromSqlText(toSqlText(name))).toBe(name);
        expect(toSqlText(name)).not.toContain("\0");
      }),
      { numRuns: 1000 },
    );
  });

  it("keeps the order of any two names, and what starts with what", () => {
    fc.assert(
      fc.property(borders, borders, (a, b) => {
        expect(byBytes(toSqlText(a), toSqlText(b))).toBe(byBytes(a, b));
        expect(toSqlText(a).startsWith(toSqlText(b))).toBe(a.startsWith(b));
      }),
      { numRuns: 2000 },
    );
  });
});

describe("assertName", () => {
  it("refuses halves of surrogate pairs and what is too long, and takes everything else", () => {
    for (const bad of ["\ud800", "a\udfffb", "\udc00\ud800", "x".repeat(4097)]) {
      expect(() => assertName("key", bad)).toThrow(expect.objectContaining({ code: "invalid-argument" }));
    }
    for (const good of ["", "\0", "😀", "x".repeat(4096)]) expect(() => assertName("key", good)).not.toThrow();
  });
});
