/** `openclaw-exec config …`: one key in, one answer out; what it prints is safe to paste into a chat. */
import type { Command } from "commander";
import type { Cli } from "./io.ts";

export function define(command: Command, cli: Cli): void {
  const actions = () => import("./config-actions.ts");
  command
    .usage("<command>")
    .addHelpText(
      "after",
      `
Keys are written tools.exec.mode, agents.list[0].tools.exec.node or channels.slack.channels["C1"].
Secrets are never printed, and never taken from the command line.`,
    )
    .helpCommand(false);

  command
    .command("get")
    .description("Print a key, or the whole file")
    .argument("[key]", "for example tools.exec.mode")
    .option("--json", "as JSON")
    .option("--defaults", "fill in what the file leaves to its default")
    .action(async (key: string | undefined, options: { json?: boolean; defaults?: boolean }) =>
      cli.exit(await (await actions()).get(cli, key, options)),
    );

  command
    .command("set")
    .description("Change a key: checked first, the old file is kept as .bak")
    .argument("<key>", "for example tools.exec.mode")
    .argument("[value]", "JSON5, or plain text")
    .option("--stdin", "read the value from standard input; for secrets")
    .option("--dry-run", "check only, write nothing")
    .option("--json", "print the result as JSON")
    .action(
      async (key: string, value: string | undefined, options: { stdin?: boolean; dryRun?: boolean; json?: boolean }) =>
        cli.exit(await (await actions()).set(cli, key, value, options)),
    );

  command
    .command("unset")
    .description("Remove a key from the file, so that its default holds")
    .argument("<key>")
    .option("--dry-run", "check only, write nothing")
    .option("--json", "print the result as JSON")
    .action(async (key: string, options: { dryRun?: boolean; json?: boolean }) =>
      cli.exit(await (await actions()).unset(cli, key, options)),
    );

  command
    .command("validate")
    .description("Check the file and say what is wrong with it")
    .option("--json", "print the result as JSON")
    .action(async (options: { json?: boolean }) => cli.exit(await (await actions()).validate(cli, options)));

  command
    .command("schema")
    .description("Print the JSON Schema of the file, or of one key")
    .argument("[key]")
    .action(async (key: string | undefined) => cli.exit(await (await actions()).schema(cli, key)));

  command
    .command("file")
    .description("Print where the file is")
    .action(async () => cli.exit(await (await actions()).file(cli)));
}
