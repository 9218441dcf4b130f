/** `openclaw-exec gateway`: starts the gateway and stays until a signal ends it. */
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import type { Cli } from "./io.ts";

const MAX_PORT = 65_535;

export interface GatewayFlags {
  readonly port?: number;
  /** Print the link to the web chat and exit. */
  readonly printLink?: boolean;
  /** Print the link at every start, not only when the token is new. */
  readonly showLink?: boolean;
}

export function define(command: Command, cli: Cli): void {
  command
    .option("--port <number>", "listen on this port instead of gateway.port", parsePort)
    .option("--print-link", "print the link to the web chat and exit")
    .option("--show-link", "print the link at this start too, not only at the first")
    .addHelpText(
      "after",
      `
Serves the web chat, the API and the connected chats until it is stopped (Ctrl-C or SIGTERM).
The link holds the token: whoever has it may run commands here.`,
    )
    .action(async (flags: GatewayFlags) => {
      const { printLink, runGateway } = await import("./gateway-run.ts");
      cli.exit(flags.printLink ? await printLink(cli, flags) : await runGateway(cli, flags));
    });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= MAX_PORT) return port;
  throw new InvalidArgumentError(`a port is a number from 0 (any free one) to ${MAX_PORT}.`);
}
