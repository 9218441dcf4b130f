/** One audit entry as one line for people. Pure. */
import { showInvisible } from "../channels/text/visible.ts";
import type { AuditEntry, AuditEvent } from "../core/audit/events.ts";
import { changeText } from "../core/audit/policy-change.ts";
import { formatDuration } from "../core/duration.ts";
import { actorLabel } from "../core/route.ts";

/** `2026-11-30 12:45:19  #42 run-ended  swift-otter completed, exit code 0, 1m12s` (UTC) */
export function auditLine({ seq, atMs, event }: AuditEntry): string {
  return `${utc(atMs)}  #${seq} ${event.type}  ${showInvisible(sentence(event), { whitespace: "escape" })}`;
}

function utc(atMs: number): string {
  return new Date(atMs).toISOString().replace("T", " ").slice(0, 19);
}

function sentence(event: AuditEvent): string {
  switch (event.type) {
    case "gateway-started":
      return `version ${event.version}, pid ${event.pid}${event.url ? `, ${event.url}` : ""}`;
    case "gateway-stopped":
      return event.reason;
    case "request":
      return `${actorLabel(event.actor)} for agent ${event.agentId}: ${event.command}`;
    case "decision": {
      const reasons = event.reasons.length > 0 ? ` (${event.reasons.join(", ")})` : "";
      return `${event.outcome}${reasons}${event.by === "reviewer" ? ", by the automatic reviewer" : ""}`;
    }
    case "approval-requested":
      return `${event.approvalId}: ${event.offered.join(", ")}`;
    case "approval-resolved": {
      const comment = event.comment ? `: ${event.comment}` : "";
      return `${event.approvalId} ${event.decision ?? event.state} by ${actorLabel(event.actor)}${comment}`;
    }
    case "approval-snoozed":
      return `${event.approvalId} until ${utc(event.untilMs)} by ${actorLabel(event.actor)}`;
    case "approval-asked-again":
      return `${event.approvalId} by ${actorLabel(event.actor)}${event.newApprovalId ? ` as ${event.newApprovalId}` : ""}`;
    case "allowlist-changed":
      return `${event.change} for agent ${event.agentId} by ${actorLabel(event.actor)}: ${event.patterns.join(", ")}`;
    case "run-started":
      return `${event.runId} on ${event.node ? `node ${event.node.name}` : event.host} in ${event.cwd}: ${event.command}`;
    case "run-ended": {
      const exit = event.exitSignal ?? (event.exitCode == null ? undefined : `exit code ${event.exitCode}`);
      const took = event.durationMs === undefined ? undefined : formatDuration(event.durationMs);
      return `${event.runId} ${[event.outcome, exit, took].filter((part) => part !== undefined).join(", ")}`;
    }
    case "patch-ended": {
      if (event.outcome === "failed") return `${event.requestId} failed: ${event.error ?? "unknown"}`;
      const more = event.fileCount - event.files.length;
      return `${event.requestId} ${[...event.files, ...(more > 0 ? [`and ${more} more`] : [])].join(", ")}`;
    }
    case "run-touched": {
      const size = event.inputChars === undefined ? "" : `, ${event.inputChars} characters`;
      return `${event.runId} ${event.action} by ${actorLabel(event.actor)}${size}`;
    }
    case "node-changed": {
      const by = event.by ? actorLabel(event.by) : (event.why ?? "the gateway");
      return `${event.name} (${event.nodeId.slice(0, 8)}) ${event.change} by ${by}: ${event.commands.join(", ") || "no commands"}`;
    }
    case "config-changed":
      return `${event.paths.join(", ")} by ${actorLabel(event.actor)}`;
    case "policy-changed":
      return `${event.source} by ${actorLabel(event.actor)}: ${event.changes.map(changeText).join("; ")}`;
    case "access-granted":
      return `${event.grant} to ${actorLabel(event.actor)} by ${actorLabel(event.by)}`;
    case "access-dismissed":
      return `${actorLabel(event.actor)} by ${actorLabel(event.by)}`;
    case "access-refused":
      return `${event.surface}: ${event.reason}${event.address ? ` from ${event.address}` : ""}`;
  }
}
