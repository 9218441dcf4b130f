/** A menu on each platform: what it takes is offered in the way it has, nothing is allowed that is not shown in full. */
import { describe, expect, it } from "vitest";
import { decodeAction } from "../../../src/channels/cards/action-codec.ts";
import { MENU_COMMAND_CHARS } from "../../../src/channels/cards/menu-view.ts";
import { renderCard as renderDiscord } from "../../../src/channels/discord/cards.ts";
import { componentProblems } from "../../../src/channels/discord/check.ts";
import { renderSlackCard } from "../../../src/channels/slack/cards.ts";
import { renderCard as renderTelegram } from "../../../src/channels/telegram/cards.ts";
import { MAX_MENU_CHOICES, type MenuCard } from "../../../src/core/cards.ts";
import { LANGUAGES } from "../../../src/core/words/languages.ts";
import { type Messages, messagesFor } from "../../../src/core/words/messages.ts";
import { textOf } from "../../emulators/discord/rest.ts";
import { messageProblems } from "../../emulators/discord/validate.ts";
import { checkBlocks } from "../../emulators/slack/block-rules.ts";
import { drawMessage } from "../../emulators/slack/markup.ts";
import { parseHtml } from "../../emulators/telegram/entities.ts";
import { APPROVAL_ID, redactor } from "../sample-cards.ts";

function menuOf(count: number, over: Partial<MenuCard> = {}): MenuCard {
  return {
    kind: "menu",
    menuId: APPROVAL_ID,
    title: "Which session?",
    choices: Array.from({ length: count }, (_, at) => ({
      label: `quiet-otter-${at}`,
      detail: `npm run watch -- --part=${at} ${"x".repeat(200)}`,
      style: "plain" as const,
    })),
    form: "/process log <session>",
    ...over,
  };
}

function decision(command: string): MenuCard {
  return menuOf(0, {
    command,
    choices: [
      { label: "Allow once", style: "success", needs: "whole" },
      { label: "Allow always", style: "primary", needs: "unmasked" },
      { label: "Deny", style: "danger" },
    ],
  });
}

interface Drawn {
  readonly text: string;
  /** What stands beside a choice in a list. */
  readonly details: readonly string[];
  readonly labels: readonly string[];
  readonly codes: readonly string[];
  readonly isList: boolean;
}

type Json = Record<string, unknown>;
const plain = (object: unknown) => String((object as Json | undefined)?.text ?? "");

function slack(card: MenuCard, messages: Messages): Drawn {
  const rendered = renderSlackCard(card, { messages, redactor, nowMs: 0, botName: "openclaw" });
  const all = rendered?.messages ?? [];
  for (const { blocks } of all) expect(checkBlocks(JSON.parse(JSON.stringify(blocks)))).toEqual([]);
  const names = { user: (id: string) => id, channel: (id: string) => id };
  const text = all.map((one) => drawMessage(one.text, JSON.parse(JSON.stringify(one.blocks)), names).text).join("\n");
  const elements = all
    .flatMap(({ blocks }) => blocks)
    .flatMap((block) => (block.type === "actions" ? block.elements : []));
  const options = elements.flatMap((one) => (one.type === "static_select" ? (one.options ?? []) : []));
  if (options.length > 0) {
    return {
      text,
      isList: true,
      labels: options.map((one) => plain(one.text)),
      details: options.map((one) => plain(one.description)),
      codes: options.map((one) => one.value ?? ""),
    };
  }
  const buttons = elements.flatMap((one) => (one.type === "button" ? [one] : []));
  const [labels, codes] = [buttons.map((one) => plain(one.text)), buttons.map((one) => one.value ?? "")];
  return { text, isList: false, details: [], labels, codes };
}

function discord(card: MenuCard, messages: Messages): Drawn {
  const all = renderDiscord(card, { messages, redactor, nowMs: 0 });
  for (const { components } of all) {
    expect(componentProblems(components)).toEqual([]);
    expect(messageProblems({ components: components as never, flags: 1 << 15 } as never, [])).toEqual([]);
  }
  const walk = (node: Json): Json[] => [node, ...((node.components ?? []) as Json[]).flatMap(walk)];
  const nodes = all.flatMap(({ components }) => (components as unknown as Json[]).flatMap(walk));
  const options = nodes.flatMap((node) => (node.type === 3 ? (node.options as Json[]) : []));
  const buttons = nodes.filter((node) => node.type === 2);
  const isList = options.length > 0;
  return {
    text: all.map(({ components }) => textOf(components)).join("\n"),
    isList,
    labels: (isList ? options : buttons).map((one) => String(one.label)),
    details: options.map((one) => String(one.description ?? "")),
    codes: isList ? options.map((one) => String(one.value)) : buttons.map((one) => String(one.custom_id)),
  };
}

function telegram(card: MenuCard, messages: Messages): Drawn {
  const rendered = renderTelegram(card, { messages, redactor, nowMs: 0 });
  const buttons = rendered.keyboard?.inline_keyboard.flat() ?? [];
  const codes = buttons.map((one) => ("callback_data" in one ? (one.callback_data ?? "") : ""));
  for (const code of codes) expect(Buffer.byteLength(code)).toBeLessThanOrEqual(64);
  const text = rendered.parts.map((one) => parseHtml(one.html).text).join("\n");
  return { text, isList: false, details: [], labels: buttons.map((one) => one.text), codes };
}

const PLATFORMS = [
  { name: "slack", draw: slack, most: 100, buttons: 5 },
  { name: "discord", draw: discord, most: 25, buttons: 5 },
  { name: "telegram", draw: telegram, most: 20, buttons: 20 },
] as const;
const en = messagesFor("en");

describe.each(PLATFORMS)("a menu on $name", ({ draw, most, buttons }) => {
  it.each([1, 5, 6, 20, 21, 25, 26, MAX_MENU_CHOICES])(
    "offers %i choices as it can, and says what of them must be typed",
    (count) => {
      const drawn = draw(menuOf(count), en);
      const offered = Math.min(count, most);
      expect(drawn.labels).toEqual(Array.from({ length: offered }, (_, at) => `quiet-otter-${at}`));
      expect(drawn.codes.map(decodeAction)).toEqual(
        Array.from({ length: offered }, (_, choice) => ({ kind: "menu", menuId: APPROVAL_ID, choice })),
      );
      expect(drawn.isList).toBe(offered > buttons);
      if (drawn.isList) expect(drawn.details[0]).toMatch(/^npm run watch -- --part=0 x+…$/);
      else expect(drawn.text).toContain("npm run watch -- --part=0");
      const unescaped = drawn.text.replaceAll("\\", "");
      expect(unescaped).toContain(
        count > most
          ? `${count - most} more do not fit here. Type: /process log <session>`
          : "Or type: /process log <session>",
      );
    },
  );

  it("no button carries what it stands for", () => {
    const drawn = draw(menuOf(3), en);
    expect(drawn.codes.join()).not.toMatch(/otter|npm|process/);
  });

  it("once answered says what was chosen, and offers nothing", () => {
    const drawn = draw(menuOf(0, { chosen: "quiet-otter-1" }), en);
    expect(drawn.labels).toEqual([]);
    expect(drawn.text.replaceAll("\\", "")).toContain("Chosen: quiet-otter-1");
  });

  it("PR 81001: a command that it can not show whole is not allowed from it", () => {
    const long = draw(decision(`echo ${"&<".repeat(MENU_COMMAND_CHARS / 2)}`), en);
    expect(long.labels).toEqual(["Deny"]);
    expect(long.text).toContain("too long for this list");
    const whole = `printf '%s' ${"&<".repeat(MENU_COMMAND_CHARS / 2 - 20)} end`;
    const short = draw(decision(whole), en);
    expect(short.labels).toEqual(["Allow once", "Allow always", "Deny"]);
    expect(short.text).toContain(whole);
  });

  it("secret-in-command-card: masks, says so, and does not offer always", () => {
    const drawn = draw(decision("curl -H 'Authorization: Bearer sk-abcdefghijklmnopqrstuvwx'"), en);
    expect(drawn.text).not.toContain("sk-abcdefghijkl");
    expect(drawn.text).toContain("1 secret is masked here");
    expect(drawn.labels).toEqual(["Allow once", "Deny"]);
  });

  it("shows what can not be seen", () => {
    expect(draw(decision("ls\u200b -la"), en).text).toMatch(/ls\\u\{200b\} -la/i);
  });

  it.each(LANGUAGES)("is within the platform's limits in %s", (language) => {
    const drawn = draw(menuOf(MAX_MENU_CHOICES), messagesFor(language));
    expect(drawn.labels).toHaveLength(most);
  });
});
