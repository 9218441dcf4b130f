/** What a person decided becomes effect: the stored rule, the run and the final card; and a rule that is taken back. */
import type { Logger } from "pino";
import { describeGrants } from "../core/approvals/allow-always.ts";
import type { Approvals, ApprovalsOptions } from "../core/approvals/approvals.ts";
import type { ApprovalsFile } from "../core/approvals/approvals-file.ts";
import { type ApprovalRecord, slugOf } from "../core/approvals/record.ts";
import type { Audit } from "../core/audit/audit.ts";
import type { PolicyChange } from "../core/audit/policy-change.ts";
import { ExecError } from "../core/errors.ts";
import type { Announcements } from "../core/events/announcements.ts";
import { RetryLater } from "../core/events/queue.ts";
import type { ExecTool } from "../core/exec/exec-tool.ts";
import { inEnglish } from "../core/words/phrase.ts";
import type { GatewayMetrics } from "./metrics.ts";
import type { GatewayNodes } from "./nodes.ts";

const DRAIN_RETRY_MS = 1_000;

export interface SettlementOptions {
  readonly approvals: Approvals;
  readonly approvalsFile: ApprovalsFile;
  readonly announcements: Announcements;
  readonly exec: ExecTool;
  readonly audit: Audit;
  readonly metrics: GatewayMetrics;
  readonly nodes: Pick<GatewayNodes, "takeBack">;
  readonly logger: Logger;
  /** Owners hear of a rule that is stored or taken back. */
  readonly tell: (change: PolicyChange) => Promise<void>;
}

export interface Settlement {
  readonly takeBack: ApprovalsOptions["takeBack"];
  tellRevoked(record: ApprovalRecord): Promise<void>;
  /** Runs at least once per settled record. */
  onSettled(record: ApprovalRecord): Promise<void>;
}

export function createSettlement(options: SettlementOptions): Settlement {
  const { approvals, approvalsFile, announcements, exec, audit, metrics, logger, tell } = options;

  /** Exactly the rules that this request stored. */
  async function takeBack({ request }: ApprovalRecord) {
    if (request.node) return options.nodes.takeBack(request.node, request.agentId, request.alwaysStores);
    const stored = new Set(request.alwaysStores.map((rule) => JSON.stringify([rule.pattern, rule.argPattern])));
    return approvalsFile.revoke(request.agentId, (rule) => stored.has(JSON.stringify([rule.pattern, rule.argPattern])));
  }

  async function onSettled(record: ApprovalRecord): Promise<void> {
    metrics.approvals.resolved.inc({ state: record.status === "pending" ? "expired" : record.status });
    await announcements.settled(record);
    const unanswered = record.status === "expired" && record.request.fallback !== undefined;
    if (record.status !== "allowed" && !unanswered) return;
    if (record.decision === "allow-always" && !record.revoked) {
      // A node keeps it in its own file, when it takes the run.
      if (!record.request.node) await approvalsFile.grant(record.request.agentId, record.request.alwaysStores);
      await audit.record({
        type: "allowlist-changed",
        change: "added",
        agentId: record.request.agentId,
        patterns: record.request.alwaysStores.map((entry) => entry.pattern),
        actor: record.decidedBy ?? record.request.requester,
        approvalId: record.id,
      });
      await tell({
        id: `always/${record.id}`,
        source: "allow-always",
        actor: record.decidedBy ?? record.request.requester,
        changes: rulesOf(record).map((after) => ({ key: keyOf(record), after })),
      });
    }
    // Taken back while it was being stored.
    const now = await approvals.get(record.id);
    if (now?.revoked && !record.request.node) await takeBack(record);
    try {
      await exec.runApproved(now ?? record);
      // A node stores it when it takes the run: that may have been after it was taken back.
      if (record.request.node && (await approvals.get(record.id))?.revoked) await takeBack(record);
    } catch (error) {
      // The run's own record and card say why it did not start; only an unexpected fault is tried again.
      if (!(error instanceof ExecError)) throw error;
      // There is no record yet, and what was allowed is not lost with this life.
      if (error.code === "draining") throw new RetryLater(DRAIN_RETRY_MS, error.message);
      logger.warn({ approvalId: record.id, code: error.code }, error.message);
    }
  }

  async function tellRevoked(record: ApprovalRecord): Promise<void> {
    if (!record.revoked) return;
    await tell({
      id: `always-back/${record.id}`,
      source: "allow-always",
      actor: record.revoked.by,
      changes: rulesOf(record).map((before) => ({ key: keyOf(record), before })),
    });
  }

  return { takeBack, tellRevoked, onSettled };
}

/** The card's own words for what it stores. */
function rulesOf({ request }: ApprovalRecord): string[] {
  return describeGrants(request.alwaysStores, request.agentId, request.cwd).map(inEnglish);
}

function keyOf({ request, id }: ApprovalRecord): string {
  return `agent ${request.agentId}, ${slugOf(id)}`;
}
