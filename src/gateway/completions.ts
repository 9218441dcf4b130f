/** What completes a command that is being typed, from what there is now and what this person may see of it. */
import { complete } from "../commands/complete.ts";
import { COMMANDS } from "../commands/registry.ts";
import type { Access } from "../core/access/access.ts";
import type { Approvals } from "../core/approvals/approvals.ts";
import { type ApprovalRecord, slugOf } from "../core/approvals/record.ts";
import type { Config } from "../core/config/schema.ts";
import { defaultAgentId } from "../core/exec/settings.ts";
import type { ProcessSessions } from "../core/process/registry.ts";
import type { Actor, Route } from "../core/route.ts";

export interface CompletionsOptions {
  readonly config: () => Config;
  readonly access: Pick<Access, "rank" | "mayDecide">;
  readonly approvals: Pick<Approvals, "pending">;
  readonly sessions: ProcessSessions;
  /** Connected nodes. */
  readonly nodes: () => readonly { readonly id: string; readonly name: string }[];
  readonly mask: (text: string) => string;
}

export type Completions = (
  text: string,
  by: { readonly actor: Actor; readonly route?: Route },
) => Promise<ReturnType<typeof complete>>;

export function createCompletions({
  config,
  access,
  approvals,
  sessions,
  nodes,
  mask,
}: CompletionsOptions): Completions {
  return async (text, { actor, route }) =>
    complete(text, {
      commands: COMMANDS,
      rank: await access.rank(actor, route),
      nodes: nodes(),
      sessions: sessions
        .list(`agent:${defaultAgentId(config())}`)
        .map((one) => ({ id: one.id, label: mask(one.name) })),
      approvals: (await decidableBy(approvals, access, actor, route)).map((record) => ({
        slug: slugOf(record.id),
        command: mask(record.request.command),
      })),
    });
}

/** Nobody is shown what they may not decide. */
export async function decidableBy(
  approvals: Pick<Approvals, "pending">,
  access: Pick<Access, "mayDecide">,
  actor: Actor,
  route: Route | undefined,
): Promise<readonly ApprovalRecord[]> {
  const pending = await approvals.pending();
  const refused = await Promise.all(pending.map((record) => access.mayDecide(actor, record, route)));
  return pending.filter((_, index) => refused[index] === undefined);
}
