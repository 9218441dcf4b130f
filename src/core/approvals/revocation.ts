/**
 * Taking back what "Allow always" stored, once, on the gateway whose file holds the rules. Any gateway can be asked: the
 * wish becomes a job of the one that has to do it.
 */
import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Queue } from "../events/queue.ts";
import type { AllowlistEntry } from "../policy/types.ts";
import type { Actor } from "../route.ts";
import { phrase } from "../words/phrase.ts";
import type { ApprovalRecords } from "./approval-records.ts";
import { revokedError, unknownApproval } from "./late-answer.ts";
import { type ApprovalRecord, slugOf } from "./record.ts";

export interface RevokeResult {
  readonly record: ApprovalRecord;
  /** The rules that are gone now. Empty when they had been removed before, and when another gateway removes them. */
  readonly removed: readonly AllowlistEntry[];
  /** The rule is in the file of another gateway, which has been told to remove it. */
  readonly elsewhere: boolean;
}

export interface RevocationOptions {
  readonly records: ApprovalRecords;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly gatewayId: string;
  /** Removes what "Allow always" stored for this request on this host; resolves to what was there. */
  readonly takeBack: (record: ApprovalRecord) => Promise<readonly AllowlistEntry[]>;
  /** The card has to show that its rule is gone. */
  readonly onRevoked: (record: ApprovalRecord) => Promise<void>;
  /** Tells every gateway that the record is another one now. */
  readonly changed: (id: string) => Promise<void>;
}

export interface Revocation {
  start(): Promise<void>;
  /** Throws `approval-already-decided` when it was taken back before, `-not-offered` when nothing was stored. */
  revoke(record: ApprovalRecord, actor: Actor): Promise<RevokeResult>;
}

export function createRevocation(options: RevocationOptions): Revocation {
  const { records, queue, clock, audit, gatewayId } = options;
  const jobOf = (owner: string) => `approval-revoke-${owner}`;
  let takingBack: Promise<unknown> = Promise.resolve();

  function takeBackHere(id: string, actor: Actor): Promise<RevokeResult> {
    // One at a time: whoever is told that it is gone is the one who removed it.
    const turn = takingBack.then(() => removeAndMark(id, actor));
    takingBack = turn.catch(() => undefined);
    return turn;
  }

  /**
   * The rules go first and the mark second, so that a kill in between leaves a button that can be pressed again; then
   * the rules again, for a grant that was being written meanwhile.
   */
  async function removeAndMark(id: string, actor: Actor): Promise<RevokeResult> {
    let removed: readonly AllowlistEntry[] = [];
    for (;;) {
      const found = await records.versioned(id);
      if (!found) throw unknownApproval(id);
      const { value: record, version } = found;
      if (record.revoked) throw revokedError(record);
      if (removed.length === 0) removed = await options.takeBack(record);
      const next: ApprovalRecord = { ...record, revoked: { by: actor, atMs: clock.now() } };
      if ((await records.replace(version, next)) === undefined) continue;
      removed = [...removed, ...(await options.takeBack(next))];
      await audit.record({
        type: "allowlist-changed",
        change: "removed",
        agentId: next.request.agentId,
        patterns: removed.map((rule) => rule.pattern),
        actor,
        approvalId: id,
      });
      await options.changed(id);
      await options.onRevoked(next);
      return { record: next, removed, elsewhere: false };
    }
  }

  return {
    async start() {
      await queue.process<{ id: string; actor: Actor }>(jobOf(gatewayId), async ({ data: { id, actor } }) => {
        const record = await records.get(id);
        if (record && !record.revoked) await takeBackHere(id, actor);
      });
    },

    async revoke(record, actor) {
      if (record.revoked) throw revokedError(record);
      if (record.status !== "allowed" || record.decision !== "allow-always") {
        throw new ExecError("approval-not-offered", phrase("error.approval.noRule", { slug: slugOf(record.id) }));
      }
      if (record.gatewayId === gatewayId) return takeBackHere(record.id, actor);
      await queue.add({
        name: jobOf(record.gatewayId),
        id: `approval-revoke:${record.id}`,
        data: { id: record.id, actor },
        attempts: 8,
        backoff: { type: "exponential", baseMs: 250, maxMs: 30_000 },
      });
      return { record, removed: [], elsewhere: true };
    },
  };
}
