/** Command groups that list when nothing else is named: a word that is none of their commands is said to be that. */
import type { Command } from "commander";
import { nearestOf } from "../core/nearest.ts";

/** The command that is meant when the group stands alone. A word behind it is a mistyped command, not an argument. */
export function defaultList(group: Command, about: string): Command {
  return (
    group
      .command("list", { isDefault: true })
      .description(about)
      // As many as a mistyped command is given with: `retyr 12` is not a list with one word too many.
      .argument("[command...]")
      .usage("[options]")
      .configureHelp({ visibleArguments: () => [] })
      .hook("preAction", (list) => {
        const [typed] = list.args;
        if (typed === undefined) return;
        const names = group.commands.map((command) => command.name());
        const near = nearestOf(typed, names);
        const known = near === undefined ? `\nThere is: ${names.join(", ")}` : `\n(Did you mean ${near}?)`;
        group.error(`error: unknown command '${typed}'${known}`, { code: "commander.unknownCommand" });
      })
  );
}
