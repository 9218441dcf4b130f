/// <reference path="./xterm-headless.d.ts" />
/**
 * The terminal a recording is played on: xterm.js without its own drawing, which writes inline styles that the content
 * security policy forbids. Loaded only when something is replayed.
 */
import type { IBufferCell } from "@xterm/headless";
import { Terminal } from "@xterm/headless/lib-headless/xterm-headless.mjs";
import type { ReplayEvent } from "../../protocol/frames.ts";
import { type Colour, paletteColour, type Segment, type Style } from "../ansi.ts";

/** A recording may claim any size. */
const MAX_COLS = 500;
const MAX_ROWS = 200;

export interface ScreenSegment extends Segment {
  /** One character that fills two columns. */
  readonly wide?: true;
  readonly cursor?: true;
}

export type ScreenRow = readonly ScreenSegment[];

export class ReplayScreen {
  readonly #size: { readonly cols: number; readonly rows: number };
  readonly #terminal: Terminal;
  #cursorShown = true;

  constructor(cols: number, rows: number) {
    this.#size = bounded(cols, rows);
    this.#terminal = new Terminal({ ...this.#size, scrollback: 0, allowProposedApi: true });
    for (const [final, shown] of [
      ["h", true],
      ["l", false],
    ] as const) {
      this.#terminal.parser.registerCsiHandler({ prefix: "?", final }, (parameters) => {
        if (parameters.includes(25)) this.#cursorShown = shown;
        return false;
      });
    }
  }

  get cols(): number {
    return this.#terminal.cols;
  }

  /** As it was before the first event. Not while `apply` is at work. */
  reset(): void {
    this.#terminal.reset();
    this.#terminal.resize(this.#size.cols, this.#size.rows);
    this.#cursorShown = true;
  }

  /** Resolves when the screen shows it. */
  async apply(events: readonly ReplayEvent[]): Promise<void> {
    let text = "";
    for (const [, kind, data] of events) {
      if (kind === "o") {
        text += data;
        continue;
      }
      await this.#write(text);
      text = "";
      const [cols, rows] = data.split("x").map(Number);
      if (cols && rows) {
        const size = bounded(cols, rows);
        this.#terminal.resize(size.cols, size.rows);
      }
    }
    await this.#write(text);
  }

  rows(): readonly ScreenRow[] {
    const buffer = this.#terminal.buffer.active;
    const cell = buffer.getNullCell();
    return Array.from({ length: this.#terminal.rows }, (_, y) => {
      const line = buffer.getLine(buffer.viewportY + y);
      const row: { text: string; style: Style; wide?: true; cursor?: true; key: string }[] = [];
      for (let x = 0; x < this.#terminal.cols; x++) {
        if (line?.getCell(x, cell) === undefined) break;
        const width = cell.getWidth();
        if (width === 0) continue;
        const cursor = this.#cursorShown && y === buffer.cursorY && x === buffer.cursorX;
        const key = keyOf(cell);
        const text = cell.isInvisible() ? " ".repeat(width) : cell.getChars() || " ";
        const last = row.at(-1);
        if (last?.key === key && width === 1 && !cursor && !last.wide && !last.cursor) last.text += text;
        else {
          row.push({
            ...{ text, key, style: styleOf(cell) },
            ...(width === 2 ? { wide: true } : {}),
            ...(cursor ? { cursor } : {}),
          });
        }
      }
      return row;
    });
  }

  dispose(): void {
    this.#terminal.dispose();
  }

  #write(text: string): Promise<void> {
    return text === "" ? Promise.resolve() : new Promise((resolve) => this.#terminal.write(text, resolve));
  }
}

function bounded(cols: number, rows: number): { readonly cols: number; readonly rows: number } {
  const within = (value: number, most: number) => Math.min(most, Math.max(1, Math.floor(value) || 1));
  return { cols: within(cols, MAX_COLS), rows: within(rows, MAX_ROWS) };
}

function keyOf(cell: IBufferCell): string {
  const flags = [cell.isBold(), cell.isDim(), cell.isItalic(), cell.isUnderline(), cell.isStrikethrough()];
  const bits = [...flags, cell.isInverse()].map((flag) => (flag ? 1 : 0)).join("");
  return `${cell.getFgColorMode()}.${cell.getFgColor()}.${cell.getBgColorMode()}.${cell.getBgColor()}.${bits}`;
}

function styleOf(cell: IBufferCell): Style {
  const fg = colourOf(cell.isFgRGB(), cell.isFgPalette(), cell.getFgColor());
  const bg = colourOf(cell.isBgRGB(), cell.isBgPalette(), cell.getBgColor());
  return {
    ...(fg ? { fg } : {}),
    ...(bg ? { bg } : {}),
    ...(cell.isBold() ? { bold: true } : {}),
    ...(cell.isDim() ? { dim: true } : {}),
    ...(cell.isItalic() ? { italic: true } : {}),
    ...(cell.isUnderline() ? { underline: true } : {}),
    ...(cell.isStrikethrough() ? { strike: true } : {}),
    ...(cell.isInverse() ? { inverse: true } : {}),
  };
}

function colourOf(isRgb: boolean, isPalette: boolean, value: number): Colour | undefined {
  if (isPalette) return paletteColour(value);
  if (isRgb) return { kind: "rgb", css: `rgb(${(value >> 16) & 255} ${(value >> 8) & 255} ${value & 255})` };
  return undefined;
}
