/** A full log on its way into a chat: at most so much of its end, cleaned, secrets masked. */
import { open } from "node:fs/promises";
import type { OutboundFile } from "../core/outbound.ts";
import type { Redactor } from "./text/redact.ts";
import { redactLog } from "./text/redact-log.ts";

/** What every platform takes without extras, and what is masked in reasonable time. */
const MAX_LOG_BYTES = 9 * 1024 * 1024;

export type LogForChat =
  | { readonly kind: "log"; readonly name: string; readonly content: string }
  | { readonly kind: "empty" }
  /** `why` is a short word such as `ENOENT`: a path is nobody's business in a chat. */
  | { readonly kind: "unreadable"; readonly why: string };

export async function readLogForChat(
  file: OutboundFile,
  redactor: Redactor,
  maxBytes: number = MAX_LOG_BYTES,
): Promise<LogForChat> {
  try {
    const raw = "text" in file ? file.text : await readTail(file.path, maxBytes);
    const content = await redactLog(raw, redactor);
    return content.trim() === "" ? { kind: "empty" } : { kind: "log", name: file.name, content };
  } catch (error) {
    return { kind: "unreadable", why: (error as NodeJS.ErrnoException).code ?? (error as Error).name };
  }
}

/** The end of a file, from a line's start. */
async function readTail(path: string, maxBytes: number): Promise<string> {
  const handle = await open(path, "r");
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - maxBytes);
    const buffer = Buffer.alloc(size - start);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
    const text = buffer.subarray(0, bytesRead).toString("utf8");
    if (start === 0) return text;
    return `[… ${start} bytes left out …]\n${text.slice(text.indexOf("\n") + 1)}`;
  } finally {
    await handle.close();
  }
}
