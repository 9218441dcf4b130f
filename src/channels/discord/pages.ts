/**
 * Lines of Markdown put into messages, in order, each as full as its characters and lines allow. Code that is parted is
 * fenced in each of its messages. Pure.
 */
import { excerpt, textCost } from "../text/excerpt.ts";
import { FENCE_COST, fence, fenceCost } from "./markup.ts";

/** Code that would begin with fewer lines than these at the foot of a message begins in the next one. */
const FEWEST_CODE_LINES = 3;
/** The lines of a fence itself. */
const FENCE_LINES = 2;

export interface Attached {
  readonly name: string;
  readonly content: string;
}

export interface Page {
  readonly text: string;
  /** Stands below the text. */
  readonly file?: Attached;
}

export class Pages {
  readonly #budget: number;
  readonly #maxLines: number;
  readonly #done: Page[] = [];
  #open: string[] = [];
  #spent = 0;
  #lines = 0;

  /** `budget`: characters of one message; `maxLines`: lines of what may be parted. */
  constructor(budget: number, maxLines: number) {
    this.#budget = budget;
    this.#maxLines = maxLines;
  }

  /** One line of a card: it stays with what stands before it, however many lines that has, while there is room. */
  add(line: string): void {
    if (!this.#fits(line.length)) this.#close();
    this.#put(line, 1);
  }

  /** Lines that each fit a message: parted where one is full, rather between paragraphs. */
  addLines(lines: readonly string[]): void {
    for (let at = 0; at < lines.length; ) {
      const end = this.#endOf(lines, at);
      if (end === at) {
        this.#close();
        continue;
      }
      for (const line of lines.slice(at, end)) this.#put(line, 1);
      at = end;
      if (at === lines.length) return;
      this.#close();
      while (lines[at]?.trim() === "") at += 1;
    }
  }

  /** `whole`: a command's own page of output, which its caller has measured: parted for its characters alone. */
  addCode(value: string, { whole = false, language = "" } = {}): void {
    const trimmed = value.replace(/^\n+|\s+$/g, "");
    if (trimmed === "") return;
    for (let rest = trimmed; rest !== ""; ) {
      const head = this.#codeWithin(rest, whole);
      if (head === "") {
        this.#close();
        continue;
      }
      this.#put(fence(head, language), head.split("\n").length + FENCE_LINES);
      rest = rest.slice(head.length).replace(/^\n/, "");
      if (rest !== "") this.#close();
    }
  }

  /** Below what stands last, in the same message; nothing else follows in it. */
  attach(file: Attached, note: string): void {
    this.add(note);
    this.#close(file);
  }

  finished(): readonly Page[] {
    this.#close();
    return this.#done;
  }

  #fits(length: number): boolean {
    return this.#open.length === 0 || this.#spent + 1 + length <= this.#budget;
  }

  #put(text: string, lines: number): void {
    this.#spent += (this.#open.length === 0 ? 0 : 1) + text.length;
    this.#lines += lines;
    this.#open.push(text);
  }

  #close(file?: Attached): void {
    const text = this.#open
      .join("\n")
      .replace(/^(?:[ \t]*\n)+/, "")
      .trimEnd();
    if (text !== "") this.#done.push({ text, ...(file === undefined ? {} : { file }) });
    this.#open = [];
    this.#spent = 0;
    this.#lines = 0;
  }

  /** How many of the lines from `at` on go into the message that is open; none: it is too full. */
  #endOf(lines: readonly string[], at: number): number {
    let spent = this.#spent;
    let end = at;
    while (end < lines.length) {
      const isFirst = this.#open.length === 0 && end === at;
      const cost = (lines[end] ?? "").length + (isFirst ? 0 : 1);
      const isFull = spent + cost > this.#budget || this.#lines + end - at >= this.#maxLines;
      if (isFull && !isFirst) break;
      spent += cost;
      end += 1;
    }
    if (end === lines.length || end === at) return end;
    // A paragraph stays whole where that leaves the message at least half as full.
    for (let back = end; back > at + (end - at) / 2; back--) if (lines[back]?.trim() === "") return back;
    return end;
  }

  /** As much code as the message that is open takes; "": the next one has to take it. */
  #codeWithin(code: string, whole: boolean): string {
    const isFresh = this.#open.length === 0;
    const room = this.#budget - FENCE_COST - (isFresh ? 0 : this.#spent + 1);
    const lineRoom = whole ? Number.POSITIVE_INFINITY : this.#maxLines - FENCE_LINES - this.#lines;
    const lines = code.split("\n");
    if (lines.length <= lineRoom && textCost(code, fenceCost) <= room) return code;
    const fewest = isFresh ? 1 : Math.min(FEWEST_CODE_LINES, lines.length);
    if (room <= 0 || lineRoom < fewest) return "";
    const most = Number.isFinite(lineRoom) ? lines.slice(0, lineRoom).join("\n") : code;
    const cut = excerpt(most, { budget: room, headShare: 1, unitCost: fenceCost }).head;
    // A letter under more accents than there is room for has no place to be parted.
    const fitting = cut === "" && isFresh ? most.slice(0, Math.floor(room / 2)) : cut;
    if (fitting === most) return most;
    const newline = fitting.lastIndexOf("\n");
    const head = newline > 0 ? fitting.slice(0, newline) : fitting;
    return isFresh || head.split("\n").length >= fewest ? (newline > 0 || isFresh ? head : "") : "";
  }
}
