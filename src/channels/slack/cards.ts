/** Neutral cards to Slack messages. Pure: the same card always gives the same blocks. */
import type { types } from "@slack/bolt";
import type { ApprovalCard, Card, RunCard, TextCard } from "../../core/cards.ts";
import { type ApprovalView, approvalView, type CardButton, type Fact } from "../cards/approval-view.ts";
import { type CommandDisplay, displayCommand } from "../cards/command-display.ts";
import type { Messages } from "../cards/messages/catalogue.ts";
import { runView } from "../cards/run-view.ts";
import { chunkMessages } from "../text/chunk.ts";
import { cleanOutput } from "../text/clean.ts";
import { excerpt, textCost } from "../text/excerpt.ts";
import type { Redactor } from "../text/redact.ts";
import { showInvisible } from "../text/visible.ts";
import * as limits from "./limits.ts";
import {
  bold,
  bullets,
  code,
  escapeMrkdwn,
  italic,
  leaves,
  plain,
  preformatted,
  type RichText,
  richText,
  section,
  shorten,
} from "./markup.ts";

export interface SlackMessage {
  /** Fallback for notifications and screen readers, already escaped. */
  readonly text: string;
  readonly blocks: types.KnownBlock[];
}

/** A command too long for its card: attached as a file, and only then may the card be pressed. */
export interface CommandFile {
  readonly name: string;
  readonly content: string;
  /** The card with buttons, to replace the first one once the file is there. */
  readonly armed: SlackMessage;
  /** The card for when the file could not be attached: nothing to press. */
  readonly refused: SlackMessage;
}

export interface RenderedCard {
  /** At least one. The first is the message that later edits replace. */
  readonly messages: readonly [SlackMessage, ...SlackMessage[]];
  readonly commandFile?: CommandFile;
  /** Plain text for when Slack refuses the blocks; absent when plain text could not carry the card honestly. */
  readonly plain?: string;
}

export interface SlackCardContext {
  readonly messages: Messages;
  readonly redactor: Redactor;
  readonly nowMs: number;
  /** For the typed form of an answer: `@openclaw approve …`. Slack runs no slash commands in threads. */
  readonly botName: string;
  /** Name of the file that will be attached below the message. */
  readonly attached?: string;
}

/** `undefined` for cards that have no place in Slack (the echo of what a person typed). */
export function renderSlackCard(card: Card, context: SlackCardContext): RenderedCard | undefined {
  switch (card.kind) {
    case "approval":
      return renderApproval(card, context);
    case "run":
      return renderRun(card, context);
    case "text":
      return renderText(card, context);
    case "said":
      return undefined;
  }
}

/** What a person types when buttons do not work. */
export function typedAnswer(card: ApprovalCard, botName: string): string {
  return `@${botName} approve ${card.slug} ${card.offered.includes("allow-once") ? "allow-once" : card.offered.join("|")}`;
}

function renderApproval(card: ApprovalCard, context: SlackCardContext): RenderedCard {
  const display = displayCommand(card.command, context.redactor);
  const fits = textCost(display.text, limits.slackCost) <= limits.COMMAND_BUDGET;
  const view = approvalView(card, {
    messages: context.messages,
    redactor: context.redactor,
    display,
    shownInFull: fits,
    typedForm: typedAnswer(card, context.botName),
  });
  const m = context.messages.approval;
  if (fits || card.state !== "pending") {
    const message = approvalMessage(view, display, context, []);
    const plainText = fits ? approvalPlain(view, display) : undefined;
    return { messages: [message], ...(plainText === undefined ? {} : { plain: plainText }) };
  }
  const name = `command-${card.slug}.txt`;
  const unarmed = { ...view, buttons: [] };
  return {
    messages: [approvalMessage(unarmed, display, context, [m.fullCommandIn(name)])],
    commandFile: {
      name,
      content: display.text,
      armed: approvalMessage(view, display, context, [m.fullCommandIn(name)]),
      refused: approvalMessage({ ...unarmed, notes: [m.notShown] }, display, context, []),
    },
  };
}

function approvalMessage(
  view: ApprovalView,
  display: CommandDisplay,
  context: SlackCardContext,
  extraNotes: readonly string[],
): SlackMessage {
  const m = context.messages.approval;
  const cut = excerpt(display.text, { budget: limits.COMMAND_BUDGET, unitCost: limits.slackCost });
  const command: RichText[] =
    cut.hidden === 0
      ? preformatted(display.text)
      : [
          ...preformatted(cut.head),
          ...section(italic(m.hidden(cut.hidden))),
          ...preformatted(cut.tail),
          ...section(italic(m.fingerprint(display.characters, display.sha256))),
        ];
  const outcome = [view.decidedBy, view.comment, view.statusLine].filter((line) => line !== undefined);
  const body: RichText[] = [
    ...outcome.flatMap((line, i) => section((i === 0 ? bold : plain)(shorten(line, limits.COMMENT_BUDGET)))),
    ...view.warnings
      .slice(0, limits.MAX_WARNINGS)
      .flatMap((warning) => section(bold("⚠ "), plain(shorten(warning, limits.LINE_BUDGET)))),
    ...command,
    ...factsSection(view.facts),
    ...listSection(
      view.reasonsLabel,
      view.reasons.map((reason) => shorten(reason, limits.LINE_BUDGET)),
    ),
    ...(view.always === undefined
      ? []
      : listSection(view.always.label, withinTotal(view.always.rules, limits.ALWAYS_BUDGET))),
  ];
  const notes = [...extraNotes, ...view.notes];
  return {
    text: escapeMrkdwn(shorten(view.fallback, limits.MAX_FALLBACK_TEXT / 2)),
    blocks: [
      header(view.title, "oc:title"),
      richText(body, "oc:body"),
      ...smallPrint(notes),
      ...buttonBlock(view.buttons, m.cancel),
      footer(view),
    ],
  };
}

function factsSection(facts: readonly Fact[]): RichText[] {
  return section(
    ...facts.flatMap((fact, i) => [
      bold(`${i === 0 ? "" : "\n"}${fact.label}  `),
      (fact.code === true ? code : plain)(shorten(fact.value, limits.LINE_BUDGET)),
    ]),
  );
}

function listSection(label: string, items: readonly string[]): RichText[] {
  const list = bullets(items);
  return list.length === 0 ? [] : [...section(bold(label)), ...list];
}

/** Rules share one budget: the first ones whole, then cut, so that a long one can not push the rest out. */
function withinTotal(rules: readonly string[], budget: number): string[] {
  const each = Math.floor(budget / rules.length);
  return rules.map((rule) => shorten(rule, each));
}

function header(text: string, blockId: string): types.HeaderBlock {
  return {
    type: "header",
    block_id: blockId,
    text: { type: "plain_text", text: text.slice(0, limits.MAX_HEADER), emoji: false },
  };
}

function smallPrint(lines: readonly string[]): types.ContextBlock[] {
  const elements = lines
    .filter((line) => line !== "")
    .slice(0, 10)
    .map((text) => ({ type: "plain_text" as const, text: shorten(text, limits.LINE_BUDGET), emoji: false }));
  return elements.length === 0 ? [] : [{ type: "context", elements }];
}

function footer(view: ApprovalView): types.ContextBlock {
  const id = `${escapeMrkdwn(view.id.label)} \`${escapeMrkdwn(view.id.value)}\``;
  const text =
    view.expires === undefined ? id : `${escapeMrkdwn(view.expires.label)} ${slackDate(view.expires.atMs)}  ·  ${id}`;
  return { type: "context", elements: [{ type: "mrkdwn", text }] };
}

/** Shown in the reader's own time zone. docs.slack.dev/messaging/formatting-message-text#date-formatting */
function slackDate(atMs: number): string {
  const fallback = `${new Date(atMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return `<!date^${Math.floor(atMs / 1000)}^{date_short_pretty} {time}|${fallback}>`;
}

function buttonBlock(buttons: readonly CardButton[], cancel: string): types.ActionsBlock[] {
  if (buttons.length === 0) return [];
  return [
    {
      type: "actions",
      block_id: "oc:actions",
      elements: buttons.map((button) => ({
        type: "button",
        // Unique within the message; the id of what it decides is in the value.
        action_id: `oc:${button.code.split(":", 2).join(":")}`,
        text: { type: "plain_text", text: button.label.slice(0, limits.MAX_BUTTON_TEXT), emoji: false },
        value: button.code,
        ...(button.style === "success"
          ? { style: "primary" as const }
          : button.style === "danger"
            ? { style: "danger" as const }
            : {}),
        ...(button.confirm === undefined
          ? {}
          : {
              confirm: {
                title: { type: "plain_text", text: button.confirm.title.slice(0, limits.MAX_CONFIRM_TITLE) },
                text: { type: "plain_text", text: confirmText(button.confirm.text) },
                confirm: { type: "plain_text", text: button.label.slice(0, limits.MAX_CONFIRM_BUTTON) },
                deny: { type: "plain_text", text: cancel.slice(0, limits.MAX_CONFIRM_BUTTON) },
              },
            }),
      })),
    },
  ];
}

/** Below the limit even with the count of what is left out. */
function confirmText(text: string): string {
  return shorten(text, limits.MAX_CONFIRM_TEXT - 30);
}

function approvalPlain(view: ApprovalView, display: CommandDisplay): string | undefined {
  if (textCost(display.text, limits.slackCost) > limits.MAX_FALLBACK_TEXT - 1000) return undefined;
  const lines = [view.title, view.decidedBy, display.text, ...view.reasons.map((r) => shorten(r, 100)), ...view.notes];
  return escapeMrkdwn(shorten(lines.filter((line) => line !== undefined).join("\n"), limits.MAX_FALLBACK_TEXT));
}

function renderRun(card: RunCard, context: SlackCardContext): RenderedCard {
  const view = runView(card, {
    messages: context.messages,
    redactor: context.redactor,
    nowMs: context.nowMs,
    outputBudget: limits.OUTPUT_BUDGET,
    unitCost: limits.slackCost,
    ...(context.attached === undefined ? {} : { attached: context.attached }),
  });
  const body: RichText[] = [
    ...section(bold(view.title)),
    ...preformatted(shorten(view.command, limits.RUN_COMMAND_BUDGET)),
    ...preformatted(view.output),
  ];
  const small = [...(view.outputNote === undefined ? [] : [view.outputNote]), ...view.notes];
  return {
    messages: [
      {
        text: escapeMrkdwn(shorten(view.fallback, limits.MAX_FALLBACK_TEXT / 2)),
        blocks: [
          richText(body, "oc:body"),
          ...smallPrint([...small, view.facts.map((fact) => `${fact.label} ${fact.value}`).join("  ·  ")]),
          ...buttonBlock(view.buttons, context.messages.approval.cancel),
        ],
      },
    ],
    plain: escapeMrkdwn(
      shorten([view.title, view.command, view.output, ...small].join("\n"), limits.MAX_FALLBACK_TEXT),
    ),
  };
}

const TONE_MARK = { info: "", success: "✓ ", warning: "⚠ ", error: "✗ " } as const;

function renderText(card: TextCard, context: SlackCardContext): RenderedCard {
  const clean = (text: string): string => context.redactor.redact(cleanOutput(text)).text;
  const mark = TONE_MARK[card.tone];
  const title = clean(card.title ?? "").trim();
  const text = clean(card.text ?? "");
  const hint = clean(card.hint ?? "").trim();
  const chunks = textChunks(title === "" ? mark + text : text);
  const units: Unit[] = [
    { elements: section(bold(title === "" ? "" : shorten(mark + title, limits.LINE_BUDGET * 2))) },
    ...chunks.map((chunk, i) => ({ elements: section(...leaves(chunk)), fresh: i > 0 })),
    { elements: fieldsSection(card, clean) },
    { elements: preformatted(shorten(showInvisible(clean(card.code ?? "")), limits.CODE_BUDGET)) },
  ];
  const bodies = pack(units.filter((unit) => unit.elements.length > 0));
  const first = [title, chunks[0] ?? "", hint].filter((part) => part !== "").join(" · ");
  const fallback = escapeMrkdwn(shorten(first.trim() === "" ? "…" : first, limits.MAX_FALLBACK_TEXT / 2));
  const [head = { text: fallback, blocks: [] }, ...rest] = bodies.map((body, i) => ({
    text: i === 0 ? fallback : "…",
    blocks: [richText(body), ...(i === bodies.length - 1 ? smallPrint([hint]) : [])],
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

function textChunks(text: string): string[] {
  const chunks = chunkMessages(text, { limit: limits.TEXT_BUDGET, unitCost: limits.slackCost });
  if (chunks.length > limits.MAX_TEXT_MESSAGES) return [shorten(text, limits.TEXT_BUDGET)];
  return chunks.length <= 2 ? chunks : chunks.map((chunk, i) => `${chunk}\n(${i + 1}/${chunks.length})`);
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

/** The dialog for "Deny with reason". `metadata` comes back with the answer. */
export function reasonModal(messages: Messages, metadata: string): types.ModalView {
  const m = messages.approval;
  return {
    type: "modal",
    callback_id: REASON_CALLBACK,
    private_metadata: metadata,
    title: { type: "plain_text", text: m.reasonTitle.slice(0, limits.MAX_MODAL_TITLE) },
    submit: { type: "plain_text", text: m.deny.slice(0, limits.MAX_MODAL_TITLE) },
    close: { type: "plain_text", text: m.cancel.slice(0, limits.MAX_MODAL_TITLE) },
    blocks: [
      {
        type: "input",
        block_id: REASON_BLOCK,
        label: { type: "plain_text", text: m.reasonLabel },
        element: { type: "plain_text_input", action_id: REASON_INPUT, multiline: true, max_length: limits.MAX_REASON },
      },
    ],
  };
}

export const REASON_CALLBACK = "oc:deny-reason";
export const REASON_BLOCK = "oc:reason";
export const REASON_INPUT = "oc:text";
