/** Native slash commands: how they are registered, and how the chosen options become the command's text form. Pure. */
import { createHash } from "node:crypto";
import {
  type APIApplicationCommandInteractionDataOption,
  ApplicationCommandOptionType,
  ApplicationIntegrationType,
  InteractionContextType,
  Locale,
  type RESTPostAPIChatInputApplicationCommandsJSONBody,
} from "discord.js";
import { firstLanguage, LANGUAGES, type Language } from "../../core/words/languages.ts";
import type { Wording } from "../../core/words/phrase.ts";
import { inLanguage } from "../../core/words/say.ts";
import type { NativeCommand, NativeOption } from "../adapter-deps.ts";
import { COMMAND_NAME, MAX_CHOICE, MAX_CHOICES, MAX_COMMAND_OPTIONS, MAX_COMMANDS, MAX_DESCRIPTION } from "./limits.ts";

export type CommandJson = RESTPostAPIChatInputApplicationCommandsJSONBody;

/** Every option is text: what a person types is checked by the command itself, with the same words on every channel. */
export function commandsJson(commands: readonly NativeCommand[], locale?: string): CommandJson[] {
  const language = firstLanguage(locale);
  return commands
    .filter((one) => COMMAND_NAME.test(one.name) && one.name === one.name.toLowerCase())
    .slice(0, MAX_COMMANDS)
    .map((one) => ({
      name: one.name,
      ...described(one.summary, one.name, language),
      contexts: [InteractionContextType.Guild, InteractionContextType.BotDM],
      integration_types: [ApplicationIntegrationType.GuildInstall],
      options: requiredFirst(one.options)
        .slice(0, MAX_COMMAND_OPTIONS)
        .map((option) => optionJson(option, language)),
    }));
}

type OptionJson = NonNullable<CommandJson["options"]>[number];

function optionJson(option: NativeOption, language: Language): OptionJson {
  const choices = (option.choices ?? []).filter((one) => one.length <= MAX_CHOICE).slice(0, MAX_CHOICES);
  const base = {
    type: ApplicationCommandOptionType.String as const,
    name: option.name.toLowerCase(),
    ...described(option.description, option.name, language),
    required: option.required ?? false,
  };
  if (choices.length > 0) return { ...base, choices: choices.map((one) => ({ name: one, value: one })) };
  return option.autocomplete ? { ...base, autocomplete: true } : base;
}

/** Discord's names for our languages. Names of commands and options stay: they are what people type everywhere. */
const DISCORD_LOCALES: Readonly<Record<Language, readonly Locale[]>> = {
  en: [Locale.EnglishUS, Locale.EnglishGB],
  nl: [Locale.Dutch],
  "pt-BR": [Locale.PortugueseBR],
  vi: [Locale.Vietnamese],
};

/** In the configured language, and for everybody whose client speaks another of ours, in that one. */
function described(
  text: Wording,
  fallback: string,
  language: Language,
): { readonly description: string; readonly description_localizations?: Partial<Record<Locale, string>> } {
  const description = short(inLanguage(text, language), fallback);
  const others = LANGUAGES.flatMap((one) => DISCORD_LOCALES[one].map((name) => [name, inLanguage(text, one)] as const))
    .map(([name, said]) => [name, short(said, fallback)] as const)
    .filter(([, said]) => said !== description);
  return others.length === 0 ? { description } : { description, description_localizations: Object.fromEntries(others) };
}

function requiredFirst(options: readonly NativeOption[]): readonly NativeOption[] {
  return [...options.filter((one) => one.required), ...options.filter((one) => !one.required)];
}

function short(text: string, fallback: string): string {
  const wanted = text.trim() === "" ? fallback : text.trim();
  return wanted.length <= MAX_DESCRIPTION ? wanted : `${wanted.slice(0, MAX_DESCRIPTION - 1)}…`;
}

/** Equal for command sets that people could not tell apart, whatever defaults Discord writes into its answer. */
export function commandSetHash(commands: readonly CommandJson[]): string {
  const canonical = commands
    .map(({ name, description, description_localizations: localized, options = [] }) => ({
      name,
      description,
      localized: sorted(localized),
      options: options.map((one) => ({
        type: one.type,
        name: one.name,
        description: one.description,
        localized: sorted(one.description_localizations),
        required: one.required ?? false,
        choices: "choices" in one ? (one.choices ?? []).map(({ name: label, value }) => [label, value]) : [],
        autocomplete: "autocomplete" in one ? (one.autocomplete ?? false) : false,
      })),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(canonical)).digest("hex");
}

function sorted(texts: object | null | undefined): [string, unknown][] {
  return Object.entries(texts ?? {})
    .filter(([, text]) => text !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * The chosen options as they would have been typed: words in order, `name=value` pairs, then the raw rest. Values of a
 * `rest` option are never quoted or re-tokenised.
 */
export function argsText(
  command: NativeCommand | undefined,
  given: readonly APIApplicationCommandInteractionDataOption[],
): string {
  const values = new Map(given.flatMap((one) => ("value" in one ? [[one.name, String(one.value)] as const] : [])));
  if (!command) return [...values.values()].join(" ");
  const words: string[] = [];
  const keys: string[] = [];
  let rest: string | undefined;
  let hasKeys = false;
  for (const option of command.options) {
    const form = option.form ?? "word";
    if (form === "key") hasKeys = true;
    const value = values.get(option.name.toLowerCase());
    if (value === undefined) continue;
    if (option.onlyWith && !option.onlyWith.values.includes(values.get(option.onlyWith.option) ?? "")) continue;
    if (form === "rest") rest = value;
    else if (form === "key") keys.push(`${option.name}=${quoted(value)}`);
    else words.push(value);
  }
  const tail = rest === undefined ? [] : hasKeys ? ["--", rest] : [rest];
  return [...words, ...keys, ...tail].join(" ");
}

/** A value with blanks, as the text form takes it: in double quotes, or single ones when it holds double quotes. */
function quoted(value: string): string {
  const line = value.replace(/\s+/g, " ").trim();
  if (/^\S+$/.test(line) && !/^["']/.test(line)) return line;
  return line.includes('"') ? `'${line.replaceAll("'", "")}'` : `"${line}"`;
}
