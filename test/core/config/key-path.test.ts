import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatKeyPath, parseKeyPath, valueAt } from "../../../src/core/config/key-path.ts";

describe("key paths", () => {
  test.each([
    ["tools.exec.mode", ["tools", "exec", "mode"]],
    ["agents.list[0].tools.exec.node", ["agents", "list", 0, "tools", "exec", "node"]],
    ["agents.list.0.id", ["agents", "list", 0, "id"]],
    ['channels.slack.channels["C1"].users', ["channels", "slack", "channels", "C1", "users"]],
    ["a['b.c'].d", ["a", "b.c", "d"]],
    ['a["say \\"hi\\""]', ["a", 'say "hi"']],
    ["channels.telegram.groups.-1001.topics", ["channels", "telegram", "groups", "-1001", "topics"]],
    [" tools . exec ".replaceAll(" ", ""), ["tools", "exec"]],
    ["$schema", ["$schema"]],
  ])("%s", (source, path) => {
    expect(parseKeyPath(source)).toEqual(path);
  });

  test.each([
    ["", "empty"],
    ["tools..exec", "character 7"],
    ["tools.", "character 7"],
    [".tools", "character 1"],
    ["agents.list[x]", "character 12"],
    ["agents.list[0]id", "character 15"],
    ["agents.list[0", "character 12"],
  ])("%j is refused and the message points at the place", (source, where) => {
    expect(() => parseKeyPath(source)).toThrow(where);
  });

  test("formatting and parsing are inverse for any names and indices", () => {
    const name = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => !/^\d+$/.test(text));
    const part = fc.oneof(name, fc.integer({ min: 0, max: 999_999 }));
    fc.assert(
      fc.property(name, fc.array(part, { maxLength: 6 }), (first, rest) => {
        const path = [first, ...rest];
        expect(parseKeyPath(formatKeyPath(path))).toEqual(path);
      }),
    );
  });

  test("inherited members are not values", () => {
    expect(valueAt({}, ["constructor"])).toBeUndefined();
    expect(valueAt({ a: [1] }, ["a", "length"])).toBe(1);
    expect(valueAt({ a: "text" }, ["a", 0])).toBeUndefined();
  });
});
