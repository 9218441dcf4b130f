import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bounded, boundedInput, callLabel, inWords, resultPart } from "../../src/agents/tool-results.ts";

describe("a tool result", () => {
  it("is never longer than the limit, keeps both ends, and breaks no character", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 3_000 }),
        fc.integer({ min: 200, max: 1_000 }),
        (text, most) => {
          const shown = bounded(text, most);
          expect(shown.length).toBeLessThanOrEqual(Math.max(most, 0));
          expect(shown).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/);
          if (text.length <= most) expect(shown).toBe(text);
          else expect(shown).toContain("characters left out");
        },
      ),
    );
  });

  it("shows the beginning and the end of what is too long", () => {
    const shown = bounded(`BEGIN${"x".repeat(5_000)}END`, 500);
    expect(shown).toMatch(/^BEGINx+\n\[… 4508 characters left out …\]\nx+END$/);
  });
});

describe("arguments that are kept", () => {
  it("stay as they are while they are short, whatever they hold", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(JSON.stringify(value).length <= 400);
        expect(boundedInput(value, 400)).toEqual(value);
      }),
    );
  });

  it("are cut where they are long, and stay an object", () => {
    const kept = boundedInput({ command: "c".repeat(9_000), timeout: 5, env: { A: "1" } }, 1_000);
    expect(kept).toMatchObject({ timeout: 5, env: { A: "1" }, command: expect.stringContaining("left out") });
    expect(JSON.stringify(kept).length).toBeLessThan(1_000);
    expect(boundedInput("x".repeat(2_000), 1_000)).toEqual({});
  });
});

describe("a conversation for a model without tools", () => {
  it("has calls and results as words, and no empty message", () => {
    const call = { type: "tool-call", toolCallId: "1", toolName: "exec", input: { command: "ls" } } as const;
    expect(
      inWords([
        { role: "user", content: "look" },
        { role: "assistant", content: [{ type: "text", text: "I look." }, call] },
        { role: "tool", content: [resultPart(call, { text: "a.txt", isError: false })] },
        { role: "assistant", content: [{ type: "reasoning", text: "hm" }] },
      ]),
    ).toEqual([
      { role: "user", content: "look" },
      { role: "assistant", content: "I look.\n[called exec ls]" },
      { role: "user", content: "[system: exec gave]\na.txt" },
      { role: "assistant", content: "[nothing]" },
    ]);
  });
});

describe("what people read of a call", () => {
  it.each([
    ["exec", { command: "npm\n  test" }, "exec npm test"],
    ["process", { action: "poll", sessionId: "quiet-otter" }, "process poll quiet-otter"],
    ["apply_patch", { input: "*** Begin Patch" }, "apply_patch"],
    ["exec", null, "exec"],
    ["exec", { command: 7 }, "exec"],
  ])("%s %j is %s", (name, input, label) => {
    expect(callLabel(name, input)).toBe(label);
  });
});
