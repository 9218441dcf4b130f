/** `openclaw-exec channels`: are the chats connected, and the manifest a Slack app is made from. */
import type { Command } from "commander";
import type { Cli } from "./io.ts";

export function define(command: Command, cli: Cli): void {
  command.usage("<command>").helpCommand(false);
  command
    .command("status")
    .description("Show for each chat account: connected, what is missing, who approves")
    .option("--json", "as JSON")
    .action(async (flags: { json?: boolean }) => {
      const { status } = await import("./channels-actions.ts");
      cli.exit(await status(cli, flags));
    });
  command
    .command("slack-manifest")
    .description("Print the manifest to create the Slack app from")
    .option("--name <name>", "name of the app and its bot")
    .option("--http <url>", "HTTP mode with this public request URL, instead of what is configured")
    .option("--account <id>", "for this account of channels.slack.accounts")
    .action(async (flags: { name?: string; http?: string; account?: string }) => {
      const { manifest } = await import("./channels-actions.ts");
      cli.exit(await manifest(cli, flags));
    });
}
