import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { firstJsonError, parseJson } from "../../src/gateway/json-text.ts";

describe("the place of a mistake", () => {
  test.each([
    ["", 0],
    ["nul", 0],
    ["{'a':1}", 1],
    ['{"a":1,}', 7],
    ["[1,,2]", 3],
    ["[1 2]", 3],
    ["01", 1],
    ['{"a" 1}', 5],
    ['"\\x"', 1],
    ['"a\tb"', 2],
    ['{"a":[1,2}', 9],
    ["1 1", 2],
    ["[", 1],
    ['{"a":', 5],
  ])("%j is wrong at %i", (text, position) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(firstJsonError(text)).toBe(position);
  });

  test("is told as line and column too", () => {
    expect(() => parseJson('{\n  "a": tru\n}', "The body")).toThrowError(
      expect.objectContaining({ code: "malformed-json", details: { position: 9, line: 2, column: 8 } }),
    );
  });

  test("deep nesting is no way to break it", () => {
    const text = `${"[".repeat(200_000)}x`;
    expect(firstJsonError(text)).toBe(200_000);
  });

  test("is at the end for every valid text, and before it or at it for every broken one", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(firstJsonError(text)).toBe(text.length);
      }),
    );
  });

  test("everything before it could still have become JSON", () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), (json, at, char) => {
        const index = at % json.length;
        const text = json.slice(0, index) + char + json.slice(index + 1);
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        if (valid) expect(parseJson(text, "It")).toEqual(JSON.parse(text));
        // The mistake can not be before the changed character: up to there it is the valid text.
        else expect(firstJsonError(text)).toBeGreaterThanOrEqual(startOfToken(json, index));
      }),
    );
  });
});

/** A number, a word or an escape is judged as a whole: its mistake may be told at its start. */
function startOfToken(json: string, index: number): number {
  let at = index;
  while (at > 0 && /[\w.+-]/.test(json[at - 1] as string)) at -= 1;
  const escaped = /\\(?:u[0-9a-fA-F]{0,3})?$/.exec(json.slice(0, index));
  return Math.min(at, escaped?.index ?? index);
}
