/**
 * The actions of the process tool that reach a session's program: four send something, one changes the size of its
 * terminal. Everything is checked before the first byte goes.
 */
import { ExecError } from "../errors.ts";
import { type CursorKeyMode, encodeKey, hexByte } from "../process/keys.ts";
import type { ProcessSession } from "../process/session.ts";
import { type Phrase, type PhraseKey, phrase, type Wording } from "../words/phrase.ts";
import type { ProcessArgs } from "./process-tool.ts";

export interface Sent {
  readonly said: Phrase;
  readonly details: Readonly<Record<string, unknown>>;
}

type InputAction = (session: ProcessSession, args: ProcessArgs) => Promise<Sent>;

const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** A program that has just started says how it wants its arrow keys with its first output; if it stays silent, the normal way. */
const CURSOR_MODE_WAIT_MS = 1000;
/** Largest terminal; a replay shows no larger one either. */
const MAX_COLS = 500;
const MAX_ROWS = 200;

export const inputActions: Readonly<Record<"write" | "send-keys" | "submit" | "paste", InputAction>> = {
  async write(session, args) {
    if (args.data === undefined) throw invalid('write needs "data" (an empty text is allowed together with eof).');
    const bytes = Buffer.from(args.data, "utf8");
    if (bytes.length > 0) await session.write(bytes);
    if (args.eof === true) await session.endInput();
    return sent(session, bytes.length, args.eof === true ? "session.sent.wroteAndEnded" : "session.sent.wrote");
  },

  async "send-keys"(session, args) {
    if (!session.pty) {
      throw invalid(phrase("session.noTerminal", { session: session.id }));
    }
    const parts: Uint8Array[] = [];
    if (args.literal !== undefined && args.literal !== "") parts.push(Buffer.from(args.literal, "utf8"));
    const hex = (args.hex ?? []).map((text) => {
      const byte = hexByte(text);
      if (byte === undefined)
        throw invalid(`"${text.slice(0, 16)}" is not a byte in hex (00 to ff). Nothing was sent.`);
      return byte;
    });
    if (hex.length > 0) parts.push(Uint8Array.from(hex));
    parts.push(...(await encodeAll(session, args.keys ?? [])));
    const total = parts.reduce((sum, part) => sum + part.length, 0);
    if (total === 0) throw invalid("No key data provided.");
    await sendPaced(session, parts, args.paceMs ?? 0);
    return sent(session, total, "session.sent.keys");
  },

  async submit(session) {
    // A terminal turns CR into a line end; a pipe does not.
    await session.write(session.pty ? "\r" : "\n");
    return sent(session, 1, "session.sent.submitted");
  },

  async paste(session, args) {
    const text = args.text ?? "";
    const bracketed = wantsBrackets(session, args.bracketed);
    if (text === "" && !bracketed) throw invalid("No paste text provided.");
    // The end mark inside the text would let the rest of it be typed instead of pasted.
    const safe = text.replaceAll(PASTE_END, "").replaceAll(PASTE_START, "");
    // A terminal pastes line ends as CR, like the Enter key; a pipe gets the text as it is.
    const lines = session.pty ? safe.replaceAll("\r\n", "\r").replaceAll("\n", "\r") : safe;
    const whole = bracketed ? `${PASTE_START}${lines}${PASTE_END}` : lines;
    await session.write(whole);
    const bytes = Buffer.byteLength(whole, "utf8");
    const said = bracketed ? "session.sent.pastedBracketed" : "session.sent.pasted";
    const result = sent(session, bytes, said, [...safe].length);
    return { ...result, details: { ...result.details, bracketed } };
  },
};

/** What is not given stays as it is. */
export function resizeTerminal(session: ProcessSession, args: ProcessArgs): Sent {
  const now = session.handle?.terminal;
  if (now === undefined) {
    throw invalid(
      phrase(session.handle === undefined ? "session.notStartedTerminal" : "session.noSize", { session: session.id }),
    );
  }
  if (args.cols === undefined && args.rows === undefined) {
    throw invalid(phrase("session.sizeMissing", { cols: MAX_COLS, rows: MAX_ROWS }));
  }
  const cols = within("cols", args.cols ?? now.cols, MAX_COLS);
  const rows = within("rows", args.rows ?? now.rows, MAX_ROWS);
  session.resize(cols, rows);
  return {
    said: phrase("session.resized", { session: session.id, cols, rows }),
    details: { cols, rows },
  };
}

function within(name: string, value: number, most: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw invalid(phrase("session.sizeBad", { name, most, value }));
}

/**
 * Unless told, a paste is bracketed when the program asked for that; to one that did not the marks would be typed text.
 * Where it is not known what the program asked for (another machine), it is bracketed.
 */
function wantsBrackets(session: ProcessSession, wanted: boolean | undefined): boolean {
  if (!session.pty) return wanted === true;
  return wanted ?? session.handle?.terminal?.bracketedPaste ?? true;
}

async function encodeAll(session: ProcessSession, tokens: readonly string[]): Promise<Uint8Array[]> {
  let encoded = encodeWith(tokens, currentMode(session));
  if (encoded.some((key) => key.dependsOnMode) && session.handle?.terminal?.cursorKeys === "unknown") {
    await firstOutput(session);
    encoded = encodeWith(tokens, currentMode(session));
  }
  return encoded.map((key) => key.bytes);
}

function encodeWith(tokens: readonly string[], mode: CursorKeyMode) {
  return tokens.map((token) => {
    const key = encodeKey(token, mode);
    if (key.kind === "bytes") return key;
    const typed = key.token.slice(0, 32);
    throw invalid(
      key.near === undefined
        ? phrase("session.keyUnknown", { key: typed })
        : phrase("session.keyNear", { key: typed, near: key.near }),
    );
  });
}

function currentMode(session: ProcessSession): CursorKeyMode {
  return session.handle?.terminal?.cursorKeys === "application" ? "application" : "normal";
}

function firstOutput(session: ProcessSession): Promise<void> {
  const left = CURSOR_MODE_WAIT_MS - session.runtimeMs;
  if (session.totalChars > 0 || left <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      unwatch();
      resolve();
    };
    const timer = setTimeout(done, left);
    const unwatch = session.onChange(done);
  });
}

/** Some programs drop keys that come in one burst. */
async function sendPaced(session: ProcessSession, parts: readonly Uint8Array[], paceMs: number): Promise<void> {
  if (paceMs === 0) {
    await session.write(Buffer.concat(parts));
    return;
  }
  for (const [index, part] of parts.entries()) {
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, paceMs));
    await session.write(part);
  }
}

function sent(
  session: ProcessSession,
  bytes: number,
  key: Extract<PhraseKey, `session.sent.${string}`>,
  characters = 0,
): Sent {
  const queuedBytes = session.handle?.queuedInput ?? 0;
  const waiting = queuedBytes > 0 ? phrase("session.sent.waiting", { bytes: queuedBytes }) : "";
  return { said: phrase(key, { bytes, characters, session: session.id, waiting }), details: { bytes, queuedBytes } };
}

function invalid(message: Wording): ExecError {
  return new ExecError("invalid-argument", message);
}
