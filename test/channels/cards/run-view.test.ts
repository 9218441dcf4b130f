import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { runView } from "../../../src/channels/cards/run-view.ts";
import { createRedactor } from "../../../src/channels/text/redact.ts";
import { messagesFor } from "../../../src/core/words/messages.ts";
import { runCard } from "../sample-cards.ts";

const options = {
  messages: messagesFor("en"),
  redactor: createRedactor([]),
  nowMs: Date.UTC(2026, 0, 2, 10, 1),
  outputBudget: 3_800,
};

describe("what a run card shows of its output", () => {
  it("is the last forty lines, however short they are, and says how much there is", () => {
    const tail = Array.from({ length: 700 }, (_, n) => String(n + 1)).join("\n");
    const view = runView(runCard({ tail, totalChars: 13_893 }), options);
    expect(view.output.split("\n")).toEqual(Array.from({ length: 40 }, (_, n) => String(661 + n)));
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
