/**
 * A second, independent reading of one shell word. The parser says where a word begins and ends; this says what it
 * means, knows only literal text and quotes, and names whatever else it meets. Both must agree before a word counts.
 */
import type { ReasonCode } from "../decision.ts";

export type DecodedWord =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly code: ReasonCode };

const no = (code: ReasonCode): DecodedWord => ({ ok: false, code });

const ANSI_C_SIMPLE: Readonly<Record<string, string>> = { n: "\n", t: "\t", "\\": "\\", "'": "'", '"': '"' };

/** What `$` at `index` of `text` begins, or undefined when it is a plain dollar sign to bash. */
function expansionAt(text: string, index: number, quoted: boolean): ReasonCode | undefined {
  const next = text[index + 1];
  if (next === undefined) return undefined;
  if (next === "(") return text[index + 2] === "(" ? "dynamic-argument" : "command-substitution";
  if (!quoted && next === '"') return "dynamic-argument";
  return /[A-Za-z0-9_{[@*#?$!-]/.test(next) ? "dynamic-argument" : undefined;
}

/** `text` is the source of one word, for example `'a b'"c"\ d`. */
export function decodeWord(text: string): DecodedWord {
  let value = "";
  let i = 0;
  while (i < text.length) {
    const c = text[i] as string;
    switch (c) {
      case "'": {
        const close = text.indexOf("'", i + 1);
        if (close < 0) return no("syntax-error");
        value += text.slice(i + 1, close);
        i = close + 1;
        continue;
      }
      case '"': {
        i += 1;
        for (;;) {
          const d = text[i];
          if (d === undefined) return no("syntax-error");
          if (d === '"') break;
          if (d === "`") return no("command-substitution");
          if (d === "$") {
            const code = expansionAt(text, i, true);
            if (code) return no(code);
          }
          if (d === "\\") {
            const e = text[i + 1];
            if (e === undefined) return no("syntax-error");
            value += e === "$" || e === "`" || e === '"' || e === "\\" ? e : `\\${e}`;
            i += 2;
            continue;
          }
          value += d;
          i += 1;
        }
        i += 1;
        continue;
      }
      case "\\": {
        const next = text[i + 1];
        if (next === undefined || next === "\n") return no("unsupported-syntax");
        value += next;
        i += 2;
        continue;
      }
      case "$": {
        if (text[i + 1] === "'") {
          const ansi = decodeAnsiC(text, i + 2);
          if (!ansi) return no("unsupported-syntax");
          value += ansi.value;
          i = ansi.end;
          continue;
        }
        const code = expansionAt(text, i, false);
        if (code) return no(code);
        value += c;
        i += 1;
        continue;
      }
      case "`":
        return no("command-substitution");
      case "*":
      case "?":
        return no("glob");
      case "[":
        if (text !== "[") return no("glob");
        value += c;
        i += 1;
        continue;
      case "{": {
        // `{}` and `stash@{0}` are plain text to bash; a comma or `..` is what makes it expand.
        const rest = text.slice(i);
        if (rest.includes(",") || rest.includes("..")) return no("brace-expansion");
        value += c;
        i += 1;
        continue;
      }
      case "~":
        if (i === 0 || text[i - 1] === "=" || text[i - 1] === ":") return no("tilde");
        value += c;
        i += 1;
        continue;
      case "(":
      case ")":
      case "<":
      case ">":
      case "|":
      case "&":
      case ";":
      case " ":
      case "\t":
      case "\n":
        return no("unsupported-syntax");
      default:
        value += c;
        i += 1;
    }
  }
  return { ok: true, value };
}

/** Body of `$'…'` from `start`. Only escapes whose meaning is the same in every bash; a result with NUL never. */
function decodeAnsiC(text: string, start: number): { value: string; end: number } | undefined {
  let value = "";
  let i = start;
  for (;;) {
    const c = text[i];
    if (c === undefined) return undefined;
    if (c === "'") return { value, end: i + 1 };
    if (c !== "\\") {
      value += c;
      i += 1;
      continue;
    }
    const letter = text[i + 1] ?? "";
    const simple = ANSI_C_SIMPLE[letter];
    if (simple !== undefined) {
      value += simple;
      i += 2;
      continue;
    }
    const numeric = /^\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3}))/.exec(text.slice(i, i + 5));
    if (!numeric) return undefined;
    const code = numeric[1] === undefined ? Number.parseInt(numeric[2] ?? "", 8) : Number.parseInt(numeric[1], 16);
    if (code < 1 || code > 126) return undefined;
    value += String.fromCharCode(code);
    i += numeric[0].length;
  }
}

/** Single quotes for any value: the only characters bash then sees are the value's own. */
export function quoteWord(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}
