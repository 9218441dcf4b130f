/** JSON from outside, with errors that say where: the engine's own messages differ by version and often name no place. */
import { ExecError } from "../core/errors.ts";

/** Rejects with `malformed-json`; `details` hold `position` (0-based, UTF-16), `line` and `column` (1-based). */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const position = firstJsonError(text);
    const before = text.slice(0, position);
    const line = before.split("\n").length;
    const column = position - (before.lastIndexOf("\n") + 1) + 1;
    const found = position < text.length ? `unexpected ${JSON.stringify(text[position])}` : "it ends too early";
    throw new ExecError(
      "malformed-json",
      `${what} is not valid JSON: ${found} at position ${position} (line ${line}, column ${column}).`,
      { position, line, column },
    );
  }
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these inside a string
const PLAIN_CHARS = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Where a text stops being JSON; its length when it only ends too early (or is valid). */
export function firstJsonError(text: string): number {
  // What may come next. A stack instead of recursion: nesting is as deep as the sender likes.
  const open: ("{" | "[")[] = [];
  let expect: "value" | "value-or-end" | "key" | "key-or-end" | "after" = "value";
  let at = skip(SPACE, text, 0);
  while (at < text.length) {
    const char = text[at];
    if (expect === "after") {
      const container = open.at(-1);
      if (char === "," && container) expect = container === "{" ? "key" : "value";
      else if (container && char === (container === "{" ? "}" : "]")) open.pop();
      else return at;
      at += 1;
    } else if (expect === "key" || expect === "key-or-end") {
      if (char === "}" && expect === "key-or-end") {
        open.pop();
        expect = "after";
        at += 1;
      } else {
        const end = char === '"' ? stringEnd(text, at) : { ok: false, at };
        if (!end.ok) return end.at;
        at = skip(SPACE, text, end.at);
        if (at >= text.length) return at;
        if (text[at] !== ":") return at;
        at += 1;
        expect = "value";
      }
    } else if (char === "{" || char === "[") {
      open.push(char);
      expect = char === "{" ? "key-or-end" : "value-or-end";
      at += 1;
    } else if (char === "]" && expect === "value-or-end") {
      open.pop();
      expect = "after";
      at += 1;
    } else if (char === '"') {
      const end = stringEnd(text, at);
      if (!end.ok) return end.at;
      at = end.at;
      expect = "after";
    } else {
      const end = skip(SCALAR, text, at);
      if (end === at) return at;
      at = end;
      expect = "after";
    }
    at = skip(SPACE, text, at);
  }
  return text.length;
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function stringEnd(text: string, quoteAt: number): { readonly ok: boolean; readonly at: number } {
  let at = quoteAt + 1;
  for (;;) {
    at = skip(PLAIN_CHARS, text, at);
    if (text[at] === '"') return { ok: true, at: at + 1 };
    const end = skip(ESCAPE, text, at);
    if (end === at) return { ok: false, at };
    at = end;
  }
}
