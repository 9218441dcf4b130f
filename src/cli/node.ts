/** `openclaw-exec node`: this machine as a node of a gateway elsewhere. */
import type { Command } from "commander";
import type { Cli } from "./io.ts";
import { wholeNumber } from "./whole-number.ts";

export interface NodeRunFlags {
  readonly host?: string;
  readonly port?: number;
  readonly contextPath?: string;
  readonly tls?: boolean;
  readonly tlsFingerprint?: string;
  readonly displayName?: string;
  readonly commands?: string;
  readonly graceSec?: number;
  /** Read a setup code from stdin. */
  readonly pair?: boolean;
}

export function define(command: Command, cli: Cli): void {
  command.usage("<command>").helpCommand(false);
  command
    .command("run")
    .description("Connect to a gateway and run what it asks, under this machine's own policy")
    .option("--host <name>", "where the gateway is (default 127.0.0.1)")
    .option("--port <number>", "its port (default 18789)", wholeNumber(1, 65_535))
    .option("--context-path <path>", "in front of /ws/node, behind a proxy")
    .option("--tls", "encrypted (default with --tls-fingerprint and on port 443)")
    .option("--no-tls", "not encrypted: this machine, private addresses and .local names only")
    .option("--tls-fingerprint <sha256>", "trust exactly this certificate")
    .option("--display-name <name>", "what the node is called (default: the host's name)")
    .option("--commands <list>", "offer only these, with commas between them")
    .option(
      "--grace-sec <seconds>",
      "stop what runs when the gateway is away for longer (default 120)",
      wholeNumber(1, 86_400),
    )
    .option("--pair", "read a setup code from stdin, as `nodes code` prints it on the gateway")
    .addHelpText(
      "after",
      `
The gateway's owner has to approve the node once: openclaw-exec nodes pending.
What may run here is decided by exec-approvals.json in this machine's state directory together with the gateway's
policy; the stricter wins. Without that file nothing is tightened here: whatever the gateway allows runs as this user.
No token is taken from the command line. A setup code can also come from OPENCLAW_NODE_PAIR_CODE.`,
    )
    .action(async (flags: NodeRunFlags) => {
      const { run } = await import("./node-actions.ts");
      cli.exit(await run(cli, flags));
    });
  command
    .command("identity")
    .description("Print the device id of this node")
    .option("--json", "as JSON, with the public key")
    .action(async (flags: { json?: boolean }) => {
      const { identity } = await import("./node-actions.ts");
      cli.exit(await identity(cli, flags));
    });
}
