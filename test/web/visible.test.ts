import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { highlight, reveal } from "../../src/web/visible.ts";

const shown = (text: string) =>
  reveal(text)
    .map((piece) => (piece.mark === undefined ? piece.shown : `<${piece.mark}:${piece.shown}>`))
    .join("");
const NASTY = [
  "a",
  "\u0441",
  " ",
  "\n",
  "\r",
  "\u202e",
  "\u200b",
  "\u3164",
  "\u034f",
  "\ufe0f",
  "\u{e0100}",
  "\u115f",
  "\ud800",
  "\u0301",
];
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.array(fc.constantFrom(...NASTY)).map((parts) => parts.join("")),
);

describe("reveal", () => {
  test.each([
    ["a direction override", "echo safe\u202e; rm", "echo safe<hidden:\\u{202E}>; rm"],
    ["a zero-width space", "rm\u200b -rf ~", "rm<hidden:\\u{200B}> -rf ~"],
    ["a carriage return", "ls\rcurl x", "ls<hidden:\\u{D}>curl x"],
    ["an escape sequence", "ls \u001b[2K", "ls <hidden:\\u{1B}>[2K"],
    ["a no-break space", "ls\u00a0-l", "ls<hidden:\\u{A0}>-l"],
    ["a tag character above the basic plane", "ls\u{e0041}", "ls<hidden:\\u{E0041}>"],
    ["a Hangul filler", "ls\u3164", "ls<hidden:\\u{3164}>"],
    ["a blank Braille pattern", "ls\u2800", "ls<hidden:\\u{2800}>"],
    ["half of a surrogate pair", "ls\ud800", "ls<hidden:\\u{D800}>"],
    ["a variation selector", "ls\ufe0f", "ls<hidden:\\u{FE0F}>"],
  ])("shows %s (card-invisible-chars)", (_, text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  test.each([
    ["a Cyrillic letter in a Latin word", "\u0441url x", "<lookalike:\u0441>url x"],
    [
      "a word of nothing but twins",
      "\u0441\u043e\u0440\u0443 x",
      "<lookalike:\u0441><lookalike:\u043e><lookalike:\u0440><lookalike:\u0443> x",
    ],
    ["full-width letters", "\uff4c\uff53", "<lookalike:\uff4c><lookalike:\uff53>"],
    ["mathematical letters", "\u{1d695}\u{1d69c}", "<lookalike:\u{1d695}><lookalike:\u{1d69c}>"],
  ])("marks %s (card-invisible-chars)", (_, text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  test.each([
    "git commit -m 'Привет, мир'",
    "echo Grüße naïve façade",
    "echo 日本語 한국어",
    "cat résumé.pdf",
    "ls\t-l",
    "echo λόγος",
  ])("leaves honest text alone: %s", (text) => {
    expect(shown(text)).toBe(text);
  });

  test("says how long a run of blanks is that would push the rest out of sight", () => {
    expect(shown(`ls ${" ".repeat(499)}; rm -rf ~`)).toBe("ls<blank:[500 blanks]>; rm -rf ~");
    expect(shown(`ls${"\n".repeat(80)}rm -rf ~`)).toBe("ls<blank:[80 line breaks]>rm -rf ~");
  });

  test("says how many there are when invisible characters come in thousands", () => {
    expect(shown(`rm${"\u200b".repeat(5000)}\u200c\u200c x`)).toBe("rm<hidden:\\u{200B}×5000\\u{200C}\\u{200C}> x");
    expect(reveal("\u200b\u200c".repeat(50_000))).toHaveLength(1);
  });

  test("marks real line breaks, so that a wrapped line can not pass for one", () => {
    expect(shown("a\nb")).toBe("a<newline:\n>b");
  });

  test("nothing is lost, whatever the text is", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const pieces = reveal(text);
        expect(pieces.map((piece) => piece.source).join("")).toBe(text);
        for (const piece of pieces) expect(text.startsWith(piece.source, piece.start)).toBe(true);
      }),
    );
  });

  test("what is shown holds nothing invisible but line breaks and tabs, whatever the text is", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const piece of reveal(text))
          expect(piece.shown).not.toMatch(/(?![\n\t])[\p{C}\p{DI}\u2028\u2029\u200b-\u200f\u202a-\u202e]/u);
      }),
    );
  });
});

describe("highlight", () => {
  test("cuts at the spans", () => {
    const pieces = highlight(reveal("npm ci && npm test"), [
      { start: 0, end: 3 },
      { start: 10, end: 13 },
    ]);
    expect(pieces.map((piece) => [piece.shown, piece.highlighted])).toEqual([
      ["npm", true],
      [" ci && ", false],
      ["npm", true],
      [" test", false],
    ]);
  });

  test("keeps the text whole for any spans, also wrong ones", () => {
    const span = fc.record({ start: fc.integer({ min: -5, max: 40 }), end: fc.integer({ min: -5, max: 40 }) });
    fc.assert(
      fc.property(anyText, fc.array(span, { maxLength: 5 }), (text, spans) => {
        expect(
          highlight(reveal(text), spans)
            .map((piece) => piece.source)
            .join(""),
        ).toBe(text);
      }),
    );
  });
});
