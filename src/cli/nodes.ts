/** `openclaw-exec nodes`: machines that run commands for this gateway. */
import { type Command, InvalidArgumentError } from "commander";
import { defaultList } from "./default-list.ts";
import type { Cli } from "./io.ts";
import { wholeNumber } from "./whole-number.ts";

export function define(command: Command, cli: Cli): void {
  command.usage("[command]").helpCommand(false);
  const actions = () => import("./nodes-actions.ts");
  defaultList(command, "Show paired nodes; so does nodes alone")
    .option("--json", "as JSON")
    .action(async (_typed: unknown, flags: { json?: boolean }) => cli.exit(await (await actions()).list(cli, flags)));
  for (const [name, about] of [
    ["status", "Show paired nodes with what they may be used for and what runs there now"],
    ["pending", "Show who waits to be approved"],
  ] as const) {
    command
      .command(name)
      .description(about)
      .option("--json", "as JSON")
      .action(async (flags: { json?: boolean }) => cli.exit(await (await actions())[name](cli, flags)));
  }
  command
    .command("code")
    .description("Make a setup code: pairs one node, once, within ten minutes")
    .action(async () => cli.exit(await (await actions()).code(cli)));
  command
    .command("approve")
    .description("Let a node in, or approve what more it offers")
    .argument("<request>", "as `nodes pending` shows it")
    .action(async (request: string) => cli.exit(await (await actions()).approve(cli, request)));
  command
    .command("reject")
    .description("Turn the node away for ten minutes, or keep what it offers at what was approved")
    .argument("<request>", "as `nodes pending` shows it")
    .action(async (request: string) => cli.exit(await (await actions()).reject(cli, request)));
  command
    .command("describe")
    .description("Show everything about a node")
    .argument("<node>", "id, name or start of the id")
    .option("--json", "as JSON")
    .action(async (node: string, flags: { json?: boolean }) =>
      cli.exit(await (await actions()).describe(cli, node, flags)),
    );
  command
    .command("remove")
    .description("Stop what runs there, hang up, and forget the node and its token")
    .argument("<node>", "id, name or start of the id")
    .action(async (node: string) => cli.exit(await (await actions()).remove(cli, node)));
  command
    .command("rename")
    .description("Give a node another name")
    .argument("<node>", "id, name or start of the id")
    .argument("<name>", "the new name")
    .action(async (node: string, name: string) => cli.exit(await (await actions()).rename(cli, node, name)));
  command
    .command("invoke")
    .description("Ask a node something that runs no command: system.which")
    .argument("<node>", "id, name or start of the id")
    .argument("<command>", "system.which")
    .option("--params <json>", 'such as {"bins":["git","node"]}', json, {})
    .option("--timeout-ms <number>", "how long to wait (default 15000)", wholeNumber(100, 300_000), 15_000)
    .action(async (node: string, name: string, flags: { params: Record<string, unknown>; timeoutMs: number }) =>
      cli.exit(await (await actions()).invoke(cli, node, name, flags)),
    );
}

function json(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new InvalidArgumentError('give a JSON object, such as {"bins":["git"]}.');
}
