/**
 * Terminal output to styled lines. Knows what programs that write to a pipe or a small terminal use: colours and
 * styles (SGR), carriage return, backspace, erase in line, and the cursor moves of progress bars. Everything else is
 * dropped; nothing of the text is ever read as markup.
 */

export type Colour =
  /** 0 to 7 normal, 8 to 15 bright: drawn by the theme. */
  { readonly kind: "palette"; readonly index: number } | { readonly kind: "rgb"; readonly css: string };

export interface Style {
  readonly fg?: Colour;
  readonly bg?: Colour;
  readonly bold?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly strike?: true;
  readonly inverse?: true;
}

export interface Segment {
  readonly text: string;
  readonly style: Style;
}

export type Line = readonly Segment[];

/** A line longer than this is not moved about in by cursor columns: a hostile column could ask for gigabytes. */
const MAX_COLUMN = 4096;
const TAB_WIDTH = 8;

const PLAIN: Style = {};

const CSI = String.raw`\x1b\[([0-?]*)[ -/]*([@-~])`;
/** OSC, DCS, APC, PM and SOS up to their terminator. */
const CONTROL_STRING = String.raw`\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?`;
const ESCAPE = String.raw`\x1b[ -/]*[0-~]?`;
const CONTROL = String.raw`[\x00-\x1f\x7f-\x9f]`;
const TOKEN = new RegExp([CSI, CONTROL_STRING, ESCAPE, CONTROL].join("|"), "gu");

/** One of the 256 colours. */
export function paletteColour(index: number): Colour {
  if (index < 16) return { kind: "palette", index };
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return { kind: "rgb", css: `rgb(${grey} ${grey} ${grey})` };
  }
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  const at = index - 16;
  return {
    kind: "rgb",
    css: `rgb(${level(Math.floor(at / 36))} ${level(Math.floor(at / 6) % 6)} ${level(at % 6)})`,
  };
}

/** `38;5;n`, `38;2;r;g;b`; gives the colour and how many parameters were eaten after the 38 or 48. */
function extended(codes: readonly number[], at: number): { colour: Colour | undefined; eaten: number } {
  const byte = (value: number | undefined) => (value !== undefined && value >= 0 && value <= 255 ? value : undefined);
  if (codes[at] === 5) {
    const index = byte(codes[at + 1]);
    return { colour: index === undefined ? undefined : paletteColour(index), eaten: 2 };
  }
  if (codes[at] === 2) {
    const [r, g, b] = [byte(codes[at + 1]), byte(codes[at + 2]), byte(codes[at + 3])];
    const known = r !== undefined && g !== undefined && b !== undefined;
    return { colour: known ? { kind: "rgb", css: `rgb(${r} ${g} ${b})` } : undefined, eaten: 4 };
  }
  return { colour: undefined, eaten: codes.length - at };
}

type Draft = { -readonly [K in keyof Style]: Style[K] };

/** The style after one SGR sequence. Unknown codes change nothing. */
export function applySgr(style: Style, parameters: string): Style {
  // `38:2::r:g:b` is the standard's own spelling of `38;2;r;g;b`; the empty part is the colour space.
  const codes = parameters
    .replace(/([34]8):2:\d*:(?=\d+:\d+:\d+)/g, "$1;2;")
    .split(/[;:]/)
    .map((part) => (part === "" ? 0 : Number(part)));
  let draft: Draft = { ...style };
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 0) draft = {};
    else if (code === 1) draft.bold = true;
    else if (code === 2) draft.dim = true;
    else if (code === 3) draft.italic = true;
    else if (code === 4) draft.underline = true;
    else if (code === 7) draft.inverse = true;
    else if (code === 9) draft.strike = true;
    else if (code === 22) {
      delete draft.bold;
      delete draft.dim;
    } else if (code === 23) delete draft.italic;
    else if (code === 24) delete draft.underline;
    else if (code === 27) delete draft.inverse;
    else if (code === 29) delete draft.strike;
    else if (code >= 30 && code <= 37) draft.fg = { kind: "palette", index: code - 30 };
    else if (code >= 90 && code <= 97) draft.fg = { kind: "palette", index: code - 82 };
    else if (code >= 40 && code <= 47) draft.bg = { kind: "palette", index: code - 40 };
    else if (code >= 100 && code <= 107) draft.bg = { kind: "palette", index: code - 92 };
    else if (code === 39) delete draft.fg;
    else if (code === 49) delete draft.bg;
    else if (code === 38 || code === 48) {
      const { colour, eaten } = extended(codes, at + 1);
      if (colour !== undefined) draft[code === 38 ? "fg" : "bg"] = colour;
      at += eaten;
    }
  }
  return draft;
}

interface Cell {
  readonly char: string;
  readonly style: Style;
}

class Screen {
  readonly rows: Cell[][] = [[]];
  row = 0;
  column = 0;
  style: Style = PLAIN;

  write(text: string): void {
    const row = this.current();
    for (const char of text) {
      while (row.length < this.column) row.push({ char: " ", style: PLAIN });
      row[this.column++] = { char, style: this.style };
    }
  }

  control(char: string): void {
    if (char === "\n") this.down(1, true);
    else if (char === "\r") this.column = 0;
    else if (char === "\b") this.column = Math.max(0, this.column - 1);
    else if (char === "\t") this.write(" ".repeat(TAB_WIDTH - (this.column % TAB_WIDTH)));
  }

  sequence(parameters: string, final: string): void {
    if (final === "m") {
      if (/^[\d;:]*$/.test(parameters)) this.style = applySgr(this.style, parameters);
      return;
    }
    const first = Number(parameters.split(";")[0] || Number.NaN);
    const count = Number.isNaN(first) ? 1 : Math.max(1, first);
    const column = (value: number) => Math.min(Math.max(0, value), MAX_COLUMN);
    if (final === "A") this.row = Math.max(0, this.row - count);
    else if (final === "B") this.down(Math.min(count, this.rows.length - 1 - this.row), false);
    else if (final === "C") this.column = Math.max(this.column, column(this.column + count));
    else if (final === "D") this.column = column(this.column - count);
    else if (final === "G") this.column = column(count - 1);
    else if (final === "E") this.down(count === 1 ? 1 : Math.min(count, this.rows.length - this.row), true);
    else if (final === "F") {
      this.row = Math.max(0, this.row - count);
      this.column = 0;
    } else if (final === "K") this.eraseLine(Number.isNaN(first) ? 0 : first);
    else if (final === "J" && (Number.isNaN(first) || first === 0)) {
      this.eraseLine(0);
      this.rows.length = this.row + 1;
    }
  }

  private down(count: number, toStart: boolean): void {
    for (let step = 0; step < count; step++) {
      this.row++;
      if (this.row === this.rows.length) this.rows.push([]);
    }
    if (toStart) this.column = 0;
  }

  private eraseLine(mode: number): void {
    const row = this.current();
    if (mode === 2) row.length = 0;
    else if (mode === 0) row.length = Math.min(row.length, this.column);
    else for (let at = 0; at < Math.min(row.length, this.column + 1); at++) row[at] = { char: " ", style: PLAIN };
  }

  private current(): Cell[] {
    const row = this.rows[this.row];
    if (row === undefined) throw new RangeError("the cursor left the screen");
    return row;
  }
}

function segments(row: readonly Cell[]): Line {
  const line: { text: string; style: Style }[] = [];
  for (const cell of row) {
    const last = line.at(-1);
    if (last !== undefined && last.style === cell.style) last.text += cell.char;
    else line.push({ text: cell.char, style: cell.style });
  }
  return line;
}

/** One line of the screen per entry; a final line break does not make an empty last line. */
export function terminalLines(output: string): readonly Line[] {
  const screen = new Screen();
  let from = 0;
  for (const match of output.matchAll(TOKEN)) {
    screen.write(output.slice(from, match.index));
    from = match.index + match[0].length;
    const [token, parameters, final] = match;
    if (final !== undefined) screen.sequence(parameters ?? "", final);
    else if (token.length === 1) screen.control(token);
  }
  screen.write(output.slice(from));
  if (screen.rows.length > 1 && screen.rows.at(-1)?.length === 0) screen.rows.pop();
  return screen.rows.map(segments);
}

/** What a person would copy: no styles, no trailing blanks that a progress bar left. */
export function plainText(output: string): string {
  return terminalLines(output)
    .map((line) =>
      line
        .map((segment) => segment.text)
        .join("")
        .trimEnd(),
    )
    .join("\n");
}
