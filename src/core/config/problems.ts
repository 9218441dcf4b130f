/** What is wrong with a configuration, in words that say where, what, and what to write instead. */
import * as z from "zod";
import { nearestOf } from "../nearest.ts";
import { formatKeyPath, valueAt } from "./key-path.ts";
import { configSchema } from "./schema.ts";
import { HIDDEN, isHidden, isSecretName } from "./secret-shapes.ts";

export interface Problem {
  /** The key as the file spells it; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  /** As JSON, shortened; `(hidden)` when it may be a secret. Absent when the key is missing. */
  readonly value?: string;
  readonly allowed?: readonly string[];
  /** The key or value that was probably meant. */
  readonly nearest?: string;
  readonly line?: number;
}

type Path = readonly PropertyKey[];

/** A problem before it is known how and where the file spells the key. */
export interface Finding {
  readonly at: Path;
  readonly message: string;
  readonly value?: string;
  readonly allowed?: readonly string[];
  readonly nearestValue?: string;
  readonly nearestKey?: Path;
}

const MAX_VALUE_CHARS = 60;
/** Longer lists of keys hide the answer instead of showing it. */
const MAX_ALLOWED = 12;

/** Words for what zod found wrong with a document. */
export function findings(error: z.ZodError, document: unknown): Finding[] {
  return new Wording(document).of(error.issues, []);
}

type Extra = Partial<Omit<Finding, "at" | "message">>;
type UnionIssue = Extract<z.core.$ZodIssue, { code: "invalid_union" }>;
type BoundIssue = Extract<z.core.$ZodIssue, { code: "too_small" | "too_big" }>;

class Wording {
  private readonly document: unknown;
  private schema: SchemaNode | undefined;

  constructor(document: unknown) {
    this.document = document;
  }

  of(issues: readonly z.core.$ZodIssue[], prefix: Path): Finding[] {
    return issues.flatMap((issue) => this.issue(issue, [...prefix, ...issue.path]));
  }

  private issue(issue: z.core.$ZodIssue, at: Path): Finding[] {
    switch (issue.code) {
      case "unrecognized_keys":
        return issue.keys.map((key) => this.unknownKey([...at, key]));
      case "invalid_type":
        return [this.finding(at, ownMessage(issue.message) ?? expected([issue.expected], valueAt(this.document, at)))];
      case "invalid_value":
        return [this.choice(at, issue.values.map(String), ownMessage(issue.message))];
      case "too_small":
      case "too_big":
        return [this.finding(at, ownMessage(issue.message) ?? bound(issue))];
      case "invalid_union":
        return this.union(issue, at);
      case "invalid_key":
        return [this.name(at, issue.issues[0])];
      default:
        return [this.finding(at, issue.message)];
    }
  }

  private finding(at: Path, message: string, extra: Extra = {}): Finding {
    const value = showValue(valueAt(this.document, at), at);
    if (value === undefined) return { at, message: `missing; ${message}`, ...extra };
    return { at, message, value, ...extra };
  }

  private choice(at: Path, allowed: readonly string[], message = "not one of the allowed values"): Finding {
    const value = valueAt(this.document, at);
    const nearestValue = typeof value === "string" ? nearestOf(value, allowed) : undefined;
    return this.finding(at, message, { allowed, ...(nearestValue !== undefined && { nearestValue }) });
  }

  private union(issue: UnionIssue, at: Path): Finding[] {
    const deeper = issue.errors.find((errors) => errors.some((inner) => inner.path.length > 0));
    if (deeper) return this.of(deeper, at);
    const options = issue.errors.flatMap((errors) => errors.slice(0, 1));
    for (const option of options) {
      const message = option.code === "invalid_type" ? undefined : ownMessage(option.message);
      if (message !== undefined) return [this.finding(at, message)];
    }
    const types = options.flatMap((option) => (option.code === "invalid_type" ? [option.expected] : []));
    const values = options.flatMap((option) => (option.code === "invalid_value" ? option.values.map(String) : []));
    if (values.length === 0) return [this.finding(at, expected(types, valueAt(this.document, at)))];
    const words = types.flatMap((type) => (type === "boolean" ? ["true", "false"] : [noun(type)]));
    return [this.choice(at, [...words, ...values])];
  }

  /** A name in a group that people fill with names of their own. */
  private name(at: Path, issue: z.core.$ZodIssue | undefined): Finding {
    if (issue?.code !== "invalid_value") return { at, message: issue?.message ?? "this name is not allowed here" };
    const allowed = issue.values.map(String);
    const nearest = nearestOf(String(at.at(-1)), allowed);
    const nearestKey = nearest === undefined ? undefined : [...at.slice(0, -1), nearest];
    return this.finding(at, "unknown key", { allowed, ...(nearestKey && { nearestKey }) });
  }

  private unknownKey(at: Path): Finding {
    const key = String(at.at(-1));
    const parent = at.slice(0, -1);
    this.schema ??= jsonSchema() as SchemaNode;
    const siblings = keysAt(this.schema, parent);
    const sibling = nearestOf(key, siblings);
    const nearestKey = sibling === undefined ? elsewhere(this.schema, key, parent) : [...parent, sibling];
    return this.finding(at, "unknown key", {
      ...(siblings.length > 0 && siblings.length <= MAX_ALLOWED && { allowed: siblings }),
      ...(nearestKey !== undefined && { nearestKey }),
      // Its value was probably meant for a key that holds a secret.
      ...(nearestKey !== undefined && this.isSecret(nearestKey) && { value: HIDDEN }),
    });
  }

  private isSecret(at: Path): boolean {
    return at.some(isSecretName) || (this.schema !== undefined && schemaAt(this.schema, at)?.secret === true);
  }
}

/** Messages written in the schema are kept; those that zod makes up itself are worded here. */
function ownMessage(message: string): string | undefined {
  return /^(Invalid|Too |Unrecognized)/.test(message) ? undefined : message;
}

function noun(type: string): string {
  switch (type) {
    case "int":
      return "a whole number";
    case "number":
      return "a number";
    case "boolean":
      return "true or false";
    case "string":
      return "text in quotes";
    case "array":
      return "a list [ … ]";
    case "object":
    case "record":
      return "a group { … }";
    default:
      return type;
  }
}

function expected(types: readonly string[], value: unknown): string {
  const unquoted =
    (typeof value === "string" &&
      types.some((type) => type === "number" || type === "int") &&
      /^-?[\d.]+$/.test(value)) ||
    (types.includes("boolean") && (value === "true" || value === "false"));
  return `expected ${types.map(noun).join(" or ")}${unquoted ? ", without quotes" : ""}`;
}

function bound(issue: BoundIssue): string {
  const least = issue.code === "too_small";
  const limit = Number(least ? issue.minimum : issue.maximum);
  if (issue.origin === "string") return least && limit === 1 ? "must not be empty" : `at most ${limit} characters`;
  const inclusive = least ? "at least" : "at most";
  const exclusive = least ? "more than" : "less than";
  return `must be ${issue.inclusive === false ? exclusive : inclusive} ${limit}`;
}

export interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  /** A default that is not one fixed value. */
  readonly defaultInWords?: string;
  readonly secret?: boolean;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly SchemaNode[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
}

/** The JSON Schema of the file as people write it: for `config schema`, editors and the documentation. */
export function jsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(configSchema, {
    io: "input",
    target: "draft-2020-12",
    // zod leaves the default of a converted value (ids) out, because it is no input; here it is one as well.
    override: ({ zodSchema, jsonSchema }) => {
      const noted = z.globalRegistry.get(zodSchema)?.default;
      if (noted !== undefined) jsonSchema.default ??= noted as z.core.JSONSchema.JSONSchema["default"] & {};
    },
  });
}

/** The schema of a key, or undefined when there is no such key. */
export function schemaAt(root: SchemaNode, path: Path): SchemaNode | undefined {
  let node: SchemaNode | undefined = root;
  for (const part of path) {
    if (node === undefined) return undefined;
    const extra: SchemaNode | undefined =
      typeof node.additionalProperties === "object" ? node.additionalProperties : undefined;
    node = typeof part === "number" && node.items ? node.items : (node.properties?.[String(part)] ?? extra);
  }
  return node;
}

export function keysAt(root: SchemaNode, path: Path): string[] {
  return Object.keys(schemaAt(root, path)?.properties ?? {});
}

/** A key of exactly this name in another place, nearest to where it was written: `timeoutSec` belongs under `tools.exec`. */
function elsewhere(root: SchemaNode, key: string, parent: Path): Path | undefined {
  let best: { path: Path; shared: number } | undefined;
  const queue: { node: SchemaNode; path: string[] }[] = [{ node: root, path: [] }];
  for (const { node, path } of queue) {
    for (const [name, child] of Object.entries(node.properties ?? {})) {
      const here = [...path, name];
      queue.push({ node: child, path: here });
      if (name !== key) continue;
      const different = here.findIndex((part, index) => part !== parent[index]);
      if (best === undefined || different > best.shared) best = { path: here, shared: different };
    }
  }
  return best?.path;
}

/** A value for a message: short, on one line, and never a secret. */
export function showValue(value: unknown, at: Path): string | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a group";
  if (isHidden(value, at)) return HIDDEN;
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS - 1)}…` : text;
}

/** The text people read: one to three lines per problem, in the order of the file. */
export function renderProblems(file: string, problems: readonly Problem[]): string {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const lines = [`${file} has ${count}:`];
  for (const problem of problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))) {
    const where = problem.line === undefined ? "" : `line ${problem.line}: `;
    const value = problem.value === undefined ? "" : ` = ${problem.value}`;
    const subject = problem.path === "" ? "" : `${problem.path}${value}: `;
    lines.push(`  ${where}${subject}${problem.message}`);
    if (problem.nearest !== undefined) lines.push(`    Did you mean ${problem.nearest}?`);
    if (problem.allowed !== undefined) lines.push(`    Allowed: ${problem.allowed.join(", ")}`);
  }
  return lines.join("\n");
}

/** Where a finding is in the file, in the file's own spelling. */
export function problemAt(finding: Finding, written: (path: Path) => Path, line: number | undefined): Problem {
  const nearest = finding.nearestKey ? formatKeyPath(written(finding.nearestKey)) : finding.nearestValue;
  return {
    path: formatKeyPath(written(finding.at)),
    message: finding.message,
    ...(finding.value !== undefined && { value: finding.value }),
    ...(finding.allowed !== undefined && { allowed: finding.allowed }),
    ...(nearest !== undefined && { nearest }),
    ...(line !== undefined && { line }),
  };
}
