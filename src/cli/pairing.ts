/** `openclaw-exec pairing`: let people in who wrote to the bot and were shown a code. */
import type { Command } from "commander";
import type { Cli } from "./io.ts";

export function define(command: Command, cli: Cli): void {
  command.usage("<command>").helpCommand(false);
  command
    .command("list")
    .description("Show who is waiting")
    .argument("[channel]", "slack, discord or telegram")
    .option("--json", "as JSON")
    .action(async (channel: string | undefined, flags: { json?: boolean }) => {
      const { list } = await import("./pairing-actions.ts");
      cli.exit(await list(cli, channel, flags));
    });
  command
    .command("approve")
    .description("Let the person with this code in: to direct messages only")
    .argument("<code...>", "the 8 characters they were shown, with or without the channel before them")
    .option("--account <id>", "only a request to this account of the channel")
    .option("--notify", "accepted for compatibility: the person is always told")
    .action(async (words: string[], flags: { account?: string }) => {
      const { approve } = await import("./pairing-actions.ts");
      cli.exit(await approve(cli, words, flags));
    });
  command
    .command("dismiss")
    .description("Forget the request; it blocks nobody")
    .argument("<code>", "the 8 characters they were shown")
    .action(async (code: string) => {
      const { dismiss } = await import("./pairing-actions.ts");
      cli.exit(await dismiss(cli, code));
    });
}
