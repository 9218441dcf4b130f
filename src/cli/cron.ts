/** `openclaw-exec cron`: work at a later time, kept by the running gateway. */
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { defaultList } from "./default-list.ts";
import type { Cli } from "./io.ts";

export interface CronAddFlags {
  readonly at?: string;
  readonly every?: string;
  readonly cron?: string;
  readonly tz?: string;
  readonly name?: string;
  readonly workdir?: string;
  readonly timeout?: number;
  readonly event?: boolean;
  readonly nextHeartbeat?: boolean;
  readonly agent?: string;
  readonly chat?: string;
}

export function define(command: Command, cli: Cli): void {
  command.usage("[command]").helpCommand(false);
  defaultList(command, "Show every job, when it runs next and how it went last; so does cron alone")
    .option("--json", "as JSON")
    .action(async (_typed: unknown, flags: { json?: boolean }) => {
      const { list } = await import("./cron-actions.ts");
      cli.exit(await list(cli, flags));
    });
  command
    .command("add")
    .description("Add a job; give --at, --every or --cron")
    .argument("<what>", "the command to run, as one argument")
    .option("--at <time>", "once: 30m from now, or 2031-04-05T09:00")
    .option("--every <interval>", "again and again: 15m, 2h, 1d")
    .option("--cron <expression>", 'a cron expression, for example "0 9 * * 1-5"')
    .option("--tz <zone>", "time zone of --at and --cron, for example Europe/Amsterdam")
    .option("--name <name>", "what to call it")
    .option("--workdir <directory>", "where the command starts")
    .option("--timeout <seconds>", "most seconds it may run", parseSeconds)
    .option("--event", "<what> is a text to tell the agent's session, not a command")
    .option("--next-heartbeat", "with --event: tell it at the next heartbeat instead of at once")
    .option("--agent <id>", "the agent it belongs to")
    .option("--chat <id>", "web chat that gets its cards (default main)")
    .addHelpText(
      "after",
      `
The command takes the same way as any other: what the policy asks about waits for an approver when its time comes.`,
    )
    .action(async (what: string, flags: CronAddFlags) => {
      const { add } = await import("./cron-actions.ts");
      cli.exit(await add(cli, what, flags));
    });
  for (const [name, about] of [
    ["remove", "Remove a job; what it started goes on"],
    ["run", "Run a job once, now"],
  ] as const) {
    command
      .command(name)
      .description(about)
      .argument("<job>", "its id, the start of it, or its name")
      .action(async (job: string) => {
        const { change } = await import("./cron-actions.ts");
        cli.exit(await change(cli, name, job));
      });
  }
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== "" && Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw new InvalidArgumentError("a number of seconds, 0 or more.");
}
