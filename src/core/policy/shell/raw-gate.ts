/**
 * What is refused before any parser looks: text that a person can not see, that a shell and a parser may read
 * differently, or that costs too much to read (shell-analysis.md sections 1 and 4).
 */
import type { Reason } from "../decision.ts";

/** UTF-16 units. Long enough for real commands, short enough for the slowest input of the parser. */
export const MAX_COMMAND_LENGTH = 8192;

/** C0 except tab and newline, DEL and C1. CR is here: bash keeps it inside the word, people do not see it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/u;

/**
 * Format characters (zero width, bidi, tags), blanks that are not a blank to bash, fillers, lone surrogates, and
 * variation selectors except the one that emoji carry.
 */
const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u2800]|(?!\ufe0f)\p{Default_Ignorable_Code_Point}|(?! )\p{Zs}/u;

const codePoint = (text: string): string =>
  `U+${(text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

/** The first thing wrong with the raw text, or undefined. */
export function rawGate(command: string): Reason | undefined {
  if (command.length > MAX_COMMAND_LENGTH) return { code: "too-long" };
  const control = CONTROL.exec(command);
  if (control) {
    return {
      code: "control-character",
      subject: codePoint(control[0]),
      span: { start: control.index, end: control.index + 1 },
    };
  }
  const invisible = INVISIBLE.exec(command);
  if (invisible) {
    return {
      code: "invisible-character",
      subject: codePoint(invisible[0]),
      span: { start: invisible.index, end: invisible.index + invisible[0].length },
    };
  }
  const continuation = command.indexOf("\\\n");
  if (continuation >= 0) return { code: "line-continuation", span: { start: continuation, end: continuation + 2 } };
  return undefined;
}
