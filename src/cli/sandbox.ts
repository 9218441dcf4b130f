/** `openclaw-exec sandbox …`: what sandboxed sessions see, and their private directories. Local only. */
import type { Command } from "commander";
import type { Cli } from "./io.ts";

export function define(command: Command, cli: Cli): void {
  const actions = () => import("./sandbox-actions.ts");
  command.usage("<command>").helpCommand(false);

  command
    .command("explain")
    .description("Say whether a session is sandboxed and why, what it sees, and whether that works here")
    .option("--session <key>", "session, as audit and /whoami show it (default: the agent's main session)")
    .option("--agent <id>", "agent (default: the one in the session's key, else the default agent)")
    .option("--json", "as JSON")
    .action(async (options: { session?: string; agent?: string; json?: boolean }) =>
      cli.exit(await (await actions()).explain(cli, options)),
    );

  command
    .command("list")
    .description("Show the private directories of sandboxes, and which are in use")
    .option("--json", "as JSON")
    .action(async (options: { json?: boolean }) => cli.exit(await (await actions()).list(cli, options)));

  command
    .command("recreate")
    .description("Remove private directories with all that is in them; the next command begins with an empty one")
    .option("--all", "of every sandbox")
    .option("--session <key>", "of this session")
    .option("--agent <id>", "of this agent, its sessions among them")
    .option("--force", "end what runs in them first")
    .action(async (options: { all?: boolean; session?: string; agent?: string; force?: boolean }) =>
      cli.exit(await (await actions()).recreate(cli, options)),
    );
}
