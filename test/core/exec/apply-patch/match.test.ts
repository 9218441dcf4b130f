import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyChunks, PatchMismatch, sameText } from "../../../../src/core/exec/apply-patch/match.ts";
import { parsePatch } from "../../../../src/core/exec/apply-patch/patch.ts";

function apply(source: string, body: string): string {
  const [operation] = parsePatch(`*** Begin Patch\n*** Update File: f\n${body}\n*** End Patch`);
  if (operation?.kind !== "update") throw new Error("not an update");
  return applyChunks(source, operation.chunks, "f");
}

describe("applying changes", () => {
  it.each([
    ["replaces a line", "a\nb\nc\n", "@@\n a\n-b\n+B\n c", "a\nB\nc\n"],
    ["keeps a missing last line end", "a\nb", "@@\n-b\n+B", "a\nB"],
    ["keeps CRLF, new lines too", "a\r\nb\r\n", "@@\n a\n+x\n b", "a\r\nx\r\nb\r\n"],
    ["keeps mixed line ends where they are", "a\r\nb\nc\r\n", "@@\n a\n-b\n+B", "a\r\nB\nc\r\n"],
    ["keeps a byte order mark", "\ufeffa\nb\n", "@@\n-a\n+A", "\ufeffA\nb\n"],
    ["keeps the file's own context lines", "a  \n  b\nc\n", "@@\n a\n b\n-c\n+C", "a  \n  b\nC\n"],
    [
      "finds under other dashes, quotes and blanks",
      "say \u201chi\u201d\u00a0\u2013 now\n",
      '@@\n-say "hi" - now\n+done',
      "done\n",
    ],
    ["prefers the exact place to a looser one", " x\nx\n", "@@\n-x\n+y", " x\ny\n"],
    ["goes below the context line", "f1\n x\nf2\n x\n", "@@ f2\n- x\n+ y", "f1\n x\nf2\n y\n"],
    ["adds after the context line", "a\nb\n", "@@ a\n+x", "a\nx\nb\n"],
    ["adds at the end without one", "a\nb\n", "@@\n+x", "a\nb\nx\n"],
    ["adds at the end without a last line end", "a\nb", "@@\n+x", "a\nb\nx"],
    ["fills an empty file", "", "@@\n+x", "x\n"],
    ["takes the last place when told that it is the end", "x\ny\nx\n", "@@\n-x\n+z\n*** End of File", "x\ny\nz\n"],
    ["does without a blank line before the next header", "a\nb\n", "@@\n-a\n+A\n\n@@\n-b\n+B", "A\nB\n"],
    ["applies several changes from top to bottom", "a\nb\nc\nd\n", "@@\n-a\n+A\n@@\n-d\n+D", "A\nb\nc\nD\n"],
    ["removes the last line", "a\nb\n", "@@\n-b", "a\n"],
    ["deletes everything", "a\n", "@@\n-a", ""],
  ])("%s", (_, source, body, expected) => {
    expect(apply(source, body)).toBe(expected);
  });

  it.each([
    ["a line that is not there", "a\n", "@@\n-zzz\n+y", /Failed to find expected lines in f:\nzzz/],
    ["a context that is not there", "a\n", "@@ nope\n-a\n+b", /Failed to find context 'nope'/],
    ["two places", "x\ny\nx\n", "@@\n-x\n+z", /Found 2 occurrences.*lines 1, 3/],
    ["two contexts", "f\nf\nx\n", "@@ f\n-x\n+y", /Found 2 occurrences/],
    ["a place above an earlier change", "a\nb\n", "@@\n-b\n+B\n@@\n-a\n+A", /Failed to find/],
    ["an end that is not the end", "x\ny\n", "@@\n-x\n+z\n*** End of File", /at its end/],
  ])("refuses %s", (_, source, body, message) => {
    expect(() => apply(source, body)).toThrow(PatchMismatch);
    expect(() => apply(source, body)).toThrow(message);
  });

  it("changes exactly the chosen line of any file, whatever its line ends", () => {
    const eol = fc.constantFrom("\n", "\r\n", "\r");
    const lines = fc.uniqueArray(fc.stringMatching(/^[a-z]{3,8}$/), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(
        lines,
        fc.array(eol, { minLength: 20, maxLength: 20 }),
        fc.nat(19),
        fc.boolean(),
        (texts, eols, pick, lastEol) => {
          const index = pick % texts.length;
          const end = (at: number) => (at === texts.length - 1 && !lastEol ? "" : (eols[at] ?? "\n"));
          const source = texts.map((text, at) => text + end(at)).join("");
          const expected = texts.map((text, at) => (at === index ? "NEW!" : text));
          const result = apply(source, `@@\n-${texts[index]}\n+NEW!`);
          expect(result.split(/\r\n|\n|\r/).filter((line) => line !== "")).toEqual(expected);
          expect(/[\r\n]$/.test(result)).toBe(lastEol);
          if (index > 0)
            expect(
              result.startsWith(
                texts
                  .slice(0, index)
                  .map((text, at) => text + end(at))
                  .join(""),
              ),
            ).toBe(true);
        },
      ),
    );
  });

  it("sees that nothing but line ends changed", () => {
    expect(sameText("a\r\nb\n", "a\nb")).toBe(true);
    expect(sameText("a\nb\n", "a\nB\n")).toBe(false);
  });
});
