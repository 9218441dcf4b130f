import { ExecError } from "../errors.ts";

/** Longest namespace, key, stream or topic name, in UTF-16 units. */
const MAX_NAME_LENGTH = 4096;

/**
 * Any text is a good name except one with a lone surrogate: it has no UTF-8 form, so two different names would
 * become one record.
 */
export function assertName(what: string, name: string): void {
  if (typeof name !== "string" || name.length > MAX_NAME_LENGTH) {
    throw new ExecError("invalid-argument", `The ${what} must be text of at most ${MAX_NAME_LENGTH} characters.`);
  }
  if (/\p{Surrogate}/u.test(name)) {
    throw new ExecError("invalid-argument", `The ${what} is not valid Unicode text: it has half of a surrogate pair.`);
  }
}

/** The first text, in UTF-8 byte order, after everything that starts with `prefix`; `undefined` when nothing is. */
export function prefixEnd(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue;
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    return String.fromCodePoint(...points, next);
  }
  return undefined;
}

/**
 * SQLite's C interface ends a text at its first NUL, so two names could become one. NUL and the character that
 * escapes it are replaced in a way that keeps both the byte order and "starts with".
 */
export function toSqlText(name: string): string {
  if (!name.includes("\0") && !name.includes("\x01")) return name;
  return name.replaceAll("\x01", "\x01\x02").replaceAll("\0", "\x01\x01");
}

export function fromSqlText(text: string): string {
  return text.includes("\x01") ? text.replaceAll("\x01\x01", "\0").replaceAll("\x01\x02", "\x01") : text;
}
