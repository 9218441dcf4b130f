/**
 * Access for the surfaces that the gateway's own token guards: web chat, terminal, CLI and HTTP. Whoever holds the
 * token is the operator and owner of this gateway.
 */
import type { ApprovalRecord } from "../approvals/record.ts";
import type { Config } from "../config/schema.ts";
import type { Actor } from "../route.ts";
import { type Phrase, phrase } from "../words/phrase.ts";
import type { Access } from "./access.ts";

const TOKEN_SURFACES: readonly Actor["channel"][] = ["web", "cli", "api"];

export function holdsToken(actor: Actor): boolean {
  return actor.kind === "person" && TOKEN_SURFACES.includes(actor.channel);
}

export function createOperatorAccess(config: () => Config): Access {
  const rankOf = (actor: Actor) => (holdsToken(actor) ? "owner" : "unknown");
  return {
    async admit({ actor }) {
      const rank = rankOf(actor);
      return rank === "unknown" ? { kind: "ignore", why: "not a holder of the token" } : { kind: "admit", rank };
    },
    rank: async (actor) => rankOf(actor),
    async mayDecide(actor, record) {
      if (rankOf(actor) === "unknown") return phrase("error.approval.notYours");
      return refuseSelfApproval(config(), actor, record);
    },
  };
}

/** `approvals.selfApproval: deny`: who asked may not decide, whatever their rank. */
export function refuseSelfApproval(config: Config, actor: Actor, record: ApprovalRecord): Phrase | undefined {
  if (config.approvals.selfApproval === "allow") return undefined;
  const { requester } = record.request;
  const same =
    requester.id === actor.id && requester.channel === actor.channel && requester.accountId === actor.accountId;
  return same ? phrase("error.approval.yourOwn") : undefined;
}
