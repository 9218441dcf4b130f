import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanOutput, stripAnsi } from "../../../src/channels/text/clean.ts";
import { cpuMs } from "../../support/cpu.ts";

describe("cleanOutput", () => {
  test.each([
    ["colours", "\u001b[1;31mred\u001b[0m", "red"],
    ["cursor movement and erase", "\u001b[2K\u001b[1Gdone\u001b[?25h", "done"],
    ["8-bit CSI", "\u009b31mred", "red"],
    ["window title ended by BEL", "\u001b]0;title\u0007text", "text"],
    ["link ended by ST", "\u001b]8;;https://example.org\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["device control string", "\u001bP1$r0m\u001b\\ok", "ok"],
    ["unfinished title does not swallow the next line", "\u001b]0;half\nnext", "\nnext"],
    ["character set selection", "\u001b(Btext", "text"],
    ["sequence cut at the end", "text\u001b[3", "text"],
    ["progress collapses to its last state", "10%\r50%\r100%\nok", "100%\nok"],
    ["progress that ends with CR keeps its last state", "10%\r99%\r", "99%"],
    ["CRLF is a line end", "a\r\nb\r\r\nc", "a\nb\nc"],
    ["overstrike", "_\bu_\bn", "un"],
    ["bell, NUL and DEL vanish", "a\u0007b\u0000c\u007f", "abc"],
    ["tabs and newlines stay", "a\tb\n\nc", "a\tb\n\nc"],
    ["other alphabets stay", "đọc · 日本 · 👍", "đọc · 日本 · 👍"],
  ])("%s", (_name, raw, expected) => {
    expect(cleanOutput(raw)).toBe(expected);
  });

  test("leaves no control character but tab and newline, and is stable", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (raw) => {
        const clean = cleanOutput(raw);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: what is being tested
        expect(clean).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
        expect(cleanOutput(clean)).toBe(clean);
      }),
    );
  });

  test("1 MB of anything that repeats takes linear time", () => {
    const cost = cpuMs(() => {
      for (const unit of ["\r", "\b", "a\b", "\u001b", "\u009b", "\r\r\n"]) cleanOutput(unit.repeat(300_000));
      stripAnsi("\u001b]".repeat(500_000));
      stripAnsi(`\u001b[${"1;".repeat(500_000)}`);
    });
    expect(cost).toBeLessThan(5000);
  });
});
