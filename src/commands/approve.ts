import { parseApprove } from "../core/approvals/approve-text.ts";
import { slugOf } from "../core/approvals/record.ts";
import { revokedCard } from "../core/approvals/revoked-card.ts";
import { phrase } from "../core/words/phrase.ts";
import type { CommandDefinition } from "./command.ts";

export const approve: CommandDefinition = {
  name: "approve",
  summary: phrase("command.approve"),
  usage: ["/approve <id> allow-once", "/approve <id> allow-always", "/approve <id> deny", "/approve <id> revoke"],
  options: [
    { name: "id", description: phrase("option.approve.id"), required: true },
    {
      name: "decision",
      description: phrase("option.approve.decision"),
      choices: ["allow-once", "allow-always", "deny", "revoke"],
      required: true,
    },
  ],
  // Whether this person may decide this request is asked of the approvals themselves, which know the approvers.
  rank: "known",
  async run({ args, actor, route, services, reply }) {
    const parsed = parseApprove(args);
    if (!parsed) {
      await reply({ kind: "text", tone: "warning", text: phrase("approve.usage") }, { private: true });
      return;
    }
    if (parsed.decision === "revoke") {
      await reply(revokedCard(await services.approvals.revoke(parsed.id, actor, { route })), { private: true });
      return;
    }
    const { record, applied } = await services.approvals.resolve(parsed.id, parsed.decision, actor, { route });
    const slug = slugOf(record.id);
    const denied = record.status === "denied";
    await reply(
      {
        kind: "text",
        tone: denied ? "info" : "success",
        text: phrase(
          denied
            ? applied
              ? "approve.denied"
              : "approve.denied.already"
            : applied
              ? "approve.allowed"
              : "approve.allowed.already",
          { slug },
        ),
      },
      { private: true },
    );
  },
};
