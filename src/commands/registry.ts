/** Every slash command, in the order help shows them. */
import { nearestOf } from "../core/nearest.ts";
import { activation } from "./activation.ts";
import { allowlist } from "./allowlist.ts";
import { approve } from "./approve.ts";
import type { CommandDefinition } from "./command.ts";
import { cron } from "./cron.ts";
import { deliveries } from "./deliveries.ts";
import { bash, exec } from "./exec.ts";
import { help } from "./help.ts";
import { fresh } from "./new.ts";
import { pair } from "./pair.ts";
import { process } from "./process.ts";
import { status } from "./status.ts";
import { stop } from "./stop.ts";
import { whoami } from "./whoami.ts";

export const COMMANDS: readonly CommandDefinition[] = [
  exec,
  approve,
  process,
  cron,
  stop,
  fresh,
  status,
  whoami,
  pair,
  allowlist,
  activation,
  deliveries,
  help,
  bash,
];

export function findCommand(name: string): CommandDefinition | undefined {
  return COMMANDS.find((command) => command.name === name || command.aliases?.includes(name));
}

export function nearestCommand(name: string): string | undefined {
  return nearestOf(
    name,
    COMMANDS.flatMap((command) => [command.name, ...(command.aliases ?? [])]),
  );
}
