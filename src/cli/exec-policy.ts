/** `openclaw-exec exec-policy …`: the policy of this machine in one place. Local only. */
import type { Command } from "commander";
import type { Cli } from "./io.ts";

export function define(command: Command, cli: Cli): void {
  const actions = () => import("./exec-policy-actions.ts");
  command.usage("<command>").helpCommand(false);

  command
    .command("show")
    .description("Show what holds, and which layer says so")
    .option("--json", "as JSON")
    .action(async (options: { json?: boolean }) => cli.exit(await (await actions()).show(cli, options)));

  command
    .command("set")
    .description("Change it in openclaw.json and exec-approvals.json together")
    .option("--host <host>", "auto, sandbox or gateway")
    .option("--security <level>", "deny, allowlist or full")
    .option("--ask <when>", "off, on-miss or always")
    .option("--ask-fallback <level>", "when nobody can answer: deny, allowlist or full")
    .action(async (options: Record<string, string>) => cli.exit(await (await actions()).set(cli, options)));

  command
    .command("preset")
    .description("yolo: run all. cautious: listed commands, ask for the rest. deny-all: run nothing")
    .argument("<name>", "yolo, cautious or deny-all")
    .action(async (name: string) => cli.exit(await (await actions()).preset(cli, name)));
}
