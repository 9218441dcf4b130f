import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CursorKeyMode, encodeKey, hexByte, KEY_NAMES } from "../../../src/core/process/keys.ts";

function send(token: string, mode: CursorKeyMode = "normal"): string {
  const key = encodeKey(token, mode);
  if (key.kind === "unknown") throw new Error(`unknown key ${key.token}`);
  return Buffer.from(key.bytes).toString("utf8");
}

describe("key tokens (pty-sendkeys-burst-and-unknown)", () => {
  it.each([
    ["Enter", "\r"],
    ["return", "\r"],
    ["Tab", "\t"],
    ["S-Tab", "\x1b[Z"],
    ["btab", "\x1b[Z"],
    ["Escape", "\x1b"],
    ["Space", " "],
    ["C-Space", "\0"],
    ["BSpace", "\x7f"],
    ["Up", "\x1b[A"],
    ["down", "\x1b[B"],
    ["Right", "\x1b[C"],
    ["Left", "\x1b[D"],
    ["Home", "\x1b[1~"],
    ["End", "\x1b[4~"],
    ["PageUp", "\x1b[5~"],
    ["NPage", "\x1b[6~"],
    ["IC", "\x1b[2~"],
    ["Del", "\x1b[3~"],
    ["F1", "\x1bOP"],
    ["F4", "\x1bOS"],
    ["F5", "\x1b[15~"],
    ["F12", "\x1b[24~"],
    ["S-F5", "\x1b[15;2~"],
    ["C-F1", "\x1b[1;5P"],
    ["KP7", "\x1bOw"],
    ["KPEnter", "\x1bOM"],
    ["kp.", "\x1bOn"],
    ["C-Up", "\x1b[1;5A"],
    ["S-Delete", "\x1b[3;2~"],
    ["C-M-Left", "\x1b[1;7D"],
    ["M-Enter", "\x1b\r"],
    ["C-c", "\x03"],
    ["c-C", "\x03"],
    ["^D", "\x04"],
    ["^[", "\x1b"],
    ["C-[", "\x1b"],
    ["C-@", "\0"],
    ["C-?", "\x7f"],
    ["^?", "\x7f"],
    ["C-1", "1"],
    ["M-x", "\x1bx"],
    ["M-C-x", "\x1b\x18"],
    ["S-a", "A"],
    ["a", "a"],
    ["€", "€"],
    ["😀", "😀"],
    ["-", "-"],
    ["^", "^"],
    ["C--", "-"],
    ["  Enter  ", "\r"],
    ["", ""],
  ])("%j is %j", (token, bytes) => {
    expect(send(token)).toBe(bytes);
  });

  it("arrows, Home and End follow the application's mode, unless modified", () => {
    expect(["Up", "Down", "Right", "Left", "Home", "End"].map((key) => send(key, "application"))).toEqual(
      ["A", "B", "C", "D", "H", "F"].map((letter) => `\x1bO${letter}`),
    );
    expect(send("C-Up", "application")).toBe("\x1b[1;5A");
  });

  it.each([
    ["bogus", undefined],
    ["Entr", "enter"],
    ["pgdwn", "pgdn"],
    ["C-", undefined],
    ["0x1b", undefined],
    ["constructor", undefined],
    ["C-bogus", undefined],
  ])("%s is unknown, never typed", (token, near) => {
    expect(encodeKey(token, "normal")).toEqual({ kind: "unknown", token, near });
  });

  it("every name works in any case, with any modifiers, in both modes", () => {
    const modifiers = fc.array(fc.constantFrom("C-", "M-", "S-", "c-"), { maxLength: 3 }).map((list) => list.join(""));
    fc.assert(
      fc.property(
        fc.constantFrom(...KEY_NAMES),
        modifiers,
        fc.boolean(),
        fc.constantFrom("normal", "application" as const),
        (name, prefix, upper, mode) => {
          expect(send(prefix + (upper ? name.toUpperCase() : name), mode).length).toBeGreaterThan(0);
        },
      ),
    );
  });

  it("hex is one byte or nothing", () => {
    expect(["1b", "0x1B", "f", " 7f "].map(hexByte)).toEqual([0x1b, 0x1b, 0x0f, 0x7f]);
    expect(["", "1b5", "zz", "0x", "-1"].map(hexByte)).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });
});
