/** The command registry as platforms take it: Slack manifest, Discord options, Telegram menu. */
import type { NativeCommand } from "../channels/adapter-deps.ts";
import type { CommandDefinition } from "../commands/command.ts";
import { withoutShare } from "../commands/process.ts";

export function nativeCommands(commands: readonly CommandDefinition[], bash: boolean): readonly NativeCommand[] {
  return commands.filter(({ name }) => name !== "bash" || bash).map(nativeCommand);
}

function nativeCommand(command: CommandDefinition): NativeCommand {
  return {
    name: command.name,
    summary: command.summary,
    options: command.options.map((option) => ({
      ...option,
      ...formOf(command.name, option.name),
      ...(["id", "session", "node"].includes(option.name) ? { autocomplete: true } : {}),
    })),
    // A command that runs is everybody's; what it shows or sets is the asker's, unless they share it.
    answersPrivately: (args) =>
      command.name === "exec" ? args === "" : !(command.name === "process" && withoutShare(args).isShared),
  };
}

/** Options of `/process` that its text form names, and what they are for: behind other actions they would be input. */
const PROCESS_KEYS: Readonly<Record<string, readonly string[]>> = {
  offset: ["log"],
  limit: ["log"],
  share: ["list", "log", "poll"],
};

function formOf(command: string, option: string): Pick<NativeCommand["options"][number], "form" | "onlyWith"> {
  if (command === "allowlist" && option !== "action") return { form: option === "pattern" ? "rest" : "key" };
  if (command === "exec") return { form: option === "command" ? "rest" : "key" };
  const values = command === "process" ? PROCESS_KEYS[option] : undefined;
  return values === undefined ? {} : { form: "key", onlyWith: { option: "action", values } };
}
