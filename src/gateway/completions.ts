/** What completes a command that is being typed, from what there is now. */
import { complete } from "../commands/complete.ts";
import { COMMANDS } from "../commands/registry.ts";
import type { Rank } from "../core/access/rank.ts";
import type { Approvals } from "../core/approvals/approvals.ts";
import { slugOf } from "../core/approvals/record.ts";
import type { Config } from "../core/config/schema.ts";
import { defaultAgentId } from "../core/exec/settings.ts";
import type { ProcessSessions } from "../core/process/registry.ts";

export interface CompletionsOptions {
  readonly config: () => Config;
  readonly approvals: Approvals;
  readonly sessions: ProcessSessions;
}

export type Completions = (text: string, rank: Rank) => Promise<ReturnType<typeof complete>>;

export function createCompletions({ config, approvals, sessions }: CompletionsOptions): Completions {
  return async (text, rank) =>
    complete(text, {
      commands: COMMANDS,
      rank,
      sessions: sessions.list(`agent:${defaultAgentId(config())}`).map((one) => ({ id: one.id, label: one.name })),
      approvals: (await approvals.pending()).map((record) => ({
        slug: slugOf(record.id),
        command: record.request.command,
      })),
    });
}
