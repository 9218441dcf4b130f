/** The command registry as platforms take it: Slack manifest, Discord options, Telegram menu. */
import type { NativeCommand } from "../channels/adapter-deps.ts";
import type { CommandDefinition } from "../commands/command.ts";

export function nativeCommands(commands: readonly CommandDefinition[], bash: boolean): readonly NativeCommand[] {
  return commands.filter(({ name }) => name !== "bash" || bash).map(nativeCommand);
}

function nativeCommand(command: CommandDefinition): NativeCommand {
  return {
    name: command.name,
    summary: command.summary,
    options: command.options.map((option) => ({
      ...option,
      ...(command.name === "exec" ? { form: option.name === "command" ? ("rest" as const) : ("key" as const) } : {}),
      ...(["id", "session", "node"].includes(option.name) ? { autocomplete: true } : {}),
    })),
    // A command that runs is everybody's; what it shows or sets is the asker's.
    answersPrivately: (args) => command.name !== "exec" || args === "",
  };
}
