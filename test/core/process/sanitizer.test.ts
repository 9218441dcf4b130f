import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OutputDecoder } from "../../../src/core/process/output-decoder.ts";
import { createPlainAsciiCheck } from "../../../src/core/process/plain-ascii.ts";
import {
  MAX_STRING_SEQUENCE,
  Sanitizer,
  stripColor,
  type TerminalRequest,
} from "../../../src/core/process/sanitizer.ts";

const isPlain = createPlainAsciiCheck();

function clean(...pieces: string[]): string {
  const sanitizer = new Sanitizer();
  return pieces.map((piece) => sanitizer.push(piece)).join("");
}

describe("what a sanitizer lets through", () => {
  it.each([
    ["plain text with TAB, CR and LF", "a\tb\r\nc\n", "a\tb\r\nc\n"],
    ["colour", "\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"],
    ["256-colour with colons", "\x1b[38:5:196mx", "\x1b[38:5:196mx"],
    ["cursor movement dropped", "\x1b[2J\x1b[1;1Hx\x1b[K", "x"],
    ["private mode dropped", "\x1b[?25lx\x1b[?25h", "x"],
    ["a lookalike of colour with a private mark dropped", "\x1b[>4;2mx", "x"],
    ["title ended by BEL", "a\x1b]0;title\x07b", "ab"],
    ["hyperlink ended by ST", "a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb"],
    ["device control string", "a\x1bP1$r0m\x1b\\b", "ab"],
    ["two-character escapes", "\x1b7x\x1b8\x1b(B", "x"],
    ["8-bit introducers", "a\u009b31mb\u009d0;t\u009cc", "a\x1b[31mbc"],
    ["other controls as hex", "a\bb\0c\x7fd\x85", "a\\x08b\\x00c\\x7fd\\x85"],
    ["bidi overrides dropped", "a\u202eb\u2066c\u2069", "abc"],
    ["zero-width space and BOM dropped", "\ufeffa\u200bb", "ab"],
    ["tag characters dropped", "a\u{e0041}\u{e007f}b", "ab"],
    ["joined emoji stay whole", "👩‍🚀 می‌خواهم", "👩‍🚀 می‌خواهم"],
    ["variation selectors of the same plane stay", "a\u{e0100}b", "a\u{e0100}b"],
    ["a pair stays", "😀", "😀"],
    ["an escape before a line end", "a\x1b\nb", "a\nb"],
    ["an escape that starts again", "a\x1b\x1b[31mb", "a\x1b[31mb"],
    ["a broken CSI gives its place to the line end", "a\x1b[12\nb", "a\nb"],
  ])("%s", (_, input, expected) => {
    expect(clean(input)).toBe(expected);
  });

  it("joins sequences that are split over pieces (exec.md 15.8)", () => {
    expect(clean("\x1b[3", "1mX")).toBe("\x1b[31mX");
    expect(clean("a\x1b", "]0;ti", "tle\x1b", "\\b")).toBe("ab");
  });

  it("drops a lone ESC at the end of the stream (exec.md 15.8)", () => {
    const sanitizer = new Sanitizer();
    expect(sanitizer.push("a\x1b")).toBe("a");
    sanitizer.end();
    expect(sanitizer.push("b")).toBe("b");
  });

  it("gives an unterminated OSC out again at the next line (exec.md 15.8)", () => {
    expect(clean("a\x1b]0;x", "lost\nmore\n")).toBe("a0;xlost\nmore\n");
  });

  it("gives an unterminated OSC out again after 4096 characters (exec.md 15.8)", () => {
    const long = "y".repeat(MAX_STRING_SEQUENCE + 10);
    expect(clean(`a\x1b]0;${long}b`)).toBe(`a0;${long}b`);
  });

  it("swallows nothing behind an OSC that a colour interrupts", () => {
    expect(clean("a\x1b]0;x\x1b[31mred")).toBe("a0;x\x1b[31mred");
  });

  it("gives the same text however the stream is cut", () => {
    const alphabet = fc.constantFrom(
      "\x1b",
      "[",
      "]",
      "0",
      ";",
      "3",
      "m",
      "?",
      "\x07",
      "\\",
      "a",
      "\n",
      "\u202e",
      "😀",
      "\0",
      "P",
      "\u009b",
    );
    fc.assert(
      fc.property(fc.array(fc.array(alphabet, { maxLength: 12 }), { maxLength: 12 }), (pieces) => {
        const parts = pieces.map((piece) => piece.join(""));
        expect(clean(...parts)).toBe(clean(parts.join("")));
      }),
      { numRuns: 2000 },
    );
  });

  it("lets nothing through but text, TAB, LF, CR and colour", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        expect(stripColor(clean(text))).not.toMatch(/[^\P{Cc}\t\n\r]|[\u202a-\u202e\u2066-\u2069]/u);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("what a program asks of its terminal", () => {
  it("hears cursor position, device attributes and modes, also when split", () => {
    const heard: TerminalRequest[] = [];
    const sanitizer = new Sanitizer((request) => heard.push(request));
    sanitizer.push("\x1b[");
    sanitizer.push("6n\x1b[?6n\x1b[c\x1b[?1h\x1b[?2004h\x1b[?1;2004l");
    expect(heard).toEqual([
      { kind: "cursor-position", private: false },
      { kind: "cursor-position", private: true },
      { kind: "device-attributes" },
      { kind: "mode", mode: 1, on: true },
      { kind: "mode", mode: 2004, on: true },
      { kind: "mode", mode: 1, on: false },
      { kind: "mode", mode: 2004, on: false },
    ]);
  });
});

/** A chunk that is its own text is not decoded. */
function textOf(decoder: OutputDecoder, bytes: Buffer): string {
  return decoder.write(bytes) ?? bytes.toString("latin1");
}

describe("bytes to text", () => {
  function decode(...chunks: number[][]): string {
    const decoder = new OutputDecoder(isPlain);
    return chunks.map((chunk) => textOf(decoder, Buffer.from(chunk))).join("") + decoder.end();
  }

  it("joins characters split over chunks and shows invalid bytes once each (exec.md 15.6, tail-cut-inside-utf8)", () => {
    expect(decode([0xe2, 0x82], [0xac])).toBe("€");
    expect(decode([0xff, 0xfe])).toBe("\ufffd\ufffd");
    expect(decode([0x61, 0xe2, 0x82])).toBe("a\ufffd");
    expect(decode([0x61, 0x62, 0xd0], [0xba])).toBe("abк");
  });

  it("gives whole characters at every cut of any text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 60 }),
        fc.array(fc.nat(300), { maxLength: 6 }),
        (text, cuts) => {
          const plain = new OutputDecoder(isPlain);
          const expected = textOf(plain, Buffer.from(text)) + plain.end();
          const bytes = Buffer.from(text);
          const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
          const decoder = new OutputDecoder(isPlain);
          let from = 0;
          let result = "";
          for (const place of [...places, bytes.length]) {
            result += textOf(decoder, bytes.subarray(from, place));
            from = place;
          }
          expect(result + decoder.end()).toBe(expected);
        },
      ),
    );
  });
});

describe("the check for plain ASCII", () => {
  it("knows every byte at every place of a lane, and any length", () => {
    for (let byte = 0; byte < 256; byte++) {
      const expected = byte === 9 || byte === 10 || byte === 13 || (byte >= 0x20 && byte <= 0x7e);
      for (const place of [0, 7, 15, 16, 31, 32]) {
        const bytes = Buffer.alloc(33, "x");
        bytes[place] = byte;
        expect(isPlain(bytes)).toBe(expected);
      }
    }
    for (const length of [0, 1, 65_519, 65_520, 65_521, 200_000]) {
      const bytes = Buffer.alloc(length, "x");
      expect(isPlain(bytes)).toBe(true);
      if (length === 0) continue;
      bytes[length - 1] = 0x1b;
      expect(isPlain(bytes)).toBe(false);
    }
  });

  it("does not remember an earlier, longer chunk", () => {
    isPlain(Buffer.alloc(100, 0x1b));
    expect(isPlain(Buffer.from("abc"))).toBe(true);
  });

  it("never lets a chunk pass by itself while a sequence or a character is open", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("\x1b", "[3", "1m", "€", "abc\n", "\x1b]0;t", "\x07", "x"), { maxLength: 12 }),
        fc.nat(40),
        (parts, cut) => {
          const bytes = Buffer.from(parts.join(""));
          const place = Math.min(cut, bytes.length);
          const whole = new OutputDecoder(isPlain);
          const split = new OutputDecoder(isPlain);
          const expected = textOf(whole, bytes) + whole.end();
          const got = textOf(split, bytes.subarray(0, place)) + textOf(split, bytes.subarray(place)) + split.end();
          expect(got).toBe(expected);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
