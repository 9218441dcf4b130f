/**
 * What of an agent's answer reaches a chat. One pure function at the one place where answers leave (channels.md 9.2):
 * the acknowledgement token is taken off, and what is only an acknowledgement is not sent.
 */

/** Seed-era name first; the newer one is accepted too (decisions.md D16). */
export const HEARTBEAT_TOKEN = "HEARTBEAT_OK";
export const SILENT_TOKEN = "NO_REPLY";
export const ACK_TOKENS = [HEARTBEAT_TOKEN, SILENT_TOKEN] as const;
export const DEFAULT_ACK_MAX_CHARS = 300;

/** Dress around a token: blanks, markdown, quotes, brackets, emoji, and punctuation behind it. One character. */
const DRESS =
  /^(?:[\s*_~`"'“”‘’«»()[\]>#|\-–—.,:;!?…]|\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Variation_Selector}|\u{200D})$/u;
/** An opening or closing tag is dress as a whole; longer ones are text. */
const TAG = /^<\/?[a-z][^<>]*>$/i;
const MAX_TAG_CHARS = 40;
const WORD = /^[A-Za-z0-9]$/;

/**
 * The text to send, or `undefined` for nothing. Tokens at the start or the end are taken off with their dress; then at
 * most `ackMaxChars` characters beside them count as part of the acknowledgement. In the middle a token is ordinary text.
 */
export function visibleAnswer(text: string, ackMaxChars: number = DEFAULT_ACK_MAX_CHARS): string | undefined {
  const trimmed = text.trim();
  const start = tokensAtStart(trimmed);
  const rest = start === 0 ? trimmed : trimmed.slice(start).replace(BEHIND, "").trim();
  const end = tokensAtEnd(rest);
  const without = end === rest.length ? rest : wordsBefore(rest.slice(0, end));
  if (start === 0 && end === rest.length) return trimmed === "" ? undefined : trimmed;
  if (skipDress(without, 0) === without.length) return undefined;
  return [...without].length <= ackMaxChars ? undefined : without;
}

/** Of the dress around a token, what belongs to the token and not to the words beside it. */
const BEHIND =
  /^(?:[*_~`"'”’»)\]>.,:;!?…]|\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Variation_Selector}|\u200D|<\/[a-z][^<>]{0,37}>)*(?:[^\S\n]*[-–—|:•]+(?=\s))?/iu;
const IN_FRONT = /(?:(?:^|\n)[^\S\n]*[>#•-]+[^\S\n]+)?(?:[*_~`"'“‘«([]|<[a-z][^<>]{0,38}>)*$/iu;
const SEPARATOR = /\s[-–—|:•]+$/u;
/** More of it is text. */
const MOST_IN_FRONT = 80;

/** The words before a trailing token, whole: their own full stop and their closing fence stay. */
function wordsBefore(text: string): string {
  const at = Math.max(0, text.length - MOST_IN_FRONT);
  return (text.slice(0, at) + text.slice(at).replace(IN_FRONT, "")).trim().replace(SEPARATOR, "").trim();
}

/** Where the text goes on after its leading tokens; 0 when there is none. */
function tokensAtStart(text: string): number {
  let after = 0;
  for (;;) {
    const from = skipDress(text, after);
    const token = ACK_TOKENS.find((one) => text.startsWith(one, from));
    if (token === undefined) return after;
    let to = from + token.length;
    while (text[to] === "_") to++;
    if (WORD.test(text[to] ?? "")) return after;
    after = to;
  }
}

/** Where the text ends before its trailing tokens; its length when there is none. */
function tokensAtEnd(text: string): number {
  let start = text.length;
  for (;;) {
    const to = skipDressBack(text, start);
    const token = ACK_TOKENS.find((one) => text.endsWith(one, to));
    if (token === undefined) return start;
    let from = to - token.length;
    while (text[from - 1] === "_") from--;
    if (WORD.test(text[from - 1] ?? "")) return start;
    start = from;
  }
}

function skipDress(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (DRESS.test(character)) at += character.length;
    else {
      const close = character === "<" ? text.slice(at, at + MAX_TAG_CHARS).indexOf(">") : -1;
      if (close < 0 || !TAG.test(text.slice(at, at + close + 1))) return at;
      at += close + 1;
    }
  }
  return at;
}

function skipDressBack(text: string, from: number): number {
  let at = from;
  while (at > 0) {
    const open = text[at - 1] === ">" ? text.slice(Math.max(0, at - MAX_TAG_CHARS), at).lastIndexOf("<") : -1;
    const tag = open < 0 ? "" : text.slice(Math.max(0, at - MAX_TAG_CHARS) + open, at);
    const low = text.charCodeAt(at - 1);
    const character = low >= 0xdc00 && low <= 0xdfff ? text.slice(at - 2, at) : text.slice(at - 1, at);
    if (TAG.test(tag)) at -= tag.length;
    else if (DRESS.test(character)) at -= character.length;
    else return at;
  }
  return at;
}
