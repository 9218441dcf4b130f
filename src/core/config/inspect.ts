/** Reading a configuration document for people: values without secrets, defaults from the schema, text into values. */
import JSON5 from "json5";
import { valueAt } from "./key-path.ts";
import { jsonSchema, type SchemaNode, schemaAt } from "./problems.ts";
import { HIDDEN, isHidden, isReference } from "./secret-shapes.ts";

type Path = readonly PropertyKey[];

/** Answers about keys; made once per command, because the schema takes milliseconds to build. */
export class KeyBook {
  readonly schema = jsonSchema() as SchemaNode;

  /** Undefined when there is no such key. */
  describe(path: Path): SchemaNode | undefined {
    return schemaAt(this.schema, path);
  }

  isSecret(path: Path): boolean {
    return this.describe(path)?.secret === true;
  }

  /** The value with every secret in it replaced. References (`env:NAME`, `file:/path`) stay: they tell nothing. */
  redact(value: unknown, path: Path): unknown {
    if (Array.isArray(value)) return value.map((entry, index) => this.redact(entry, [...path, index]));
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, this.redact(entry, [...path, key])]));
    }
    if (isHidden(value, path)) return HIDDEN;
    return typeof value === "string" && this.isSecret(path) && !isReference(value) ? HIDDEN : value;
  }

  /** What holds for keys that the file does not name; undefined when nothing does. */
  defaults(path: Path): unknown {
    const node = this.describe(path);
    return node && defaultsOf(node);
  }

  /** The document with defaults beneath it, key by key. */
  withDefaults(value: unknown, path: Path): unknown {
    return withoutShadowed(overlay(this.defaults(path), value), value, path);
  }

  /**
   * A value as typed on a command line: JSON5, else plain text. A key that holds text keeps what looks like a number,
   * and an id that is longer than a number can be exact stays text.
   */
  parseValue(path: Path, typed: string): unknown {
    let value: unknown;
    try {
      value = JSON5.parse(typed);
    } catch {
      return typed;
    }
    if (this.describe(path)?.type === "string" && typeof value !== "string") return typed;
    if (typeof value === "number" && /^\d{16,}$/.test(typed.trim())) return typed.trim();
    return value;
  }
}

function defaultsOf(node: SchemaNode): unknown {
  if (node.properties === undefined) return node.default;
  const entries = Object.entries(node.properties)
    .map(([key, child]) => [key, defaultsOf(child)] as const)
    .filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Where `mode` is set, the defaults of `security` and `ask` do not hold. */
function withoutShadowed(result: unknown, written: unknown, path: Path): unknown {
  const rest = ["tools", "exec"].slice(path.length);
  const exec = valueAt(result, rest);
  if (path.length > 2 || !["tools", "exec"].slice(0, path.length).every((part, index) => part === path[index])) {
    return result;
  }
  if (!isTable(exec) || exec.mode === undefined) return result;
  for (const key of ["security", "ask"]) {
    if (valueAt(written, [...rest, key]) === undefined) delete exec[key];
  }
  return result;
}

function overlay(under: unknown, over: unknown): unknown {
  if (over === undefined) return under;
  if (!isTable(under) || !isTable(over)) return over;
  const keys = new Set([...Object.keys(under), ...Object.keys(over)]);
  return Object.fromEntries([...keys].map((key) => [key, overlay(under[key], over[key])]));
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** For people: text without quotes, the rest as JSON5. */
export function printValue(value: unknown): string {
  return typeof value === "string" ? value : JSON5.stringify(value, { space: 2, quote: '"' });
}
