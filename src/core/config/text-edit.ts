/**
 * Changes one key in the text of a configuration file and leaves the rest, comments included, as it stands. Every
 * change is proved: the new text must parse to exactly the value that was meant, else the whole document is written
 * anew and the caller is told that comments were lost.
 */
import { isDeepStrictEqual } from "node:util";
import type { ArrayNode, ObjectNode, ValueNode } from "@humanwhocodes/momoa";
import JSON5 from "json5";
import { ExecError } from "../errors.ts";
import { memberName, parseDocument } from "./document.ts";
import { formatKeyPath, type KeyPath } from "./key-path.ts";

export type Edit =
  | { readonly kind: "set"; readonly path: KeyPath; readonly value: unknown }
  | { readonly kind: "unset"; readonly path: KeyPath };

export interface Edited {
  readonly text: string;
  /** False when the text already says so. */
  readonly changed: boolean;
  readonly commentsLost: boolean;
}

const INDENT = "  ";
const ONLY_A_REMARK = /^\s*(\/\/.*|\/\*(?:(?!\*\/).)*\*\/\s*)?$/;
const TRIVIA = /(?:\s|\/\/[^\n\r]*|\/\*[\s\S]*?\*\/)*/y;

/** @throws ExecError `invalid-argument` when the text is not JSON5 or the path does not fit it, `not-found` when there is nothing to unset. */
export function editText(text: string, requested: Edit): Edited {
  // What can be written is what will be read again: no undefined, no classes, no foreign prototypes.
  const edit = requested.kind === "set" ? { ...requested, value: JSON5.parse(compact(requested.value)) } : requested;
  const parsed = parseDocument(text);
  if (!parsed.ok) throw new ExecError("invalid-argument", `The file is not valid JSON5: ${parsed.message}.`);
  const wanted = apply(parsed.value, edit);
  if (isDeepStrictEqual(wanted, parsed.value)) return { text, changed: false, commentsLost: false };
  const bom = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const source = text.slice(bom.length);
  const kept = parsed.tree ? rewrite(source, parsed.tree, edit) : afterComments(source, wanted);
  if (kept !== undefined && means(kept, wanted)) return { text: bom + kept, changed: true, commentsLost: false };
  const anew = `${stringify(wanted, "")}\n`;
  if (!means(anew, wanted)) throw new ExecError("internal", "The changed configuration can not be written as JSON5.");
  return { text: anew, changed: true, commentsLost: /\/\/|\/\*/.test(source) };
}

/** A file without content, but perhaps with remarks. */
function afterComments(source: string, wanted: unknown): string {
  const head = source.trimEnd();
  return `${head === "" ? "" : `${head}\n`}${stringify(wanted, "")}\n`;
}

function means(text: string, wanted: unknown): boolean {
  const parsed = parseDocument(text);
  return parsed.ok && parsed.duplicates.length === 0 && isDeepStrictEqual(parsed.value, wanted);
}

/* What the document should be afterwards. */

function apply(document: unknown, edit: Edit): unknown {
  const root = structuredClone(document);
  const last = edit.path.at(-1);
  if (last === undefined) throw new ExecError("invalid-argument", "Name a key, for example tools.exec.mode.");
  let holder = root;
  edit.path.slice(0, -1).forEach((part, index) => {
    holder = step(holder, part, edit, index);
  });
  if (edit.kind === "set") assign(holder, last, edit.value, edit.path);
  else remove(holder, last, edit.path);
  return root;
}

function step(holder: unknown, part: string | number, edit: Edit, index: number): unknown {
  const next = childOf(holder, part, edit.path.slice(0, index));
  if (next !== undefined) return next;
  if (edit.kind === "unset") throw missing(edit.path);
  const made = typeof edit.path[index + 1] === "number" ? [] : {};
  assign(holder, part, made, edit.path.slice(0, index + 1));
  return made;
}

function childOf(holder: unknown, part: string | number, at: KeyPath): unknown {
  requireContainer(holder, part, at);
  return Object.hasOwn(holder as object, part) ? Reflect.get(holder as object, part) : undefined;
}

function assign(holder: unknown, part: string | number, value: unknown, path: KeyPath): void {
  requireContainer(holder, part, path.slice(0, -1));
  if (Array.isArray(holder) && Number(part) > holder.length) {
    const list = formatKeyPath(path.slice(0, -1));
    throw new ExecError(
      "invalid-argument",
      `${list} has ${holder.length} entries; the next one is ${list}[${holder.length}], not ${formatKeyPath(path)}.`,
    );
  }
  // Not plain assignment: a key called __proto__ would change the object instead of becoming a member.
  Object.defineProperty(holder, part, { value, enumerable: true, configurable: true, writable: true });
}

function remove(holder: unknown, part: string | number, path: KeyPath): void {
  if (childOf(holder, part, path.slice(0, -1)) === undefined) throw missing(path);
  if (Array.isArray(holder)) holder.splice(Number(part), 1);
  else Reflect.deleteProperty(holder as object, part);
}

function missing(path: KeyPath): ExecError {
  return new ExecError("not-found", `${formatKeyPath(path)} is not set in the file.`);
}

function requireContainer(holder: unknown, part: string | number, at: KeyPath): void {
  const where = at.length === 0 ? "The file" : formatKeyPath(at);
  if (typeof holder !== "object" || holder === null) {
    throw new ExecError("invalid-argument", `${where} is a single value and has no key ${JSON.stringify(part)}.`);
  }
  if (Array.isArray(holder) && typeof part !== "number") {
    throw new ExecError("invalid-argument", `${where} is a list; name an entry by its index, such as ${where}[0].`);
  }
}

/* The same in the text. */

function rewrite(source: string, tree: ValueNode, edit: Edit): string | undefined {
  let node = tree;
  for (const [index, part] of edit.path.entries()) {
    const child = find(node, part);
    if (child === undefined) {
      if (edit.kind === "unset") return undefined;
      return insert(source, node, part, nest(edit.path.slice(index + 1), edit.value));
    }
    const isLast = index === edit.path.length - 1;
    if (isLast && edit.kind === "unset") return cut(source, node, child);
    if (isLast && edit.kind === "set") {
      return splice(source, rangeOf(child.value), stringify(edit.value, indentAt(source, child.start)));
    }
    node = child.value;
  }
  return undefined;
}

interface Entry {
  readonly start: number;
  readonly end: number;
  readonly value: ValueNode;
}

function entries(node: ValueNode): Entry[] {
  if (node.type === "Object") {
    return node.members.map(({ name, value }) => ({ start: rangeOf(name)[0], end: rangeOf(value)[1], value }));
  }
  if (node.type === "Array") {
    return node.elements.map(({ value }) => ({ start: rangeOf(value)[0], end: rangeOf(value)[1], value }));
  }
  return [];
}

function find(node: ValueNode, part: string | number): Entry | undefined {
  if (node.type === "Array") return entries(node)[Number(part)];
  if (node.type !== "Object") return undefined;
  return entries(node)[node.members.findLastIndex((member) => memberName(member.name) === String(part))];
}

function nest(path: KeyPath, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, part) => (typeof part === "number" ? [inner] : { [part]: inner }), value);
}

function insert(source: string, node: ValueNode, part: string | number, value: unknown): string | undefined {
  if (node.type !== "Object" && node.type !== "Array") return undefined;
  const inside = entries(node);
  const last = inside.at(-1);
  const [open, close] = [rangeOf(node)[0] + 1, rangeOf(node)[1] - 1];
  const name = node.type === "Array" ? "" : `${propertyName(String(part))}: `;
  const comma = last === undefined ? undefined : commaAfter(source, last.end);
  const outer = indentAt(source, open - 1);
  const first = inside[0];
  const inner = first !== undefined && startsLine(source, first.start) ? indentAt(source, first.start) : outer + INDENT;
  const line = `${inner}${name}${stringify(value, inner)},\n`;
  if (close === open) return splice(source, [open, close], `\n${line}${outer}`);
  if (!startsLine(source, close)) return onOneLine(source, last, comma, close, `${name}${compact(value)}`);
  const closingLine = source.lastIndexOf("\n", close - 1) + 1;
  const withLine = splice(source, [closingLine, closingLine], line);
  return last === undefined || comma !== undefined ? withLine : splice(withLine, [last.end, last.end], ",");
}

/** Right behind the last entry, so that a remark which follows it stays where it is. */
function onOneLine(
  source: string,
  last: Entry | undefined,
  comma: number | undefined,
  close: number,
  member: string,
): string {
  if (last === undefined) {
    const gap = source[close - 1] === " " ? "" : " ";
    return splice(source, [close, close], `${gap}${member} `);
  }
  if (comma === undefined) return splice(source, [last.end, last.end], `, ${member}`);
  return splice(source, [comma + 1, comma + 1], ` ${member}`);
}

/** Takes an entry out with its comma; when it has lines of its own they go, with a comment that ends them. */
function cut(source: string, holder: ObjectNode | ArrayNode | ValueNode, entry: Entry): string {
  const comma = commaAfter(source, entry.end);
  const end = comma === undefined ? entry.end : comma + 1;
  const lineEnd = source.indexOf("\n", end);
  const tail = lineEnd === -1 ? undefined : source.slice(end, lineEnd);
  if (startsLine(source, entry.start) && tail !== undefined && ONLY_A_REMARK.test(tail)) {
    return splice(source, [source.lastIndexOf("\n", entry.start - 1) + 1, lineEnd + 1], "");
  }
  if (comma !== undefined) {
    const space = /^[ \t]*/.exec(source.slice(end))?.[0].length ?? 0;
    return splice(source, [entry.start, end + space], "");
  }
  const before = entries(holder as ValueNode).findLast((other) => other.end <= entry.start);
  return splice(source, [before?.end ?? entry.start, entry.end], "");
}

function commaAfter(source: string, offset: number): number | undefined {
  TRIVIA.lastIndex = offset;
  TRIVIA.exec(source);
  const next = TRIVIA.lastIndex;
  return source[next] === "," ? next : undefined;
}

function splice(source: string, [start, end]: readonly [number, number], replacement: string): string {
  return source.slice(0, start) + replacement + source.slice(end);
}

function indentAt(source: string, offset: number): string {
  const line = source.slice(source.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function startsLine(source: string, offset: number): boolean {
  return source.slice(source.lastIndexOf("\n", offset - 1) + 1, offset).trim() === "";
}

function rangeOf(node: { range?: readonly number[] | undefined }): readonly [number, number] {
  return [node.range?.[0] ?? 0, node.range?.[1] ?? 0];
}

function propertyName(name: string): string {
  return JSON5.stringify({ [name]: 0 }, { quote: '"' }).slice(1, -3);
}

function compact(value: unknown): string {
  return JSON5.stringify(value, { quote: '"' });
}

function stringify(value: unknown, indent: string): string {
  return JSON5.stringify(value, { space: INDENT, quote: '"' }).replaceAll("\n", `\n${indent}`);
}
