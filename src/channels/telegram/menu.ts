/** The bot's command menu: written only when it differs from what Telegram holds, never in anybody's way. */
import type { Api } from "grammy";
import type { BotCommand, LanguageCode } from "grammy/types";
import { firstLanguage, LANGUAGES, type Language } from "../../core/words/languages.ts";
import { inLanguage } from "../../core/words/say.ts";
import type { NativeCommand } from "../adapter-deps.ts";
import { MAX_MENU_COMMANDS, MAX_MENU_DESCRIPTION, MENU_NAME } from "./limits.ts";

/** Menu names know no hyphen. */
function menuName(name: string): string {
  return name.toLowerCase().replaceAll("-", "_");
}

/** Commands as the menu takes them; a name that can not be written there is left out and still works as text. */
function menuOf(commands: readonly NativeCommand[], language: Language): BotCommand[] {
  return commands
    .filter((one) => MENU_NAME.test(menuName(one.name)))
    .slice(0, MAX_MENU_COMMANDS)
    .map((one) => ({
      command: menuName(one.name),
      description: inLanguage(one.summary, language).slice(0, MAX_MENU_DESCRIPTION),
    }));
}

/** What was typed, by the menu's name, to the command's own. */
export function commandNames(commands: readonly NativeCommand[]): ReadonlyMap<string, string> {
  return new Map(commands.map((one) => [menuName(one.name), one.name]));
}

/**
 * The menu in the configured language for everybody, and one of their own for those whose app speaks another of ours and
 * reads something else in it (ISO 639-1 codes).
 */
function menus(commands: readonly NativeCommand[], locale: string | undefined) {
  const menu = menuOf(commands, firstLanguage(locale));
  const others = LANGUAGES.map((language) => ({ own: menuOf(commands, language), code: language.slice(0, 2) }));
  return [
    { menu },
    ...others.map(({ own, code }) => ({ menu: isSame(own, menu) ? [] : own, language_code: code as LanguageCode })),
  ];
}

function isSame(one: readonly BotCommand[], other: readonly BotCommand[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * Telegram limits writing the menu so hard that doing it at every start once silenced a bot for eight minutes
 * (openclaw 32017); reading it costs nothing.
 */
export async function syncMenu(
  api: Api,
  commands: readonly NativeCommand[],
  locale?: string,
): Promise<"unchanged" | "written" | "cleared"> {
  let outcome: "unchanged" | "written" | "cleared" = "unchanged";
  for (const { menu, ...scope } of menus(commands, locale)) {
    const present = (await api.getMyCommands(scope)).map(({ command, description }) => ({ command, description }));
    if (isSame(present, menu)) continue;
    outcome = menu.length === 0 ? "cleared" : "written";
    if (menu.length === 0) await api.deleteMyCommands(scope);
    else await api.setMyCommands(menu, scope);
  }
  return outcome;
}
