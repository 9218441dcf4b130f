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
  const rest = trimmed.slice(start);
  const end = tokensAtEnd(rest);
  const without = rest.slice(0, end).trim();
  if (without === "") return undefined;
  if (start === 0 && end === rest.length) return trimmed;
  return [...without].length <= ackMaxChars ? undefined : without;
}

/** Where the text goes on after its leading tokens; 0 when there is none. */
function tokensAtStart(text: string): number {
  let after = 0;
  for (;;) {
    const from = skipDress(text, after);
    const token = ACK_TOKENS.find((one) => text.startsWith(one, from));
    if (token === undefined) return after === 0 ? 0 : from;
    let to = from + token.length;
    while (text[to] === "_") to++;
    if (WORD.test(text[to] ?? "")) return after === 0 ? 0 : from;
    after = to;
  }
}

/** Where the text ends before its trailing tokens; its length when there is none. */
function tokensAtEnd(text: string): number {
  let before = text.length;
  for (;;) {
    const to = skipDressBack(text, before);
    const token = ACK_TOKENS.find((one) => text.endsWith(one, to));
    if (token === undefined) return before === text.length ? before : to;
    let from = to - token.length;
    while (text[from - 1] === "_") from--;
    if (WORD.test(text[from - 1] ?? "")) return before === text.length ? before : to;
    before = from;
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
