/** What a menu says and which of its choices a platform can offer, before any platform's markup. Pure. */
import type { MenuCard, MenuChoice, TextCard } from "../../core/cards.ts";
import type { Messages } from "../../core/words/messages.ts";
import { excerpt } from "../text/excerpt.ts";
import type { Redactor } from "../text/redact.ts";
import { showInvisible } from "../text/visible.ts";
import { encodeAction } from "./action-codec.ts";
import type { CardButton } from "./approval-view.ts";
import { displayCommand } from "./command-display.ts";

/** More of a command than this is for its own card, which can attach it. Fits every platform, however it is escaped. */
export const MENU_COMMAND_CHARS = 1_000;

export interface MenuViewOptions {
  readonly messages: Messages;
  readonly redactor: Redactor;
  /** The platform offers no more at once; the rest is typed. */
  readonly most: number;
  /** So many are buttons, which say nothing of a choice but its name; more are a list of options with their details. */
  readonly mostButtons: number;
}

export interface MenuView {
  /** Drawn as text cards are. */
  readonly body: TextCard;
  readonly draw: "buttons" | "options";
  readonly choices: readonly MenuItem[];
  /** Says above a list of options what to do with it. */
  readonly prompt: string;
}

export interface MenuItem extends CardButton {
  readonly detail?: string;
}

export function menuView(card: MenuCard, options: MenuViewOptions): MenuView {
  const { menu: m } = options.messages;
  const clean = (text: string) => showInvisible(options.redactor.redact(text).text);
  const shown = commandOf(card, options);
  const fitting = card.choices
    .map((choice, index) => ({ choice, index }))
    .filter(({ choice }) => choice.needs === undefined || shown.allows(choice.needs));
  const offered = fitting.slice(0, options.most);
  const draw = offered.length <= options.mostButtons ? "buttons" : "options";
  const choices = offered.map(({ choice, index }) => itemOf(card.menuId, choice, index, clean));
  const more = fitting.length - offered.length;
  const details =
    draw === "buttons" ? choices.flatMap(({ label, detail }) => (detail === undefined ? [] : [{ label, detail }])) : [];
  const fields = [...(card.fields ?? []), ...details.map(({ label, detail }) => ({ label, value: detail }))];
  const open = card.choices.length > 0;
  return {
    draw,
    choices,
    prompt: m.choose,
    body: {
      kind: "text",
      tone: "info",
      title: card.title,
      text: [
        ...(card.text === undefined ? [] : [card.text]),
        ...shown.notes,
        ...(card.chosen === undefined ? [] : [m.chosen(card.chosen)]),
      ].join("\n"),
      ...(fields.length === 0 ? {} : { fields }),
      ...(shown.text === undefined ? {} : { code: shown.text }),
      ...(open ? { hint: more > 0 ? m.more(more, card.form) : m.orType(card.form) } : {}),
    },
  };
}

function itemOf(menuId: string, choice: MenuChoice, index: number, clean: (text: string) => string): MenuItem {
  const action = { kind: "menu", menuId, choice: index } as const;
  return {
    label: clean(choice.label),
    style: choice.style,
    action,
    code: encodeAction(action),
    ...(choice.detail === undefined ? {} : { detail: clean(choice.detail).replace(/\s+/g, " ").trim() }),
  };
}

interface ShownCommand {
  readonly text?: string;
  readonly notes: readonly string[];
  allows(needs: NonNullable<MenuChoice["needs"]>): boolean;
}

/** Nobody allows here what they are not shown in full. */
function commandOf({ command, choices }: MenuCard, { messages, redactor }: MenuViewOptions): ShownCommand {
  if (command === undefined) return { notes: [], allows: () => true };
  const display = displayCommand(command, redactor);
  const cut = excerpt(display.text, { budget: MENU_COMMAND_CHARS });
  const isWhole = cut.hidden === 0;
  const { approval: m, menu } = messages;
  const asks = choices.length > 0;
  return {
    text: isWhole ? display.text : `${cut.head}\n${m.hidden(cut.hidden)}\n${cut.tail}`,
    notes: [
      ...(display.masked > 0 ? [m.masked(display.masked)] : []),
      ...(display.disguised.length > 0
        ? [m.disguised(display.disguised.map((word) => showInvisible(word)).join(", "))]
        : []),
      ...(asks && !isWhole ? [menu.tooLong] : []),
      ...(asks && isWhole && display.masked > 0 && choices.some((one) => one.needs === "unmasked")
        ? [m.alwaysUnavailableMasked]
        : []),
    ],
    allows: (needs) => isWhole && (needs === "whole" || display.masked === 0),
  };
}

/** Within a platform's limit for a label or a detail. */
export function shortened(text: string, most: number): string {
  const shown = excerpt(text, { budget: most - 1, headShare: 1 });
  return shown.hidden === 0 ? shown.head : `${shown.head}…`;
}
