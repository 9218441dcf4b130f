/** A whole log for an attachment: cleaned and masked, without holding up the process for long. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { cleanOutput } from "./clean.ts";
import type { Redactor } from "./redact.ts";

/** One turn of the event loop works on about this much; a few milliseconds. */
const SLICE = 128 * 1024;
/** A private key block that begins in a slice is looked at as a whole, if it ends within this much. */
const MAX_KEY_BLOCK = 32 * 1024;
const KEY_BEGIN = "-----BEGIN ";
const KEY_END = "-----END ";

export async function redactLog(raw: string, redactor: Redactor): Promise<string> {
  const parts: string[] = [];
  for (let start = 0; start < raw.length; ) {
    const end = sliceEnd(raw, start);
    parts.push(redactor.redact(cleanOutput(raw.slice(start, end))).text);
    start = end;
    if (start < raw.length) await nextTurn();
  }
  return parts.join("");
}

/** At a line end when there is one near, and never inside a key block. */
function sliceEnd(raw: string, start: number): number {
  const target = start + SLICE;
  if (target >= raw.length) return raw.length;
  const newline = raw.lastIndexOf("\n", target);
  let end = newline > start ? newline + 1 : target;
  if ((raw.charCodeAt(end) & 0xfc00) === 0xdc00) end += 1;
  const begin = raw.lastIndexOf(KEY_BEGIN, end - 1);
  if (begin < start) return end;
  const close = raw.indexOf(KEY_END, begin);
  if (close < end || close - begin > MAX_KEY_BLOCK) return end;
  const lineEnd = raw.indexOf("\n", close);
  return lineEnd === -1 ? raw.length : lineEnd + 1;
}
