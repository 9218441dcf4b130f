/** A card with every sentence changed: masked, or put into the reader's language. Pure. */
import type { Card, MenuCard, TextCard, UnspokenCard } from "../cards.ts";
import type { Language } from "./languages.ts";
import type { Wording } from "./phrase.ts";
import { inLanguage } from "./say.ts";

/** What a channel shows. */
export function spokenCard(card: UnspokenCard, language: Language): Card {
  return mapCard(card, (wording) => inLanguage(wording, language));
}

export function mapCard<To extends Wording>(card: UnspokenCard, change: (wording: Wording) => To): Card<To> {
  switch (card.kind) {
    case "approval": {
      const { statusLine, ...rest } = card;
      return {
        ...rest,
        reasons: card.reasons.map(change),
        warnings: card.warnings.map(change),
        always: card.always.map(change),
        ...(statusLine === undefined ? {} : { statusLine: change(statusLine) }),
      };
    }
    case "run":
      return { ...card, notes: card.notes.map(change) };
    case "text":
      return mapText(card, change);
    case "menu":
      return mapMenu(card, change);
    case "said":
      return card;
  }
}

function mapMenu<To extends Wording>(card: MenuCard<Wording>, change: (wording: Wording) => To): MenuCard<To> {
  const { kind, menuId, title, text, fields, command, choices, form, chosen } = card;
  return {
    kind,
    menuId,
    title: change(title),
    ...(text === undefined ? {} : { text: change(text) }),
    ...(fields === undefined ? {} : { fields: mapFields(fields, change) }),
    ...(command === undefined ? {} : { command }),
    choices: choices.map(({ label, detail, ...choice }) => ({
      ...choice,
      label: change(label),
      ...(detail === undefined ? {} : { detail: change(detail) }),
    })),
    form,
    ...(chosen === undefined ? {} : { chosen: change(chosen) }),
  };
}

function mapFields<To extends Wording>(
  fields: NonNullable<TextCard<Wording>["fields"]>,
  change: (wording: Wording) => To,
): NonNullable<TextCard<To>["fields"]> {
  return fields.map(({ label, value, note }) => ({
    label: change(label),
    value: change(value),
    ...(note === undefined ? {} : { note: change(note) }),
  }));
}

function mapText<To extends Wording>(card: TextCard<Wording>, change: (wording: Wording) => To): TextCard<To> {
  const { kind, tone, title, text, fields, code, hint, actions } = card;
  return {
    kind,
    tone,
    ...(title === undefined ? {} : { title: change(title) }),
    ...(text === undefined ? {} : { text: change(text) }),
    ...(fields === undefined ? {} : { fields: mapFields(fields, change) }),
    ...(code === undefined ? {} : { code: change(code) }),
    ...(hint === undefined ? {} : { hint: change(hint) }),
    ...(actions === undefined
      ? {}
      : { actions: actions.map(({ label, ...action }) => ({ ...action, label: change(label) })) }),
  };
}
