/** The work behind `openclaw-exec approvals` on the file; the gateway is not needed, and sees the change by itself. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import JSON5 from "json5";
import { describeRule, preparePattern } from "../core/approvals/allow-always.ts";
import {
  type ApprovalsDocument,
  addRules,
  EVERY_AGENT,
  readDocument,
  redacted,
  removeRules,
  ruleProblem,
  rulesOf,
  scopesOf,
} from "../core/approvals/approvals-document.ts";
import { ExecError } from "../core/errors.ts";
import { explainLayer } from "../core/policy/reasons.ts";
import { displayMode, requestedPolicy, resolvePolicy } from "../core/policy/resolve.ts";
import type { AllowlistEntry } from "../core/policy/types.ts";
import { inEnglish } from "../core/words/phrase.ts";
import { type Cli, EXIT, readStdin } from "./io.ts";
import { knownAgents, layersFor, openPolicy, type PolicyContext } from "./policy-context.ts";

const scopeName = (scope: string): string => (scope === EVERY_AGENT ? "every agent" : `agent ${scope}`);

export async function get(cli: Cli, options: { json?: boolean }): Promise<number> {
  const context = await openPolicy(cli);
  const damage = context.file.damage();
  const agents = knownAgents(context).map((agent) => scopeReport(context, agent));
  if (options.json) {
    const file =
      damage === undefined
        ? (({ path, exists, hash, document }) => ({ path, exists, hash, document: redacted(document) }))(
            context.file.snapshot(),
          )
        : { path: context.file.path, damaged: damage };
    cli.out(JSON.stringify({ ...file, agents, note: NOTE }, null, 2));
    return damage === undefined ? EXIT.ok : EXIT.failed;
  }
  if (damage !== undefined) cli.err(damage);
  else {
    const { path, exists } = context.file.snapshot();
    cli.out(exists ? path : `${path} does not exist: the host tightens nothing, and no command is listed.`);
  }
  for (const one of agents) {
    cli.out(
      [
        `agent ${one.agent}: ${one.effective.mode}`,
        ...(["security", "ask", "askFallback"] as const).map(
          (key) =>
            `  ${key.padEnd(12)} ${one.effective[key].value.padEnd(10)} from ${explainLayer(one.effective[key].from)}`,
        ),
        ...one.rules.map((rule) => `  rule         ${inEnglish(describeRule(rule))}`),
      ].join("\n"),
    );
  }
  cli.err(NOTE);
  return damage === undefined ? EXIT.ok : EXIT.failed;
}

const NOTE = "Values that /exec set in a chat session are not included.";

function scopeReport(context: PolicyContext, agent: string) {
  const layers = layersFor(context, agent);
  const requested = requestedPolicy(layers);
  const effective = resolvePolicy(layers);
  const host = typeof layers.hostFile === "string" ? { state: layers.hostFile } : layers.hostFile;
  const { allowlist: rules, security, ask, askFallback, autoReview } = effective;
  const { allowlist: _, ...hostWords } = { allowlist: [], ...host };
  return {
    agent,
    requested: { security: requested.security, ask: requested.ask },
    host: hostWords,
    effective: { mode: displayMode(security.value, ask.value, autoReview), security, ask, askFallback },
    rules,
  };
}

export async function set(
  cli: Cli,
  options: { file?: string; stdin?: boolean; baseHash?: string; replaceDamaged?: boolean },
): Promise<number> {
  if ((options.file !== undefined) === (options.stdin === true)) {
    cli.err("Give exactly one of --file PATH and --stdin.");
    return EXIT.usage;
  }
  const text = options.file === undefined ? await readStdin(cli) : readFile(resolve(cli.cwd, options.file));
  const document = parseDocument(text);
  const { file } = await openPolicy(cli);
  if (options.replaceDamaged) {
    const aside = await file.setAside();
    if (aside !== undefined) cli.err(`The damaged file is now ${aside}.`);
  }
  const expectedHash = options.baseHash ?? file.snapshot().hash;
  await file.update(() => document, { expectedHash });
  cli.out(`Written to ${file.path}. A running gateway uses it at the next command.`);
  return EXIT.ok;
}

function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new ExecError("invalid-argument", `${path} can not be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function parseDocument(text: string): ApprovalsDocument {
  let value: unknown;
  try {
    value = JSON5.parse(text);
  } catch (error) {
    throw new ExecError("invalid-argument", `Not valid JSON5: ${(error as Error).message}. Nothing was changed.`);
  }
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const result = readDocument(JSON.stringify(isObject ? { ...(value as object), version: 1 } : value));
  if (!result.ok) throw new ExecError("invalid-argument", `${result.problem}. Nothing was changed.`);
  for (const scope of scopesOf(result.document)) {
    for (const [index, rule] of rulesOf(result.document, scope).entries()) {
      const problem = ruleProblem(rule);
      if (problem !== undefined) {
        throw new ExecError(
          "invalid-argument",
          `Rule ${index + 1} of ${scopeName(scope)}: ${problem.text} Nothing was changed.`,
        );
      }
    }
  }
  return result.document;
}

export async function list(cli: Cli, options: { agent?: string; json?: boolean }): Promise<number> {
  const { file } = await openPolicy(cli);
  const { document } = file.snapshot();
  const scopes = options.agent === undefined ? scopesOf(document) : [EVERY_AGENT, options.agent];
  const found = scopes
    .map((scope) => ({ scope, rules: rulesOf(document, scope) }))
    .filter(({ rules }) => rules.length > 0);
  if (options.json) {
    cli.out(JSON.stringify(found, null, 2));
    return EXIT.ok;
  }
  if (found.length === 0) cli.out("No command is listed.");
  for (const { scope, rules } of found) {
    cli.out([`${scopeName(scope)}:`, ...rules.map((rule) => `  ${ruleLine(rule)}`)].join("\n"));
  }
  return EXIT.ok;
}

function ruleLine(rule: AllowlistEntry): string {
  const used =
    rule.lastUsedAt === undefined
      ? ""
      : `, last used ${new Date(rule.lastUsedAt).toISOString().slice(0, 16).replace("T", " ")}`;
  return `${inEnglish(describeRule(rule))}${rule.id === undefined ? "" : `  [${rule.id.slice(0, 8)}]`}${used}`;
}

export async function add(cli: Cli, typed: string, options: { agent?: string; argPattern?: string }): Promise<number> {
  const { file, search } = await openPolicy(cli);
  const { pattern, note } = preparePattern(typed, search);
  const rule: AllowlistEntry = {
    pattern,
    ...(options.argPattern === undefined ? {} : { argPattern: options.argPattern }),
  };
  const problem = ruleProblem(rule);
  if (problem !== undefined) {
    cli.err(problem.text);
    return EXIT.usage;
  }
  const scope = options.agent ?? EVERY_AGENT;
  let added = false;
  await file.update((document) => {
    const next = addRules(document, scope, [rule], () => crypto.randomUUID());
    added = next !== document;
    return next;
  });
  cli.out(added ? `Allowed for ${scopeName(scope)}: ${inEnglish(describeRule(rule))}` : "Already allowlisted.");
  if (note !== undefined) cli.err(note.text);
  return EXIT.ok;
}

export async function remove(cli: Cli, typed: string, options: { agent?: string }): Promise<number> {
  const { file, search } = await openPolicy(cli);
  const scope = options.agent ?? EVERY_AGENT;
  const spellings = new Set([typed.trim(), preparePattern(typed, search).pattern]);
  const isId = (rule: AllowlistEntry): boolean =>
    rule.id !== undefined && typed.length >= 8 && rule.id.startsWith(typed);
  let removed: readonly AllowlistEntry[] = [];
  await file.update((document) => {
    const result = removeRules(document, scope, (rule) => spellings.has(rule.pattern) || isId(rule));
    removed = result.removed;
    return result.document;
  });
  if (removed.length === 0) cli.out("Pattern not found.");
  for (const rule of removed) cli.out(`Removed for ${scopeName(scope)}: ${inEnglish(describeRule(rule))}`);
  return EXIT.ok;
}
