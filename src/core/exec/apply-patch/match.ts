/**
 * Applies the chunks of an update to the text of a file. Pure. Everything the patch does not change keeps its bytes:
 * byte order mark, each line's own ending, a missing last line end, and context lines as the file has them.
 */
import type { Chunk, PatchLine } from "./patch.ts";

/** The chunk does not fit the file; the message says which lines were looked for. */
export class PatchMismatch extends Error {
  override readonly name = "PatchMismatch";
}

interface Line {
  readonly text: string;
  readonly eol: string;
}

interface Edit {
  readonly at: number;
  readonly removed: number;
  readonly lines: readonly Line[];
}

const BOM = "\ufeff";

/** Ever looser readings of a line; the first under which the block is found at all decides. */
const READINGS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) => foldPunctuation(line.trim()),
];

/** Throws `PatchMismatch`. */
export function applyChunks(source: string, chunks: readonly Chunk[], path: string): string {
  const bom = source.startsWith(BOM) ? BOM : "";
  const lines = splitLines(source.slice(bom.length));
  const edits: Edit[] = [];
  let cursor = 0;
  for (const chunk of chunks) {
    const placed = place(lines, chunk, cursor, path);
    edits.push(placed.edit);
    cursor = placed.cursor;
  }
  return bom + render(lines, edits, endsWithEol(source) || source.length === bom.length);
}

/** True when both differ in nothing but the kind of line ends and a last line end. */
export function sameText(a: string, b: string): boolean {
  const plain = (text: string): string => text.replace(/\r\n?/g, "\n").replace(/\n$/, "");
  return plain(a) === plain(b);
}

function place(
  lines: readonly Line[],
  chunk: Chunk,
  from: number,
  path: string,
): { readonly edit: Edit; readonly cursor: number } {
  const start = chunk.context === undefined ? from : contextLine(lines, chunk.context, from, path) + 1;
  if (chunk.lines.every((line) => line.kind === "add")) {
    const at = chunk.context !== undefined && !chunk.atEnd ? start : lines.length;
    return { edit: edit(lines, at, chunk.lines), cursor: start };
  }
  let body = chunk.lines;
  for (;;) {
    const old = body.filter((line) => line.kind !== "add").map((line) => line.text);
    const at = findBlock(lines, old, start, chunk.atEnd, path);
    if (at !== undefined) return { edit: edit(lines, at, body), cursor: at + old.length };
    // A blank line before the next header was read as context; it need not be in the file.
    const last = body.at(-1);
    if (last === undefined || last.kind === "add" || last.text !== "" || old.length < 2) break;
    body = body.slice(0, -1);
  }
  const wanted = chunk.lines.filter((line) => line.kind !== "add").map((line) => line.text);
  throw new PatchMismatch(
    `Failed to find expected lines in ${path}${chunk.atEnd ? " at its end" : ""}:\n${wanted.slice(0, 12).join("\n")}`,
  );
}

function contextLine(lines: readonly Line[], context: string, from: number, path: string): number {
  const found = findBlock(lines, [context], from, false, path);
  if (found === undefined) throw new PatchMismatch(`Failed to find context '${context}' in ${path}.`);
  return found;
}

/** The one place where `old` stands at or below `from`; undefined for none. */
function findBlock(
  lines: readonly Line[],
  old: readonly string[],
  from: number,
  atEnd: boolean,
  path: string,
): number | undefined {
  const last = lines.length - old.length;
  for (const reading of READINGS) {
    const wanted = old.map(reading);
    const hits: number[] = [];
    for (let at = atEnd ? Math.max(from, last) : from; at <= last; at++) {
      if (wanted.every((text, index) => reading((lines[at + index] as Line).text) === text)) hits.push(at);
    }
    if (hits.length > 1) {
      throw new PatchMismatch(
        `Found ${hits.length} occurrences of the lines in ${path} (lines ${hits
          .slice(0, 5)
          .map((at) => at + 1)
          .join(", ")}); add context so that only one fits:\n${old.slice(0, 12).join("\n")}`,
      );
    }
    if (hits.length === 1) return hits[0];
  }
  return undefined;
}

function edit(lines: readonly Line[], at: number, body: readonly PatchLine[]): Edit {
  let next = at;
  let replaced: Line | undefined;
  const result: Line[] = [];
  for (const line of body) {
    switch (line.kind) {
      case "context":
        result.push(lines[next++] as Line);
        replaced = undefined;
        break;
      case "remove":
        replaced = lines[next++];
        break;
      case "add":
        result.push({
          text: line.text,
          eol: eolFor([replaced, result.at(-1), lines[next - 1], lines[next], lines[0]]),
        });
        replaced = undefined;
        break;
    }
  }
  return { at, removed: next - at, lines: result };
}

/** A new line ends like the one it replaces, else like the one above, else like the one below, else like the file. */
function eolFor(candidates: readonly (Line | undefined)[]): string {
  return candidates.find((line) => line !== undefined && line.eol !== "")?.eol ?? "\n";
}

function render(lines: readonly Line[], edits: readonly Edit[], lastEol: boolean): string {
  const parts: (readonly Line[])[] = [];
  let at = 0;
  for (const change of [...edits].sort((a, b) => a.at - b.at)) {
    parts.push(lines.slice(at, change.at), change.lines);
    at = change.at + change.removed;
  }
  parts.push(lines.slice(at));
  const result = parts.flat();
  const common = lines.find((line) => line.eol !== "")?.eol ?? "\n";
  return result
    .map((line, index) => {
      if (index < result.length - 1) return line.text + (line.eol === "" ? common : line.eol);
      return lastEol ? line.text + (line.eol === "" ? common : line.eol) : line.text;
    })
    .join("");
}

function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  const ending = /\r\n|\n|\r/g;
  let from = 0;
  for (const match of text.matchAll(ending)) {
    lines.push({ text: text.slice(from, match.index), eol: match[0] });
    from = match.index + match[0].length;
  }
  if (from < text.length) lines.push({ text: text.slice(from), eol: "" });
  return lines;
}

function endsWithEol(text: string): boolean {
  return /[\r\n]$/.test(text);
}

/** Typographic dashes, quotes and blanks to the plain ones that models write. */
function foldPunctuation(text: string): string {
  return text
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, " ");
}
