import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import JSON5 from "json5";
import { describe, expect, test } from "vitest";
import { reference } from "../../../scripts/config-reference.ts";
import { jsonSchema, type SchemaNode } from "../../../src/core/config/problems.ts";
import { scratch } from "./scratch.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

describe("docs/configuration.md", () => {
  const { path, text } = reference();

  test("is what the schema says (npm run docs:config)", () => {
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  test("shows an example that loads", async () => {
    const example = /```json5\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
    expect(JSON5.parse(example)).toHaveProperty("bindings");
    const home = scratch();
    home.write(example.replace('"file:~/.openclaw/slack-app-token"', '"xapp-1"'));
    await home.good({ SLACK_BOT_TOKEN: "xoxb-1" });
  });
});

test("every key says what it means", () => {
  const silent: string[] = [];
  const visit = (node: SchemaNode, path: string): void => {
    const children = Object.entries(node.properties ?? {});
    for (const [key, child] of children) visit(child, `${path}.${key}`);
    if (node.items) visit(node.items, `${path}[]`);
    if (typeof node.additionalProperties === "object") visit(node.additionalProperties, `${path}.*`);
    const isLeaf = children.length === 0 && path !== "" && !/(\[\]|\.\*)$/.test(path);
    if (isLeaf && !node.description) silent.push(path);
  };
  visit(jsonSchema() as SchemaNode, "");
  expect(silent).toEqual([]);
});

test(".env.example names every variable that is read, and no other", () => {
  // Set for commands, or read only to be taken away from them.
  const notRead =
    /^(OPENCLAW_(SHELL|CLI|CHANNEL_CONTEXT(_EXT)?|PREPEND_PATH|RUN_ID|SANDBOX|SHELL_SNAPSHOT_FILE|SUBAGENT_EXEC)|PI_BASH_.*)$/;
  const known = /\b(?:OPENCLAW|PI_BASH|SLACK|DISCORD|TELEGRAM)_[A-Z][A-Z_]*\b|\bREDIS_URL\b/g;
  const isVariable = (name: string) => /^(OPENCLAW|PI_BASH)_|_(TOKEN|SECRET)$|^REDIS_URL$/.test(name);
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const read = sources
    .flatMap((file) => readFileSync(join(root, "src", file), "utf8").match(known) ?? [])
    .filter((name) => isVariable(name) && !notRead.test(name));
  // Examples of what a configuration names itself: `apiKey: "env:OPENAI_API_KEY"`.
  const named = /_API_KEY$/;
  const listed = [...readFileSync(join(root, ".env.example"), "utf8").matchAll(/^#?([A-Z_]+)=/gm)]
    .map(([, name]) => name ?? "")
    .filter((name) => !named.test(name));
  expect(listed.toSorted()).toEqual([...new Set(read)].toSorted());
});
