/** What a person decided becomes effect: the stored rule, the run and the final card; and a rule that is taken back. */
import type { Logger } from "pino";
import type { Approvals, ApprovalsOptions } from "../core/approvals/approvals.ts";
import type { ApprovalsFile } from "../core/approvals/approvals-file.ts";
import type { ApprovalRecord } from "../core/approvals/record.ts";
import type { Audit } from "../core/audit/audit.ts";
import { ExecError } from "../core/errors.ts";
import type { Announcements } from "../core/events/announcements.ts";
import type { ExecTool } from "../core/exec/exec-tool.ts";
import type { GatewayMetrics } from "./metrics.ts";

export interface SettlementOptions {
  readonly approvals: Approvals;
  readonly approvalsFile: ApprovalsFile;
  readonly announcements: Announcements;
  readonly exec: ExecTool;
  readonly audit: Audit;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
}

export interface Settlement {
  readonly takeBack: ApprovalsOptions["takeBack"];
  /** Runs at least once per settled record. */
  onSettled(record: ApprovalRecord): Promise<void>;
}

export function createSettlement(options: SettlementOptions): Settlement {
  const { approvals, approvalsFile, announcements, exec, audit, metrics, logger } = options;

  /** Exactly the rules that this request stored. */
  async function takeBack({ request }: ApprovalRecord) {
    const stored = new Set(request.alwaysStores.map((rule) => JSON.stringify([rule.pattern, rule.argPattern])));
    return approvalsFile.revoke(request.agentId, (rule) => stored.has(JSON.stringify([rule.pattern, rule.argPattern])));
  }

  async function onSettled(record: ApprovalRecord): Promise<void> {
    metrics.approvals.resolved.inc({ state: record.status === "pending" ? "expired" : record.status });
    await announcements.settled(record);
    const unanswered = record.status === "expired" && record.request.fallback !== undefined;
    if (record.status !== "allowed" && !unanswered) return;
    if (record.decision === "allow-always" && !record.revoked) {
      await approvalsFile.grant(record.request.agentId, record.request.alwaysStores);
      await audit.record({
        type: "allowlist-changed",
        change: "added",
        agentId: record.request.agentId,
        patterns: record.request.alwaysStores.map((entry) => entry.pattern),
        actor: record.decidedBy ?? record.request.requester,
        approvalId: record.id,
      });
    }
    // Taken back while it was being stored.
    if ((await approvals.get(record.id))?.revoked) await takeBack(record);
    try {
      await exec.runApproved(record);
    } catch (error) {
      // The run's own record and card say why it did not start; only an unexpected fault is tried again.
      if (!(error instanceof ExecError)) throw error;
      logger.warn({ approvalId: record.id, code: error.code }, error.message);
    }
  }

  return { takeBack, onSettled };
}
