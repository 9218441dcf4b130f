import { approvalCard } from "../core/approvals/approval-card.ts";
import { parseApprove, parseAskedApprove } from "../core/approvals/approve-text.ts";
import { type ApprovalRecord, slugOf } from "../core/approvals/record.ts";
import { revokedCard } from "../core/approvals/revoked-card.ts";
import type { ApprovalDecision } from "../core/policy/types.ts";
import { actorLabel } from "../core/route.ts";
import { phrase } from "../core/words/phrase.ts";
import type { CommandContext, CommandDefinition } from "./command.ts";
import type { Choice, Menu } from "./menus.ts";

export const approve: CommandDefinition = {
  name: "approve",
  summary: phrase("command.approve"),
  usage: [
    "/approve",
    "/approve <id> allow-once",
    "/approve <id> allow-always",
    "/approve <id> deny",
    "/approve <id> revoke",
  ],
  options: [
    { name: "id", description: phrase("option.approve.id") },
    {
      name: "decision",
      description: phrase("option.approve.decision"),
      choices: ["allow-once", "allow-always", "deny", "revoke"],
    },
  ],
  // Whether this person may decide this request is asked of the approvals themselves, which know the approvers.
  rank: "known",
  async run(context) {
    const { args, actor, route, services, reply } = context;
    const parsed = parseApprove(args);
    if (!parsed) {
      await askFor(context);
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

/** What is missing is offered; anything that is neither an id nor a decision is told how to write it. */
async function askFor({ args, actor, route, services, reply, offer }: CommandContext): Promise<void> {
  const asked = parseAskedApprove(args);
  if (!asked) {
    await reply({ kind: "text", tone: "warning", text: phrase("approve.usage") }, { private: true });
    return;
  }
  if (asked.id !== undefined) {
    await offer(decisionMenu(await services.approvals.waiting(asked.id, actor, { route })));
    return;
  }
  const waiting = await services.decidable(actor, route);
  if (waiting.length === 0) {
    await reply({ kind: "text", tone: "info", text: phrase("approve.none") }, { private: true });
    return;
  }
  // Only a no needs no look at the whole command.
  await offer({
    title: phrase(asked.decision === "deny" ? "approve.which.deny" : "approve.which"),
    form: "/approve <id> <allow-once|allow-always|deny>",
    choices: waiting.map((record) => ({
      label: slugOf(record.id),
      detail: record.request.command,
      args: asked.decision === "deny" ? `${record.id} deny` : record.id,
    })),
  });
}

const NEEDS: Readonly<Record<ApprovalDecision, Pick<Choice, "style" | "needs">>> = {
  "allow-once": { style: "success", needs: "whole" },
  "allow-always": { style: "primary", needs: "unmasked" },
  deny: { style: "danger" },
};

function decisionMenu(record: ApprovalRecord): Menu {
  const { cwd, host, requester, reasons, warnings, always, command, slug } = approvalCard(record);
  return {
    title: phrase("approve.decide", { slug }),
    ...(reasons.length + warnings.length === 0 ? {} : { text: { lines: [...warnings, ...reasons] } }),
    command,
    fields: [
      { label: phrase("approve.askedBy"), value: actorLabel(requester) },
      { label: phrase("approve.runsIn"), value: cwd, note: host },
      ...always.map((value) => ({ label: phrase("approve.stores"), value })),
    ],
    form: `/approve ${slug} ${record.request.offered.join("|")}`,
    choices: record.request.offered.map((decision) => ({
      label: phrase(`approve.choice.${decision}`),
      args: `${record.id} ${decision}`,
      ...NEEDS[decision],
    })),
  };
}
