/** Writes docs/configuration.md from the schema: `npm run docs:config`. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import JSON5 from "json5";
import { jsonSchema, type SchemaNode } from "../src/core/config/problems.ts";
import { needsRestart } from "../src/core/config/reload-rules.ts";

const OUTPUT = fileURLToPath(new URL("../docs/configuration.md", import.meta.url));
const INTRODUCTION = fileURLToPath(new URL("config-reference.md", import.meta.url));

/** Groups that repeat another one; a reference reads better than the same rows again. */
const SAME_AS: Readonly<Record<string, string>> = {
  "channels.slack.accounts.<account>": "every key of `channels.slack`, for this account",
  "channels.discord.accounts.<account>": "every key of `channels.discord`, for this account",
  "channels.telegram.accounts.<account>": "every key of `channels.telegram`, for this account",
  "channels.defaults.heartbeat": "`showOk`, `showAlerts` and `useIndicator`, for all channels",
  "agents.list[].tools.exec": "every key of `tools.exec`, for this agent",
  "agents.list[].tools.elevated": "the keys of `tools.elevated`; can only narrow them",
  "agents.list[].tools.sandbox": "the keys of `tools.sandbox`, instead of them",
  "agents.list[].sandbox": "every key of `agents.defaults.sandbox`, for this agent",
  "agents.list[].heartbeat": "every key of `agents.defaults.heartbeat`, for this agent",
};

/** Sections in the order people need them. */
const SECTIONS: readonly (readonly [path: string, title: string])[] = [
  ["tools.exec", "Running commands"],
  ["tools", "Tool policy and elevated access"],
  ["approvals", "Approvals"],
  ["commands", "Commands and owners"],
  ["channels.slack", "Slack"],
  ["channels.discord", "Discord"],
  ["channels.telegram", "Telegram"],
  ["channels", "All channels"],
  ["accessGroups", "Access groups"],
  ["agents.defaults", "Agents: defaults"],
  ["agents", "Agents"],
  ["bindings", "Which agent answers where"],
  ["models", "Model providers"],
  ["session", "Sessions"],
  ["messages", "Messages"],
  ["gateway", "Gateway"],
  ["redis", "Redis"],
  ["logging", "Logging"],
  ["limits", "Limits"],
];

interface Row {
  readonly key: string;
  readonly path: readonly string[];
  readonly type: string;
  readonly fallback: string;
  readonly about: string;
}

const NAMES: Readonly<Record<string, string>> = {
  accounts: "<account>",
  channels: "<id>",
  guilds: "<id>",
  groups: "<id>",
  topics: "<id>",
  providers: "<provider>",
  safeBinProfiles: "<program>",
  accessGroups: "<name>",
};

function* rows(node: SchemaNode, path: readonly string[]): Generator<Row> {
  const key = path.join(".").replaceAll(".[]", "[]");
  const same = SAME_AS[key];
  if (same !== undefined) {
    yield { key, path, type: "group", fallback: "", about: `${same[0]?.toUpperCase()}${same.slice(1)}.` };
    return;
  }
  if (node.properties !== undefined) {
    for (const [name, child] of Object.entries(node.properties)) {
      if (name !== "$schema") yield* rows(child, [...path, name]);
    }
    return;
  }
  const inner = node.items ?? (typeof node.additionalProperties === "object" ? node.additionalProperties : undefined);
  if (inner?.properties !== undefined) {
    yield row(node, key, path);
    yield* rows(inner, [...path, node.items ? "[]" : (NAMES[path.at(-1) ?? ""] ?? "<name>")]);
    return;
  }
  yield row(node, key, path);
}

function row(node: SchemaNode, key: string, path: readonly string[]): Row {
  return { key, path, type: typeOf(node), fallback: fallbackOf(node), about: node.description ?? "" };
}

function typeOf(node: SchemaNode): string {
  if (node.secret) return "secret";
  if (node.enum) return node.enum.map((value) => `\`${String(value)}\``).join(", ");
  if (node.const !== undefined) return `\`${String(node.const)}\``;
  if (node.anyOf) return [...new Set(node.anyOf.map(typeOf))].join(", ").replace("text, whole number", "id");
  if (node.type === "array") return `list of ${node.items ? typeOf(node.items) : "values"}`;
  if (node.type === "object") {
    const inner = typeof node.additionalProperties === "object" ? node.additionalProperties : undefined;
    return inner === undefined || inner.properties ? "group" : `group of ${typeOf(inner)}`;
  }
  if (node.type === "integer" || node.type === "number")
    return `${node.type === "integer" ? "whole " : ""}number${range(node)}`;
  return node.type === "boolean" ? "`true`, `false`" : "text";
}

function range({ minimum, maximum }: SchemaNode): string {
  const upper = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined;
  const lower = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? minimum : undefined;
  if (lower !== undefined && upper !== undefined) return `, ${lower} to ${upper}`;
  return lower === undefined || lower === 0 ? "" : `, at least ${lower}`;
}

function fallbackOf(node: SchemaNode): string {
  if (node.defaultInWords !== undefined) return node.defaultInWords.replaceAll("<", "&lt;");
  if (node.default === undefined) return "";
  return `\`${JSON5.stringify(node.default, { quote: '"' })}\``;
}

function table(all: readonly Row[]): string {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  const lines = all.map(({ key, path, type, fallback, about }) => {
    const mark = needsRestart(path) ? " ⟳" : "";
    return `| \`${key}\`${mark} | ${cell(type)} | ${cell(fallback)} | ${cell(about)} |`;
  });
  return ["| Key | Value | Default | Meaning |", "|---|---|---|---|", ...lines].join("\n");
}

/** The whole page. */
export function renderReference(introduction: string): string {
  const left = [...rows(jsonSchema() as SchemaNode, [])];
  const sections = SECTIONS.map(([path, title]) => {
    const inside = left.filter(({ key }) => key === path || key.startsWith(`${path}.`) || key.startsWith(`${path}[`));
    for (const taken of inside) left.splice(left.indexOf(taken), 1);
    return `## ${title}\n\n${table(inside)}\n`;
  });
  if (left.length > 0) throw new Error(`No section for ${left.map(({ key }) => key).join(", ")}`);
  return `${introduction.trim()}\n\n${sections.join("\n")}`;
}

export function reference(): { readonly path: string; readonly text: string } {
  return { path: OUTPUT, text: renderReference(readFileSync(INTRODUCTION, "utf8")) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { path, text } = reference();
  writeFileSync(path, text);
}
