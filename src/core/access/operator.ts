/** Whoever holds the gateway's own token, in the web chat, the terminal, the CLI or over HTTP, is its operator and owner. */
import type { ApprovalRecord } from "../approvals/record.ts";
import type { Config } from "../config/schema.ts";
import type { Actor } from "../route.ts";
import { type Phrase, phrase } from "../words/phrase.ts";

const TOKEN_SURFACES: readonly Actor["channel"][] = ["web", "cli", "api"];

export function holdsToken(actor: Actor): boolean {
  return actor.kind === "person" && TOKEN_SURFACES.includes(actor.channel);
}

/** `approvals.selfApproval: deny`: who asked may not decide, whatever their rank. */
export function refuseSelfApproval(config: Config, actor: Actor, record: ApprovalRecord): Phrase | undefined {
  if (config.approvals.selfApproval === "allow") return undefined;
  const { requester } = record.request;
  const same =
    requester.id === actor.id && requester.channel === actor.channel && requester.accountId === actor.accountId;
  return same ? phrase("error.approval.yourOwn") : undefined;
}
