/** The text of a patch to its operations (exec.md section 14). Pure: no file is looked at. */

export type PatchLine =
  | { readonly kind: "context"; readonly text: string }
  | { readonly kind: "remove"; readonly text: string }
  | { readonly kind: "add"; readonly text: string };

export interface Chunk {
  /** The line after `@@`: the chunk lies below it. */
  readonly context: string | undefined;
  readonly lines: readonly PatchLine[];
  /** `*** End of File`: the chunk ends where the file ends. */
  readonly atEnd: boolean;
}

export type Operation =
  | { readonly kind: "add"; readonly path: string; readonly lines: readonly string[] }
  | { readonly kind: "delete"; readonly path: string }
  | {
      readonly kind: "update";
      readonly path: string;
      readonly moveTo: string | undefined;
      readonly chunks: readonly Chunk[];
    };

/** The patch can not be read. `line` counts from 1 in the patch without its here-document wrapper. */
export class PatchSyntaxError extends Error {
  override readonly name = "PatchSyntaxError";
}

const BEGIN = "*** Begin Patch";
const END = "*** End Patch";
const END_OF_FILE = "*** End of File";
const ADD = "*** Add File: ";
const DELETE = "*** Delete File: ";
const UPDATE = "*** Update File: ";
const MOVE = "*** Move to: ";

/** Throws `PatchSyntaxError`. An empty list for a patch without operations. */
export function parsePatch(input: string): Operation[] {
  const lines = unwrap(input.trim().split(/\r?\n/));
  if (lines[0]?.trim() !== BEGIN) throw new PatchSyntaxError(`The first line of the patch must be "${BEGIN}".`);
  if (lines.length < 2 || lines.at(-1)?.trim() !== END) {
    throw new PatchSyntaxError(`The last line of the patch must be "${END}".`);
  }
  const reader = new Reader(lines.slice(0, -1));
  reader.take();
  const operations: Operation[] = [];
  while (!reader.done) operations.push(operation(reader));
  return operations;
}

class Reader {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  get done(): boolean {
    return this.#at >= this.#lines.length;
  }

  /** From 1, of the line that comes next. */
  get number(): number {
    return this.#at + 1;
  }

  peek(): string {
    return this.#lines[this.#at] ?? "";
  }

  take(): string {
    const line = this.peek();
    this.#at++;
    return line;
  }
}

/** Models wrap patches like shell here-documents. */
function unwrap(lines: string[]): string[] {
  const opening = /^<<-?\s*(['"]?)(\w+)\1$/.exec(lines[0]?.trim() ?? "");
  return opening !== null && lines.length > 2 && lines.at(-1)?.trim() === opening[2] ? lines.slice(1, -1) : lines;
}

function operation(reader: Reader): Operation {
  const { number } = reader;
  const header = reader.take().trim();
  const path = (prefix: string): string => {
    const value = header.slice(prefix.length).trim();
    if (value === "") throw new PatchSyntaxError(`Line ${number}: the file has no name.`);
    return value;
  };
  if (header.startsWith(ADD)) return { kind: "add", path: path(ADD), lines: addedLines(reader) };
  if (header.startsWith(DELETE)) return { kind: "delete", path: path(DELETE) };
  if (header.startsWith(UPDATE)) return update(path(UPDATE), reader, number);
  throw new PatchSyntaxError(
    `Line ${number}: "${header.slice(0, 80)}" is not a header. A file starts with "${ADD}<path>", "${DELETE}<path>" or "${UPDATE}<path>".`,
  );
}

function addedLines(reader: Reader): string[] {
  const lines: string[] = [];
  while (!reader.done && reader.peek().startsWith("+")) lines.push(reader.take().slice(1));
  return lines;
}

function update(path: string, reader: Reader, number: number): Operation {
  const move = reader.done ? "" : reader.peek().trim();
  const moveTo = move.startsWith(MOVE) ? move.slice(MOVE.length).trim() : undefined;
  if (moveTo !== undefined) reader.take();
  if (moveTo === "") throw new PatchSyntaxError(`Line ${number + 1}: the file to move to has no name.`);
  const chunks: Chunk[] = [];
  for (;;) {
    while (!reader.done && reader.peek().trim() === "") reader.take();
    if (reader.done || reader.peek().trimStart().startsWith("*** ")) break;
    chunks.push(chunk(reader, chunks.length === 0));
  }
  if (chunks.length === 0)
    throw new PatchSyntaxError(`Line ${number}: the update of ${path} is empty; it needs at least one change.`);
  return { kind: "update", path, moveTo, chunks };
}

function chunk(reader: Reader, first: boolean): Chunk {
  const { number } = reader;
  let context: string | undefined;
  const opening = reader.peek();
  if (opening.trimEnd() === "@@") reader.take();
  else if (opening.startsWith("@@ ")) context = reader.take().slice(3);
  else if (!first) {
    throw new PatchSyntaxError(
      `Line ${number}: a further change must start with "@@", not with "${opening.slice(0, 80)}".`,
    );
  }
  const lines: PatchLine[] = [];
  let atEnd = false;
  while (!reader.done) {
    const line = reader.peek();
    if (line.trimEnd() === END_OF_FILE) {
      reader.take();
      atEnd = true;
      break;
    }
    const parsed = bodyLine(line);
    if (parsed === undefined) break;
    lines.push(parsed);
    reader.take();
  }
  if (lines.length === 0) {
    throw new PatchSyntaxError(
      `Line ${reader.number}: a line of a change starts with a space (context), "-" or "+", not with "${reader.peek().slice(0, 80)}".`,
    );
  }
  return { context, lines, atEnd };
}

function bodyLine(line: string): PatchLine | undefined {
  const text = line.slice(1);
  switch (line[0]) {
    case undefined:
      return { kind: "context", text: "" };
    case " ":
      return { kind: "context", text };
    case "-":
      return { kind: "remove", text };
    case "+":
      return { kind: "add", text };
    default:
      return undefined;
  }
}
