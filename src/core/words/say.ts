/** A wording in one of the product's languages. Pure. */
import { en } from "./en/sentences.ts";
import type { Language } from "./languages.ts";
import { nl } from "./nl/sentences.ts";
import { fill, type PhraseKey, type Wording } from "./phrase.ts";
import { ptBr } from "./pt-br/sentences.ts";
import type { Template } from "./template.ts";
import { vi } from "./vi/sentences.ts";

export type Catalogue = Readonly<Record<PhraseKey, Template>>;

export const CATALOGUES: Readonly<Record<Language, Catalogue>> = { en, nl, "pt-BR": ptBr, vi };

export function inLanguage(wording: Wording, language: Language): string {
  if (typeof wording === "string") return wording;
  if ("lines" in wording) return wording.lines.map((line) => inLanguage(line, language)).join("\n");
  const template: Template | undefined = CATALOGUES[language][wording.phrase];
  if (template === undefined) return wording.text;
  return fill(template, wording.values, language, (inner) => inLanguage(inner, language));
}
