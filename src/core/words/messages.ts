/** What cards say around their facts: labels, buttons, titles. The page in the browser uses the same. */
import type { Messages } from "./card-words.ts";
import { cards as en } from "./en/cards.ts";
import { firstLanguage, type Language } from "./languages.ts";
import { cards as nl } from "./nl/cards.ts";
import { cards as ptBr } from "./pt-br/cards.ts";
import { cards as vi } from "./vi/cards.ts";

export type { Messages } from "./card-words.ts";

const MESSAGES: Readonly<Record<Language, Messages>> = { en, nl, "pt-BR": ptBr, vi };

/** The first locale that has a language here wins; English when none has. Order: the reader's own, then the configured one. */
export function messagesFor(...locales: readonly (string | undefined)[]): Messages {
  return MESSAGES[firstLanguage(...locales)];
}
