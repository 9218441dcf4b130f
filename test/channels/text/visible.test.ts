import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { disguisedWords, showInvisible } from "../../../src/channels/text/visible.ts";

describe("showInvisible (card-invisible-chars)", () => {
  test.each([
    ["right-to-left override", "echo safe\u202e", "echo safe\\u{202E}"],
    ["zero-width space", "rm\u200b -rf ~", "rm\\u{200B} -rf ~"],
    ["carriage return", "ls\rcurl x", "ls\\u{D}curl x"],
    ["escape", "\u001b[2Kls", "\\u{1B}[2Kls"],
    ["no-break space", "a\u00a0b", "a\\u{A0}b"],
    ["hangul filler", "a\u3164b", "a\\u{3164}b"],
    ["tag characters", "a\u{e0041}b", "a\\u{E0041}b"],
    ["line separator", "a\u2028b", "a\\u{2028}b"],
    ["lone surrogate", "a\ud800b", "a\\u{D800}b"],
    ["a newline is visible as one", "cat <<E\nx\nE", "cat <<E\nx\nE"],
    ["a wall of blank lines is not", "ls\n\n\n\nrm x", "ls\n\n\\u{A}\\u{A}rm x"],
    ["ordinary text", "printf '%s\\n' \"đ é 日本 👍\"", "printf '%s\\n' \"đ é 日本 👍\""],
  ])("%s", (_name, text, expected) => {
    expect(showInvisible(text)).toBe(expected);
  });

  test("one-line form shows line breaks and tabs too", () => {
    expect(showInvisible("a\n\tb", { whitespace: "escape" })).toBe("a\\u{A}\\u{9}b");
  });

  test("nothing invisible is left", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const shown = showInvisible(text, { whitespace: "escape" });
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});

describe("disguisedWords", () => {
  test.each([
    ["Cyrillic first letter", "\u0441url http://x", ["\u0441url"]],
    ["Greek omicron", "g\u03bfogle.com", ["g\u03bfogle"]],
    ["full-width letters", "\uff4c\uff53 -la", ["\uff4c\uff53"]],
    ["whole words of one alphabet are honest", "echo привет κόσμε curl", []],
    ["Japanese beside Latin is honest", "echo abc日本", []],
    ["digits and accents are honest", "café42 naïve", []],
  ])("%s", (_name, text, words) => {
    expect(disguisedWords(text)).toEqual(words);
  });
});
