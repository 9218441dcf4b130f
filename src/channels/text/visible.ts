/**
 * Showing a command so that nothing in it hides: invisible, reordering and look-alike characters are made visible.
 * Only the display changes; what runs is the original text.
 */

/**
 * Controls, format characters (zero-width, bidi, tags), line and paragraph separators, private use, unassigned, lone
 * surrogates, every space but U+0020, and what Unicode says renders as nothing (Hangul fillers, variation selectors).
 * U+2800 is a braille cell without dots.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

/** More line breaks in a row than this are shown as `\u{A}`: blank lines must not push the end of a command out of sight. */
const MAX_LINE_BREAKS = 2;

export interface VisibleOptions {
  /** `keep` (default) leaves line breaks and tabs as they are; `escape` shows them too, for one-line places. */
  readonly whitespace?: "keep" | "escape";
}

export function showInvisible(text: string, options: VisibleOptions = {}): string {
  const keep = options.whitespace !== "escape";
  let breaks = 0;
  let end = 0;
  return text.replace(INVISIBLE, (char, offset: number) => {
    breaks = offset === end ? breaks : 0;
    end = offset + char.length;
    if (keep && char === "\t") return char;
    if (keep && char === "\n") return ++breaks <= MAX_LINE_BREAKS ? char : escapeChar(char);
    return escapeChar(char);
  });
}

function escapeChar(char: string): string {
  return `\\u{${(char.codePointAt(0) as number).toString(16).toUpperCase()}}`;
}

const WORD = /[\p{L}\p{M}\p{N}_]+/gu;

/** Alphabets with letters that look like Latin ones. Han, kana and Hangul do not, and mix with Latin in honest text. */
const CONFUSABLE_SCRIPTS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["Cyrillic", /\p{Script=Cyrillic}/u],
  ["Greek", /\p{Script=Greek}/u],
  ["Armenian", /\p{Script=Armenian}/u],
  ["Cherokee", /\p{Script=Cherokee}/u],
  ["Coptic", /\p{Script=Coptic}/u],
  ["Georgian", /\p{Script=Georgian}/u],
  ["Lisu", /\p{Script=Lisu}/u],
  // Full-width and mathematical forms: other code points for the same letters.
  ["styled", /[\uff21-\uff3a\uff41-\uff5a\u{1d400}-\u{1d7ff}\u2100-\u214f]/u],
];

const ASCII_LETTER = /[A-Za-z]/;

/**
 * Words that mix Latin letters with a look-alike alphabet, or are written in styled letters: `сurl` with a Cyrillic
 * first letter. In order, each once, at most `limit` (default 10).
 */
export function disguisedWords(text: string, limit = 10): string[] {
  const found = new Set<string>();
  for (const [word] of text.matchAll(WORD)) {
    const scripts = CONFUSABLE_SCRIPTS.filter(([, pattern]) => pattern.test(word)).map(([name]) => name);
    const mixed = scripts.length > 1 || (scripts.length === 1 && ASCII_LETTER.test(word));
    if (mixed || scripts.includes("styled")) found.add(word);
    if (found.size >= limit) break;
  }
  return [...found];
}
