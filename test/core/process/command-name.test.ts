import { describe, expect, it } from "vitest";
import { commandName, cutMiddle } from "../../../src/core/process/command-name.ts";

describe("the short name of a command", () => {
  it.each([
    ["npm run build", "npm run"],
    ["sleep 0.5; echo done", "sleep 0.5"],
    ["ls >/dev/null", "ls"],
    ["ls -la 2>&1 | wc", "ls -la"],
    ["FOO=1 BAR='a b' make -j4 all", "make all"],
    ["'my prog' \"a b\" c", "my prog a b"],
    ["git -C repo status", "git repo"],
    ["  echo", "echo"],
    ["FOO=1", "FOO=1"],
    ["", ""],
    ["echo hi\necho more", "echo hi"],
    ["a&&b", "a"],
  ])("%j is %j", (command, name) => {
    expect(commandName(command)).toBe(name);
  });

  it("cuts a long target in the middle, both ends readable, no pair split", () => {
    const name = commandName(`cat /very/long/${"x".repeat(80)}/file.txt`);
    expect(name).toHaveLength("cat ".length + 48);
    expect(name).toMatch(/^cat \/very\/long\/x+…x+\/file\.txt$/);
    expect(cutMiddle("😀".repeat(60), 48)).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
  });
});
