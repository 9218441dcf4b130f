/** A text card that asks something: its buttons on each platform, in each language, and the receipt without them. */
import { describe, expect, it } from "vitest";
import { type ButtonAction, decodeAction } from "../../../src/channels/cards/action-codec.ts";
import { renderCard as renderDiscord } from "../../../src/channels/discord/cards.ts";
import { renderSlackCard } from "../../../src/channels/slack/cards.ts";
import { renderCard as renderTelegram } from "../../../src/channels/telegram/cards.ts";
import type { PairingRequest } from "../../../src/core/access/pairing.ts";
import { pairingCard } from "../../../src/core/access/pairing-card.ts";
import type { Card, TextCard } from "../../../src/core/cards.ts";
import { LANGUAGES, type Language } from "../../../src/core/words/languages.ts";
import { messagesFor } from "../../../src/core/words/messages.ts";
import { inLanguage } from "../../../src/core/words/say.ts";
import { spokenCard } from "../../../src/core/words/spoken-card.ts";
import { buttonsOf } from "../../emulators/discord/emulator.ts";
import { messageProblems } from "../../emulators/discord/validate.ts";
import { checkBlocks } from "../../emulators/slack/block-rules.ts";
import { ALICE, redactor } from "../sample-cards.ts";

const STATES = ["pending", "approved", "dismissed", "expired"] as const;
const NAMES = ["sam", "x".repeat(300), "<!channel> @everyone *b* `c`", "Đặng Thị Hồng"];

const request = (status: PairingRequest["status"], display: string): PairingRequest => ({
  id: "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
  code: "HYBUEWNM",
  channel: "telegram",
  accountId: "default",
  actor: { kind: "person", channel: "telegram", accountId: "default", id: "404", display },
  route: { channel: "telegram", accountId: "default", chatType: "dm", chatId: "404" },
  createdAtMs: 0,
  expiresAtMs: 3_600_000,
  status,
  ...(status === "approved" || status === "dismissed" ? { decidedBy: ALICE } : {}),
  shownAt: [],
});

interface Button {
  readonly label: string;
  readonly code: string;
}

/** The buttons as the platform is told them, after its own rules have been checked. */
const PLATFORMS: Readonly<Record<string, (card: Card, language: Language) => readonly Button[]>> = {
  slack(card, language) {
    const rendered = renderSlackCard(card, {
      messages: messagesFor(language),
      redactor,
      nowMs: 0,
      botName: "openclaw",
    });
    const blocks = rendered?.messages.flatMap((message) => message.blocks) ?? [];
    expect(checkBlocks(JSON.parse(JSON.stringify(blocks)))).toEqual([]);
    return blocks.flatMap((block) =>
      block.type === "actions"
        ? block.elements.flatMap((one) =>
            one.type === "button" ? [{ label: one.text.text, code: one.value ?? "" }] : [],
          )
        : [],
    );
  },
  discord(card, language) {
    const messages = renderDiscord(card, { messages: messagesFor(language), redactor, nowMs: 0 });
    return messages.flatMap(({ components }) => {
      const body = { flags: 32_768, components: JSON.parse(JSON.stringify(components)) };
      expect(messageProblems(body, [])).toEqual([]);
      return buttonsOf(components)
        .flat()
        .map((one) => ({ label: one.label, code: one.id }));
    });
  },
  telegram(card, language) {
    const { keyboard } = renderTelegram(card, { messages: messagesFor(language), redactor, nowMs: 0 });
    const rows = keyboard?.inline_keyboard ?? [];
    return rows.flat().map((one) => ({ label: one.text, code: "callback_data" in one ? one.callback_data : "" }));
  },
};

const cardIn = (language: Language, status: PairingRequest["status"], name: string) =>
  spokenCard(pairingCard(request(status, name)), language) as TextCard;

describe.each(Object.entries(PLATFORMS))("who asks to be let in, on %s", (_name, buttonsOn) => {
  it.each(LANGUAGES)("has a button for each answer in %s, and none once it is answered", (language) => {
    for (const name of NAMES) {
      const asked = buttonsOn(cardIn(language, "pending", name), language);
      expect(asked.map(({ code }) => decodeAction(code))).toEqual([
        { kind: "pairing", requestId: request("pending", name).id, decision: "approve" },
        { kind: "pairing", requestId: request("pending", name).id, decision: "dismiss" },
      ] satisfies ButtonAction[]);
      expect(new Set(asked.map(({ label }) => label)).size).toBe(2);
      for (const status of STATES.slice(1)) expect(buttonsOn(cardIn(language, status, name), language)).toEqual([]);
    }
  });
});

it("says in every language who asks, and afterwards who decided", () => {
  for (const language of LANGUAGES) {
    for (const status of STATES) {
      const card = cardIn(language, status, "sam");
      expect(JSON.stringify(card.fields)).toContain("sam");
      if (status === "pending") expect(card.hint).toContain("/pair approve HYBUEWNM");
      if (status === "approved" || status === "dismissed") expect(card.text).toContain("alice");
    }
  }
  const titles = LANGUAGES.flatMap((language) =>
    STATES.map((status) => inLanguage(pairingCard(request(status, "sam")).title ?? "", language)),
  );
  expect(new Set(titles).size).toBe(titles.length);
});
