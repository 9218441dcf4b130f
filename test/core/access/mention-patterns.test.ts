import { describe, expect, it } from "vitest";
import { addressedByPattern, MENTION_WINDOW } from "../../../src/core/access/mention-patterns.ts";

describe("mention patterns", () => {
  it.each<[string, readonly string[], boolean, string]>([
    ["claw, exec ls", ["claw"], true, "exec ls"],
    ["  Hey Claw: exec ls", ["^hey", "hey claw"], true, "Claw: exec ls"],
    ["hey claw exec ls", ["^\\s*hey claw\\b"], true, "exec ls"],
    ["please ask claw", ["\\bclaw\\b"], true, "please ask claw"],
    ["clawed back", ["\\bclaw\\b"], false, "clawed back"],
    ["exec ls", [], false, "exec ls"],
    ["exec ls", ["x*"], false, "exec ls"],
  ])("%j by %j: %s", (text, patterns, addressed, rest) => {
    expect(addressedByPattern(text, patterns)).toEqual({ addressed, text: rest });
  });

  it("searches the start of a message only", () => {
    expect(addressedByPattern(`${"x ".repeat(MENTION_WINDOW)}claw`, ["claw"]).addressed).toBe(false);
  });
});
