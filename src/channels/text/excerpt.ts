/** Showing part of a long text honestly: head and tail with the number of hidden characters between them. */

export interface Excerpt {
  readonly head: string;
  readonly tail: string;
  /** UTF-16 units left out between `head` and `tail`; 0 when `head` is the whole text. */
  readonly hidden: number;
}

export interface ExcerptOptions {
  /** Most units of head plus tail, counted by `unitCost`. */
  readonly budget: number;
  readonly unitCost?: (unit: number) => number;
  /** Share of the budget for the head. Default 0.5: the end of a command matters as much as its start. */
  readonly headShare?: number;
}

export function textCost(text: string, unitCost?: (unit: number) => number): number {
  if (unitCost === undefined) return text.length;
  let total = 0;
  for (let i = 0; i < text.length; i++) total += unitCost(text.charCodeAt(i));
  return total;
}

export function excerpt(text: string, options: ExcerptOptions): Excerpt {
  const cost = options.unitCost ?? (() => 1);
  if (textCost(text, options.unitCost) <= options.budget) return { head: text, tail: "", hidden: 0 };
  const headBudget = Math.floor(options.budget * (options.headShare ?? 0.5));
  const headEnd = graphemeFloor(text, unitsWithin(text, headBudget, cost));
  const tailStart = graphemeCeil(text, text.length - unitsWithinEnd(text, options.budget - headBudget, cost));
  if (tailStart <= headEnd) return { head: text, tail: "", hidden: 0 };
  return { head: text.slice(0, headEnd), tail: text.slice(tailStart), hidden: tailStart - headEnd };
}

/** The end of a text within a budget, starting at a line when one starts in its first half. */
export function tailWithin(text: string, budget: number, unitCost?: (unit: number) => number): Excerpt {
  const cut = excerpt(text, { budget, headShare: 0, ...(unitCost === undefined ? {} : { unitCost }) });
  if (cut.hidden === 0) return cut;
  const newline = cut.tail.indexOf("\n");
  if (newline === -1 || newline > cut.tail.length / 2) return cut;
  return { head: "", tail: cut.tail.slice(newline + 1), hidden: cut.hidden + newline + 1 };
}

/** The beginning of a text within a budget, ending with a whole line when one ends in its second half. */
export function headWithin(text: string, budget: number, unitCost?: (unit: number) => number): string {
  const cut = excerpt(text, { budget, headShare: 1, ...(unitCost === undefined ? {} : { unitCost }) });
  if (cut.hidden === 0) return cut.head;
  const newline = cut.head.lastIndexOf("\n");
  return newline < cut.head.length / 2 ? cut.head : cut.head.slice(0, newline);
}

function unitsWithin(text: string, budget: number, cost: (unit: number) => number): number {
  let spent = 0;
  let at = 0;
  for (; at < text.length; at++) {
    spent += cost(text.charCodeAt(at));
    if (spent > budget) break;
  }
  return at;
}

function unitsWithinEnd(text: string, budget: number, cost: (unit: number) => number): number {
  let spent = 0;
  let count = 0;
  for (; count < text.length; count++) {
    spent += cost(text.charCodeAt(text.length - 1 - count));
    if (spent > budget) break;
  }
  return count;
}

function graphemeFloor(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.max(0, Math.min(at, text.length));
  return graphemes(text).containing(at)?.index ?? at;
}

function graphemeCeil(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.max(0, Math.min(at, text.length));
  const segment = graphemes(text).containing(at);
  return segment === undefined || segment.index === at ? at : segment.index + segment.segment.length;
}

function graphemes(text: string): Intl.Segments {
  return new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text);
}
