/**
 * Slack's two text worlds. Out: rich text elements, which Slack never interprets, so no command can ping, link or break
 * out of its block. In: what Slack made of the text a person typed, turned back into what they typed.
 */
import type { types } from "@slack/bolt";
import { excerpt } from "../text/excerpt.ts";
import { MAX_RICH_TEXT, slackBytes, slackCost } from "./limits.ts";

export type RichText = types.RichTextBlock["elements"][number];
type Leaf = types.RichTextText;

/** For the few places that are mrkdwn: the fallback text and the small print. docs.slack.dev/messaging/formatting-message-text#escaping */
export function escapeMrkdwn(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

export function plain(text: string): Leaf {
  return { type: "text", text };
}

export function bold(text: string): Leaf {
  return { type: "text", text, style: { bold: true } };
}

export function italic(text: string): Leaf {
  return { type: "text", text, style: { italic: true } };
}

export function code(text: string): Leaf {
  return { type: "text", text, style: { code: true } };
}

/** One paragraph; nothing when all of it is empty, because Slack refuses empty elements. */
export function section(...parts: readonly Leaf[]): RichText[] {
  const elements = parts.filter((leaf) => leaf.text !== "");
  return elements.length === 0 ? [] : [{ type: "rich_text_section", elements }];
}

export function bullets(items: readonly string[]): RichText[] {
  const elements = items
    .filter((item) => item !== "")
    .map((item) => ({ type: "rich_text_section" as const, elements: [plain(item)] }));
  return elements.length === 0 ? [] : [{ type: "rich_text_list", style: "bullet", elements }];
}

/** A long text as elements of at most {@link MAX_RICH_TEXT} units each. */
export function leaves(text: string): Leaf[] {
  const parts: Leaf[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + MAX_RICH_TEXT, text.length);
    if (end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00) end -= 1;
    parts.push(plain(text.slice(at, end)));
    at = end;
  }
  return parts;
}

/** A monospace block. */
export function preformatted(text: string): RichText[] {
  const elements = leaves(text);
  return elements.length === 0 ? [] : [{ type: "rich_text_preformatted", elements }];
}

export function richText(elements: readonly RichText[], blockId?: string): types.RichTextBlock {
  return { type: "rich_text", elements: [...elements], ...(blockId === undefined ? {} : { block_id: blockId }) };
}

/** The plain text beside a message's blocks, escaped, of at most so many bytes and what the cut says. */
export function fallbackText(text: string, budget: number): string {
  return escapeMrkdwn(shorten(text, budget, slackBytes));
}

/** A text cut to a budget of escaped characters, with its middle left out and counted. */
export function shorten(text: string, budget: number, unitCost: (unit: number) => number = slackCost): string {
  const cut = excerpt(text, { budget, unitCost });
  return cut.hidden === 0 ? text : `${cut.head} …[${cut.hidden}]… ${cut.tail}`;
}

const ENTITY_OR_ANGLE = /<([^<>]*)>|&(amp|lt|gt);/g;

/**
 * The text as the person typed it: entities decoded, links that Slack found by itself undone, mentions as `@name`.
 * One pass, so that a typed `&amp;` stays `&amp;`.
 */
export function readSlackText(text: string): string {
  return text.replace(ENTITY_OR_ANGLE, (_all, inner: string | undefined, entity: string | undefined) => {
    if (entity !== undefined) return entity === "amp" ? "&" : entity === "lt" ? "<" : ">";
    return readAngle(inner ?? "");
  });
}

function readAngle(inner: string): string {
  const bar = inner.indexOf("|");
  const target = bar === -1 ? inner : inner.slice(0, bar);
  const label = bar === -1 ? undefined : decodeEntities(inner.slice(bar + 1));
  if (target.startsWith("@")) return `@${label ?? target.slice(1)}`;
  if (target.startsWith("#")) return `#${label ?? target.slice(1)}`;
  if (target.startsWith("!")) return label ?? `@${target.slice(1).split("^", 1)[0]}`;
  return label ?? decodeEntities(target.replace(/^mailto:/, ""));
}

function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt);/g, (_all, name: string) => (name === "amp" ? "&" : name === "lt" ? "<" : ">"));
}
