/** `openclaw-exec tool '<json>'`: one tool call, its answer as JSON. */
import type { Command } from "commander";
import type { AddressFlags } from "./client.ts";
import type { Cli } from "./io.ts";

export function define(command: Command, cli: Cli): void {
  command
    .argument("[json]", 'the call, for example {"tool":"exec","command":"ls -la"}; left out: read from standard input')
    .option("--url <url>", "address of the gateway; default: the one that runs here")
    .option("--token-file <path>", "file with its token")
    .addHelpText(
      "after",
      `
Prints {"ok":true,"result":{…}} or {"ok":false,"error":{…}}, as POST /tools/invoke does.
Exit code: 0 done or running, 1 failed or refused, 2 not a call, 3 waits for approval.
Without a running gateway an exec call runs right here, under the same policy, until it ends.`,
    )
    .action(async (json: string | undefined, flags: AddressFlags) => {
      const { runTool } = await import("./tool-run.ts");
      cli.exit(await runTool(cli, json, flags));
    });
}
