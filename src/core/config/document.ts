/**
 * The text of a configuration file and what it means. JSON5 is the authority on the value; the syntax tree only
 * tells where a key stands, for error messages and for edits that leave the rest of the text alone.
 */
import { parse as parseTree, type ValueNode } from "@humanwhocodes/momoa";
import JSON5 from "json5";
import { formatKeyPath } from "./key-path.ts";

export interface Position {
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

export interface Duplicate {
  readonly path: readonly (string | number)[];
  readonly first: Position;
  readonly second: Position;
}

export type ParsedDocument =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** Undefined when the tree could not be made (the value is fine, only places are unknown). */
      readonly tree: ValueNode | undefined;
      readonly duplicates: readonly Duplicate[];
    }
  | { readonly ok: false; readonly message: string; readonly at?: Position };

/** An empty file, or one that holds only comments, is an empty configuration. */
export function parseDocument(text: string): ParsedDocument {
  const source = text.replace(/^\uFEFF/, "");
  if (stripComments(source).trim() === "") return { ok: true, value: {}, tree: undefined, duplicates: [] };
  let value: unknown;
  try {
    value = JSON5.parse(source);
  } catch (error) {
    return { ok: false, ...describe(error as JSON5Error, source) };
  }
  const tree = treeOf(source);
  return { ok: true, value, tree, duplicates: tree ? [...duplicates(tree, [])] : [] };
}

interface JSON5Error extends Error {
  readonly lineNumber?: number;
  readonly columnNumber?: number;
}

function describe(error: JSON5Error, source: string): { message: string; at?: Position } {
  const line = error.lineNumber ?? 1;
  const at = { line, column: Math.max(1, error.columnNumber ?? 1) };
  const what = error.message
    .replace(/^JSON5: /, "")
    .replace(/ at \d+:\d+$/, "")
    .replace(/\\(["'])/, "$1");
  return { message: `${what}${hint(what, source.split("\n")[line - 1] ?? "")}`, at };
}

function hint(what: string, line: string): string {
  if (/[“”‘’]/.test(what)) return " (use straight quotes)";
  if (/end of input/.test(what)) return " (a closing bracket or quote is missing)";
  if (/^\s*-?\d+\s*:/.test(line)) return " (write a key made of digits in quotes)";
  if (/invalid character/.test(what)) return " (a comma may be missing before it)";
  return "";
}

function stripComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "");
}

function treeOf(source: string): ValueNode | undefined {
  try {
    return parseTree(source, { mode: "json5", ranges: true }).body;
  } catch {
    return undefined;
  }
}

function* duplicates(node: ValueNode, path: readonly (string | number)[]): Generator<Duplicate> {
  if (node.type === "Array") {
    for (const [index, element] of node.elements.entries()) yield* duplicates(element.value, [...path, index]);
  }
  if (node.type !== "Object") return;
  const seen = new Map<string, Position>();
  for (const member of node.members) {
    const name = memberName(member.name);
    const first = seen.get(name);
    const second = position(member.name.loc.start);
    if (first) yield { path: [...path, name], first, second };
    seen.set(name, first ?? second);
    yield* duplicates(member.value, [...path, name]);
  }
}

export function memberName(name: { type: string; value?: unknown; name?: string }): string {
  return name.type === "Identifier" ? String(name.name) : String(name.value);
}

function position(start: { line: number; column: number }): Position {
  return { line: start.line, column: start.column };
}

/** Where a key stands; for a key that is not there, where its nearest existing parent stands. */
export function locate(tree: ValueNode | undefined, path: readonly PropertyKey[]): Position | undefined {
  let node = tree;
  let found: Position | undefined;
  for (const part of path) {
    if (node?.type === "Object") {
      const member = node.members.findLast((candidate) => memberName(candidate.name) === String(part));
      if (!member) break;
      found = position(member.name.loc.start);
      node = member.value;
    } else if (node?.type === "Array") {
      const element = node.elements[Number(part)];
      if (!element) break;
      found = position(element.value.loc.start);
      node = element.value;
    } else break;
  }
  return found;
}

export function duplicateMessage(duplicate: Duplicate): string {
  return `${formatKeyPath(duplicate.path)} is written twice (line ${duplicate.first.line} and line ${duplicate.second.line}); keep one`;
}
