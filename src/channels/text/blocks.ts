/** Telling prose from fenced code in what people and models write, for platforms that mark up each in its own way. Pure. */

export interface Block {
  readonly kind: "text" | "pre";
  readonly value: string;
  /** First word after the opening fence, where it can be the name of a language: `ts`, `c++`, `objective-c`. */
  readonly language?: string;
}

export const MAX_LANGUAGE_CHARS = 16;
const LANGUAGE = new RegExp(`^[A-Za-z0-9][A-Za-z0-9+#._-]{0,${MAX_LANGUAGE_CHARS - 1}}$`);

const OPEN = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;

/**
 * The fences are markup and vanish; a fence that is never closed holds the rest (CommonMark 0.31, 4.5). One pass over
 * the lines, so that no input takes longer than its length.
 */
export function blocksOf(source: string): Block[] {
  const blocks: Block[] = [];
  let open: string | undefined;
  let language: string | undefined;
  let lines: string[] = [];
  const finish = (): void => {
    const joined = lines.join("\n");
    const value = open === undefined ? joined.replace(/^\n+/, "").trimEnd() : joined;
    if (value.trim() !== "") {
      blocks.push(
        open === undefined
          ? { kind: "text", value }
          : { kind: "pre", value, ...(language === undefined ? {} : { language }) },
      );
    }
    lines = [];
  };
  for (const line of source.split("\n")) {
    if (open === undefined) {
      const marker = OPEN.exec(line)?.[1];
      if (marker === undefined) lines.push(line);
      else {
        finish();
        open = marker;
        language = languageOf(line.trim().slice(marker.length));
      }
    } else if (closes(line, open)) {
      finish();
      open = undefined;
    } else lines.push(line);
  }
  finish();
  return blocks;
}

function languageOf(info: string): string | undefined {
  const [word = ""] = info.trim().split(/\s+/, 1);
  return LANGUAGE.test(word) ? word : undefined;
}

/** The opener's character, at least as many of them, and nothing else on the line. */
function closes(line: string, marker: string): boolean {
  const text = line.trim();
  return (
    text.length >= marker.length &&
    line.length - line.trimStart().length <= 3 &&
    text === text.charAt(0).repeat(text.length) &&
    text.startsWith(marker)
  );
}
