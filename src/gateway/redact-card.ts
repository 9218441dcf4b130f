/** Secrets never reach a chat: every text of a card goes through here on its way into the deliveries queue. */
import type { Redactor } from "../channels/text/redact.ts";
import type { UnspokenCard } from "../core/cards.ts";
import { mapWording } from "../core/words/phrase.ts";
import { mapCard } from "../core/words/spoken-card.ts";

export function redactCard(card: UnspokenCard, redactor: Redactor): UnspokenCard {
  const mask = (text: string) => redactor.redact(text).text;
  const masked = mapCard(card, (wording) => mapWording(wording, mask));
  switch (masked.kind) {
    case "approval": {
      const command = mask(masked.command);
      // Spans of the unmasked text would mark the wrong words.
      const inner = masked.inner?.map(mask);
      return {
        ...masked,
        ...(inner ? { inner } : {}),
        command,
        highlights: command === masked.command ? masked.highlights : [],
      };
    }
    case "run":
      return {
        ...masked,
        command: mask(masked.command),
        tail: mask(masked.tail),
        ...(masked.head === undefined ? {} : { head: mask(masked.head) }),
      };
    case "text":
      return masked;
    case "menu":
      return masked.command === undefined ? masked : { ...masked, command: mask(masked.command) };
    case "said":
      return { ...masked, text: mask(masked.text) };
  }
}
