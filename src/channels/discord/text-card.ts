/** Text cards as Markdown, split into as few messages as possible. Pure. */
import type { TextCard } from "../../core/cards.ts";
import { blocksOf } from "../text/blocks.ts";
import { chunkMessages } from "../text/chunk.ts";
import { cleanOutput } from "../text/clean.ts";
import { excerpt, textCost } from "../text/excerpt.ts";
import type { Redactor } from "../text/redact.ts";
import { LINE_BUDGET, MESSAGE_BUDGET, MESSAGE_LINES, TEXT_BUDGET } from "./limits.ts";
import { bold, code, escapeMarkdown, FENCE_COST, fence, fenceCost, italic, prose, small } from "./markup.ts";

export interface TextOptions {
  readonly redactor: Redactor;
  /** Most characters of one message. */
  readonly messageBudget?: number;
}

/** The Markdown of one or more messages. */
export function textMessages(card: TextCard, options: TextOptions): string[] {
  const budget = Math.min(options.messageBudget ?? MESSAGE_BUDGET, TEXT_BUDGET);
  const clean = (value: string): string => options.redactor.redact(cleanOutput(value)).text;
  // Escaping may double a character and code adds its fence, so pieces are cut by what they cost at most.
  const half = Math.floor(budget / 2);
  const pieces: string[] = [];
  if (card.title !== undefined) pieces.push(bold(escapedLine(clean(card.title), half)));
  for (const block of blocksOf(clean(card.text ?? "")))
    if (block.kind === "pre") pieces.push(...fenced(block.value, budget));
    else
      for (const part of chunkMessages(block.value, { limit: half, maxLines: MESSAGE_LINES })) pieces.push(prose(part));
  for (const one of card.fields ?? []) {
    const note = one.note === undefined ? "" : ` ${italic(`(${escapedLine(clean(one.note))})`)}`;
    pieces.push(`${bold(escapedLine(clean(one.label)))}: ${code(shorten(clean(one.value)))}${note}`);
  }
  pieces.push(...fenced(clean(card.code ?? ""), budget));
  if (card.hint !== undefined) pieces.push(italic(escapedLine(clean(card.hint), half)));
  const packed = pack(pieces, budget);
  const texts = packed.length === 0 ? ["…"] : packed;
  return texts.map((one, index) => (texts.length > 2 ? `${one}\n${small(`${index + 1}/${texts.length}`)}` : one));
}

function fenced(value: string, budget: number): string[] {
  if (value.trim() === "") return [];
  const found: string[] = [];
  let rest = value.replace(/^\n+|\s+$/g, "");
  const room = budget - FENCE_COST;
  while (textCost(rest, fenceCost) > room) {
    const most = excerpt(rest, { budget: room, headShare: 1, unitCost: fenceCost }).head;
    const newline = most.lastIndexOf("\n");
    const head = newline > most.length / 2 ? most.slice(0, newline) : most;
    found.push(fence(head));
    rest = rest.slice(head.length).replace(/^\n/, "");
  }
  if (rest !== "") found.push(fence(rest));
  return found;
}

/** As few messages as possible, in order. */
function pack(pieces: readonly string[], budget: number): string[] {
  const messages: string[] = [];
  let open = "";
  for (const piece of pieces) {
    if (open !== "" && open.length + 1 + piece.length > budget) {
      messages.push(open);
      open = "";
    }
    open = open === "" ? piece : `${open}\n${piece}`;
  }
  if (open.trim() !== "") messages.push(open);
  return messages;
}

/** One line of untrusted text, shortened before it is escaped. */
export function escapedLine(value: string, budget: number = LINE_BUDGET): string {
  return escapeMarkdown(shorten(value, budget));
}

export function shorten(value: string, budget: number = LINE_BUDGET): string {
  const shown = excerpt(value, { budget });
  return shown.hidden === 0 ? shown.head : `${shown.head} … ${shown.tail}`;
}
