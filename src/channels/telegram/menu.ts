/** The bot's command menu: written only when it differs from what Telegram holds, never in anybody's way. */
import type { Api } from "grammy";
import type { BotCommand } from "grammy/types";
import type { NativeCommand } from "../adapter-deps.ts";
import { MAX_MENU_COMMANDS, MAX_MENU_DESCRIPTION, MENU_NAME } from "./limits.ts";

/** Menu names know no hyphen. */
export function menuName(name: string): string {
  return name.toLowerCase().replaceAll("-", "_");
}

/** Commands as the menu takes them; a name that can not be written there is left out and still works as text. */
export function menuOf(commands: readonly NativeCommand[]): BotCommand[] {
  return commands
    .filter((one) => MENU_NAME.test(menuName(one.name)))
    .slice(0, MAX_MENU_COMMANDS)
    .map((one) => ({ command: menuName(one.name), description: one.summary.slice(0, MAX_MENU_DESCRIPTION) }));
}

/** What was typed, by the menu's name, to the command's own. */
export function commandNames(commands: readonly NativeCommand[]): ReadonlyMap<string, string> {
  return new Map(commands.map((one) => [menuName(one.name), one.name]));
}

/**
 * Telegram limits writing the menu so hard that doing it at every start once silenced a bot for eight minutes
 * (openclaw 32017); reading it costs nothing.
 */
export async function syncMenu(
  api: Api,
  commands: readonly NativeCommand[],
): Promise<"unchanged" | "written" | "cleared"> {
  const wanted = menuOf(commands);
  const present = (await api.getMyCommands()).map(({ command, description }) => ({ command, description }));
  if (JSON.stringify(present) === JSON.stringify(wanted)) return "unchanged";
  if (wanted.length === 0) {
    await api.deleteMyCommands();
    return "cleared";
  }
  await api.setMyCommands(wanted);
  return "written";
}
