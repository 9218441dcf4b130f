/**
 * A neutral card as Telegram messages: HTML text, one inline keyboard, sometimes a document. Pure.
 *
 * Buttons are checked in bytes when they are built: a keyboard that Telegram would refuse is an error here, never a
 * card that silently lost its buttons.
 */
import type { InlineKeyboardButton, InlineKeyboardMarkup } from "grammy/types";
import type { ApprovalCard, Card, MenuCard, RunCard, TextCard } from "../../core/cards.ts";
import { ExecError } from "../../core/errors.ts";
import { actorLabel } from "../../core/route.ts";
import type { Messages } from "../../core/words/messages.ts";
import { type ApprovalView, approvalView, type CardButton } from "../cards/approval-view.ts";
import { displayCommand } from "../cards/command-display.ts";
import { type MenuItem, menuView, shortened } from "../cards/menu-view.ts";
import { type RunView, runView } from "../cards/run-view.ts";
import { textButtons } from "../cards/text-buttons.ts";
import { blocksOf } from "../text/blocks.ts";
import { chunkMessages } from "../text/chunk.ts";
import { cleanOutput } from "../text/clean.ts";
import { excerpt } from "../text/excerpt.ts";
import type { Redactor } from "../text/redact.ts";
import { typedInstead } from "./inline-buttons.ts";
import {
  LINE_BUDGET,
  MAX_BUTTON_LABEL,
  MAX_CALLBACK_DATA_BYTES,
  MAX_MENU_BUTTONS,
  MIN_COMMAND_BUDGET,
  RULES_BUDGET,
  RUN_COMMAND_BUDGET,
  SHORT_LABEL,
  TEXT_BUDGET,
} from "./limits.ts";
import { bold, code, italic, join, lines, pre, prose, type Rich, text } from "./markup.ts";

export interface RenderOptions {
  readonly messages: Messages;
  readonly redactor: Redactor;
  readonly nowMs: number;
  /** Most characters of one message. */
  readonly budget?: number;
  /** The command could not be attached although the card does not show all of it: nobody may allow it from here. */
  readonly withholdAllow?: boolean;
  /** No buttons in this chat; a request says what to type instead. */
  readonly hidesButtons?: boolean;
  /** Name of a log that is sent along. */
  readonly attached?: string;
}

export interface Rendered {
  /** At least one; all but the last are earlier parts of a long text. */
  readonly parts: readonly Rich[];
  /** Belongs to the last part. */
  readonly keyboard?: InlineKeyboardMarkup;
  /** The whole command, when the card shows only part of it. Goes out before the card. */
  readonly command?: { readonly name: string; readonly content: string; readonly caption: string };
}

export function renderCard(card: Card, options: RenderOptions): Rendered {
  switch (card.kind) {
    case "approval":
      return renderApproval(card, options);
    case "run":
      return renderRun(card, options);
    case "text":
      return renderText(card, options);
    case "menu":
      return renderMenu(card, options);
    case "said":
      return {
        parts: [clip(join([bold(text(actorLabel(card.actor))), text(`: ${options.redactor.redact(card.text).text}`)]))],
      };
  }
}

function renderApproval(card: ApprovalCard, options: RenderOptions): Rendered {
  const { messages, redactor } = options;
  const budget = options.budget ?? TEXT_BUDGET;
  const display = displayCommand(card.command, redactor);
  const pending = card.state === "pending";
  const build = (shownInFull: boolean): ApprovalView =>
    approvalView(card, { messages, redactor, display, shownInFull, offersCommand: "when-long" });
  const layout = (view: ApprovalView, command: Rich, extra: readonly Rich[]): Rich =>
    lines([
      bold(text([view.title, view.decidedBy].filter((one) => one !== undefined).join(" "))),
      ...view.warnings.map((one) => bold(text(cut(one)))),
      command,
      ...extra,
      ...(view.comment === undefined ? [] : [text(cut(view.comment, 2 * LINE_BUDGET))]),
      ...(view.statusLine === undefined ? [] : [italic(text(cut(view.statusLine)))]),
      ...view.facts.map((one) => fact(one)),
      ...(view.reasons.length === 0
        ? []
        : [text(`${view.reasonsLabel}:`), ...view.reasons.map((one) => join([text("• "), prose(cut(one))]))]),
      ...(view.always
        ? [text(`${view.always.label}:`), ...view.always.rules.map((one) => join([text("• "), code(one)]))]
        : []),
      ...view.notes.map((one) => italic(text(cut(one)))),
      ...view.snoozes.map((one) =>
        italic(text(cut(one.text) + (one.atMs === undefined ? "" : ` ${timeOfDay(one.atMs)}`))),
      ),
      ...(view.expires ? [text(`${view.expires.label}: ${clockTime(view.expires.atMs)}`)] : []),
      fact(view.id),
      ...typedForms(view, card, options),
    ]);

  const rulesFit = card.always.reduce((sum, one) => sum + one.length, 0) <= RULES_BUDGET;
  const whole = build(rulesFit);
  const full = layout(whole, pre(display.text), []);
  const fits = full.plain.length <= budget;
  const fileName = `command-${card.slug}.txt`;
  const m = messages.approval;
  if (fits) return withKeyboard(full, keep([...whole.buttons, ...whole.more], options), options);

  const view = build(false);
  const fingerprint = m.fingerprint(display.characters, display.sha256);
  const extra = pending
    ? [bold(text(options.withholdAllow ? m.notShown : m.fullCommandIn(fileName))), text(fingerprint)]
    : [text(fingerprint)];
  const rest = layout(view, text(""), extra).plain.length;
  const room = Math.max(MIN_COMMAND_BUDGET, budget - rest - m.hidden(display.characters).length - 4);
  const shown = excerpt(display.text, { budget: room });
  const command = shown.hidden === 0 ? pre(shown.head) : parts(shown, m.hidden(shown.hidden));
  return withKeyboard(
    clip(layout(view, command, extra), budget),
    keep([...view.buttons, ...view.more], options),
    options,
    pending && !options.withholdAllow ? { name: fileName, content: display.text, caption: fingerprint } : undefined,
  );
}

function parts(shown: { readonly head: string; readonly tail: string }, hidden: string): Rich {
  return lines([pre(shown.head), bold(text(hidden)), pre(shown.tail)]);
}

function keep(buttons: readonly CardButton[], options: RenderOptions): readonly CardButton[] {
  if (!options.withholdAllow) return buttons;
  // What could not be attached could not be shown by a button either.
  return buttons.filter(
    ({ action }) =>
      (action.kind !== "approval" || action.decision === "deny") &&
      !(action.kind === "approval-action" && action.action === "full-command"),
  );
}

/** What the buttons that are hidden here would decide. */
function typedForms(view: ApprovalView, { slug }: ApprovalCard, options: RenderOptions): readonly Rich[] {
  if (!options.hidesButtons) return [];
  const forms = keep(view.buttons, options).flatMap(({ action }) => {
    if (action.kind === "approval") return [`/approve ${slug} ${action.decision}`];
    return action.kind === "revoke" ? [`/approve ${slug} revoke`] : [];
  });
  return forms.length === 0 ? [] : [typedInstead(options.messages.approval.typeBecauseOff, forms)];
}

function withKeyboard(
  body: Rich,
  buttons: readonly CardButton[],
  options: RenderOptions,
  command?: Rendered["command"],
): Rendered {
  const keyboard = options.hidesButtons ? undefined : keyboardOf(buttons);
  return {
    parts: [body],
    ...(keyboard ? { keyboard } : {}),
    ...(command ? { command } : {}),
  };
}

function renderRun(card: RunCard, options: RenderOptions): Rendered {
  const budget = options.budget ?? TEXT_BUDGET;
  const build = (outputBudget: number): RunView =>
    runView(card, {
      messages: options.messages,
      redactor: options.redactor,
      nowMs: options.nowMs,
      outputBudget,
      ...(options.attached === undefined ? {} : { attached: options.attached }),
    });
  const layout = (view: RunView): Rich => {
    const shown = excerpt(view.command, { budget: RUN_COMMAND_BUDGET });
    const hidden = options.messages.approval.hidden(shown.hidden);
    return lines([
      bold(text(view.title)),
      shown.hidden === 0 ? pre(shown.head) : parts(shown, hidden),
      ...(view.outputNote === undefined ? [] : [italic(text(view.outputNote))]),
      ...(view.begin === undefined ? [] : [pre(view.begin.text), italic(text(view.begin.gap))]),
      ...(view.output === "" ? [] : [pre(view.output)]),
      ...view.notes.map((one) => italic(text(cut(one)))),
      join(
        view.facts.map((one) => fact(one)),
        " · ",
      ),
    ]);
  };
  // What the card says without output is the same for every budget but for the digits of its note.
  const NOTE_DIGITS = 32;
  const without = layout(build(0)).plain.length;
  const view = build(Math.max(0, budget - without - NOTE_DIGITS));
  return withKeyboard(clip(layout(view), budget), view.buttons, options);
}

function renderText(card: TextCard, options: RenderOptions): Rendered {
  const budget = options.budget ?? TEXT_BUDGET;
  const clean = (value: string): string => options.redactor.redact(cleanOutput(value)).text;
  const whole: Rich[] = [];
  const small = (value: Rich): void => {
    whole.push(value.plain.length <= budget ? value : text(cut(value.plain, budget)));
  };
  if (card.title !== undefined) small(bold(text(clean(card.title))));
  for (const block of blocksOf(clean(card.text ?? "")))
    for (const piece of chunkMessages(block.value, { limit: budget }))
      whole.push(block.kind === "pre" ? pre(piece) : prose(piece));
  for (const one of card.fields ?? [])
    small(
      join([
        text(`${clean(one.label)}: `),
        code(clean(one.value)),
        ...(one.note === undefined ? [] : [italic(text(` (${clean(one.note)})`))]),
      ]),
    );
  // A page of a log keeps its own line breaks and must not be read as Markdown: fences in it are just text.
  for (const piece of slices(clean(card.code ?? ""), budget)) whole.push(pre(piece));
  if (card.hint !== undefined) small(italic(text(clean(card.hint))));
  const packed = pack(whole, budget);
  const keyboard = options.hidesButtons ? undefined : keyboardOf(textButtons(card));
  return { parts: packed.length === 0 ? [text("…")] : numbered(packed), ...(keyboard ? { keyboard } : {}) };
}

function renderMenu(card: MenuCard, options: RenderOptions): Rendered {
  const { messages, redactor } = options;
  const most = { most: MAX_MENU_BUTTONS, mostButtons: MAX_MENU_BUTTONS };
  const view = menuView(card, { messages, redactor, ...most });
  if (options.hidesButtons) {
    const named = view.choices.filter(({ detail }) => detail === undefined).map(({ label }) => `• ${label}`);
    return renderText({ ...view.body, text: [view.body.text ?? "", ...named].join("\n").trim() }, options);
  }
  const drawn = renderText(view.body, options);
  return view.choices.length === 0 ? drawn : { ...drawn, keyboard: { inline_keyboard: menuRows(view.choices) } };
}

/** Two in a row while they are short enough to be read on a phone. */
function menuRows(choices: readonly MenuItem[]): InlineKeyboardButton[][] {
  const perRow = choices.every(({ label }) => label.length <= SHORT_LABEL) ? 2 : 1;
  const rows: InlineKeyboardButton[][] = [];
  for (let at = 0; at < choices.length; at += perRow) {
    rows.push(
      choices.slice(at, at + perRow).map((one) => button({ ...one, label: shortened(one.label, MAX_BUTTON_LABEL) })),
    );
  }
  return rows;
}

/** Lines of plain text within the budget; a longer line is cut at a grapheme. */
function slices(value: string, budget: number): string[] {
  if (value.trim() === "") return [];
  const found: string[] = [];
  let rest = value.replace(/^\n+|\s+$/g, "");
  while (rest.length > budget) {
    const newline = rest.lastIndexOf("\n", budget);
    const head = newline > budget / 2 ? rest.slice(0, newline) : excerpt(rest, { budget, headShare: 1 }).head;
    found.push(head);
    rest = rest.slice(head.length).replace(/^\n/, "");
  }
  if (rest !== "") found.push(rest);
  return found;
}

/** As few messages as possible, in order. */
function pack(blocks: readonly Rich[], budget: number): Rich[] {
  const messages: Rich[] = [];
  let open: Rich[] = [];
  let size = 0;
  for (const block of blocks) {
    if (open.length > 0 && size + 1 + block.plain.length > budget) {
      messages.push(lines(open));
      open = [];
      size = 0;
    }
    open.push(block);
    size += block.plain.length + 1;
  }
  if (open.length > 0) messages.push(lines(open));
  return messages.filter((one) => one.plain.trim() !== "");
}

/** A reader of more than two parts wants to know how many there are. */
function numbered(messages: readonly Rich[]): Rich[] {
  if (messages.length <= 2) return [...messages];
  return messages.map((one, index) => lines([one, italic(text(`(${index + 1}/${messages.length})`))]));
}

function fact(one: { readonly label: string; readonly value: string; readonly code?: boolean }): Rich {
  const value = cut(one.value);
  return join([text(`${one.label}: `), one.code ? code(value) : text(value)]);
}

function cut(value: string, budget: number = LINE_BUDGET): string {
  const shown = excerpt(value, { budget });
  return shown.hidden === 0 ? shown.head : `${shown.head} … ${shown.tail}`;
}

/** The last resort for a card whose fixed parts alone are too long: plain text, honest about the cut. */
function clip(rich: Rich, budget: number = TEXT_BUDGET): Rich {
  return rich.plain.length <= budget ? rich : text(cut(rich.plain, budget - 3));
}

/** Of a time later today or tomorrow. */
function timeOfDay(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(11, 16)} UTC`;
}

function clockTime(atMs: number): string {
  const iso = new Date(atMs).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

function button({ label, code: data }: CardButton): InlineKeyboardButton {
  const bytes = Buffer.byteLength(data);
  if (bytes > MAX_CALLBACK_DATA_BYTES)
    throw new ExecError(
      "internal",
      `The button "${label}" carries ${bytes} bytes; Telegram takes ${MAX_CALLBACK_DATA_BYTES}.`,
    );
  return { text: label, callback_data: data };
}

/**
 * The allowing buttons share a row, then the denying ones, then what else a request's card can do, then the rest: at most
 * two to a row, so that a phone cuts none of them.
 */
export function keyboardOf(buttons: readonly CardButton[]): InlineKeyboardMarkup | undefined {
  if (buttons.length === 0) return undefined;
  const row = (wanted: (one: CardButton) => boolean): InlineKeyboardButton[] => buttons.filter(wanted).map(button);
  const allows = (one: CardButton): boolean => one.action.kind === "approval" && one.action.decision !== "deny";
  const runs = (one: CardButton): boolean => one.action.kind === "run";
  const besides = (one: CardButton): boolean => one.action.kind === "approval-action";
  const rows = [row(allows), row((one) => !allows(one) && !besides(one) && !runs(one)), row(besides), row(runs)];
  return { inline_keyboard: rows.filter((one) => one.length > 0) };
}
