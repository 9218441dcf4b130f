/** What a late answer is told: that the request is unknown, over, or taken back. The same words wherever it arrives. */
import { ExecError } from "../errors.ts";
import { actorLabel } from "../route.ts";
import { phrase } from "../words/phrase.ts";
import { type ApprovalRecord, slugOf } from "./record.ts";

export function unknownApproval(id: string): ExecError {
  return new ExecError("approval-unknown", phrase("error.approval.unknown", { id: id.slice(0, 64) }));
}

export function revokedError(record: ApprovalRecord): ExecError {
  const who = record.revoked ? actorLabel(record.revoked.by) : phrase("request.somebody");
  return new ExecError("approval-already-decided", phrase("error.approval.revoked", { slug: slugOf(record.id), who }));
}

export function settledError(record: ApprovalRecord): ExecError {
  const slug = slugOf(record.id);
  switch (record.status) {
    case "expired":
      return new ExecError("approval-expired", phrase("error.approval.expired", { slug }));
    case "cancelled":
      return new ExecError(
        "approval-already-decided",
        phrase("error.approval.cancelled", { slug, why: record.statusLine ?? phrase("error.approval.notNeeded") }),
      );
    case "pending":
      return new ExecError("internal", phrase("error.approval.waiting", { slug }));
    case "allowed":
    case "denied": {
      const who = record.decidedBy ? actorLabel(record.decidedBy) : phrase("request.somebody");
      const key = record.status === "allowed" ? "error.approval.allowed" : "error.approval.denied";
      return new ExecError("approval-already-decided", phrase(key, { slug, who }), { decision: record.decision });
    }
  }
}
