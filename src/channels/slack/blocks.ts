/** The Block Kit pieces that cards share. docs.slack.dev/reference/block-kit */
import type { types } from "@slack/bolt";
import type { CardButton } from "../cards/approval-view.ts";
import { type MenuView, shortened } from "../cards/menu-view.ts";
import * as limits from "./limits.ts";
import { shorten } from "./markup.ts";

export function header(text: string, blockId: string): types.HeaderBlock {
  return {
    type: "header",
    block_id: blockId,
    text: { type: "plain_text", text: text.slice(0, limits.MAX_HEADER), emoji: false },
  };
}

export function smallPrint(lines: readonly string[]): types.ContextBlock[] {
  const elements = lines
    .filter((line) => line !== "")
    .slice(0, 10)
    .map((text) => ({ type: "plain_text" as const, text: shorten(text, limits.LINE_BUDGET), emoji: false }));
  return elements.length === 0 ? [] : [{ type: "context", elements }];
}

/** Shown in the reader's own time zone. docs.slack.dev/messaging/formatting-message-text#date-formatting */
export function slackDate(atMs: number): string {
  const fallback = `${new Date(atMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return `<!date^${Math.floor(atMs / 1000)}^{date_short_pretty} {time}|${fallback}>`;
}

/** Of a time later today or tomorrow. */
export function slackTime(atMs: number): string {
  return `<!date^${Math.floor(atMs / 1000)}^{time}|${new Date(atMs).toISOString().slice(11, 16)} UTC>`;
}

/** `more`: what stands behind the three dots; one alone, which a menu can not hold, is a button. */
export function buttonBlock(
  buttons: readonly CardButton[],
  cancel: string,
  more: readonly CardButton[] = [],
): types.ActionsBlock[] {
  const isMenu = more.length >= limits.MIN_OVERFLOW_OPTIONS;
  const shown = isMenu ? buttons : [...buttons, ...more];
  if (shown.length === 0) return [];
  return [
    {
      type: "actions",
      block_id: "oc:actions",
      elements: [...buttonElements(shown, cancel), ...(isMenu ? [overflow(more)] : [])],
    },
  ];
}

export function selectBlock(view: MenuView): types.ActionsBlock[] {
  return [
    {
      type: "actions",
      block_id: "oc:actions",
      elements: [
        {
          type: "static_select",
          action_id: "oc:mn1",
          placeholder: { type: "plain_text", text: shortened(view.prompt, limits.MAX_PLACEHOLDER), emoji: false },
          options: view.choices.map(({ label, detail, code }) => ({
            text: { type: "plain_text", text: shortened(label, limits.MAX_OPTION_TEXT), emoji: false },
            ...(detail === undefined || detail === ""
              ? {}
              : {
                  description: { type: "plain_text", text: shortened(detail, limits.MAX_OPTION_TEXT), emoji: false },
                }),
            value: code,
          })),
        },
      ],
    },
  ];
}

/** Behind three dots. An option carries no style and can not ask back. */
function overflow(buttons: readonly CardButton[]): types.Overflow {
  return {
    type: "overflow",
    action_id: "oc:more",
    options: buttons.slice(0, limits.MAX_OVERFLOW_OPTIONS).map(({ label, code }) => ({
      text: { type: "plain_text", text: label.slice(0, limits.MAX_OPTION_TEXT), emoji: false },
      value: code,
    })),
  };
}

function buttonElements(buttons: readonly CardButton[], cancel: string): types.Button[] {
  return buttons.map((button) => ({
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
  }));
}

/** Below the limit even with the count of what is left out. */
function confirmText(text: string): string {
  return shorten(text, limits.MAX_CONFIRM_TEXT - 30);
}
