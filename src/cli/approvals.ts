/** `openclaw-exec approvals …`: the host's own rules, and the requests that wait for a person. */
import type { Command } from "commander";
import type { AddressFlags } from "./client.ts";
import type { Cli } from "./io.ts";

export function define(command: Command, cli: Cli): void {
  const actions = () => import("./approvals-actions.ts");
  const live = () => import("./approvals-live.ts");
  command.usage("<command>").helpCommand(false);

  command
    .command("get")
    .description("Show exec-approvals.json and what follows from it for each agent")
    .option("--json", "as JSON")
    .action(async (options: { json?: boolean }) => cli.exit(await (await actions()).get(cli, options)));

  command
    .command("set")
    .description("Replace exec-approvals.json as a whole (JSON5)")
    .option("--file <path>", "read it from this file")
    .option("--stdin", "read it from standard input")
    .option("--base-hash <hash>", "refuse when the file is no longer the one with this hash (approvals get --json)")
    .option("--replace-damaged", "when the file is damaged: set it aside and start anew")
    .action(async (options: { file?: string; stdin?: boolean; baseHash?: string; replaceDamaged?: boolean }) =>
      cli.exit(await (await actions()).set(cli, options)),
    );

  const allowlist = command
    .command("allowlist")
    .usage("<command>")
    .description("Commands that run without asking")
    .helpCommand(false);
  const agent = ["--agent <id>", "for this agent only (default: every agent)"] as const;

  allowlist
    .command("list")
    .description("Show the rules, also those that “Allow always” stored")
    .option(...agent)
    .option("--json", "as JSON")
    .action(async (options: { agent?: string; json?: boolean }) =>
      cli.exit(await (await actions()).list(cli, options)),
    );

  allowlist
    .command("add")
    .description("Add a rule: a name, a path, or a pattern with * ** ?")
    .argument("<pattern>", "rg, /usr/bin/git, /opt/tools/**")
    .option(...agent)
    .option("--arg-pattern <regex>", "only with arguments that match; ^…$ fixes the whole list")
    .action(async (pattern: string, options: { agent?: string; argPattern?: string }) =>
      cli.exit(await (await actions()).add(cli, pattern, options)),
    );

  allowlist
    .command("remove")
    .description("Remove a rule, by its pattern or its id")
    .argument("<pattern-or-id>")
    .option(...agent)
    .action(async (pattern: string, options: { agent?: string }) =>
      cli.exit(await (await actions()).remove(cli, pattern, options)),
    );

  const gateway = (one: Command): Command =>
    one
      .option("--url <url>", "address of the gateway; default: the one that runs here")
      .option("--token-file <path>", "file with its token");

  gateway(command.command("pending"))
    .description("Show the requests that wait for a person")
    .option("--json", "as JSON")
    .action(async (options: AddressFlags & { json?: boolean }) => cli.exit(await (await live()).pending(cli, options)));

  gateway(command.command("resolve"))
    .description("Answer a request")
    .argument("<id>", "its id, or the first characters of it")
    .argument("<decision>", "allow-once, allow-always or deny")
    .option("--comment <text>", "shown with a denial")
    .action(async (id: string, decision: string, options: AddressFlags & { comment?: string }) =>
      cli.exit(await (await live()).resolve(cli, id, decision, options)),
    );
}
