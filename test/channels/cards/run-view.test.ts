import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { HEAD_LINES, runView, TAIL_LINES } from "../../../src/channels/cards/run-view.ts";
import { createRedactor } from "../../../src/channels/text/redact.ts";
import { CARD_TAIL_CHARS } from "../../../src/core/exec/run-record.ts";
import { MAX_HEAD_CHARS, OutputBuffer } from "../../../src/core/process/output-buffer.ts";
import { messagesFor } from "../../../src/core/words/messages.ts";
import { runCard } from "../sample-cards.ts";

const options = {
  messages: messagesFor("en"),
  redactor: createRedactor([]),
  nowMs: Date.UTC(2026, 0, 2, 10, 1),
  outputBudget: 3_800,
};

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => String(from + at));

/** The card of an ended run that printed this. */
function ended(output: string) {
  const buffer = new OutputBuffer({ aggregateChars: 200_000, pendingChars: 30_000 });
  buffer.push("stdout", output);
  const beyond = output.length > CARD_TAIL_CHARS;
  return runCard({
    state: "finished",
    tail: buffer.tail(CARD_TAIL_CHARS, "colored"),
    totalChars: buffer.totalChars,
    ...(beyond ? { head: buffer.head() } : {}),
    ...(beyond && !buffer.lost ? { totalLines: output.trimEnd().split("\n").length } : {}),
  });
}

describe("what a card shows of the output of a running command", () => {
  it("is the last forty lines, however short they are, and says how much there is", () => {
    const tail = numbers(1, 700).join("\n");
    const view = runView(runCard({ tail, totalChars: 13_893 }), options);
    expect(view.output.split("\n")).toEqual(numbers(661, 700));
    expect(view.begin).toBeUndefined();
    expect(view.outputNote).toMatch(/Last 159 of 13893 characters/);
  });

  it("is its end as it was, within budget and lines, and all of it when it fits", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z ]{0,300}[a-z]$/), { minLength: 1, maxLength: 80 }), (lines) => {
        const tail = lines.join("\n");
        const view = runView(runCard({ tail, totalChars: tail.length }), options);
        expect(tail.endsWith(view.output)).toBe(true);
        expect(view.output.length).toBeLessThanOrEqual(options.outputBudget);
        expect(view.output.split("\n").length).toBeLessThanOrEqual(40);
        expect(view.outputNote === undefined).toBe(view.output === tail);
      }),
    );
  });
});

describe("what a card shows of the output of an ended command", () => {
  it("is all of it, up to sixty lines", () => {
    const view = runView(ended(`${numbers(1, 60).join("\n")}\n`), options);
    expect(view.output.split("\n")).toEqual(numbers(1, 60));
    expect([view.begin, view.outputNote]).toEqual([undefined, undefined]);
  });

  it("silent-drop-too-long: of more, the first twenty and the last forty lines, with how many are left out", () => {
    for (const [last, left] of [
      [61, "… 1 line left out …"],
      [700, "… 640 lines left out …"],
      [20_000, "… 19940 lines left out …"],
    ] as const) {
      const view = runView(ended(`${numbers(1, last).join("\n")}\n`), options);
      expect(view.begin).toEqual({ text: numbers(1, 20).join("\n"), gap: left });
      expect(view.output.split("\n")).toEqual(numbers(last - 39, last));
      expect(view.outputNote).toBeUndefined();
    }
  });

  it("counts characters where lines are not known any more, or a line itself is cut", () => {
    const flood = runView(ended(`${numbers(1, 60_000).join("\n")}\n`), options);
    expect(flood.begin?.text.split("\n")).toEqual(numbers(1, 20));
    expect(flood.begin?.gap).toMatch(/^… \d+ characters left out …$/);
    const line = runView(ended("x".repeat(9_000)), options);
    expect(line.begin).toBeUndefined();
    expect(line.outputNote).toBe("Last 3800 of 9000 characters");
  });

  it("shows no line twice and keeps to the budget, whatever a command prints", () => {
    const line = fc.stringMatching(/^[a-z]{0,400}$/);
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 90 }),
        fc.integer({ min: 400, max: 6_000 }),
        (given, budget) => {
          const lines = given.map((text, at) => `${at} ${text}`);
          const output = lines.join("\n");
          const view = runView(ended(output), { ...options, outputBudget: budget });
          const begin = view.begin?.text ?? "";
          expect(begin.length + view.output.length).toBeLessThanOrEqual(budget);
          expect(output.startsWith(begin)).toBe(true);
          expect(output.trimEnd().endsWith(view.output)).toBe(true);
          expect(begin.split("\n").length).toBeLessThanOrEqual(HEAD_LINES);
          expect(begin.length + view.output.length).toBeLessThanOrEqual(output.length);
          const isAll = view.output === output.trimEnd();
          if (!isAll) expect(view.output.split("\n").length).toBeLessThanOrEqual(TAIL_LINES);
          expect(view.begin !== undefined || view.outputNote !== undefined).toBe(!isAll);
          const left = /^… (\d+) lines? left out …$/.exec(view.begin?.gap ?? "")?.[1];
          if (left) {
            expect(begin.split("\n").length + Number(left) + view.output.split("\n").length).toBe(lines.length);
          }
        },
      ),
    );
  });
});

describe("the kept beginning of an output", () => {
  it("is its first characters in the order they came, whatever comes after", () => {
    const piece = fc.tuple(fc.constantFrom("stdout" as const, "stderr" as const), fc.stringMatching(/^[ -~]{0,900}$/));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.boolean(), (pieces, plain) => {
        const buffer = new OutputBuffer({ aggregateChars: 500, pendingChars: 100 });
        for (const [stream, text] of pieces) {
          if (plain) buffer.pushPlain(stream, Buffer.from(text, "latin1"));
          else buffer.push(stream, text);
        }
        const all = pieces.map(([, text]) => text).join("");
        expect(buffer.head()).toBe(all.slice(0, MAX_HEAD_CHARS));
      }),
    );
  });
});
