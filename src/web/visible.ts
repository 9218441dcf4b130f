/**
 * Makes a command look like what will run. Whatever a screen would hide, reorder or pass off as something else comes
 * back as a marked piece; joining `source` of all pieces gives the text unchanged.
 */

export type PieceMark =
  /** Shows nothing, or moves other characters: given as `\u{…}`. */
  | "hidden"
  /** A letter of another script that passes for a Latin one. */
  | "lookalike"
  /** A real line break; without the mark it could pass for a wrapped line. */
  | "newline"
  /** So much blank space that what follows would be out of sight. */
  | "blank";

export interface Piece {
  readonly source: string;
  /** UTF-16 offset in the whole text. */
  readonly start: number;
  /** What to show in place of `source`. */
  readonly shown: string;
  readonly mark?: PieceMark;
  /** For a screen reader and a tooltip; present with every mark. */
  readonly name?: string;
}

/** Blanks, or invisible characters of one kind, in a row that are still shown one by one. */
const MAX_BLANKS_SHOWN = 16;
/** Line breaks in a row that are still shown one by one. */
const MAX_NEWLINES_SHOWN = 3;

/** Controls, formats, private and unassigned, odd spaces, fillers: nothing a reader could see or tell apart. */
const HIDDEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}\p{DI}\u2800]/u;
const BLANKS = new RegExp(`[ \\t]{${MAX_BLANKS_SHOWN + 1},}`, "u");
const NEWLINES = new RegExp(`\\n{${MAX_NEWLINES_SHOWN + 1},}|\\n`, "u");
/** Some letters and marks are invisible too: those do not belong to a word. */
const WORD = /(?:(?!\p{DI})[\p{L}\p{M}\p{N}_])+/u;
const HIDDEN_RUN = new RegExp(`(?:${HIDDEN.source})+`, "u");
const SPECIAL = new RegExp([HIDDEN_RUN, BLANKS, NEWLINES, WORD].map((part) => `(${part.source})`).join("|"), "gu");

/** Scripts whose letters are drawn like Latin ones. */
const RIVAL = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}]/u;
/** Styled copies of Latin letters and digits: full width, mathematical, enclosed. */
const STYLED = /[\u{FF10}-\u{FF5A}\u{1D400}-\u{1D7FF}\u{2460}-\u{24FF}\u{1F130}-\u{1F189}]/u;
/** Rival letters that have a Latin twin: a word of nothing else reads as a Latin word. */
const TWINS = new Set("АВЕЅІЈКМНОРСТХУаеѕіјорсухһԁԛԝӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧονα");

function codePoint(char: string): string {
  return (char.codePointAt(0) ?? 0).toString(16).toUpperCase();
}

/** `\\u{200B}` for each, and `\\u{200B}×40` for more of one kind than anybody would count. */
function escaped(hidden: string): string {
  return hidden.replace(/([\s\S])\1*/gu, (same, char: string) => {
    const times = same.length / char.length;
    const shown = `\\u{${codePoint(char)}}`;
    return times > MAX_BLANKS_SHOWN ? `${shown}×${times}` : shown.repeat(times);
  });
}

function count(text: string, what: string): string {
  const length = [...text].length;
  return length === 1 ? `1 ${what}` : `${length} ${what}s`;
}

function lookalikes(word: string): ReadonlySet<string> {
  const chars = [...word];
  const rivals = chars.filter((char) => RIVAL.test(char));
  const styled = chars.filter((char) => STYLED.test(char));
  const mixed = /\p{Script=Latin}/u.test(word) || rivals.every((char) => TWINS.has(char));
  return new Set(mixed ? [...rivals, ...styled] : styled);
}

export function reveal(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let plainFrom = 0;
  const plainUpTo = (end: number) => {
    if (end > plainFrom) {
      const source = text.slice(plainFrom, end);
      pieces.push({ source, start: plainFrom, shown: source });
    }
  };
  const marked = (source: string, start: number, shown: string, mark: PieceMark, name: string) => {
    plainUpTo(start);
    pieces.push({ source, start, shown, mark, name });
    plainFrom = start + source.length;
  };

  for (const match of text.matchAll(SPECIAL)) {
    const [source, hidden, blanks, newlines] = match;
    const at = match.index;
    if (hidden !== undefined) {
      marked(source, at, escaped(source), "hidden", count(source, "invisible character"));
    } else if (blanks !== undefined) {
      marked(source, at, `[${source.length} blanks]`, "blank", `${source.length} blanks`);
    } else if (newlines !== undefined) {
      const many = source.length > MAX_NEWLINES_SHOWN;
      if (many) marked(source, at, `[${source.length} line breaks]`, "blank", `${source.length} line breaks`);
      else marked(source, at, "\n", "newline", "line break");
    } else {
      const odd = lookalikes(source);
      if (odd.size === 0) continue;
      let offset = at;
      for (const char of source) {
        if (odd.has(char)) marked(char, offset, char, "lookalike", `look-alike letter U+${codePoint(char)}`);
        offset += char.length;
      }
    }
  }
  plainUpTo(text.length);
  return pieces;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface HighlightedPiece extends Piece {
  readonly highlighted: boolean;
}

/** Cuts the pieces at the edges of the spans. Spans may overlap or lie outside the text; marked pieces stay whole. */
export function highlight(pieces: readonly Piece[], spans: readonly Span[]): readonly HighlightedPiece[] {
  const covers = (at: number) => spans.some((span) => span.start <= at && at < span.end);
  const edges = [...new Set(spans.flatMap((span) => [span.start, span.end]))].sort((a, b) => a - b);
  return pieces.flatMap((piece) => {
    if (piece.mark !== undefined) return [{ ...piece, highlighted: covers(piece.start) }];
    const end = piece.start + piece.source.length;
    const cuts = [piece.start, ...edges.filter((edge) => edge > piece.start && edge < end), end];
    return cuts.slice(0, -1).map((from, index) => {
      const source = piece.source.slice(from - piece.start, (cuts[index + 1] ?? end) - piece.start);
      return { source, start: from, shown: source, highlighted: covers(from) };
    });
  });
}
