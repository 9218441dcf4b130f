import { expect, it } from "vitest";
import { approvalView } from "../../../src/channels/cards/approval-view.ts";
import { displayCommand } from "../../../src/channels/cards/command-display.ts";
import type { ApprovalCard } from "../../../src/core/cards.ts";
import { LANGUAGES } from "../../../src/core/words/languages.ts";
import { messagesFor } from "../../../src/core/words/messages.ts";
import { approvalCard, redactor } from "../sample-cards.ts";

const notes = (over: Partial<ApprovalCard>, language: (typeof LANGUAGES)[number] = "en") => {
  const card = approvalCard(over);
  const display = displayCommand(card.command, redactor);
  return approvalView(card, {
    messages: messagesFor(language),
    redactor,
    display,
    shownInFull: true,
    offersCommand: "always",
  }).notes;
};

it("says so, in every language, where always is not offered; not where it is, and not on a receipt", () => {
  const never = { offered: ["allow-once", "deny"], always: [] } as const;
  expect(notes(never)).toEqual(["“Allow always” is not offered: each run of this is decided anew."]);
  expect(new Set(LANGUAGES.flatMap((language) => notes(never, language))).size).toBe(LANGUAGES.length);
  expect(notes({})).toEqual([]);
  expect(notes({ ...never, state: "denied", decision: "deny" })).toEqual([]);
});
