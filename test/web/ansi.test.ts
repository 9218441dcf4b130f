import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applySgr, plainText, terminalLines } from "../../src/web/ansi.ts";

const ESC = "\u001b";
const styled = (text: string) =>
  terminalLines(text).map((line) => line.map(({ text: words, style }) => [words, style]));

describe("colours and styles", () => {
  test("a colour lasts until it is reset, over lines", () => {
    expect(styled(`${ESC}[31mred\nstill${ESC}[0m not`)).toEqual([
      [["red", { fg: { kind: "palette", index: 1 } }]],
      [
        ["still", { fg: { kind: "palette", index: 1 } }],
        [" not", {}],
      ],
    ]);
  });

  test.each([
    ["1;4", { bold: true, underline: true }],
    ["91", { fg: { kind: "palette", index: 9 } }],
    ["103", { bg: { kind: "palette", index: 11 } }],
    ["38;5;12", { fg: { kind: "palette", index: 12 } }],
    ["38;5;196", { fg: { kind: "rgb", css: "rgb(255 0 0)" } }],
    ["48;5;244", { bg: { kind: "rgb", css: "rgb(128 128 128)" } }],
    ["38;2;1;2;3;1", { fg: { kind: "rgb", css: "rgb(1 2 3)" }, bold: true }],
    ["38:2::1:2:3", { fg: { kind: "rgb", css: "rgb(1 2 3)" } }],
    ["38;5;999", {}],
    ["38", {}],
    ["77", {}],
    ["31;39", {}],
    ["1;2;22", {}],
    ["3;9;7;23;29;27", {}],
    ["", {}],
  ])("SGR %s", (parameters, style) => {
    expect(applySgr({}, parameters)).toEqual(style);
  });

  test("colours come from numbers alone: nothing a program writes becomes a style text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const line of terminalLines(`${ESC}[38;2;${text}mx${ESC}[48;5;${text}my`)) {
          for (const { style } of line) {
            for (const colour of [style.fg, style.bg]) {
              if (colour?.kind === "rgb") expect(colour.css).toMatch(/^rgb\(\d{1,3} \d{1,3} \d{1,3}\)$/);
            }
          }
        }
      }),
    );
  });
});

describe("what a terminal would show", () => {
  test.each([
    ["a progress bar that rewrites its line", "10%\r55%\r100%\n", "100%"],
    ["a shorter text over a longer one", "hello\rbye", "byelo"],
    ["erase to the end of the line", `hello\rbye${ESC}[K`, "bye"],
    ["erase the whole line", `hello${ESC}[2K\rbye`, "bye"],
    ["line ends of a PTY", "a\r\nb\r\n", "a\nb"],
    ["backspace", "abc\b\bX", "aXc"],
    ["tab stops", "a\tb", "a       b"],
    ["lines that are drawn again", `one\ntwo\n${ESC}[2A${ESC}[KONE\n${ESC}[KTWO\n`, "ONE\nTWO"],
    ["erase below", `keep\nold\nold${ESC}[1A\r${ESC}[Jnew`, "keep\nnew"],
    ["an absolute column", `abc${ESC}[1GX`, "Xbc"],
    ["a window title", `${ESC}]0;title\u0007text`, "text"],
    ["a link: its text, never its target", `${ESC}]8;;https://example.org${ESC}\\here${ESC}]8;;${ESC}\\`, "here"],
    ["a charset switch", `${ESC}(Bplain`, "plain"],
    ["a bell", "a\u0007b", "ab"],
    ["a sequence that never ends", `text${ESC}[31`, "text31"],
    ["an escape at the very end", `text${ESC}`, "text"],
    ["wide characters", "日本\r\n語", "日本\n語"],
  ])("%s", (_, output, expected) => {
    expect(plainText(output)).toBe(expected);
  });

  test("text without controls comes back as it is", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme-ascii" }).map((line) => `${line}|`)), (lines) => {
        expect(plainText(lines.join("\n"))).toBe(lines.join("\n"));
      }),
    );
  });

  test("no control character is ever left over, whatever a program writes", () => {
    const hostile = fc.array(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.constantFrom(ESC, `${ESC}[`, "\r", "\b", "\n", "A", "9999999C", ";", "m", "K", "J"),
      ),
    );
    fc.assert(
      fc.property(hostile, (parts) => {
        const lines = terminalLines(parts.join(""));
        for (const line of lines) for (const { text } of line) expect(text).not.toMatch(/\p{Cc}/u);
      }),
    );
  });

  test("a hostile column does not eat memory", () => {
    const [line] = terminalLines(`${ESC}[999999999Cx`.repeat(50));
    expect(line?.map(({ text }) => text).join("").length).toBeLessThan(5000);
  });
});
