/** The approval card: everything a decision needs, the whole command or a file with it, then the buttons. Pure. */
import type { types } from "@slack/bolt";
import type { ApprovalCard } from "../../core/cards.ts";
import { type ApprovalView, approvalView, type Fact } from "../cards/approval-view.ts";
import { type CommandDisplay, displayCommand } from "../cards/command-display.ts";
import { excerpt, textCost } from "../text/excerpt.ts";
import { buttonBlock, header, slackDate, slackTime, smallPrint } from "./blocks.ts";
import type { RenderedCard, SlackCardContext, SlackMessage } from "./cards.ts";
import * as limits from "./limits.ts";
import {
  bold,
  bullets,
  code,
  escapeMrkdwn,
  fallbackText,
  italic,
  plain,
  preformatted,
  type RichText,
  richText,
  section,
  shorten,
} from "./markup.ts";

/** What a person types when buttons do not work. */
function typedAnswer(card: ApprovalCard, botName: string): string {
  return `@${botName} approve ${card.slug} ${card.offered.includes("allow-once") ? "allow-once" : card.offered.join("|")}`;
}

export function renderApproval(card: ApprovalCard, context: SlackCardContext): RenderedCard {
  const display = displayCommand(card.command, context.redactor);
  const fits = textCost(display.text, limits.slackCost) <= limits.COMMAND_BUDGET;
  const view = approvalView(card, {
    messages: context.messages,
    redactor: context.redactor,
    display,
    shownInFull: fits,
    offersCommand: "always",
    typedForm: typedAnswer(card, context.botName),
  });
  const m = context.messages.approval;
  if (fits || card.state !== "pending") {
    const message = approvalMessage(view, display, context, []);
    const plainText = fits ? approvalPlain(view, display) : undefined;
    return { messages: [message], ...(plainText === undefined ? {} : { plain: plainText }) };
  }
  const name = `command-${card.slug}.txt`;
  const unarmed = { ...view, buttons: [], more: [] };
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
          ...section(italic(display.masked > 0 ? "" : m.fingerprint(display.characters, display.sha256))),
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
    text: fallbackText(view.fallback, limits.MAX_FALLBACK_TEXT / 2),
    blocks: [
      header(view.title, "oc:title"),
      richText(body, "oc:body"),
      ...smallPrint(notes),
      ...buttonBlock(view.buttons, m.cancel, view.more),
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

function footer(view: ApprovalView): types.ContextBlock {
  const id = `${escapeMrkdwn(view.id.label)} \`${escapeMrkdwn(view.id.value)}\``;
  const text =
    view.expires === undefined ? id : `${escapeMrkdwn(view.expires.label)} ${slackDate(view.expires.atMs)}  ·  ${id}`;
  const snoozes = view.snoozes
    .slice(0, limits.MAX_SNOOZES)
    .map((one) => escapeMrkdwn(one.text) + (one.atMs === undefined ? "" : ` ${slackTime(one.atMs)}`));
  return { type: "context", elements: [...snoozes, text].map((line) => ({ type: "mrkdwn", text: line })) };
}

function approvalPlain(view: ApprovalView, display: CommandDisplay): string | undefined {
  if (textCost(display.text, limits.slackBytes) > limits.MAX_FALLBACK_TEXT - 1000) return undefined;
  const lines = [view.title, view.decidedBy, display.text, ...view.reasons.map((r) => shorten(r, 100)), ...view.notes];
  return fallbackText(lines.filter((line) => line !== undefined).join("\n"), limits.MAX_FALLBACK_TEXT);
}
