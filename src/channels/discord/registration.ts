/** Slash commands are written to Discord only when they differ from what it holds. */
import { type Client, Routes } from "discord.js";
import type { NativeCommand } from "../adapter-deps.ts";
import { type CommandJson, commandSetHash, commandsJson } from "./commands.ts";

/** Without it Discord leaves them out, and every start would write the commands again. */
const WITH_LOCALIZATIONS = new URLSearchParams({ with_localizations: "true" });

/** With no commands at all, those of an earlier setup are taken away. */
export async function syncCommands(
  client: Client<true>,
  commands: readonly NativeCommand[],
  locale?: string,
): Promise<"unchanged" | "written"> {
  const route = Routes.applicationCommands(client.application.id);
  const wanted = commandsJson(commands, locale);
  const present = (await client.rest.get(route, { query: WITH_LOCALIZATIONS })) as CommandJson[];
  if (commandSetHash(present) === commandSetHash(wanted)) return "unchanged";
  await client.rest.put(route, { body: wanted });
  return "written";
}
