/** `openclaw-exec doctor`: is this installation able to run, and what is wrong with it. */
import type { Command } from "commander";
import type { Cli } from "./io.ts";

export function define(command: Command, cli: Cli): void {
  command
    .option("--fix", "repair what can be repaired without a decision of yours")
    .option("--json", "as JSON")
    .action(async (options: { fix?: boolean; json?: boolean }) => {
      const { doctor } = await import("./doctor-actions.ts");
      cli.exit(await doctor(cli, options));
    });
}
