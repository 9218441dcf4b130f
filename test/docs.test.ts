/** What the documents name exists: keys, commands of both kinds, metrics, files, and keys named in what the product says. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { COMMANDS, findCommand } from "../src/commands/registry.ts";
import { jsonSchema, type SchemaNode, schemaAt } from "../src/core/config/problems.ts";
import { CATALOGUES } from "../src/core/words/say.ts";
import { createMetrics } from "../src/gateway/metrics.ts";
import { cliHome } from "./cli/run-cli.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const DOCUMENTS = [
  "README.md",
  "docs/agents.md",
  "docs/channels.md",
  "docs/nodes.md",
  "docs/operations.md",
  "docs/policy.md",
  "docs/sandbox.md",
];
const schema = jsonSchema() as SchemaNode;
const ROOTS = Object.keys(schema.properties ?? {}).join("|");
const KEY = new RegExp(`(?<![\\w./-])(?:${ROOTS})(?:\\.[A-Za-z]+)+(?![\\w(/])`, "g");
const FILE = /\.(?:md|json|jsonl|db|ts|js|sh|txt)$/;

const read = (name: string) => readFileSync(join(root, name), "utf8");
/** Placeholders stand for any chat. */
const keysIn = (text: string) => [...new Set(text.match(KEY) ?? [])].filter((key) => !FILE.test(key));
const unknownKeys = (text: string) => keysIn(text).filter((key) => schemaAt(schema, key.split(".")) === undefined);

describe.each(DOCUMENTS)("%s", (name) => {
  const text = read(name);

  test("names configuration keys that exist", () => {
    expect(keysIn(text).length).toBeGreaterThan(3);
    expect(unknownKeys(text)).toEqual([]);
  });

  test("names commands of the command line that exist", async () => {
    const named = [...text.matchAll(/openclaw-exec ((?:[a-z][a-z-]+ ?){1,3})/g)].map(([, words = ""]) => words.trim());
    expect(named.length).toBeGreaterThan(0);
    for (const words of new Set(named)) {
      const home = cliHome();
      const [first = "", second] = words.split(" ");
      const { code, out } = await home.run(first, "--help");
      expect(code, words).toBe(0);
      expect(out, words).toContain(`openclaw-exec ${first}`);
      const groups = new Set([
        "approvals",
        "channels",
        "config",
        "exec-policy",
        "node",
        "nodes",
        "pairing",
        "sandbox",
        "security",
      ]);
      if (second && groups.has(first)) {
        const inner = await home.run(first, second, "--help");
        expect(inner.out, words).toContain(`openclaw-exec ${first} ${second}`);
      }
    }
  });

  test("names slash commands that exist", () => {
    const ofOthers = new Set(["newbot", "openclaw"]);
    const named = [...text.matchAll(/`\/([a-z]+)(?=[ `\\])/g)].map(([, command = ""]) => command);
    const paths = new Set(["healthz", "readyz", "metrics", "queues"]);
    expect(named.filter((command) => !findCommand(command) && !ofOthers.has(command) && !paths.has(command))).toEqual(
      [],
    );
  });

  test("links to files that exist", () => {
    const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => link);
    const local = links.filter((link) => !/^[a-z]+:/.test(link));
    expect(local.filter((link) => !existsSync(join(root, dirname(name), link)))).toEqual([]);
  });
});

test("README.md names every command that people can type", () => {
  const table = read("README.md");
  const missing = COMMANDS.filter(({ name }) => name !== "bash" && !new RegExp(`/${name}\\b`).test(table));
  expect(missing.map(({ name }) => name)).toEqual([]);
});

test("docs/operations.md names metrics that exist", async () => {
  const named = [...new Set(read("docs/operations.md").match(/openclaw_exec_[a-z_]+/g))];
  const metrics = createMetrics();
  metrics.watchQueue(async () => ({ waiting: 0, delayed: 0, active: 0, dead: 0, completed: 0, expired: 0 }));
  metrics.watchNow({ running: () => 0, queued: () => 0, pendingApprovals: () => 0 });
  const text = await metrics.registry.metrics();
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((metric) => !text.includes(metric))).toEqual([]);
});

test("what the product says names configuration keys and files that exist", () => {
  const said = Object.values(CATALOGUES.en).flatMap((one) => (typeof one === "string" ? [one] : Object.values(one)));
  const text = said.join("\n");
  expect(keysIn(text)).toContain("limits.maxCommandChars");
  expect(unknownKeys(text)).toEqual([]);
  expect((text.match(/docs\/[a-z]+\.md/g) ?? []).filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
