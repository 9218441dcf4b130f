/** A text without some of its characters, and the way back to where the others stood. */

/** UTF-16 units, `end` not included. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Without {
  readonly text: string;
  /** Where a span of the shorter text stands in the whole one: in pieces, when something was left out inside it. */
  sources(span: Span): readonly Span[];
}

/** `dropped`: a global expression for what is left out. */
export function without(whole: string, dropped: RegExp): Without {
  const parts: string[] = [];
  const pieces: { readonly at: number; readonly start: number; readonly length: number }[] = [];
  let at = 0;
  let from = 0;
  const keep = (end: number) => {
    if (end === from) return;
    parts.push(whole.slice(from, end));
    pieces.push({ at, start: from, length: end - from });
    at += end - from;
  };
  for (const match of whole.matchAll(dropped)) {
    keep(match.index);
    from = match.index + match[0].length;
  }
  keep(whole.length);

  /** The last piece that begins at or before that place. */
  const pieceAt = (place: number): number => {
    let low = 0;
    let high = pieces.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pieces[middle]?.at ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
  return {
    text: parts.join(""),
    sources({ start, end }) {
      const found: Span[] = [];
      for (let next = Math.max(0, pieceAt(start)); next < pieces.length; next++) {
        const piece = pieces[next];
        if (piece === undefined || piece.at >= end) break;
        const first = Math.max(0, start - piece.at);
        const last = Math.min(piece.length, end - piece.at);
        if (last > first) found.push({ start: piece.start + first, end: piece.start + last });
      }
      return found;
    },
  };
}
