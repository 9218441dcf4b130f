/** Secrets never reach a chat: every text of a card goes through here on its way into the deliveries queue. */
import type { Redactor } from "../channels/text/redact.ts";
import type { Card } from "../core/cards.ts";

export function redactCard(card: Card, redactor: Redactor): Card {
  const mask = (text: string) => redactor.redact(text).text;
  switch (card.kind) {
    case "approval": {
      const command = mask(card.command);
      return {
        ...card,
        command,
        // Spans of the unmasked text would mark the wrong words.
        highlights: command === card.command ? card.highlights : [],
        reasons: card.reasons.map(mask),
        warnings: card.warnings.map(mask),
        always: card.always.map(mask),
        ...(card.statusLine ? { statusLine: mask(card.statusLine) } : {}),
      };
    }
    case "run":
      return { ...card, command: mask(card.command), tail: mask(card.tail), notes: card.notes.map(mask) };
    case "text":
      return {
        ...card,
        ...(card.text ? { text: mask(card.text) } : {}),
        ...(card.code ? { code: mask(card.code) } : {}),
        ...(card.fields ? { fields: card.fields.map((field) => ({ ...field, value: mask(field.value) })) } : {}),
      };
    case "said":
      return { ...card, text: mask(card.text) };
  }
}
