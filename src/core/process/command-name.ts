/** The short name of a session: verb and target, without leading assignments, cut before the shell's own characters. */

/** Characters of the target. */
const MAX_TARGET = 48;

export function commandName(command: string): string {
  const words = leadingWords(command);
  while (words.length > 1 && /^[A-Za-z_][A-Za-z0-9_]*=/.test(words[0] ?? "")) words.shift();
  const [verb, ...rest] = words;
  if (verb === undefined) return "";
  const target = rest.find((word) => !word.startsWith("-")) ?? rest[0];
  return target === undefined
    ? cutMiddle(verb, MAX_TARGET)
    : `${cutMiddle(verb, MAX_TARGET)} ${cutMiddle(target, MAX_TARGET)}`;
}

/** Words up to the first unquoted `; | & < >` or line end; quotes are taken off. */
function leadingWords(command: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (const char of command.trimStart()) {
    if (quote !== "") {
      if (char === quote) quote = "";
      else word = (word ?? "") + char;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (char === " " || char === "\t") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (";|&<>\n\r".includes(char)) {
      // `2>` belongs to the redirection, not to the words.
      if ((char === "<" || char === ">") && word !== undefined && /^\d+$/.test(word)) word = undefined;
      break;
    } else word = (word ?? "") + char;
  }
  if (word !== undefined) words.push(word);
  return words;
}

/** Keeps both ends: `a-long…target`. Never splits a surrogate pair. */
export function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  const chars = [...text];
  if (chars.length <= max) return text;
  const head = Math.ceil((max - 1) / 2);
  return `${chars.slice(0, head).join("")}…${chars.slice(chars.length - (max - 1 - head)).join("")}`;
}
