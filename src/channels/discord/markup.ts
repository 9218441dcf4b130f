/**
 * Text for Discord's Markdown. Everything a person or a command wrote is escaped or stands in code; that nobody is
 * pinged is guaranteed by `allowed_mentions`, not by this. Pure.
 */

import { MAX_LANGUAGE_CHARS } from "../text/blocks.ts";

const ZERO_WIDTH_SPACE = "\u200b";
const SPECIAL = /[\\`*_~|<>[\]()#@]/g;
/** List and quote markers mean something only where a line begins. */
const LINE_START = /^(\s*)([-+]|\d+\.)(?=\s)/gm;
const LINK = /https?:\/\/[^\s<>()[\]`|]+/g;
const EVERYONE = /@(?=everyone|here)/g;

/** Reads back as typed. Links stay links; `@everyone` stays harmless even when somebody copies it. */
export function escapeMarkdown(value: string): string {
  let result = "";
  let at = 0;
  for (const match of value.matchAll(LINK)) {
    result += escapePlain(value.slice(at, match.index)) + match[0];
    at = match.index + match[0].length;
  }
  return result + escapePlain(value.slice(at));
}

function escapePlain(value: string): string {
  return value
    .replace(SPECIAL, (char) => `\\${char}`)
    .replace(LINE_START, (_all, blank: string, mark: string) =>
      mark.length === 1 ? `${blank}\\${mark}` : `${blank}${mark.slice(0, -1)}\\.`,
    )
    .replace(EVERYONE, `@${ZERO_WIDTH_SPACE}`);
}

/** Discord knows only fences of three backticks, so longer runs inside are parted. */
function breakFences(value: string): string {
  return value.replace(/`{3,}/g, (run) => [...run].join(ZERO_WIDTH_SPACE));
}

/** What one unit of text inside a fence may cost after {@link breakFences}. */
export function fenceCost(unit: number): number {
  return unit === 0x60 ? 2 : 1;
}

/** A code block; the fence lines cost {@link FENCE_COST}. */
export function fence(value: string, language = ""): string {
  return `\`\`\`${language}\n${breakFences(value)}\n\`\`\``;
}

export const FENCE_COST = "```\n\n```".length + MAX_LANGUAGE_CHARS;

/** Inline code on one line. */
export function code(value: string): string {
  const line = value.replaceAll("\n", "\\u{A}");
  if (!line.includes("`")) return line.trim() === "" ? "``\u200b``" : `\`${line}\``;
  return `\`\` ${line.replace(/`{2,}/g, (run) => [...run].join(ZERO_WIDTH_SPACE))} \`\``;
}

export function bold(value: string): string {
  return `**${value}**`;
}

export function italic(value: string): string {
  return `_${value}_`;
}

/** One line of small print. */
export function small(value: string): string {
  return `-# ${value.replaceAll("\n", " ")}`;
}

/** Shown in the reader's own time zone and language, as "in 30 minutes". */
export function relativeTime(atMs: number): string {
  return `<t:${Math.floor(atMs / 1000)}:R>`;
}

/** Of a time later today or tomorrow, in the reader's own time zone. */
export function clockTime(atMs: number): string {
  return `<t:${Math.floor(atMs / 1000)}:t>`;
}

/** Prose with `inline code`; everything else is shown as typed. */
export function prose(value: string): string {
  let result = "";
  let at = 0;
  for (const match of value.matchAll(/`([^`\n]+)`/g)) {
    result += escapeMarkdown(value.slice(at, match.index)) + code(match[1] ?? "");
    at = match.index + match[0].length;
  }
  return result + escapeMarkdown(value.slice(at));
}
