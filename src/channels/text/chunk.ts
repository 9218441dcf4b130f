/**
 * Splitting long text into messages. Pure, linear, and lossless: the source ranges of the chunks join to the input.
 *
 * A cut never falls inside a surrogate pair or a grapheme, prefers paragraph, then line, then sentence, then space,
 * and keeps code fences balanced: a fence that is cut is closed with its own marker and reopened in the next chunk.
 */

export interface ChunkOptions {
  /** Most units one chunk may have, counted by `unitCost`, synthetic fence lines included. At least 16. */
  readonly limit: number;
  /** Cost of one UTF-16 unit as the platform counts it after escaping. Default 1 each. */
  readonly unitCost?: (unit: number) => number;
  /** Most lines of source text per chunk. Default: no limit. */
  readonly maxLines?: number;
}

export interface Chunk {
  /** What to send: the source range plus the fence lines that keep it balanced. */
  readonly text: string;
  /** UTF-16 range of the input this chunk covers. */
  readonly start: number;
  readonly end: number;
}

const MIN_CHUNK_LIMIT = 16;

/** A preferred cut is taken only when it leaves a chunk at least this full; otherwise a chunk could hold one word. */
const MIN_FILL = { paragraph: 0.5, line: 0.3, sentence: 0.5, space: 0.2 } as const;

/** Reopening a fence may eat at most this share of a chunk; beyond it the info string, then the fence, is given up. */
const MAX_PREFIX_SHARE = 0.25;

interface Fence {
  readonly openStart: number;
  readonly openEnd: number;
  /** Equal to `closeEnd` and to the text's length when the fence is never closed. */
  closeStart: number;
  closeEnd: number;
  closed: boolean;
  readonly marker: string;
  readonly openLine: string;
}

const OPEN_FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$/;

/** CommonMark 0.31, section 4.5: a closing fence has the opener's character, is at least as long, and nothing follows. */
function findFences(text: string): Fence[] {
  const fences: Fence[] = [];
  let current: Fence | undefined;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline + 1;
    const at = firstNonSpace(text, start);
    const unit = text.charCodeAt(at);
    if (at - start <= 3 && (unit === 0x60 || unit === 0x7e)) {
      const line = text.slice(start, newline === -1 ? end : newline).replace(/\r$/, "");
      if (current === undefined) {
        const marker = OPEN_FENCE.exec(line)?.[1];
        if (marker !== undefined) {
          current = {
            openStart: start,
            openEnd: end,
            closeStart: text.length,
            closeEnd: text.length,
            closed: false,
            marker,
            openLine: line.trim(),
          };
          fences.push(current);
        }
      } else if (closes(line, current.marker)) {
        current.closeStart = start;
        current.closeEnd = end;
        current.closed = true;
        current = undefined;
      }
    }
    start = end;
  }
  return fences;
}

function firstNonSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && at - start < 4 && text.charCodeAt(at) === 0x20) at++;
  return at;
}

function closes(line: string, marker: string): boolean {
  const trimmed = line.trim();
  if (trimmed.length < marker.length) return false;
  const char = marker.charCodeAt(0);
  for (let i = 0; i < trimmed.length; i++) if (trimmed.charCodeAt(i) !== char) return false;
  return true;
}

type Place = "outside" | "inside" | "forbidden" | "unwanted";

/** Where a cut at `at` falls. `unwanted` would leave an empty fence at a chunk's edge. */
function placeOf(fence: Fence | undefined, at: number): Place {
  if (fence === undefined || at <= fence.openStart || at >= fence.closeEnd) {
    return fence !== undefined && !fence.closed && at >= fence.closeEnd ? "inside" : "outside";
  }
  if (at < fence.openEnd) return "forbidden";
  if (at === fence.openEnd) return "unwanted";
  if (at < fence.closeStart) return "inside";
  if (at === fence.closeStart) return "unwanted";
  return "forbidden";
}

const isHighSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xd800;
const isLowSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;
const isSpace = (unit: number): boolean => unit === 0x20 || unit === 0x09 || unit === 0x3000;
const isSentenceEnd = (unit: number): boolean =>
  unit === 0x2e || unit === 0x21 || unit === 0x3f || unit === 0x2026 || unit === 0x3002;

/** One pass of cutting; holds what the passes share. */
class Cutter {
  private readonly text: string;
  private readonly limit: number;
  private readonly maxLines: number;
  private readonly cost: (unit: number) => number;
  private readonly fences: readonly Fence[];
  private fenceIndex = 0;
  private segments: Intl.Segments | undefined;

  constructor(text: string, options: ChunkOptions) {
    this.text = text;
    this.limit = options.limit;
    this.maxLines = options.maxLines ?? Number.POSITIVE_INFINITY;
    this.cost = options.unitCost ?? (() => 1);
    this.fences = findFences(text);
  }

  run(): Chunk[] {
    const chunks: Chunk[] = [];
    for (let start = 0; start < this.text.length; ) {
      const chunk = this.next(start);
      chunks.push(chunk);
      start = chunk.end;
    }
    return chunks;
  }

  private next(start: number): Chunk {
    while (this.fenceIndex < this.fences.length && (this.fences[this.fenceIndex]?.closeEnd ?? 0) <= start) {
      this.fenceIndex++;
    }
    const fence = this.fences[this.fenceIndex];
    const reopened = fence !== undefined && start >= fence.openEnd && start < fence.closeEnd ? fence : undefined;
    const prefix = reopened === undefined ? "" : this.reopenLine(reopened);
    const raw = reopened !== undefined && prefix === "";
    const cut = this.findCut(start, this.costOf(prefix), raw ? reopened.closeEnd : undefined);
    const body = this.text.slice(start, cut.end);
    const suffix = cut.close === undefined ? "" : body.endsWith("\n") ? cut.close : `\n${cut.close}`;
    return { text: prefix + body + suffix, start, end: cut.end };
  }

  private reopenLine(fence: Fence): string {
    const room = this.limit * MAX_PREFIX_SHARE;
    const full = `${fence.openLine}\n`;
    if (this.costOf(full) <= room) return full;
    const bare = `${fence.marker}\n`;
    return this.costOf(bare) <= room ? bare : "";
  }

  private costOf(text: string): number {
    let total = 0;
    for (let i = 0; i < text.length; i++) total += this.cost(text.charCodeAt(i));
    return total;
  }

  /** `rawUntil`: inside a fence that is too long to reopen; fences do not count before that place. */
  private findCut(start: number, used: number, rawUntil: number | undefined): { end: number; close?: string } {
    const { text, limit } = this;
    let spent = used;
    let lines = 0;
    let fenceAt = this.fenceIndex;
    let paragraph = -1;
    let line = -1;
    let sentence = -1;
    let space = -1;
    let hard = -1;
    let unwanted = -1;
    let at = start;
    const fits = (place: number): Place => {
      while (fenceAt < this.fences.length - 1 && place > (this.fences[fenceAt]?.closeEnd ?? 0)) fenceAt++;
      if (rawUntil !== undefined && place <= rawUntil) return spent <= limit ? "outside" : "forbidden";
      const fence = this.fences[fenceAt];
      const where = placeOf(fence, place);
      if (where === "forbidden") return "forbidden";
      const closing = where !== "outside" && fence !== undefined ? this.closeCost(place, fence.marker) : 0;
      return spent + closing <= limit ? where : "forbidden";
    };
    while (at < text.length) {
      const unit = text.charCodeAt(at);
      spent += this.cost(unit);
      if (spent > limit) break;
      at++;
      if (unit === 0x0a) lines++;
      if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at))) continue;
      const where = fits(at);
      if (where === "unwanted") unwanted = at;
      else if (where !== "forbidden") {
        hard = at;
        if (unit === 0x0a) {
          line = at;
          if (at - start > 1 && text.charCodeAt(at - 2) === 0x0a) paragraph = at;
          if (where === "outside" && placeOf(this.fences[fenceAt], at + 1) === "forbidden") paragraph = at;
        } else if (isSpace(unit)) {
          space = at;
          if (at - start > 1 && isSentenceEnd(text.charCodeAt(at - 2))) sentence = at;
        }
      }
      if (lines >= this.maxLines && hard > start) return this.finish(line > start ? line : hard);
    }
    if (at === text.length && hard === text.length) return this.finish(hard);
    if (hard <= start) return unwanted > start ? this.finish(unwanted) : { end: this.rawCut(start, used) };
    const span = hard - start;
    if (paragraph - start >= span * MIN_FILL.paragraph) return this.finish(paragraph);
    if (line - start >= span * MIN_FILL.line) return this.finish(line);
    if (sentence - start >= span * MIN_FILL.sentence) return this.finish(sentence);
    if (space - start >= span * MIN_FILL.space) return this.finish(space);
    return this.finish(this.toGrapheme(start, hard));
  }

  private closeCost(at: number, marker: string): number {
    return this.costOf(marker) + (this.text.charCodeAt(at - 1) === 0x0a ? 0 : this.cost(0x0a));
  }

  private finish(end: number): { end: number; close?: string } {
    const fence = this.fenceAround(end);
    if (fence === undefined || this.reopenLine(fence) === "") return { end };
    return { end, close: fence.marker };
  }

  private fenceAround(at: number): Fence | undefined {
    for (let i = this.fenceIndex; i < this.fences.length; i++) {
      const fence = this.fences[i] as Fence;
      if (fence.openStart >= at) return undefined;
      if (at < fence.closeEnd || !fence.closed) return fence;
    }
    return undefined;
  }

  private toGrapheme(start: number, at: number): number {
    this.segments ??= new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(this.text);
    const index = this.segments.containing(at)?.index ?? at;
    if (index <= start || index === at) return at;
    const fence = this.fenceAround(index);
    return fence !== undefined && placeOf(fence, index) !== "inside" ? at : index;
  }

  /** Nothing fits with fences kept: a plain slice, so that text still goes out. */
  private rawCut(start: number, used: number): number {
    let spent = used;
    let at = start;
    while (at < this.text.length) {
      spent += this.cost(this.text.charCodeAt(at));
      if (spent > this.limit) break;
      at++;
    }
    if (at < this.text.length && at - start > 1 && isLowSurrogate(this.text.charCodeAt(at))) at--;
    return Math.max(at, start + 1);
  }
}

/** @throws RangeError when `limit` is below {@link MIN_CHUNK_LIMIT}. */
export function chunkText(text: string, options: ChunkOptions): Chunk[] {
  if (!(options.limit >= MIN_CHUNK_LIMIT))
    throw new RangeError(`chunk limit ${options.limit} is below ${MIN_CHUNK_LIMIT}`);
  return new Cutter(text, options).run();
}

/** The chunks as messages to send: blank edges trimmed, blank chunks left out (platforms refuse empty messages). */
export function chunkMessages(text: string, options: ChunkOptions): string[] {
  return chunkText(text, options)
    .map((chunk) => chunk.text.replace(/^(?:[ \t]*\r?\n)+/, "").trimEnd())
    .filter((chunk) => chunk !== "");
}
