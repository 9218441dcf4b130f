/** Neutral cards to Slack messages. Pure: the same card always gives the same blocks. */
import type { types } from "@slack/bolt";
import type { Card, MenuCard, RunCard } from "../../core/cards.ts";
import type { Messages } from "../../core/words/messages.ts";
import { menuView } from "../cards/menu-view.ts";
import { runView } from "../cards/run-view.ts";
import type { Redactor } from "../text/redact.ts";
import { renderApproval } from "./approval-card.ts";
import { buttonBlock, selectBlock, smallPrint } from "./blocks.ts";
import * as limits from "./limits.ts";
import { bold, fallbackText, italic, preformatted, type RichText, richText, section, shorten } from "./markup.ts";
import { renderText } from "./text-card.ts";

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
  /** Longest text of one message; default {@link limits.TEXT_BUDGET}, which is also the most. */
  readonly textLimit?: number;
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
    case "menu":
      return renderMenu(card, context);
    case "said":
      return undefined;
  }
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
    ...(view.begin === undefined ? [] : [...preformatted(view.begin.text), ...section(italic(view.begin.gap))]),
    ...preformatted(view.output),
  ];
  const outputLines = [...(view.begin === undefined ? [] : [view.begin.text, view.begin.gap]), view.output];
  const small = [...(view.outputNote === undefined ? [] : [view.outputNote]), ...view.notes];
  return {
    messages: [
      {
        text: fallbackText(view.fallback, limits.MAX_FALLBACK_TEXT / 2),
        blocks: [
          richText(body, "oc:body"),
          ...smallPrint([...small, view.facts.map((fact) => `${fact.label} ${fact.value}`).join("  ·  ")]),
          ...buttonBlock(view.buttons, context.messages.approval.cancel),
        ],
      },
    ],
    plain: fallbackText([view.title, view.command, ...outputLines, ...small].join("\n"), limits.MAX_FALLBACK_TEXT),
  };
}

/** Below its text a few choices are buttons, many are a list; without them in plain text it says what to type. */
function renderMenu(card: MenuCard, context: SlackCardContext): RenderedCard {
  const view = menuView(card, { ...context, most: limits.MAX_OPTIONS, mostButtons: limits.MAX_MENU_BUTTONS });
  const drawn = renderText(view.body, context);
  if (view.choices.length === 0) return drawn;
  const control =
    view.draw === "options" ? selectBlock(view) : buttonBlock(view.choices, context.messages.approval.cancel);
  const last = drawn.messages.length - 1;
  const [first, ...rest] = drawn.messages.map((message, part) =>
    part === last ? { ...message, blocks: [...message.blocks, ...control] } : message,
  );
  return { ...drawn, messages: [first ?? drawn.messages[0], ...rest] };
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
