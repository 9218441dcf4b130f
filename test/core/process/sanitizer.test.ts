import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OutputDecoder } from "../../../src/core/process/output-decoder.ts";
import { createOwnTextCheck } from "../../../src/core/process/plain-ascii.ts";
import {
  MAX_CSI,
  MAX_STRING_SEQUENCE,
  Sanitizer,
  stripColor,
  type TerminalRequest,
} from "../../../src/core/process/sanitizer.ts";

const ownText = createOwnTextCheck();
const isPlain = (bytes: Buffer) => ownText(bytes) === bytes.length;

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

/** All that comes of these chunks, one stream. */
function decoded(...chunks: Buffer[]): string {
  let text = "";
  const decoder = new OutputDecoder(ownText, {
    text: (piece) => {
      text += piece;
    },
    plain: (bytes) => {
      text += bytes.toString("latin1");
    },
  });
  for (const chunk of chunks) decoder.write(chunk);
  decoder.end();
  return text;
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...places, bytes.length].map((place, at) => bytes.subarray(places[at - 1] ?? 0, place));
}

/** What of these chunks was passed on without decoding. */
function passed(...chunks: Buffer[]): string {
  let text = "";
  const sink = {
    text: () => {},
    plain: (bytes: Buffer) => {
      text += bytes.toString("latin1");
    },
  };
  const decoder = new OutputDecoder(ownText, sink);
  for (const chunk of chunks) decoder.write(chunk);
  return text;
}

describe("bytes to text", () => {
  const decode = (...chunks: number[][]) => decoded(...chunks.map((chunk) => Buffer.from(chunk)));

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
          const bytes = Buffer.from(text);
          expect(decoded(...cutAt(bytes, cuts))).toBe(decoded(bytes));
        },
      ),
    );
  });
});

describe("the check for bytes that are their own text", () => {
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

  it.each([
    ["text", 4],
    ["\x1b[m\x1b[0m\x1b[1;38;5;208mred\x1b[0;4:3m\r\n\tx", 35],
    ["red\x1b[31", 3],
    ["red\x1b[", 3],
    ["red\x1b", 3],
    ["up\x1b[2Kline", 2],
    ["ask\x1b[6n", 3],
    ["\x1b]0;title\x07", 0],
    ["\x1b[?25l", 0],
    [`x\x1b[${"1".repeat(MAX_CSI + 1)}m`, 1],
    [`x\x1b[${"1".repeat(MAX_CSI)}m`, MAX_CSI + 4],
    ["bell\x07", 0],
    ["\x1b[31m€", 0],
  ])("%j: the first %i bytes", (text, length) => {
    expect(ownText(Buffer.from(text))).toBe(length);
  });

  it("what passes by itself comes out of the cleaner unchanged", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("\x1b", "[", "3", ";", ":", "m", "K", "x", "\n", "\x1b[31m", "\x1b[0m"), {
          maxLength: 30,
        }),
        (parts) => {
          const text = parts.join("");
          const own = text.slice(0, ownText(Buffer.from(text)));
          expect(new Sanitizer().push(own)).toBe(own);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it("never lets bytes pass by themselves while a sequence or a character is open, wherever the stream is cut", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom("\x1b", "[3", "1m", "€", "abc\n", "\x1b]0;t", "\x07", "x", "\x1b[32m", "y".repeat(70)),
          {
            maxLength: 12,
          },
        ),
        fc.array(fc.nat(400), { maxLength: 4 }),
        (parts, cuts) => {
          const bytes = Buffer.from(parts.join(""));
          const sanitizer = new Sanitizer();
          const expected = sanitizer.push(bytes.toString("utf8"));
          expect(decoded(bytes)).toBe(expected);
          expect(decoded(...cutAt(bytes, cuts))).toBe(expected);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it("a colour that is cut by a chunk costs decoding of a few bytes only", () => {
    const line = "\x1b[31mred\x1b[0m and so on\n".repeat(100);
    const bytes = Buffer.from(line + line);
    for (const cut of [line.length + 1, line.length + 3, line.length + 9]) {
      expect(passed(bytes.subarray(0, cut), bytes.subarray(cut)).length).toBeGreaterThan(bytes.length - 80);
    }
  });
});
