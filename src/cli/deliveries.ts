/** `openclaw-exec deliveries`: what could not be delivered, through the running gateway. */
import type { Command } from "commander";
import { defaultList } from "./default-list.ts";
import type { Cli } from "./io.ts";

export function define(command: Command, cli: Cli): void {
  command.usage("[command]").helpCommand(false);
  defaultList(command, "Show what was given up, newest first, and why; so does deliveries alone")
    .option("--json", "as JSON")
    .action(async (_typed: unknown, flags: { json?: boolean }) => {
      const { list } = await import("./deliveries-actions.ts");
      cli.exit(await list(cli, flags));
    });
  for (const [name, about] of [
    ["retry", "Try again what was given up; what had arrived does not come twice"],
    ["drop", "Forget what was given up"],
  ] as const) {
    command
      .command(name)
      .description(about)
      .argument("<id>", "its id, the start of it, or `all`")
      .action(async (id: string) => {
        const { change } = await import("./deliveries-actions.ts");
        cli.exit(await change(cli, name, id));
      });
  }
}
