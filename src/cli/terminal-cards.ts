/**
 * Cards as terminal text, with the words the chats use. Everything in a card is untrusted: control characters never
 * reach the terminal, except colours of a program's output, and every line of output stands behind a bar, so that no
 * output can pass for a card. Pure.
 */
import { styleText } from "node:util";
import { approvalView } from "../channels/cards/approval-view.ts";
import { displayCommand } from "../channels/cards/command-display.ts";
import { menuView } from "../channels/cards/menu-view.ts";
import { runView } from "../channels/cards/run-view.ts";
import { cleanOutput } from "../channels/text/clean.ts";
import type { Redactor } from "../channels/text/redact.ts";
import { showInvisible } from "../channels/text/visible.ts";
import {
  type ApprovalCard,
  type Card,
  MAX_MENU_CHOICES,
  type MenuCard,
  type RunCard,
  type TextCard,
} from "../core/cards.ts";
import type { ApprovalDecision } from "../core/policy/types.ts";
import { actorLabel } from "../core/route.ts";
import type { Messages } from "../core/words/messages.ts";

export interface TerminalStyle {
  readonly messages: Messages;
  /** Cards come masked from the gateway; this one masks nothing more. */
  readonly redactor: Redactor;
  readonly colour: boolean;
  readonly nowMs: number;
}

type Format = Parameters<typeof styleText>[0];

const BAR = "│ ";

export function painter(colour: boolean): (format: Format, text: string) => string {
  return (format, text) => (colour ? styleText(format, text, { validateStream: false }) : text);
}

export function renderCard(card: Card, style: TerminalStyle): string {
  switch (card.kind) {
    case "said":
      return painter(style.colour)("bold", `> ${showInvisible(card.text)}`);
    case "text":
      return renderText(card, style);
    case "menu":
      return renderMenu(card, style);
    case "approval":
      return renderApproval(card, style);
    case "run":
      return card.state === "running" ? runHead(card, style) : `${runOutput(card, style)}${runEnd(card, style)}`;
  }
}

const TONES = { info: "reset", success: "green", warning: "yellow", error: "red" } as const;

function renderText(card: TextCard, style: TerminalStyle): string {
  const paint = painter(style.colour);
  const lines: string[] = [];
  if (card.title) lines.push(paint(["bold", TONES[card.tone]], showInvisible(card.title)));
  if (card.text) lines.push(card.title ? showInvisible(card.text) : paint(TONES[card.tone], showInvisible(card.text)));
  if (card.fields) {
    const width = Math.max(0, ...card.fields.map(({ label }) => label.length));
    for (const { label, value, note } of card.fields) {
      const small = note ? paint("dim", `  ${showInvisible(note)}`) : "";
      lines.push(`  ${showInvisible(label).padEnd(width)}  ${showInvisible(value)}${small}`);
    }
  }
  if (card.code) lines.push(barred(card.code, style.colour));
  if (card.hint) lines.push(paint("dim", showInvisible(card.hint)));
  return lines.join("\n");
}

/** A terminal has no buttons: the choices with what they are, and what to type. */
function renderMenu(card: MenuCard, style: TerminalStyle): string {
  const { messages, redactor } = style;
  const { body, choices } = menuView(card, { messages, redactor, most: MAX_MENU_CHOICES, mostButtons: 0 });
  const rows = choices.map(({ label, detail }) => ({ label, value: detail ?? "" }));
  return renderText({ ...body, fields: [...(body.fields ?? []), ...rows] }, style);
}

/** What may be typed for each decision, in the order shown. */
export const DECISION_KEYS: readonly { readonly key: string; readonly decision: ApprovalDecision }[] = [
  { key: "1", decision: "allow-once" },
  { key: "2", decision: "allow-always" },
  { key: "3", decision: "deny" },
];

function renderApproval(card: ApprovalCard, { messages, redactor, colour }: TerminalStyle): string {
  const paint = painter(colour);
  const display = displayCommand(card.command, redactor);
  const view = approvalView(card, { messages, redactor, display, shownInFull: true, offersCommand: "when-long" });
  if (card.state !== "pending") {
    const again = card.askedAgain && messages.approval.askedAgain(actorLabel(card.askedAgain.by), card.askedAgain.slug);
    const facts = [view.title, view.id.value, view.decidedBy, view.statusLine, view.comment, again];
    return paint(card.state === "allowed" ? "green" : "yellow", facts.filter((fact) => fact !== undefined).join(" · "));
  }
  const width = Math.max(...view.facts.map(({ label }) => label.length));
  const keys = DECISION_KEYS.flatMap(({ key, decision }) => {
    const button = view.buttons.find(({ action }) => action.kind === "approval" && action.decision === decision);
    return button ? [`[${key}] ${button.label}`] : [];
  });
  return [
    paint(["bold", "yellow"], `${view.title} · ${view.id.value}`),
    barred(display.text, false),
    ...view.facts.map(({ label, value }) => `  ${label.padEnd(width)}  ${value}`),
    ...(view.reasons.length > 0 ? [`  ${view.reasonsLabel}:`, ...view.reasons.map((reason) => `    ${reason}`)] : []),
    ...view.warnings.map((warning) => paint("red", `  ${warning}`)),
    ...(view.always ? [`  ${view.always.label}:`, ...view.always.rules.map((rule) => `    ${rule}`)] : []),
    ...view.notes.map((note) => paint("dim", `  ${note}`)),
    ...view.snoozes.map(({ text, atMs }) => {
      const time = atMs === undefined ? "" : ` ${new Date(atMs).toISOString().slice(11, 16)} UTC`;
      return paint("dim", `  ${text}${time}`);
    }),
    paint("bold", `  ${keys.join("   ")}`),
  ].join("\n");
}

export function runHead(card: RunCard, style: TerminalStyle): string {
  const view = runView(card, { ...style, outputBudget: 1 });
  const where = view.facts.map(({ value }) => value).join(" · ");
  const paint = painter(style.colour);
  return `${paint("cyan", "$")} ${paint("bold", view.command)}  ${paint("dim", `(${where})`)}`;
}

export function runEnd(card: RunCard, style: TerminalStyle): string {
  const { title, tone, notes, outputNote } = runView(card, { ...style, outputBudget: Number.MAX_SAFE_INTEGER });
  // All of the tail stands above.
  const cut = card.totalChars > card.tail.length && style.messages.run.lastOf(card.tail.length, card.totalChars);
  const paint = painter(style.colour);
  const colour = tone === "success" ? "green" : tone === "failure" ? "red" : "yellow";
  return [
    paint(colour, title),
    ...[card.tail === "" ? outputNote : cut, ...notes].flatMap((note) => (note ? [paint("dim", `  ${note}`)] : [])),
  ].join("\n");
}

function runOutput(card: RunCard, style: TerminalStyle): string {
  const text = barred(card.tail.trimEnd(), style.colour);
  return text === "" ? "" : `${text}\n`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour sequences (SGR) start with ESC
const COLOUR = /(\u001b\[[\d;:]*m)/;

/** Output with a bar before each line; of its control sequences only colours are left. */
export function barred(output: string, colour: boolean): string {
  if (output === "") return "";
  const clean = colour
    ? output
        .split(COLOUR)
        .map((part, index) => (index % 2 === 1 ? part : cleanOutput(part)))
        .join("")
    : cleanOutput(output);
  const reset = colour && COLOUR.test(clean) ? "\u001b[0m" : "";
  return clean
    .split("\n")
    .map((line) => `${BAR}${line}${reset}`)
    .join("\n");
}

/** What `next` shows beyond `shown`, both tails of the same output; all of it when they do not overlap any more. */
export function newOutput(shown: string, next: string): { readonly text: string; readonly skipped: boolean } {
  if (next.startsWith(shown)) return { text: next.slice(shown.length), skipped: false };
  const end = shown.slice(-OVERLAP_CHARS);
  const at = next.lastIndexOf(end);
  return at < 0 ? { text: next, skipped: true } : { text: next.slice(at + end.length), skipped: false };
}

/** Long enough that two places of one output hardly ever look the same. */
const OVERLAP_CHARS = 120;
