/** Text cards as Markdown, split into as few messages as their lines and characters allow. Pure. */
import type { TextCard } from "../../core/cards.ts";
import type { Messages } from "../../core/words/messages.ts";
import { type Block, blocksOf } from "../text/blocks.ts";
import { chunkMessages } from "../text/chunk.ts";
import { cleanOutput } from "../text/clean.ts";
import { excerpt } from "../text/excerpt.ts";
import type { Redactor } from "../text/redact.ts";
import {
  CODE_EXCERPT_LINES,
  CODE_MESSAGES,
  LINE_BUDGET,
  MESSAGE_BUDGET,
  MESSAGE_LINES,
  TEXT_BUDGET,
} from "./limits.ts";
import { bold, code, escapeMarkdown, italic, prose, small } from "./markup.ts";
import { Pages } from "./pages.ts";

export interface TextOptions {
  readonly messages: Messages;
  readonly redactor: Redactor;
  /** Most characters of one message. */
  readonly messageBudget?: number;
  /** Most lines of what people and models wrote in one message. */
  readonly messageLines?: number;
  /** Long code can not be attached: it is shown, in however many messages. */
  readonly withoutFiles?: boolean;
}

export interface TextPage {
  readonly text: string;
  readonly file?: { readonly name: string; readonly content: string };
}

/** Messages that are more than these say which of how many they are. */
const UNNUMBERED = 2;

/** The Markdown of one or more messages. */
export function textMessages(card: TextCard, options: TextOptions): readonly TextPage[] {
  const lines = options.messageLines ?? MESSAGE_LINES;
  const pages = pagesOf(card, options, lines);
  if (pages.length === 0) return [{ text: "…" }];
  if (pages.length <= UNNUMBERED) return pages;
  // The number is a line too.
  const numbered = pagesOf(card, options, lines - 1);
  return numbered.map((page, at) => ({ ...page, text: `${page.text}\n${small(`${at + 1}/${numbered.length}`)}` }));
}

function pagesOf(card: TextCard, options: TextOptions, lines: number): readonly TextPage[] {
  const budget = Math.min(options.messageBudget ?? MESSAGE_BUDGET, TEXT_BUDGET);
  const clean = (value: string): string => options.redactor.redact(cleanOutput(value)).text;
  // Escaping may double a character, so what is escaped is cut at half of what fits.
  const half = Math.floor(budget / 2);
  const pages = new Pages(budget, lines);
  if (card.title !== undefined) pages.add(bold(escapedLine(clean(card.title), half)));
  let files = 0;
  for (const block of blocksOf(clean(card.text ?? ""))) {
    if (block.kind === "text") {
      pages.addLines(block.value.split("\n").flatMap((line) => proseLines(line, half)));
    } else if (!options.withoutFiles && isLong(block.value, budget, lines)) {
      files += 1;
      addAttached(pages, block, `code-${files}.txt`, options.messages);
    } else pages.addCode(block.value, { language: block.language ?? "" });
  }
  for (const one of card.fields ?? []) {
    const note = one.note === undefined ? "" : ` ${italic(`(${escapedLine(clean(one.note))})`)}`;
    pages.add(`${bold(escapedLine(clean(one.label)))}: ${code(shorten(clean(one.value)))}${note}`);
  }
  pages.addCode(clean(card.code ?? ""), { whole: true });
  if (card.hint !== undefined) pages.add(italic(escapedLine(clean(card.hint), half)));
  return pages.finished();
}

function proseLines(line: string, budget: number): string[] {
  if (line.length <= budget) return [prose(line)];
  return chunkMessages(line, { limit: budget }).map(prose);
}

/** Parted over more messages than these, code can neither be read in one piece nor be copied. */
function isLong(value: string, budget: number, lines: number): boolean {
  return value.length > CODE_MESSAGES * budget || value.split("\n").length > CODE_MESSAGES * lines;
}

/** How it begins, and the whole of it as a file. */
function addAttached(pages: Pages, { value, language = "" }: Block, name: string, messages: Messages): void {
  const all = value.split("\n");
  const begin = excerpt(all.slice(0, CODE_EXCERPT_LINES).join("\n"), { budget: LINE_BUDGET * 2, headShare: 1 }).head;
  pages.addCode(begin, { language });
  pages.attach({ name, content: value }, small(escapeMarkdown(messages.notice.codeIn(name, all.length))));
}

/** One line of untrusted text, shortened before it is escaped. */
export function escapedLine(value: string, budget: number = LINE_BUDGET): string {
  return escapeMarkdown(shorten(value, budget));
}

export function shorten(value: string, budget: number = LINE_BUDGET): string {
  const shown = excerpt(value, { budget });
  return shown.hidden === 0 ? shown.head : `${shown.head} … ${shown.tail}`;
}
