import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Chunk, chunkMessages, chunkText } from "../../../src/channels/text/chunk.ts";
import { cpuMs } from "../../support/cpu.ts";

/** CommonMark fences of one message: true when every fence that opens also closes. */
function isBalanced(text: string): boolean {
  let marker: string | undefined;
  for (const line of text.split("\n")) {
    const open = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
    if (marker === undefined) marker = open;
    else if (open !== undefined && open[0] === marker[0] && open.length >= marker.length && line.trim() === open) {
      marker = undefined;
    }
  }
  return marker === undefined;
}

function coversInput(text: string, chunks: readonly Chunk[]): boolean {
  let at = 0;
  for (const chunk of chunks) {
    if (chunk.start !== at || !chunk.text.includes(text.slice(chunk.start, chunk.end))) return false;
    at = chunk.end;
  }
  return at === text.length;
}

const escapeCost = (unit: number): number => (unit === 0x26 ? 5 : unit === 0x3c || unit === 0x3e ? 4 : 1);
const measure = (text: string): number => [...text].join("").replace(/&/g, "&amp;").replace(/[<>]/g, "&lt;").length;

const word = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.constantFrom("👩‍👩‍👧‍👦", "🇳🇱🇧🇷", "é", "한국어", "a & b < c >", "x".repeat(90)),
);
const line = fc.array(word, { maxLength: 8 }).map((words) => words.join(" ").replace(/[`~\r]/g, "'"));
const fenced = fc
  .record({
    marker: fc.constantFrom("```", "~~~", "````", "~~~~~"),
    info: fc.constantFrom("", "js", "console title=out"),
    lines: fc.array(line, { minLength: 1, maxLength: 30 }),
  })
  .map(({ marker, info, lines }) => `${marker}${info}\n${lines.join("\n")}\n${marker}`);
const documentText = fc
  .array(fc.oneof(line, fenced, fc.constant("")), { maxLength: 20 })
  .map((blocks) => blocks.join("\n"));

describe("chunkText", () => {
  test("loses nothing, stays within the limit and keeps fences balanced", () => {
    fc.assert(
      fc.property(documentText, fc.integer({ min: 120, max: 500 }), (text, limit) => {
        const chunks = chunkText(text, { limit });
        expect(coversInput(text, chunks)).toBe(true);
        for (const chunk of chunks) {
          expect(chunk.text.length).toBeLessThanOrEqual(limit);
          expect(isBalanced(chunk.text), JSON.stringify(chunk.text)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("counts what escaping will add", () => {
    fc.assert(
      fc.property(documentText, (text) => {
        for (const chunk of chunkText(text, { limit: 300, unitCost: escapeCost })) {
          expect(measure(chunk.text)).toBeLessThanOrEqual(300);
        }
      }),
    );
  });

  test("never splits a surrogate pair, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), fc.integer({ min: 16, max: 60 }), (text, limit) => {
        const chunks = chunkText(text, { limit });
        expect(coversInput(text, chunks)).toBe(true);
        for (const chunk of chunks) {
          expect(chunk.text).not.toMatch(/\p{Cs}/u);
          expect(chunk.text.length).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  test("cuts between graphemes, not inside a family or a flag", () => {
    const text = "👩‍👩‍👧‍👦🇳🇱".repeat(30);
    const chunks = chunkText(text, { limit: 40 });
    const whole = [...new Intl.Segmenter().segment(text)].map((part) => part.index);
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.every((chunk) => whole.includes(chunk.start))).toBe(true);
  });

  test.each([
    ["paragraph", `${"a ".repeat(30)}\n\n${"b ".repeat(15)}`, 80, `${"a ".repeat(30)}\n\n`],
    ["line", `${"a".repeat(50)}\n${"b".repeat(60)}`, 80, `${"a".repeat(50)}\n`],
    ["sentence", `${"word ".repeat(10)}end. ${"next ".repeat(10)}`, 80, `${"word ".repeat(10)}end. `],
    ["space", `${"x".repeat(60)} ${"y".repeat(60)}`, 80, `${"x".repeat(60)} `],
    ["hard", "z".repeat(200), 80, "z".repeat(80)],
  ])("prefers a cut at a %s", (_kind, text, limit, first) => {
    expect(chunkText(text, { limit })[0]?.text).toBe(first);
  });

  test("reopens a cut fence with its info string and closes it with its own marker", () => {
    const text = `~~~console\n${"line of output\n".repeat(20)}~~~\n`;
    const [first, second] = chunkText(text, { limit: 120 });
    expect(first?.text.endsWith("\n~~~")).toBe(true);
    expect(second?.text.startsWith("~~~console\nline of output\n")).toBe(true);
  });

  test("does not take a longer run or text after the marker for a closing fence", () => {
    const text = `\`\`\`\`\n${"```\n``` js\n".repeat(12)}\`\`\`\`\nafter`;
    expect(chunkText(text, { limit: 60 }).every((chunk) => isBalanced(chunk.text))).toBe(true);
  });

  test("leaves no empty fence at a boundary", () => {
    for (let limit = 40; limit < 120; limit++) {
      const text = `${"intro words here ".repeat(4)}\n\`\`\`sh\n${"make test\n".repeat(9)}\`\`\`\n${"outro ".repeat(12)}`;
      for (const chunk of chunkText(text, { limit })) expect(chunk.text).not.toMatch(/```(?:sh)?\n```/);
    }
  });

  test("a fence line too long to repeat gives up its info string, not the text", () => {
    const text = `\`\`\`${"i".repeat(60)}\n${"row\n".repeat(60)}\`\`\``;
    const chunks = chunkText(text, { limit: 100 });
    expect(coversInput(text, chunks)).toBe(true);
    expect(chunks[1]?.text.startsWith("```\nrow\n")).toBe(true);
  });

  test("keeps to a number of lines", () => {
    const chunks = chunkText("a\n".repeat(50), { limit: 1000, maxLines: 17 });
    expect(chunks.map((chunk) => chunk.text.split("\n").length - 1)).toEqual([17, 17, 16]);
  });

  test("1 MB of fenced log and 1 MB of emoji take linear time", () => {
    const log = (bytes: number): string =>
      `\`\`\`\n${"2026-01-01 some log line of usual length\n".repeat(bytes / 41)}\`\`\``;
    // The best of several runs: the first ones are compiled.
    const cost = (text: string): number =>
      Math.min(...[1, 2, 3, 4].map(() => cpuMs(() => chunkText(text, { limit: 2000 }))));
    expect(cost(log(1_000_000))).toBeLessThan(Math.max(cost(log(125_000)), 2) * 32);
    expect(cost("👩‍👩‍👧‍👦".repeat(90_000))).toBeLessThan(5000);
  });

  test("refuses a limit nothing fits in", () => {
    expect(() => chunkText("abc", { limit: 3 })).toThrow(RangeError);
  });
});

describe("chunkMessages", () => {
  test("sends no blank message and no blank edges", () => {
    expect(chunkMessages(`${"\n".repeat(300)}one\n${" \n".repeat(100)}two\n\n`, { limit: 100 })).toEqual([
      "one",
      "two",
    ]);
    expect(chunkMessages("", { limit: 100 })).toEqual([]);
  });
});
