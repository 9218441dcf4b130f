/** The languages that the product speaks, and which of them a BCP 47 tag asks for. Pure. */

export const LANGUAGES = ["en", "nl", "pt-BR", "vi"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The language for a BCP 47 tag (`nl-BE`, `pt_PT`), by exact match, then by its first subtag. */
export function languageOf(locale: string | undefined): Language | undefined {
  if (locale === undefined) return undefined;
  const tag = locale.replaceAll("_", "-").toLowerCase();
  const exact = LANGUAGES.find((language) => language.toLowerCase() === tag);
  if (exact !== undefined) return exact;
  const [primary] = tag.split(/[-.]/);
  return LANGUAGES.find((language) => language.toLowerCase().split("-")[0] === primary);
}

/** The first locale that has a language here wins; English when none has. Order: the reader's own, then the configured one. */
export function firstLanguage(...locales: readonly (string | undefined)[]): Language {
  for (const locale of locales) {
    const language = languageOf(locale);
    if (language !== undefined) return language;
  }
  return "en";
}
