import { APPROVE_USAGE, parseApprove } from "../core/approvals/approve-text.ts";
import { slugOf } from "../core/approvals/record.ts";
import { revokedCard } from "../core/approvals/revoked-card.ts";
import type { CommandDefinition } from "./command.ts";

export const approve: CommandDefinition = {
  name: "approve",
  summary: "Decide a waiting request: allow once, allow always or deny. Or take back what allow always stored.",
  usage: ["/approve <id> allow-once", "/approve <id> allow-always", "/approve <id> deny", "/approve <id> revoke"],
  options: [
    { name: "id", description: "The request's 8-character id, its full id, or a unique beginning", required: true },
    {
      name: "decision",
      description: "What you decide",
      choices: ["allow-once", "allow-always", "deny", "revoke"],
      required: true,
    },
  ],
  // Whether this person may decide this request is asked of the approvals themselves, which know the approvers.
  rank: "known",
  async run({ args, actor, route, services, reply }) {
    const parsed = parseApprove(args);
    if (!parsed) {
      await reply({ kind: "text", tone: "warning", text: APPROVE_USAGE }, { private: true });
      return;
    }
    if (parsed.decision === "revoke") {
      await reply(revokedCard(await services.approvals.revoke(parsed.id, actor, { route })), { private: true });
      return;
    }
    const { record, applied } = await services.approvals.resolve(parsed.id, parsed.decision, actor, { route });
    const outcome = record.status === "denied" ? "Denied" : "Allowed";
    await reply(
      {
        kind: "text",
        tone: record.status === "denied" ? "info" : "success",
        text: applied ? `${outcome} ${slugOf(record.id)}.` : `${slugOf(record.id)} was ${record.status} already.`,
      },
      { private: true },
    );
  },
};
