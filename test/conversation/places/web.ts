/** The web chat: whoever holds the token is the operator, so all its people are one, and its one chat is their own. */
import type { Card, PressAction } from "../../../src/core/cards.ts";
import type { ApprovalDecision } from "../../../src/core/policy/types.ts";
import type { Person } from "../../support/gateway.ts";
import type { OpenPlace, ShownMessage } from "../place.ts";

const OPERATOR = "operator";
const CHAT = "main";
const DECISIONS = new Map<string, ApprovalDecision>([
  ["Allow once", "allow-once"],
  ["Allow always", "allow-always"],
  ["Deny", "deny"],
]);
const TAKE_BACK = "Take back";
const ASK_AGAIN = "Ask again";
const RUN_LABELS = { stop: "Stop", "full-log": "Full log", "run-again": "Run again" } as const;

export const openWeb: OpenPlace = async () => {
  let person: Person;
  let last = { text: "", clientId: "" };
  const send = async (text: string) => {
    last = { text, clientId: crypto.randomUUID() };
    await person.say(last.text, last.clientId);
    return last.clientId;
  };
  const card = (id: string): Card => {
    const found = person.screen().find((_one, index) => idOf(index) === id);
    if (!found) throw new Error(`The screen has no ${id}.`);
    return found;
  };
  return {
    name: "web",
    owner: OPERATOR,
    second: OPERATOR,
    guest: OPERATOR,
    stranger: OPERATOR,
    crowd: [],
    room: CHAT,
    env: {},
    config: {},
    direct: () => CHAT,
    async attach(gateway) {
      person = await gateway.person(CHAT);
    },
    stop: async () => {},
    command: async (_user, _chat, text) => {
      await send(text);
      return true;
    },
    say: (_user, _chat, text) => send(text.replace(/^@bot \/?/, "/")),
    press: (_user, message, label) => person.press(actionOf(card(message.id), label)),
    async besides(_user, message, what) {
      const shown = card(message.id);
      if (shown.kind !== "approval" || what === "reason") throw new Error(`The web chat has no ${what} here.`);
      const action = what === "snooze" ? "snooze" : "full-command";
      await person.press({ kind: "approval-action", action, approvalId: shown.approvalId });
    },
    async denyWithReason(_user, message, reason) {
      const shown = card(message.id);
      if (shown.kind === "approval") await person.decide(shown, "deny", reason);
    },
    openThread: () => Promise.reject(new Error("The web chat has no threads.")),
    posted: () =>
      person
        .screen()
        .map((one, index): [Card, number] => [one, index])
        .filter(([one]) => one.kind !== "said")
        .map(([one, index]) => shownAs(one, index)),
    screen: () => person.screen().map(textOf).join("\n\n"),
    violations: () => [],
    passTime: () => {},
    enforceRates: () => {},
    refusals: () => 0,
    holdUpload: () => {
      throw new Error("the web chat has no uploads");
    },
    slowSends: () => {
      throw new Error("The web chat takes every message at once.");
    },
    duplicateLast: () => person.say(last.text, last.clientId),
  };
};

/** By its place: a card that came down to a new message is another message. */
function idOf(index: number): string {
  return `at ${index}`;
}

function shownAs(card: Card, index: number): ShownMessage {
  return { id: idOf(index), chat: CHAT, text: textOf(card), buttons: buttonsOf(card), files: [] };
}

function buttonsOf(card: Card): readonly string[] {
  if (card.kind === "approval") {
    if (card.askable) return [ASK_AGAIN];
    return card.revocable
      ? [TAKE_BACK]
      : [...DECISIONS].filter(([, decision]) => card.offered.includes(decision)).map(([label]) => label);
  }
  if (card.kind === "menu") return card.choices.map(({ label }) => label);
  if (card.kind === "text") return (card.actions ?? []).map(({ label }) => label);
  return card.kind === "run" ? card.actions.map((action) => RUN_LABELS[action]) : [];
}

function actionOf(card: Card, label: string): PressAction {
  const decision = DECISIONS.get(label);
  if (card.kind === "approval" && decision) return { kind: "approval", approvalId: card.approvalId, decision };
  if (card.kind === "approval" && label === TAKE_BACK) return { kind: "revoke", approvalId: card.approvalId };
  if (card.kind === "menu") {
    const choice = card.choices.findIndex((one) => one.label === label);
    if (choice >= 0) return { kind: "menu", menuId: card.menuId, choice };
  }
  if (card.kind === "approval" && label === ASK_AGAIN)
    return { kind: "approval-action", action: "ask-again", approvalId: card.approvalId };
  const asked = card.kind === "text" ? card.actions?.find((one) => one.label === label) : undefined;
  if (asked) return asked.press;
  if (card.kind === "run") {
    const action = card.actions.find((one) => RUN_LABELS[one] === label);
    if (action) return { kind: "run", runId: card.runId, action };
  }
  throw new Error(`This card has no button "${label}".`);
}

/** Everything a card says, one value a line. */
function textOf(card: Card): string {
  const values = (value: unknown): string[] => {
    if (typeof value === "string" || typeof value === "number") return [String(value)];
    return typeof value === "object" && value !== null ? Object.values(value).flatMap(values) : [];
  };
  return values(card).join("\n");
}
