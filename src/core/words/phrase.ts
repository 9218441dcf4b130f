/**
 * What the core says, before anybody's language: the key of a sentence and the values for its holes. It travels through
 * queues and records as data, and becomes words at the edge, in the language of whoever reads it. Logs, the HTTP API,
 * the CLI and agents read its English.
 */
import { en } from "./en/sentences.ts";
import { HOLE, type Holes, type Template } from "./template.ts";

export type PhraseKey = keyof typeof en;

/** A list is read with commas between its parts. */
export type Value = number | Wording | readonly Value[];

export interface Phrase {
  readonly phrase: PhraseKey;
  readonly values: Readonly<Record<string, Value>>;
  /** The English sentence; also shown by a version that no longer knows the key. */
  readonly text: string;
}

/** Several, below each other. */
export interface Lines {
  readonly lines: readonly Wording[];
}

/** A text as it is, the same for everybody, or a phrase. */
export type Wording = string | Phrase | Lines;

type ValuesOf<K extends PhraseKey> = {
  readonly [Name in Holes<(typeof en)[K]>]: Name extends "count" ? number : Value;
};

/** `phrase("approve.allowed", { slug })`. Keys and values are checked against the English catalogue. */
export function phrase<K extends PhraseKey>(
  key: K,
  ...[values]: [Holes<(typeof en)[K]>] extends [never] ? [] : [values: ValuesOf<K>]
): Phrase {
  const given: Readonly<Record<string, Value>> = values ?? {};
  return { phrase: key, values: given, text: fill(en[key], given, "en", inEnglish) };
}

export function inEnglish(wording: Wording): string {
  if (typeof wording === "string") return wording;
  return "lines" in wording ? wording.lines.map(inEnglish).join("\n") : wording.text;
}

/** The sentence with its values in place. Values are never read as templates. */
export function fill(
  template: Template,
  values: Readonly<Record<string, Value>>,
  language: string,
  say: (wording: Wording) => string,
): string {
  const sentence = typeof template === "string" ? template : pluralOf(template, values.count, language);
  const spoken = (value: Value | undefined): string => {
    if (value === undefined) return "";
    if (typeof value === "number") return String(value);
    if (typeof value === "object" && "map" in value) return value.map(spoken).join(", ");
    return say(value);
  };
  return sentence.replace(HOLE, (_, name: string) => spoken(values[name]));
}

function pluralOf(plural: Exclude<Template, string>, count: Value | undefined, language: string): string {
  const category = new Intl.PluralRules(language).select(Number(count));
  return plural[category as keyof typeof plural] ?? plural.other;
}

/** The same wording with every text in it changed: secrets masked. */
export function mapWording(wording: Wording, change: (text: string) => string): Wording {
  if (typeof wording === "string") return change(wording);
  if ("lines" in wording) return { lines: wording.lines.map((one) => mapWording(one, change)) };
  return mapPhrase(wording, change);
}

function mapPhrase(phrase: Phrase, change: (text: string) => string): Phrase {
  const mapped = (value: Value): Value => {
    if (typeof value === "number") return value;
    if (typeof value === "object" && "map" in value) return value.map(mapped);
    return mapWording(value, change);
  };
  const values = Object.fromEntries(Object.entries(phrase.values).map(([name, value]) => [name, mapped(value)]));
  return { ...phrase, values, text: change(phrase.text) };
}
