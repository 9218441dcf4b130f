/** `openclaw-exec explain`: what the policy would do with a command. Runs nothing, asks nobody. */
import type { Command } from "commander";
import type { Cli } from "./io.ts";

export function define(command: Command, cli: Cli): void {
  command
    .argument("[command]", "the command, as one argument: quote it")
    .option("--json", "print JSON")
    .option("--cwd <directory>", "where it would run (default: the agent's workspace)")
    .option("--agent <id>", "for this agent (default: the default agent)")
    .option("--stdin", "read JSON lines { command, policy, cwd, env } and write one JSON line each")
    .addHelpText(
      "after",
      `
Examples:
  openclaw-exec explain 'git log | head -3'
  printf '%s\\n' '{"command":"ls","policy":{"allowlist":["ls"]}}' | openclaw-exec explain --stdin

Values that /exec set in a chat session are not part of it; /exec explain in that chat includes them.`,
    )
    .action(
      async (
        text: string | undefined,
        options: { json?: boolean; cwd?: string; agent?: string; stdin?: boolean },
      ): Promise<void> => {
        const actions = await import("./explain-actions.ts");
        cli.exit(options.stdin ? await actions.explainStream(cli) : await actions.explainOne(cli, text, options));
      },
    );
}
