/** `openclaw-exec chat`: the web chat in a terminal. */
import type { Command } from "commander";
import type { AddressFlags } from "./client.ts";
import type { Cli } from "./io.ts";

export interface ChatFlags extends AddressFlags {
  readonly chat: string;
  /** No colours, no prompt: for pipes and screen readers. */
  readonly plain?: boolean;
}

export function define(command: Command, cli: Cli): void {
  command
    .option("--chat <id>", "which conversation", "main")
    .option("--plain", "no colours and no prompt")
    .option("--url <url>", "address of the gateway; default: the one that runs here")
    .option("--token-file <path>", "file with its token")
    .addHelpText(
      "after",
      `
Type as in the web chat: /exec npm test, /help. Tab completes, the arrow keys recall.
1, 2 or 3 answers the approval that is shown. Ctrl-C stops the running command, then leaves.
With piped input each line is sent once the one before is answered; ends when all is done.`,
    )
    .action(async (flags: ChatFlags) => {
      const { runChat } = await import("./chat-run.ts");
      cli.exit(await runChat(cli, flags));
    });
}
