import { en } from "./en.ts";
import { LANGUAGES, type Language, type Messages } from "./messages.ts";
import { nl } from "./nl.ts";
import { ptBr } from "./pt-br.ts";
import { vi } from "./vi.ts";

export type { Language, Messages } from "./messages.ts";
export { LANGUAGES } from "./messages.ts";

const CATALOGUE: Readonly<Record<Language, Messages>> = { en, nl, "pt-BR": ptBr, vi };

/** The language for a BCP 47 tag (`nl-BE`, `pt_PT`), by exact match, then by its first subtag. */
export function languageOf(locale: string | undefined): Language | undefined {
  if (locale === undefined) return undefined;
  const tag = locale.replaceAll("_", "-").toLowerCase();
  const exact = LANGUAGES.find((language) => language.toLowerCase() === tag);
  if (exact !== undefined) return exact;
  const [primary] = tag.split("-");
  return LANGUAGES.find((language) => language.toLowerCase().split("-")[0] === primary);
}

/** The first locale that has a catalogue wins; English when none has. Order: the reader's own, then the configured one. */
export function messagesFor(...locales: readonly (string | undefined)[]): Messages {
  for (const locale of locales) {
    const language = languageOf(locale);
    if (language !== undefined) return CATALOGUE[language];
  }
  return en;
}
