/** Turning what a terminal would show into plain text for a chat. Pure. */

/**
 * ECMA-48 control sequences, 7-bit and 8-bit: CSI; OSC, DCS, SOS, PM and APC strings up to their terminator; two-character
 * escapes. A string without terminator ends at the line's end, so that a stray `ESC ]` does not swallow the output.
 */
const CONTROL_SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes
  /(?:\u001b\[|\u009b)[\u0030-\u003f]*[\u0020-\u002f]*[\u0040-\u007e]?|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|\u001b[\u0020-\u002f]*[\u0030-\u007e]?/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes
const OTHER_CONTROLS = /[\u0000-\u0007\u000b-\u001f\u007f-\u009f]/g;

/** Colours, cursor movement, titles and links removed; everything else unchanged. */
export function stripAnsi(text: string): string {
  return text.includes("\u001b") || /[\u0080-\u009f]/.test(text) ? text.replace(CONTROL_SEQUENCE, "") : text;
}

/**
 * Output as a person would read it: control sequences removed, `\r` progress lines collapsed to their last state,
 * overstrikes (`_\bx`) applied, remaining control characters dropped. Tabs and newlines stay.
 */
export function cleanOutput(raw: string): string {
  const text = stripAnsi(raw);
  const lines = text.includes("\r") || text.includes("\b") ? text.split("\n").map(settleLine).join("\n") : text;
  return lines.replace(OTHER_CONTROLS, "");
}

function settleLine(line: string): string {
  const states = line.split("\r");
  let last = "";
  for (let i = states.length - 1; i >= 0; i--) {
    const state = states[i] as string;
    if (state.trim() !== "") {
      last = state;
      break;
    }
  }
  return last.includes("\b") ? applyBackspaces(last) : last;
}

function applyBackspaces(line: string): string {
  const kept: string[] = [];
  for (const char of line) {
    if (char === "\b") kept.pop();
    else kept.push(char);
  }
  return kept.join("");
}
