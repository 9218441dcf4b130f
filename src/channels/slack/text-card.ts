/** Text cards: title, prose, fields, code and a hint, in as few messages as Slack's limits allow. Pure. */
import type { TextCard } from "../../core/cards.ts";
import { textButtons } from "../cards/text-buttons.ts";
import { blocksOf } from "../text/blocks.ts";
import { chunkMessages } from "../text/chunk.ts";
import { cleanOutput } from "../text/clean.ts";
import { headWithin, textCost } from "../text/excerpt.ts";
import { showInvisible } from "../text/visible.ts";
import { buttonBlock, smallPrint } from "./blocks.ts";
import type { RenderedCard, SlackCardContext } from "./cards.ts";
import * as limits from "./limits.ts";
import {
  bold,
  fallbackText,
  italic,
  leaves,
  plain,
  preformatted,
  type RichText,
  richText,
  section,
  shorten,
} from "./markup.ts";

const TONE_MARK = { info: "", success: "✓ ", warning: "⚠ ", error: "✗ " } as const;

export function renderText(card: TextCard, context: SlackCardContext): RenderedCard {
  const clean = (text: string): string => context.redactor.redact(cleanOutput(text)).text;
  const mark = TONE_MARK[card.tone];
  const title = clean(card.title ?? "").trim();
  const text = clean(card.text ?? "");
  const hint = clean(card.hint ?? "").trim();
  const limit = Math.min(context.textLimit ?? limits.TEXT_BUDGET, limits.TEXT_BUDGET);
  const chunks = textChunks(title === "" ? mark + text : text, limit);
  const units: Unit[] = [
    { elements: section(bold(title === "" ? "" : shorten(mark + title, limits.LINE_BUDGET * 2))) },
    ...chunks.map((chunk, i) => ({ elements: chunkElements(chunk), fresh: i > 0 })),
    { elements: fieldsSection(card, clean) },
    ...codeParts(showInvisible(clean(card.code ?? ""))).map((part) => ({ elements: preformatted(part) })),
  ];
  const bodies = pack(units.filter((unit) => unit.elements.length > 0));
  const buttons = buttonBlock(textButtons(card), context.messages.approval.cancel);
  const first = [title, chunks[0] ?? "", hint].filter((part) => part !== "").join(" · ");
  const fallback = fallbackText(first.trim() === "" ? "…" : first, limits.MAX_FALLBACK_TEXT / 2);
  const [head = { text: fallback, blocks: [] }, ...rest] = bodies.map((body, i) => ({
    text: i === 0 ? fallback : "…",
    blocks: [richText(body), ...(i === bodies.length - 1 ? [...smallPrint([hint]), ...buttons] : [])],
  }));
  return { messages: [head, ...rest], plain: fallback };
}

interface Unit {
  readonly elements: RichText[];
  /** Begins a message of its own. */
  readonly fresh?: boolean;
}

/** As few messages as the budget allows, order kept. Each unit alone fits. */
function pack(units: readonly Unit[]): RichText[][] {
  const bodies: RichText[][] = [];
  let room = 0;
  for (const { elements, fresh } of units) {
    const cost = textCost(JSON.stringify(elements), limits.slackCost);
    const last = bodies.at(-1);
    if (last === undefined || fresh === true || cost > room) {
      bodies.push([...elements]);
      room = limits.BLOCK_TEXT_BUDGET - limits.LINE_BUDGET * 2 - cost;
    } else {
      last.push(...elements);
      room -= cost;
    }
  }
  return bodies;
}

function textChunks(text: string, limit: number): string[] {
  const chunks = chunkMessages(text, { limit, unitCost: limits.slackCost });
  if (chunks.length > limits.MAX_TEXT_MESSAGES) return [shorten(text, limit)];
  return chunks.length <= 2 ? chunks : chunks.map((chunk, i) => `${chunk}\n(${i + 1}/${chunks.length})`);
}

/** Parted between lines, where a line is not longer than all there is room for. */
function codeParts(code: string): string[] {
  const parts: string[] = [];
  for (let rest = code; rest !== ""; ) {
    // A letter under more accents than there is room for has no place to be parted.
    const head = headWithin(rest, limits.CODE_BUDGET, limits.slackCost) || rest.slice(0, limits.CODE_BUDGET / 5);
    parts.push(head);
    rest = rest.slice(head.length).replace(/^\n/, "");
  }
  return parts.length > limits.MAX_TEXT_MESSAGES ? [shorten(code, limits.CODE_BUDGET)] : parts;
}

function fieldsSection(card: TextCard, clean: (text: string) => string): RichText[] {
  const fields = (card.fields ?? []).slice(0, limits.MAX_FIELDS);
  const left = (card.fields?.length ?? 0) - fields.length;
  const each = Math.min(limits.LINE_BUDGET * 2, Math.floor(limits.FIELDS_BUDGET / Math.max(fields.length, 1) / 3));
  const part = (text: string): string => shorten(clean(text), each);
  return section(
    ...fields.flatMap((field, i) => [
      bold(`${i === 0 ? "" : "\n"}${part(field.label)}  `),
      plain(part(field.value)),
      italic(field.note === undefined ? "" : `  (${part(field.note)})`),
    ]),
    plain(left > 0 ? `\n+${left}` : ""),
  );
}

/** Prose as it is; fenced code without its fences, in monospace. */
function chunkElements(chunk: string): RichText[] {
  return blocksOf(chunk).flatMap((block) =>
    block.kind === "pre" ? preformatted(block.value) : section(...leaves(block.value)),
  );
}
