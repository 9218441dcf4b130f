/** `openclaw-exec audit`: who asked, who decided, what ran, how it ended; and whether the trail is untouched. */
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import type { Cli } from "./io.ts";

const DEFAULT_LIMIT = 50;

export interface AuditFlags {
  readonly verify?: boolean;
  readonly json?: boolean;
  readonly limit: number;
}

export function define(command: Command, cli: Cli): void {
  command
    .option("--verify", "check the whole trail and name the first entry that is not as it was written")
    .option("--json", "one JSON entry per line")
    .option("--limit <number>", "newest entries to print", parseLimit, DEFAULT_LIMIT)
    .addHelpText(
      "after",
      `
Reads through the running gateway, or the state directory when none runs.
--verify prints the last entry's hash; keep it elsewhere to notice a trail that was rewritten as a whole.`,
    )
    .action(async (flags: AuditFlags) => {
      const { runAudit } = await import("./audit-run.ts");
      cli.exit(await runAudit(cli, flags));
    });
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit > 0) return limit;
  throw new InvalidArgumentError("a whole number above 0.");
}
