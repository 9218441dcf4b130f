/** The neutral card of an approval record. Pure. */
import type { ApprovalCard } from "../cards.ts";
import { reasonPhrase } from "../policy/reasons.ts";
import type { Phrase, Wording } from "../words/phrase.ts";
import { describeGrants } from "./allow-always.ts";
import { type ApprovalRecord, isAskable, type Snooze, slugOf } from "./record.ts";
import { isSnoozable } from "./snooze.ts";

export function approvalCard(record: ApprovalRecord): ApprovalCard<Wording> {
  const { request } = record;
  return {
    kind: "approval",
    state: record.status,
    approvalId: record.id,
    slug: slugOf(record.id),
    command: request.command,
    ...(request.inner?.length ? { inner: request.inner } : {}),
    cwd: request.cwd,
    host: request.host,
    ...(request.node ? { node: request.node.name } : {}),
    agentId: request.agentId,
    requester: request.requester,
    envKeys: Object.keys(request.env).sort(),
    reasons: distinct(request.reasons.map(reasonPhrase)),
    warnings: request.warnings,
    highlights: request.highlights,
    always: alwaysSentences(record),
    offered: record.status === "pending" ? request.offered : [],
    createdAtMs: record.createdAtMs,
    expiresAtMs: record.expiresAtMs,
    ...(record.decision ? { decision: record.decision } : {}),
    ...(record.decidedBy ? { decidedBy: record.decidedBy } : {}),
    ...(record.decidedAtMs !== undefined ? { decidedAtMs: record.decidedAtMs } : {}),
    ...(record.status === "allowed" && record.decision === "allow-always" && !record.revoked
      ? { revocable: true }
      : {}),
    ...(record.revoked ? { revokedBy: record.revoked.by } : {}),
    ...(record.comment ? { comment: record.comment } : {}),
    ...(isSnoozable(record) ? { snoozable: true } : {}),
    ...(record.status === "pending" && record.snoozes?.length ? { snoozes: record.snoozes.map(shownSnooze) } : {}),
    ...(isAskable(record) ? { askable: true } : {}),
    ...(record.askedAgain ? { askedAgain: shownAgain(record.askedAgain) } : {}),
    ...(record.statusLine ? { statusLine: record.statusLine } : {}),
  };
}

function shownSnooze({ by, untilMs, over }: Snooze): NonNullable<ApprovalCard["snoozes"]>[number] {
  return { by, untilMs, ...(over ? { over } : {}) };
}

function shownAgain({ by, id }: NonNullable<ApprovalRecord["askedAgain"]>): NonNullable<ApprovalCard["askedAgain"]> {
  return { by, ...(id === undefined ? {} : { slug: slugOf(id) }) };
}

function distinct(phrases: readonly Phrase[]): Phrase[] {
  return [...new Map(phrases.map((one) => [one.text, one])).values()];
}

/** decisions.md D11: a grant is worth exactly these words. */
function alwaysSentences({ request }: ApprovalRecord): Phrase[] {
  return request.offered.includes("allow-always")
    ? describeGrants(request.alwaysStores, request.agentId, request.cwd)
    : [];
}
