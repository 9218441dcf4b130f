/** `openclaw-exec mcp`: the tools of a running gateway for outside agents, over standard input and output. */
import type { Command } from "commander";
import type { AddressFlags } from "./client.ts";
import type { Cli } from "./io.ts";

export interface McpFlags extends AddressFlags {
  readonly agent?: string;
  readonly session?: string;
}

export function define(command: Command, cli: Cli): void {
  command
    .option("--agent <id>", "agent whose settings count; default: the gateway's default agent")
    .option("--session <key>", "session the calls belong to; default: one for all that come this way")
    .option("--url <url>", "address of the gateway; default: the one that runs here")
    .option("--token-file <path>", "file with its token")
    .addHelpText(
      "after",
      `
For programs that speak the Model Context Protocol. Most take it as:
  {"mcpServers": {"openclaw-exec": {"command": "openclaw-exec", "args": ["mcp"]}}}
Offers exec, process and apply_patch as far as tools.allow and tools.deny let it.
Approvals are answered by people in their chats, never through here.`,
    )
    .action(async (flags: McpFlags) => {
      const { runMcp } = await import("./mcp-run.ts");
      cli.exit(await runMcp(cli, flags));
    });
}
