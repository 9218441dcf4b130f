/** `openclaw-exec security audit`: what in the settings is risky, and what to do about it. */
import type { Command } from "commander";
import type { Cli } from "./io.ts";

export function define(command: Command, cli: Cli): void {
  command.usage("<command>").helpCommand(false);
  command
    .command("audit")
    .description("Check settings and rules; exit code 1 when something is critical")
    .option("--json", "as JSON")
    .action(async (options: { json?: boolean }) => {
      const { audit } = await import("./security-actions.ts");
      cli.exit(await audit(cli, options));
    });
}
