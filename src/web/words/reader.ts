/** The language of whoever reads the page: its own words and those of the cards. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { type Language, languageOf } from "../../core/words/languages.ts";
import { type Messages, messagesFor } from "../../core/words/messages.ts";
import { en } from "./en.ts";
import { nl } from "./nl.ts";
import { ptBr } from "./pt-br.ts";
import { vi } from "./vi.ts";
import type { Words } from "./words.ts";

export interface Reader {
  readonly language: Language;
  readonly words: Words;
  /** The same words as on the cards of every other channel. */
  readonly messages: Messages;
}

const WORDS: Readonly<Record<Language, Words>> = { en, nl, "pt-BR": ptBr, vi };

/** The first of the reader's languages that the page speaks, else English. */
export function readerOf(locales: readonly string[]): Reader {
  const language = locales.map(languageOf).find((known) => known !== undefined) ?? "en";
  return { language, words: WORDS[language], messages: messagesFor(language) };
}

export const ReaderContext = createContext<Reader | undefined>(undefined);

export const ReaderProvider = ReaderContext.Provider;

export function useReader(): Reader {
  const reader = useContext(ReaderContext);
  if (reader === undefined) throw new Error("the page needs a ReaderProvider around it");
  return reader;
}
