/** A neutral card as Discord messages of components v2: a container with the card's colour, text, buttons. Pure. */
import {
  type APIActionRowComponent,
  type APIButtonComponentWithCustomId,
  type APIComponentInContainer,
  type APIMessageTopLevelComponent,
  ButtonStyle,
  ComponentType,
} from "discord.js";
import type { ApprovalCard, Card, MenuCard, RunCard, TextCard } from "../../core/cards.ts";
import { ExecError } from "../../core/errors.ts";
import { actorLabel } from "../../core/route.ts";
import type { Messages } from "../../core/words/messages.ts";
import { encodeAction, encodePicker, type MoreRequest } from "../cards/action-codec.ts";
import { type ApprovalView, approvalView, type CardButton, type Fact, moreButtons } from "../cards/approval-view.ts";
import { displayCommand } from "../cards/command-display.ts";
import { type MenuView, menuView, shortened } from "../cards/menu-view.ts";
import { runView } from "../cards/run-view.ts";
import { textButtons } from "../cards/text-buttons.ts";
import { excerpt, textCost } from "../text/excerpt.ts";
import type { Redactor } from "../text/redact.ts";
import { componentProblems } from "./check.ts";
import {
  COLOURS,
  LINE_BUDGET,
  MAX_BUTTONS_PER_ROW,
  MAX_LABEL,
  MAX_OPTION_TEXT,
  MAX_PLACEHOLDER,
  MAX_SELECT_OPTIONS,
  MESSAGE_BUDGET,
  MIN_COMMAND_BUDGET,
  RULES_BUDGET,
  RUN_COMMAND_BUDGET,
  TEXT_BUDGET,
} from "./limits.ts";
import {
  bold,
  clockTime,
  code,
  escapeMarkdown,
  FENCE_COST,
  fence,
  fenceCost,
  italic,
  prose,
  relativeTime,
  small,
} from "./markup.ts";
import { escapedLine, shorten, type TextPage, textMessages } from "./text-card.ts";

export interface RenderOptions {
  readonly messages: Messages;
  readonly redactor: Redactor;
  readonly nowMs: number;
  /** Most characters of one message of a split text. */
  readonly messageBudget?: number;
  /** Most lines of it. */
  readonly messageLines?: number;
  /**
   * Discord takes no file here. Code is shown instead; a command that could not be attached although its card does not
   * show all of it may not be allowed from here.
   */
  readonly withoutFiles?: boolean;
  /** Name of a log that is sent along, as Discord will know it. */
  readonly attached?: string;
}

export interface DiscordFile {
  readonly name: string;
  readonly content: string;
}

export interface DiscordMessage {
  readonly components: readonly APIMessageTopLevelComponent[];
  /** The whole command, or the whole code of a text, when only part of it is shown. */
  readonly file?: DiscordFile;
}

/** At least one; all but the last are earlier parts of a long text. @throws ExecError `internal` for what Discord refuses. */
export function renderCard(card: Card, options: RenderOptions): readonly DiscordMessage[] {
  const messages = build(card, options);
  for (const one of messages) {
    const problems = componentProblems(one.components);
    if (problems.length > 0)
      throw new ExecError("internal", `Discord would refuse this ${card.kind} card: ${problems.join("; ")}.`);
  }
  return messages;
}

function build(card: Card, options: RenderOptions): readonly DiscordMessage[] {
  switch (card.kind) {
    case "approval":
      return [renderApproval(card, options)];
    case "run":
      return [renderRun(card, options)];
    case "text":
      return renderText(card, options);
    case "menu":
      return renderMenu(card, options);
    case "said":
      return [
        {
          components: [
            display(
              `${bold(escapeMarkdown(actorLabel(card.actor)))}: ${escapedLine(options.redactor.redact(card.text).text, MESSAGE_BUDGET / 2)}`,
            ),
          ],
        },
      ];
  }
}

function renderApproval(card: ApprovalCard, options: RenderOptions): DiscordMessage {
  const { messages, redactor } = options;
  const shown = displayCommand(card.command, redactor);
  const pending = card.state === "pending";
  const rulesFit = card.always.reduce((sum, one) => sum + one.length, 0) <= RULES_BUDGET;
  const view = (shownInFull: boolean): ApprovalView =>
    approvalView(card, { messages, redactor, display: shown, shownInFull, offersCommand: "always" });

  const whole = view(rulesFit);
  const commandCost = textCost(shown.text, fenceCost) + FENCE_COST;
  const head = approvalHead(whole);
  const details = approvalDetails(whole);
  if (commandCost + head.length + details.length <= TEXT_BUDGET)
    return approvalMessage(whole, head, fence(shown.text, "bash"), details, options);

  const m = messages.approval;
  const partial = view(false);
  const fileName = `command-${card.slug}.txt`;
  const fingerprint = small(m.fingerprint(shown.characters, shown.sha256));
  const note = pending
    ? `${bold(escapeMarkdown(options.withoutFiles ? m.notShown : m.fullCommandIn(fileName)))}\n${fingerprint}`
    : fingerprint;
  // Cards with very long reasons give way to the command, never the other way round.
  const room = TEXT_BUDGET - MIN_COMMAND_BUDGET - approvalHead(partial).length - note.length - 3 * FENCE_COST;
  const shortDetails = clip(approvalDetails(partial), Math.max(LINE_BUDGET, room));
  const hiddenNote = bold(escapeMarkdown(m.hidden(shown.characters)));
  const fixed =
    approvalHead(partial).length + shortDetails.length + note.length + hiddenNote.length + 2 * FENCE_COST + 4;
  const cutCommand = excerpt(shown.text, {
    budget: Math.max(MIN_COMMAND_BUDGET, TEXT_BUDGET - fixed),
    unitCost: fenceCost,
  });
  const body =
    cutCommand.hidden === 0
      ? fence(cutCommand.head, "bash")
      : `${fence(cutCommand.head, "bash")}\n${bold(escapeMarkdown(m.hidden(cutCommand.hidden)))}\n${fence(cutCommand.tail, "bash")}`;
  const file = pending && !options.withoutFiles ? { name: fileName, content: shown.text } : undefined;
  return approvalMessage(partial, approvalHead(partial), `${body}\n${note}`, shortDetails, options, file);
}

function approvalHead(view: ApprovalView): string {
  const title = [view.title, view.decidedBy].filter((one) => one !== undefined).join(" ");
  return [`## ${escapeMarkdown(shorten(title))}`, ...view.warnings.map((one) => bold(escapedLine(one)))].join("\n");
}

function approvalDetails(view: ApprovalView): string {
  return [
    ...(view.comment === undefined ? [] : [escapedLine(view.comment, 2 * LINE_BUDGET)]),
    ...(view.statusLine === undefined ? [] : [italic(escapedLine(view.statusLine))]),
    ...view.facts.map((one) => fact(one)),
    ...(view.reasons.length === 0
      ? []
      : [`${bold(escapeMarkdown(view.reasonsLabel))}:`, ...view.reasons.map((one) => `- ${prose(shorten(one))}`)]),
    ...(view.always
      ? [`${bold(escapeMarkdown(view.always.label))}:`, ...view.always.rules.map((one) => `- ${code(one)}`)]
      : []),
    ...view.notes.map((one) => small(escapedLine(one))),
    ...view.snoozes.map((one) =>
      small(escapedLine(one.text) + (one.atMs === undefined ? "" : ` ${clockTime(one.atMs)}`)),
    ),
    small(
      [
        ...(view.expires ? [`${escapeMarkdown(view.expires.label)} ${relativeTime(view.expires.atMs)}`] : []),
        `${escapeMarkdown(view.id.label)} ${code(view.id.value)}`,
      ].join(" · "),
    ),
  ].join("\n");
}

function approvalMessage(
  view: ApprovalView,
  head: string,
  command: string,
  details: string,
  options: RenderOptions,
  file?: DiscordFile,
): DiscordMessage {
  const buttons = options.withoutFiles
    ? view.buttons.filter((one) => one.action.kind !== "approval" || one.action.decision === "deny")
    : view.buttons;
  return {
    components: [
      container(COLOURS[view.tone], [
        display(head),
        display(command),
        ...(file ? [attachment(file.name)] : []),
        display(details),
        ...rows([...buttons, ...opener(view, options.messages)]),
      ]),
    ],
    ...(file ? { file } : {}),
  };
}

/** Grey, behind the decisions: what else there is comes to whoever presses it alone. */
function opener(view: ApprovalView, { approval: m }: Messages): CardButton[] {
  const [first] = view.more;
  if (first === undefined || !("approvalId" in first.action)) return [];
  const action = { kind: "more", approvalId: first.action.approvalId } as const;
  return [{ label: m.more, style: "plain", action, code: encodeAction(action) }];
}

/** What {@link opener}'s button answers. Needs nothing but the id: a card of before a restart opens too. */
export function moreComponents({ approvalId }: MoreRequest, messages: Messages): APIMessageTopLevelComponent[] {
  const m = messages.approval;
  return [display(escapeMarkdown(m.moreFor(approvalId.slice(0, 8)))), ...rows(moreButtons(approvalId, messages))];
}

function renderRun(card: RunCard, options: RenderOptions): DiscordMessage {
  const view = (outputBudget: number) =>
    runView(card, {
      messages: options.messages,
      redactor: options.redactor,
      nowMs: options.nowMs,
      outputBudget,
      unitCost: fenceCost,
      ...(options.attached === undefined ? {} : { attached: options.attached }),
    });
  const bare = view(0);
  const shown = excerpt(bare.command, { budget: RUN_COMMAND_BUDGET, unitCost: fenceCost });
  const command =
    shown.hidden === 0
      ? fence(shown.head, "bash")
      : `${fence(shown.head, "bash")}\n${escapeMarkdown(options.messages.approval.hidden(shown.hidden))}\n${fence(shown.tail, "bash")}`;
  const head = `### ${escapeMarkdown(bare.title)}\n${command}`;
  const foot = (of: typeof bare): string =>
    clip(
      [
        ...(of.outputNote === undefined ? [] : [small(escapeMarkdown(of.outputNote))]),
        ...of.notes.map((one) => small(escapedLine(one))),
        small(of.facts.map((one) => fact(one)).join(" · ")),
      ].join("\n"),
      TEXT_BUDGET / 2,
    );
  // The note about cut output grows by a few digits once there is output to cut.
  const NOTE_ROOM = 64;
  const room = TEXT_BUDGET - head.length - foot(bare).length - 2 * FENCE_COST - NOTE_ROOM;
  const full = view(Math.max(0, room));
  return {
    components: [
      container(COLOURS[full.tone], [
        display(head),
        ...(full.begin === undefined
          ? []
          : [display(`${fence(full.begin.text)}\n${small(escapeMarkdown(full.begin.gap))}`)]),
        ...(full.output === "" ? [] : [display(fence(full.output))]),
        display(foot(full)),
        ...(options.attached === undefined ? [] : [attachment(options.attached)]),
        ...rows(full.buttons),
      ]),
    ],
  };
}

/** A question stands in a box of its own, answered or not; everything else is plain prose. */
function renderText(card: TextCard, options: RenderOptions): readonly DiscordMessage[] {
  const pages = textMessages(card, options);
  if (card.actions === undefined) return pages.map((page) => ({ components: partsOf(page), ...fileOf(page) }));
  const buttons = rows(textButtons(card));
  return boxed(pages, COLOURS[buttons.length > 0 ? "pending" : TEXT_COLOUR[card.tone]], buttons);
}

/** Each page in a box; what can be pressed stands below the last one. */
function boxed(
  pages: readonly TextPage[],
  colour: number,
  controls: readonly APIComponentInContainer[],
): readonly DiscordMessage[] {
  return pages.map((page, index) => ({
    components: [container(colour, [...partsOf(page), ...(index === pages.length - 1 ? controls : [])])],
    ...fileOf(page),
  }));
}

function partsOf({ text, file }: TextPage) {
  return [display(text), ...(file ? [attachment(file.name)] : [])];
}

function fileOf({ file }: TextPage): Pick<DiscordMessage, "file"> {
  return file ? { file } : {};
}

function renderMenu(card: MenuCard, options: RenderOptions): readonly DiscordMessage[] {
  const { messages, redactor } = options;
  const view = menuView(card, { messages, redactor, most: MAX_SELECT_OPTIONS, mostButtons: MAX_BUTTONS_PER_ROW });
  const controls = view.draw === "options" ? [picker(card.menuId, view)] : rows(view.choices);
  return boxed(textMessages(view.body, options), COLOURS[controls.length > 0 ? "pending" : "neutral"], controls);
}

function picker(menuId: string, view: MenuView): APIComponentInContainer {
  return {
    type: ComponentType.ActionRow,
    components: [
      {
        type: ComponentType.StringSelect,
        custom_id: encodePicker(menuId),
        placeholder: shortened(view.prompt, MAX_PLACEHOLDER),
        options: view.choices.map(({ label, detail, code: value }) => ({
          label: shortened(label, MAX_OPTION_TEXT),
          value,
          ...(detail === undefined || detail === "" ? {} : { description: shortened(detail, MAX_OPTION_TEXT) }),
        })),
      },
    ],
  };
}

const TEXT_COLOUR = { info: "neutral", success: "success", warning: "neutral", error: "failure" } as const;

function display(content: string): { type: ComponentType.TextDisplay; content: string } {
  return { type: ComponentType.TextDisplay, content };
}

function attachment(name: string): { type: ComponentType.File; file: { url: string } } {
  return { type: ComponentType.File, file: { url: `attachment://${name}` } };
}

function container(colour: number, components: APIComponentInContainer[]): APIMessageTopLevelComponent {
  return { type: ComponentType.Container, accent_color: colour, components };
}

const STYLES: Readonly<Record<CardButton["style"], APIButtonComponentWithCustomId["style"]>> = {
  success: ButtonStyle.Success,
  primary: ButtonStyle.Primary,
  danger: ButtonStyle.Danger,
  plain: ButtonStyle.Secondary,
};

function rows(buttons: readonly CardButton[]): APIActionRowComponent<APIButtonComponentWithCustomId>[] {
  const found: APIActionRowComponent<APIButtonComponentWithCustomId>[] = [];
  for (let at = 0; at < buttons.length; at += MAX_BUTTONS_PER_ROW)
    found.push({
      type: ComponentType.ActionRow,
      components: buttons.slice(at, at + MAX_BUTTONS_PER_ROW).map((one) => ({
        type: ComponentType.Button,
        style: STYLES[one.style],
        label: one.label.slice(0, MAX_LABEL),
        custom_id: one.code,
      })),
    });
  return found;
}

function fact(one: Fact): string {
  const value = one.code ? code(shorten(one.value)) : escapedLine(one.value);
  return `${bold(escapeMarkdown(one.label))}: ${value}`;
}

/** Drops whole lines from the end: cutting inside one could leave markup open. */
function clip(value: string, budget: number): string {
  if (value.length <= budget) return value;
  const lines = value.split("\n");
  const last = lines.at(-1) ?? "";
  const kept: string[] = [];
  let size = last.length + 2;
  for (const line of lines.slice(0, -1)) {
    if (size + line.length + 1 > budget) break;
    kept.push(line);
    size += line.length + 1;
  }
  return [...kept, "…", last].join("\n");
}
