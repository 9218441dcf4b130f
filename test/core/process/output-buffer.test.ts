import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OutputBuffer } from "../../../src/core/process/output-buffer.ts";
import { cutTail, TextRing } from "../../../src/core/process/text-ring.ts";

describe("TextRing", () => {
  it("keeps the tail of anything pushed, whatever the pieces", () => {
    const piece = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 30 }),
      fc.string({ unit: "grapheme-ascii", maxLength: 80 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 60 }), (pieces, cap) => {
        const ring = new TextRing(cap);
        // Every other piece that is ASCII comes as bytes.
        for (const [index, text] of pieces.entries()) {
          if (index % 2 === 0 && /^[ -~]*$/.test(text)) ring.pushPlain(Buffer.from(text));
          else ring.push(text);
        }
        const all = pieces.join("");
        expect(ring.totalChars).toBe(all.length);
        expect(ring.text()).toBe(cutTail(all, cap));
        expect(ring.overflowed).toBe(all.length > cap);
      }),
      { numRuns: 3000 },
    );
  });

  it("gives every shorter tail as well", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme", maxLength: 40 }), { maxLength: 20 }),
        fc.integer({ min: 0, max: 50 }),
        (pieces, chars) => {
          const ring = new TextRing(50);
          for (const text of pieces) ring.push(text);
          expect(ring.tail(chars)).toBe(cutTail(pieces.join(""), chars));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("never starts inside a surrogate pair, so it may be one shorter than the cap (exec.md 15.7)", () => {
    const ring = new TextRing(5);
    ring.push("😀😀😀");
    expect(ring.text()).toBe("😀😀");
  });

  it("holds 200,000 characters of one line without a break (exec.md 15.5)", () => {
    const ring = new TextRing(200_000);
    for (let sent = 0; sent < 16; sent++) ring.push("x".repeat(65_536));
    expect(ring.text()).toBe("x".repeat(200_000));
    expect(ring.totalChars).toBe(1_048_576);
  });

  it("takes bytes of any length, before, between and after other text, and keeps none of theirs", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(900), fc.boolean(), fc.boolean()), { maxLength: 12 }),
        fc.integer({ min: 1, max: 400 }),
        (pieces, cap) => {
          const ring = new TextRing(cap);
          let all = "";
          for (const [at, [length, isBytes, isPlain]] of pieces.entries()) {
            const text = (isPlain || isBytes ? String.fromCharCode(97 + at) : "€").repeat(length);
            all += text;
            if (isBytes) {
              const bytes = Buffer.from(text);
              ring.pushPlain(bytes);
              bytes.fill(0);
            } else ring.push(text);
          }
          expect(ring.text()).toBe(cutTail(all, cap));
          expect(ring.totalChars).toBe(all.length);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("cuts a window of three-byte characters between characters (tail-cut-inside-utf8)", () => {
    const ring = new TextRing(1000);
    ring.push("€".repeat(70_000));
    expect(ring.text()).toBe("€".repeat(1000));
  });
});

describe("cutTail", () => {
  it("never starts inside a colour sequence", () => {
    const text = "aaaa\x1b[1;31mred";
    for (let chars = 4; chars < 10; chars++) expect(cutTail(text, chars)).toBe("red");
    expect(cutTail(text, 10)).toBe("\x1b[1;31mred");
    expect(cutTail("ab [31m text", 8)).toBe("31m text");
  });
});

describe("OutputBuffer", () => {
  const buffer = (aggregateChars: number, pendingChars: number) => new OutputBuffer({ aggregateChars, pendingChars });

  it("drains both streams once, in the order they came", () => {
    const output = buffer(1000, 1000);
    output.push("stdout", "one\n");
    output.push("stderr", "two\n");
    output.push("stdout", "three\n");
    expect(output.drain()).toEqual({ text: "one\ntwo\nthree\n", droppedChars: 0 });
    expect(output.drain()).toEqual({ text: "", droppedChars: 0 });
    output.push("stderr", "four\n");
    expect(output.drain().text).toBe("four\n");
    expect(output.aggregated()).toBe("one\ntwo\nthree\nfour\n");
  });

  it("a flood on stdout does not wash away unread stderr", () => {
    const output = buffer(1000, 100);
    output.push("stderr", "the error\n");
    for (let index = 0; index < 500; index++) output.push("stdout", "0123456789\n");
    const { text, droppedChars } = output.drain();
    expect(text.startsWith("the error\n")).toBe(true);
    expect(text.length).toBe(110);
    expect(droppedChars).toBe(500 * 11 - 100);
    expect(output.truncated).toBe(true);
    expect(output.lost).toBe(true);
  });

  it("gives per stream the tail of what was pushed, however the streams alternate", () => {
    const piece = fc.tuple(
      fc.constantFrom("stdout" as const, "stderr" as const),
      fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 9 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const output = buffer(10_000, 20);
        for (const [stream, text] of pieces) output.push(stream, text);
        const kept = { stdout: 0, stderr: 0 };
        let expected = "";
        for (const [stream, text] of [...pieces].reverse()) {
          const part = text.slice(Math.max(0, text.length - (20 - kept[stream])));
          const taken = kept[stream] >= 20 ? "" : part;
          kept[stream] += taken.length;
          expected = taken + expected;
        }
        expect(output.drain().text).toBe(expected);
      }),
    );
  });

  it("stays bounded and right when two streams alternate for long", () => {
    const output = buffer(1000, 10);
    for (let index = 0; index < 30_000; index++) output.push(index % 2 === 0 ? "stdout" : "stderr", String(index % 10));
    expect(output.drain()).toEqual({ text: "01234567890123456789", droppedChars: 29_980 });
  });

  it("offers the aggregate with and without colours, and a plain tail that is as long as asked for", () => {
    const output = buffer(10_000, 1000);
    for (let index = 0; index < 50; index++) output.push("stdout", `\x1b[31m${index % 10}\x1b[0m`);
    expect(output.aggregated()).toBe("0123456789".repeat(5));
    expect(output.aggregated("colored").startsWith("\x1b[31m0\x1b[0m")).toBe(true);
    expect(output.tail(12)).toBe("890123456789");
    output.freeze();
    expect(output.tail(12)).toBe("890123456789");
    expect(output.aggregated()).toBe("0123456789".repeat(5));
  });
});
