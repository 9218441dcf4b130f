/**
 * The log's side of what is asked, decided, run and told: one line per step with the ids that tie them together, and
 * never the command's text, which only the audit trail keeps. `requestId` leads from a request to its approval and its
 * run, `approvalId` and `runId` to the messages that showed them.
 */
import type { Logger } from "pino";
import type { Audit } from "../core/audit/audit.ts";
import type { AuditEvent } from "../core/audit/events.ts";
import type { RunListener } from "../core/exec/runs.ts";
import { actorLabel } from "../core/route.ts";

/** Steps that are told here; runs tell theirs with their session, and refusals are logged where they are counted. */
const STEPS: ReadonlySet<AuditEvent["type"]> = new Set([
  "request",
  "decision",
  "approval-requested",
  "approval-resolved",
  "approval-snoozed",
  "approval-asked-again",
  "patch-ended",
  "allowlist-changed",
  "policy-changed",
]);
const IDS = [
  "requestId",
  "approvalId",
  "newApprovalId",
  "runId",
  "sessionKey",
  "agentId",
  "tool",
  "outcome",
  "state",
  "decision",
] as const;

/** The same trail; what was written is logged too. */
export function loggedAudit(audit: Audit, logger: Logger): Audit {
  return {
    ...audit,
    async record(event) {
      const entry = await audit.record(event);
      if (STEPS.has(event.type)) logger.info({ ...idsOf(event), audit: entry.seq }, event.type);
      return entry;
    },
  };
}

export function loggedRuns(logger: Logger): RunListener {
  const idsOfRun = (record: Parameters<NonNullable<RunListener["queued"]>>[0]) => ({
    runId: record.runId,
    ...(record.approvalId ? { approvalId: record.approvalId } : {}),
    session: record.sessionId,
    sessionKey: record.sessionKey,
  });
  return {
    queued: (record) => logger.info({ ...idsOfRun(record), waitsFor: record.waitsFor?.reason }, "run-queued"),
    started: ({ record }) => logger.info({ ...idsOfRun(record), host: record.host, pid: record.pid }, "run-started"),
    async finished(record) {
      const { outcome, exitCode, exitSignal, durationMs } = record;
      logger.info({ ...idsOfRun(record), outcome, exitCode, exitSignal, durationMs }, "run-ended");
    },
  };
}

/** `approval:<id>` and `run:<id>` are what a card shows; other messages have a key of their own. */
export function idsOfMessage(entity: string | undefined, key: string): Readonly<Record<string, string>> {
  const [, kind, id = ""] = /^(approval|run):(.+)$/.exec(entity ?? "") ?? [];
  if (kind === "approval") return { approvalId: id };
  return kind === "run" ? { runId: id } : { message: key };
}

function idsOf(event: AuditEvent): Readonly<Record<string, unknown>> {
  const fields = event as unknown as Readonly<Record<string, unknown>>;
  const ids = Object.fromEntries(IDS.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));
  return "actor" in event && event.actor ? { ...ids, actor: actorLabel(event.actor) } : ids;
}
