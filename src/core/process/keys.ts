/**
 * Key names to the bytes a terminal would send (exec.md section 11; tmux-like names, xterm bytes).
 *
 *     token := "^" char | {("C-" | "M-" | "S-")} base
 *
 * `base` is one character or a name; names and modifiers are case-insensitive. An unknown name is an error, never text.
 */
import { nearestOf } from "../nearest.ts";

/** How the program wants unmodified arrow, Home and End keys. */
export type CursorKeyMode = "normal" | "application";

export type EncodedKeys =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly dependsOnMode: boolean }
  | { readonly kind: "unknown"; readonly token: string; readonly near: string | undefined };

const ESC = "\x1b";

/** Final letter of `CSI … letter`; `ESC O letter` in application mode. */
const CURSOR: Readonly<Record<string, { readonly normal: string; readonly final: string }>> = {
  up: { normal: `${ESC}[A`, final: "A" },
  down: { normal: `${ESC}[B`, final: "B" },
  right: { normal: `${ESC}[C`, final: "C" },
  left: { normal: `${ESC}[D`, final: "D" },
  home: { normal: `${ESC}[1~`, final: "H" },
  end: { normal: `${ESC}[4~`, final: "F" },
};

/** `CSI number ~`. */
const TILDE: Readonly<Record<string, number>> = {
  insert: 2,
  ic: 2,
  delete: 3,
  del: 3,
  dc: 3,
  pageup: 5,
  pgup: 5,
  ppage: 5,
  pagedown: 6,
  pgdn: 6,
  npage: 6,
  f5: 15,
  f6: 17,
  f7: 18,
  f8: 19,
  f9: 20,
  f10: 21,
  f11: 23,
  f12: 24,
};

/** `ESC O letter`, and `CSI 1;m letter` with modifiers. */
const FUNCTION: Readonly<Record<string, string>> = { f1: "P", f2: "Q", f3: "R", f4: "S" };

const FIXED: Readonly<Record<string, string>> = {
  enter: "\r",
  return: "\r",
  tab: "\t",
  btab: `${ESC}[Z`,
  escape: ESC,
  esc: ESC,
  space: " ",
  bspace: "\x7f",
  backspace: "\x7f",
};

const KEYPAD: Readonly<Record<string, string>> = {
  "kp/": "o",
  "kp*": "j",
  "kp-": "m",
  "kp+": "k",
  kp7: "w",
  kp8: "x",
  kp9: "y",
  kp4: "t",
  kp5: "u",
  kp6: "v",
  kp1: "q",
  kp2: "r",
  kp3: "s",
  kp0: "p",
  "kp.": "n",
  kpenter: "M",
};

export const KEY_NAMES: readonly string[] = [FIXED, CURSOR, TILDE, FUNCTION, KEYPAD].flatMap(Object.keys);

interface Modifiers {
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
}

/** One token; blank ones give no bytes. */
export function encodeKey(raw: string, mode: CursorKeyMode): EncodedKeys {
  const token = raw.trim();
  if (token === "") return bytes("");
  if (token.length === 2 && token.startsWith("^")) {
    return bytes(character(token.slice(1), { ctrl: true, alt: false, shift: false }));
  }
  const modifiers = { ctrl: false, alt: false, shift: false };
  let base = token;
  // A modifier needs something behind it: a lone `C-` is two characters, not a key.
  for (let match = /^([CMS])-(?=.)/iu.exec(base); match !== null; match = /^([CMS])-(?=.)/iu.exec(base)) {
    const letter = match[1]?.toLowerCase();
    if (letter === "c") modifiers.ctrl = true;
    else if (letter === "m") modifiers.alt = true;
    else modifiers.shift = true;
    base = base.slice(2);
  }
  if ([...base].length === 1) return bytes(character(base, modifiers));
  const named = namedKey(base.toLowerCase(), modifiers, mode);
  if (named !== undefined) return named;
  return { kind: "unknown", token, near: nearestOf(base, KEY_NAMES) };
}

/** `1b`, `0x1B`; undefined when it is not one byte. */
export function hexByte(text: string): number | undefined {
  const digits = /^(?:0x)?([0-9a-f]{1,2})$/i.exec(text.trim())?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 16);
}

function namedKey(name: string, modifiers: Modifiers, mode: CursorKeyMode): EncodedKeys | undefined {
  const code = 1 + (modifiers.shift ? 1 : 0) + (modifiers.alt ? 2 : 0) + (modifiers.ctrl ? 4 : 0);
  const plain = code === 1;
  const cursor = own(CURSOR, name);
  if (cursor !== undefined) {
    if (!plain) return bytes(`${ESC}[1;${code}${cursor.final}`);
    return bytes(mode === "application" ? `${ESC}O${cursor.final}` : cursor.normal, true);
  }
  const tilde = own(TILDE, name);
  if (tilde !== undefined) return bytes(plain ? `${ESC}[${tilde}~` : `${ESC}[${tilde};${code}~`);
  const letter = own(FUNCTION, name);
  if (letter !== undefined) return bytes(plain ? `${ESC}O${letter}` : `${ESC}[1;${code}${letter}`);
  const keypad = own(KEYPAD, name);
  const fixed = keypad === undefined ? own(FIXED, name) : `${ESC}O${keypad}`;
  if (fixed === undefined) return undefined;
  if (name === "tab" && modifiers.shift) return bytes(`${modifiers.alt ? ESC : ""}${ESC}[Z`);
  if (name === "space" && modifiers.ctrl) return bytes(`${modifiers.alt ? ESC : ""}\0`);
  return bytes(`${modifiers.alt ? ESC : ""}${fixed}`);
}

function character(char: string, modifiers: Modifiers): string {
  let text = modifiers.shift && /^[a-z]$/.test(char) ? char.toUpperCase() : char;
  if (modifiers.ctrl) {
    const code = char.toUpperCase().charCodeAt(0);
    if (char === "?") text = "\x7f";
    else if (char === " ") text = "\0";
    else if (char.length === 1 && code >= 64 && code <= 95) text = String.fromCharCode(code & 31);
  }
  return `${modifiers.alt ? ESC : ""}${text}`;
}

function bytes(text: string, dependsOnMode = false): EncodedKeys {
  return { kind: "bytes", bytes: Buffer.from(text, "utf8"), dependsOnMode };
}

function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
