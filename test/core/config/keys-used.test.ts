/**
 * A key that is accepted and then ignored is a promise nobody keeps. Whether one does what it says is for the tests of its
 * part; that something outside the schema reads it at all is checked here, for every key there is.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { jsonSchema, type SchemaNode } from "../../../src/core/config/problems.ts";

const SRC = fileURLToPath(new URL("../../../src", import.meta.url));
/** Describe keys without using them. */
const ABOUT_KEYS = ["core/config/schema", "core/config/reload-rules.ts", "core/config/aliases.ts"];
/** Of nodes and elevated access, which this gateway does not have: what asks for either is refused, whatever these say. */
const OF_OTHER_HOSTS = /^gateway\.nodes\.|^agents\.(?:defaults|list)\.elevatedDefault$/;

function leaves(node: SchemaNode, path: readonly string[] = []): string[] {
  const children = Object.entries(node.properties ?? {}).flatMap(([key, child]) => leaves(child, [...path, key]));
  const inner = [
    ...(node.items ? leaves(node.items, path) : []),
    ...(typeof node.additionalProperties === "object" ? leaves(node.additionalProperties, path) : []),
  ];
  const found = [...children, ...inner];
  return found.length > 0 || path.length === 0 ? found : [path.join(".")];
}

test("every key of the configuration is read by something", () => {
  const words = new Set<string>();
  for (const name of readdirSync(SRC, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts") || ABOUT_KEYS.some((about) => name.startsWith(about))) continue;
    for (const [word] of readFileSync(join(SRC, name), "utf8").matchAll(/[A-Za-z$][A-Za-z0-9_]*/g)) words.add(word);
  }
  const keys = leaves(jsonSchema() as SchemaNode);
  expect(keys.length).toBeGreaterThan(150);
  const unread = keys.filter((key) => !words.has(key.split(".").at(-1) ?? "") && !OF_OTHER_HOSTS.test(key));
  expect(unread).toEqual([]);
});
