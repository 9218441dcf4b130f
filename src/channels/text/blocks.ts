/** Telling prose from fenced code in what people and models write, for platforms that mark up each in its own way. Pure. */

const FENCE = /^ {0,3}(`{3,}|~{3,})[^\n]*\n([\s\S]*?)^ {0,3}\1[`~]*[ \t]*$/gm;

export interface Block {
  readonly kind: "text" | "pre";
  readonly value: string;
}

/** Prose with fenced code, as people and models write it, taken apart. The fences themselves are markup and vanish. */
export function blocksOf(source: string): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  const prose = (value: string): void => {
    if (value.trim() !== "") blocks.push({ kind: "text", value: value.replace(/^\n+|\s+$/g, "") });
  };
  for (const match of source.matchAll(FENCE)) {
    prose(source.slice(at, match.index));
    const inner = (match[2] ?? "").replace(/\n$/, "");
    if (inner.trim() !== "") blocks.push({ kind: "pre", value: inner });
    at = match.index + match[0].length;
  }
  prose(source.slice(at));
  return blocks;
}
