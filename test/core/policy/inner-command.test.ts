import { expect, it } from "vitest";
import { innerCommands } from "../../../src/core/policy/inner-command.ts";

const inside = (text: string, argv: readonly string[]) => innerCommands([{ text, argv, reasons: [] }]);

it.each([
  ["escaped quotes", String.raw`sh -c "echo \"$HOME\""`, ["sh", "-c", 'echo "$HOME"'], ['echo "$HOME"']],
  ["pieces put together", "bash -c 'rm -r'\"f\"' /'", ["bash", "-c", "rm -rf /"], ["rm -rf /"]],
  [
    "behind a wrapper and by path",
    "timeout 5 /bin/bash -xc a\\;b",
    ["timeout", "5", "/bin/bash", "-xc", "a;b"],
    ["a;b"],
  ],
  ["a text that stands there as it runs", "sh -c 'npm test'", ["sh", "-c", "npm test"], []],
  ["a script", "sh build.sh -c", ["sh", "build.sh", "-c"], []],
  ["no shell", String.raw`echo -c a\;b`, ["echo", "-c", "a;b"], []],
  ["nothing inside", "sh -c ''", ["sh", "-c", ""], []],
])("%s", (_name, text, argv, expected) => {
  expect(inside(text, argv)).toEqual(expected);
});

it("says each once, and not more than three", () => {
  const segment = (inner: string) => ({ text: "sh -c …", argv: ["sh", "-c", inner], reasons: [] });
  expect(innerCommands(["one", "one", "two", "three", "four"].map(segment))).toEqual(["one", "two", "three"]);
});

it("says nothing of a text that the shell around it fills in", () => {
  const reasons = [{ code: "dynamic-argument" }] as const;
  expect(innerCommands([{ text: String.raw`sh -c "\"$X\""`, argv: ["sh", "-c", '"$X"'], reasons }])).toEqual([]);
});
