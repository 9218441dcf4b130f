/**
 * Cleans one stream of terminal output, piece by piece (exec.md section 5). Kept: text, TAB, LF, CR and colour
 * (`ESC [ … m`, which every view can drop with `stripColor`). Dropped: every other escape sequence, bidi overrides
 * and invisible format characters. Other control characters are shown as `\xNN`.
 */

/** Longest operating-system command (`ESC ]`, also DCS, PM, APC) waited for; then what was held is given out as text. */
export const MAX_STRING_SEQUENCE = 4096;
/** Longest `ESC [ …` waited for. */
export const MAX_CSI = 128;

/** What a program asked of its terminal; only PTY sessions care. */
export type TerminalRequest =
  | { readonly kind: "cursor-position"; readonly private: boolean }
  | { readonly kind: "device-attributes" }
  | { readonly kind: "mode"; readonly mode: number; readonly on: boolean };

/** What opens a sequence: ESC and its 8-bit forms. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const OPENER = /[\x1b\x90\x98\x9b\x9d-\x9f]/g;

/**
 * What can not go out as it is. One class without alternatives: it runs over every character that is not
 * ASCII. Prepended concatenation marks of Arabic and Syriac are visible text and stay; ZWJ and ZWNJ stay because
 * joined emoji and Persian need them. `\udb40` starts the invisible tag characters (and some that are harmless).
 */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\udb40]/;
/** The same character again and again is one match: `cat /dev/zero` must not cost a call for each byte. */
const UNSAFE_RUN = new RegExp(`(${UNSAFE.source})\\1*`, "g");
const TAGS = /\udb40[\udc00-\udc7f]/g;

const SGR_BODY = /^[0-9;:]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const COLOR = /\x1b\[[0-9;:]*m/g;

type State = "text" | "escape" | "escape-intermediate" | "csi" | "string" | "string-escape";

/** Text outside sequences: controls shown, invisible characters dropped. */
function cleanText(text: string): string {
  if (!UNSAFE.test(text)) return text;
  return text
    .replace(TAGS, "")
    .replace(UNSAFE_RUN, (run: string, first: string) => shownControl(first.charCodeAt(0)).repeat(run.length));
}

function shownControl(code: number): string {
  if (code === 0xdb40) return "\udb40";
  // Openers and the end of a string, standing alone, and the characters without a picture.
  if (code === 0x1b || code === 0x90 || code === 0x98 || (code >= 0x9b && code !== 0x9a)) return "";
  return `\\x${code.toString(16).padStart(2, "0")}`;
}

/** Removes the only escape sequences a `Sanitizer` lets through. */
export function stripColor(text: string): string {
  return text.includes("\x1b") ? text.replace(COLOR, "") : text;
}

export class Sanitizer {
  #state: State = "text";
  #held = "";
  readonly #opener = new RegExp(OPENER);
  readonly #onRequest: ((request: TerminalRequest) => void) | undefined;

  constructor(onRequest?: (request: TerminalRequest) => void) {
    this.#onRequest = onRequest;
  }

  /** No sequence is open. */
  get atRest(): boolean {
    return this.#state === "text";
  }

  /** `text` is well-formed, as a streaming decoder gives it: no half of a surrogate pair. */
  push(text: string): string {
    // Nearly all output is text and colour. Where nothing else is left when the colours are taken out, nothing else was in.
    if (this.#state === "text" && !UNSAFE.test(stripColor(text))) return text;
    let out = "";
    let at = 0;
    while (at < text.length) {
      if (this.#state !== "text") {
        const step = this.#inSequence(text, at);
        out += step.out;
        at = step.next;
        continue;
      }
      this.#opener.lastIndex = at;
      const hit = this.#opener.exec(text);
      if (hit === null) return out + cleanText(at === 0 ? text : text.slice(at));
      out += cleanText(text.slice(at, hit.index));
      this.#open(text.charCodeAt(hit.index));
      at = hit.index + 1;
    }
    return out;
  }

  /** At the end of the stream: an unfinished sequence is dropped. */
  end(): void {
    this.#state = "text";
    this.#held = "";
  }

  #open(code: number): void {
    if (code === 0x1b) this.#enter("escape");
    else this.#enter(code === 0x9b ? "csi" : "string");
  }

  #enter(state: State): void {
    this.#state = state;
    this.#held = "";
  }

  /** Ends the sequence and gives what was held out as text: nothing a program printed may vanish behind a broken one. */
  #giveUp(): string {
    const held = this.#held;
    this.#enter("text");
    return cleanText(held);
  }

  #inSequence(text: string, at: number): { readonly out: string; readonly next: number } {
    switch (this.#state) {
      case "escape":
        return { out: "", next: this.#afterEscape(text.charCodeAt(at), at) };
      case "escape-intermediate": {
        const code = text.charCodeAt(at);
        if (code >= 0x20 && code <= 0x2f) return { out: "", next: at + 1 };
        this.#enter("text");
        return { out: "", next: code >= 0x30 && code <= 0x7e ? at + 1 : at };
      }
      case "csi":
        return this.#csi(text, at);
      case "string":
        return this.#string(text, at);
      case "string-escape":
        // ESC \ ends the string; any other escape means that it was never ended.
        if (text.charCodeAt(at) === 0x5c) {
          this.#enter("text");
          return { out: "", next: at + 1 };
        } else {
          const out = this.#giveUp();
          this.#enter("escape");
          return { out, next: at };
        }
      case "text":
        return { out: "", next: at };
    }
  }

  #afterEscape(code: number, at: number): number {
    if (code === 0x5b) this.#enter("csi");
    else if (code === 0x5d || code === 0x50 || code === 0x58 || code === 0x5e || code === 0x5f) this.#enter("string");
    else if (code === 0x1b) this.#enter("escape");
    else if (code >= 0x20 && code <= 0x2f) this.#enter("escape-intermediate");
    else {
      this.#enter("text");
      // A control or non-ASCII character does not belong to the escape: look at it again as text.
      if (code < 0x30 || code > 0x7e) return at;
    }
    return at + 1;
  }

  #csi(text: string, at: number): { readonly out: string; readonly next: number } {
    let next = at;
    while (next < text.length) {
      const code = text.charCodeAt(next);
      if (code < 0x20 || code > 0x3f) break;
      next++;
    }
    this.#held += text.slice(at, next);
    if (this.#held.length > MAX_CSI) return { out: this.#giveUp(), next };
    if (next === text.length) return { out: "", next };
    const final = text.charCodeAt(next);
    const body = this.#held;
    this.#enter("text");
    if (final < 0x40 || final > 0x7e) return { out: "", next };
    if (final === 0x6d && SGR_BODY.test(body)) return { out: `\x1b[${body}m`, next: next + 1 };
    this.#request(body, final);
    return { out: "", next: next + 1 };
  }

  #string(text: string, at: number): { readonly out: string; readonly next: number } {
    let next = at;
    while (next < text.length) {
      const code = text.charCodeAt(next);
      if (code === 0x07 || code === 0x9c) {
        this.#enter("text");
        return { out: "", next: next + 1 };
      }
      if (code === 0x18 || code === 0x1a) {
        this.#enter("text");
        return { out: "", next: next + 1 };
      }
      if (code === 0x1b) {
        this.#held += text.slice(at, next);
        this.#state = "string-escape";
        return { out: "", next: next + 1 };
      }
      if (code === 0x0a || this.#held.length + (next - at) >= MAX_STRING_SEQUENCE) {
        this.#held += text.slice(at, next);
        return { out: this.#giveUp(), next };
      }
      next++;
    }
    this.#held += text.slice(at, next);
    return { out: "", next };
  }

  #request(body: string, final: number): void {
    if (this.#onRequest === undefined) return;
    if (final === 0x6e && (body === "6" || body === "?6")) {
      this.#onRequest({ kind: "cursor-position", private: body.startsWith("?") });
    } else if (final === 0x63 && (body === "" || body === "0")) {
      this.#onRequest({ kind: "device-attributes" });
    } else if ((final === 0x68 || final === 0x6c) && body.startsWith("?")) {
      for (const mode of body.slice(1).split(";")) {
        this.#onRequest({ kind: "mode", mode: Number(mode), on: final === 0x68 });
      }
    }
  }
}
