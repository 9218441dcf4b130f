/**
 * The approval state machine: one durable record, one compare-and-set out of `pending`. First answer wins; the
 * loser learns the winner's decision. Nothing here runs a command: a decision becomes a queue job for the gateway
 * that asked, in the order decide → store → job, so a kill between any two steps loses nothing.
 */

import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Queue } from "../events/queue.ts";
import type { ApprovalDecision } from "../policy/types.ts";
import type { Actor, Route } from "../route.ts";
import type { Store } from "../store/store.ts";
import { inEnglish, phrase, type Wording } from "../words/phrase.ts";
import { ApprovalRecords, type Change } from "./approval-records.ts";
import { settledError, unknownApproval } from "./late-answer.ts";
import { type ApprovalRecord, type ApprovalRequest, isAskable, slugOf } from "./record.ts";
import { createRevocation, type RevocationOptions, type RevokeResult } from "./revocation.ts";
import { createSnoozing, type SnoozeResult, type SnoozingOptions } from "./snooze.ts";

const EXPIRE_JOB = "approval-expire";
const TOPIC = "approvals";

export interface ApprovalsOptions
  extends Pick<RevocationOptions, "takeBack" | "onRevoked">,
    Pick<SnoozingOptions, "snoozeMs" | "onSnoozed" | "onReminder"> {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly gatewayId: string;
  /** A request of another gateway was settled here: its cards must not wait for that gateway to say so. */
  readonly onForeignSettled?: (record: ApprovalRecord) => Promise<void>;
  /** May this person decide this request? A reason when not. */
  readonly mayDecide: (actor: Actor, record: ApprovalRecord, route: Route | undefined) => Promise<Wording | undefined>;
}

export interface Approvals {
  /** Starts the handlers. `onSettled` runs on the gateway that asked, at least once per settled record. */
  start(onSettled: (record: ApprovalRecord) => Promise<void>): Promise<void>;
  /** Asking again with the same ids gives the record that exists: a redelivered event makes no second card. */
  request(
    request: ApprovalRequest,
    options: { readonly id: string; readonly runId: string; readonly timeoutMs: number },
  ): Promise<ApprovalRecord>;
  /**
   * `applied` is false when the same had been decided already. Throws `approval-unknown`, `-ambiguous`, `-expired`,
   * `-already-decided`, `-not-offered` or `not-authorized`.
   */
  resolve(
    idOrPrefix: string,
    decision: ApprovalDecision,
    actor: Actor,
    options?: { readonly route?: Route; readonly comment?: string },
  ): Promise<Change>;
  /**
   * A request that waits and that this person may decide. Throws `approval-unknown`, `-ambiguous`, `-expired`,
   * `-already-decided` or `not-authorized`.
   */
  waiting(idOrPrefix: string, actor: Actor, options?: { readonly route?: Route }): Promise<ApprovalRecord>;
  /**
   * Takes back what "Allow always" stored, once. Throws `approval-unknown`, `-ambiguous`, `-already-decided` when it was
   * taken back before, `-not-offered` when nothing was stored, or `not-authorized`.
   */
  revoke(idOrPrefix: string, actor: Actor, options?: { readonly route?: Route }): Promise<RevokeResult>;
  /**
   * Puts a request off: it is asked again where it was put off, once. Throws what `resolve` throws for one that is decided,
   * and `approval-not-offered` when it expires too soon for that.
   */
  snooze(
    idOrPrefix: string,
    actor: Actor,
    options?: { readonly route?: Route },
  ): Promise<Extract<SnoozeResult, { kind: "put-off" }>>;
  /** The record, for who asked and for who may decide it. Throws `approval-unknown`, `-ambiguous` or `not-authorized`. */
  examine(
    idOrPrefix: string,
    actor: Actor,
    options?: { readonly route?: Route },
  ): Promise<{ readonly record: ApprovalRecord; readonly as: "requester" | "approver" }>;
  /** The same was asked once more as `newId`. False when somebody had done so before. */
  markAskedAgain(id: string, actor: Actor, newId: string | undefined): Promise<boolean>;
  /** The system ends a request nobody can answer any more. False when it was settled before. */
  cancel(id: string, why: Wording): Promise<boolean>;
  get(id: string): Promise<ApprovalRecord | undefined>;
  pending(): Promise<ApprovalRecord[]>;
  /** Changes what the card says, never what was decided. */
  annotate(
    id: string,
    change: Partial<Pick<ApprovalRecord, "statusLine" | "shownAt" | "lostAt">>,
  ): Promise<{ readonly record: ApprovalRecord; readonly version: number } | undefined>;
  /** The record and its version, which grows with each change: the version of its card. */
  versioned(id: string): Promise<{ readonly record: ApprovalRecord; readonly version: number } | undefined>;
  /** Called on every gateway after any change. */
  onChange(listener: (id: string) => void): Promise<() => Promise<void>>;
}

export function createApprovals(options: ApprovalsOptions): Approvals {
  const { store, queue, clock, audit, gatewayId } = options;
  const system: Actor = { kind: "system", channel: "gateway", accountId: gatewayId, id: gatewayId };
  const settledJob = (owner: string) => `approval-settled-${owner}`;
  const records = new ApprovalRecords(store, clock);
  const changed = (id: string) => store.publish(TOPIC, { id });
  const revocation = createRevocation({ ...options, records, changed });
  const snoozing = createSnoozing({ ...options, records, changed });

  async function recordEnd(record: ApprovalRecord, actor: Actor, route?: Route): Promise<void> {
    if (record.status === "pending") return;
    await audit.record({
      type: "approval-resolved",
      approvalId: record.id,
      state: record.status,
      actor,
      ...(record.decision ? { decision: record.decision } : {}),
      ...(route ? { route } : {}),
      ...(record.comment ? { comment: record.comment } : {}),
    });
  }

  /** Last step of every settlement. A kill before it is made good by the sweep at the next start. */
  async function announce(record: ApprovalRecord): Promise<void> {
    await queue.add({
      name: settledJob(record.gatewayId),
      id: `approval-settled:${record.id}`,
      data: { id: record.id },
      attempts: 8,
      backoff: { type: "exponential", baseMs: 250, maxMs: 30_000 },
    });
    await records.close(record.id);
    await changed(record.id);
    if (record.gatewayId !== gatewayId) await options.onForeignSettled?.(record);
  }

  /** Only an approver decides, and only an approver takes back. @throws ExecError `not-authorized`. */
  async function authorize(actor: Actor, record: ApprovalRecord, route: Route | undefined): Promise<void> {
    const refused =
      actor.kind === "person" ? await options.mayDecide(actor, record, route) : phrase("error.approval.onlyPerson");
    if (refused === undefined) return;
    await audit.record({
      type: "access-refused",
      surface: "channel",
      reason: `approval ${record.id}: ${inEnglish(refused)}`,
      actor,
      ...(route ? { route } : {}),
    });
    throw new ExecError("not-authorized", refused);
  }

  async function expire(id: string): Promise<void> {
    const done = await records.settle(id, { status: "expired", decidedAtMs: clock.now() }, { evenExpired: true });
    if (!done?.applied) return;
    await recordEnd(done.record, system);
    await announce(done.record);
  }

  return {
    async start(onSettled) {
      await queue.process<{ id: string }>(
        settledJob(gatewayId),
        async (job) => {
          const record = await records.get(job.data.id);
          if (record && record.status !== "pending") await onSettled(record);
        },
        { concurrency: 32 },
      );
      await revocation.start();
      await snoozing.start();
      await queue.process<{ id: string }>(EXPIRE_JOB, async (job) => {
        const record = await records.get(job.data.id);
        if (record && clock.now() >= record.expiresAtMs) await expire(record.id);
      });
      for (const id of await records.openIds()) {
        const record = await records.get(id);
        if (!record) await records.close(id);
        else if (record.status === "pending") await snoozing.keep(record);
        else if (record.gatewayId === gatewayId) await announce(record);
      }
    },

    async request(request, { id, runId, timeoutMs }) {
      const now = clock.now();
      const record: ApprovalRecord = {
        id,
        runId,
        status: "pending",
        request,
        gatewayId,
        createdAtMs: now,
        expiresAtMs: now + timeoutMs,
        shownAt: [],
      };
      const existing = await records.create(record);
      if (existing) return existing;
      await queue.add({
        name: EXPIRE_JOB,
        id: `approval-expire:${record.id}`,
        data: { id: record.id },
        delayMs: timeoutMs,
        attempts: 5,
      });
      await audit.record({
        type: "approval-requested",
        approvalId: record.id,
        requestId: record.runId,
        offered: request.offered,
        expiresAtMs: record.expiresAtMs,
      });
      await changed(record.id);
      return record;
    },

    async resolve(idOrPrefix, decision, actor, { route, comment } = {}) {
      const record = await records.find(idOrPrefix);
      await authorize(actor, record, route);
      if (record.status === "pending" && !records.isLive(record)) await expire(record.id);
      else if (record.status === "pending" && !record.request.offered.includes(decision)) {
        throw new ExecError(
          "approval-not-offered",
          phrase("error.approval.notOffered", { decision, offered: record.request.offered }),
        );
      }
      const done = await records.settle(
        record.id,
        {
          status: decision === "deny" ? "denied" : "allowed",
          decision,
          decidedBy: actor,
          decidedAtMs: clock.now(),
          ...(comment ? { comment } : {}),
        },
        { evenExpired: false },
      );
      if (!done) throw unknownApproval(idOrPrefix);
      if (done.applied) {
        await recordEnd(done.record, actor, route);
        await announce(done.record);
        return done;
      }
      if (done.record.status !== "expired" && done.record.decision === decision) return done;
      throw settledError(done.record);
    },

    async waiting(idOrPrefix, actor, { route } = {}) {
      const record = await records.find(idOrPrefix);
      await authorize(actor, record, route);
      if (record.status !== "pending") throw settledError(record);
      if (!records.isLive(record)) throw settledError({ ...record, status: "expired" });
      return record;
    },

    async revoke(idOrPrefix, actor, { route } = {}) {
      const record = await records.find(idOrPrefix);
      await authorize(actor, record, route);
      return revocation.revoke(record, actor);
    },

    async snooze(idOrPrefix, actor, { route } = {}) {
      const record = await records.find(idOrPrefix);
      await authorize(actor, record, route);
      if (record.status === "pending" && !records.isLive(record)) await expire(record.id);
      const result = await snoozing.snooze(record.id, actor, route);
      if (!result) throw unknownApproval(idOrPrefix);
      if (result.kind === "settled") throw settledError((await records.get(record.id)) ?? record);
      if (result.kind === "too-late") {
        const slug = slugOf(record.id);
        throw new ExecError("approval-not-offered", phrase("error.approval.tooLateToSnooze", { slug }));
      }
      if (result.isNew) {
        await audit.record({
          type: "approval-snoozed",
          approvalId: record.id,
          untilMs: result.snooze.untilMs,
          actor,
          ...(route ? { route } : {}),
        });
      }
      return result;
    },

    async examine(idOrPrefix, actor, { route } = {}) {
      const record = await records.find(idOrPrefix);
      if (isSamePerson(actor, record.request.requester)) return { record, as: "requester" };
      await authorize(actor, record, route);
      return { record, as: "approver" };
    },

    async markAskedAgain(id, actor, newId) {
      const askedAgain = { by: actor, atMs: clock.now(), ...(newId === undefined ? {} : { id: newId }) };
      const done = await records.update(id, (record) => (isAskable(record) ? { ...record, askedAgain } : undefined));
      if (!done?.applied) return false;
      await audit.record({
        type: "approval-asked-again",
        approvalId: id,
        actor,
        ...(newId === undefined ? {} : { newApprovalId: newId }),
      });
      await changed(id);
      return true;
    },

    async cancel(id, why) {
      const done = await records.settle(
        id,
        { status: "cancelled", decidedAtMs: clock.now(), statusLine: why },
        { evenExpired: true },
      );
      if (!done?.applied) return false;
      await recordEnd(done.record, system);
      await announce(done.record);
      return true;
    },

    get: (id) => records.get(id),

    async versioned(id) {
      const found = await records.versioned(id);
      return found && { record: found.value, version: found.version };
    },

    pending: () => records.pending(),

    async annotate(id, change) {
      const done = await records.annotate(id, change);
      return done && { record: done.value, version: done.version };
    },

    onChange: (listener) => store.subscribe(TOPIC, (message) => listener((message as { id: string }).id)),
  };
}

function isSamePerson(one: Actor, other: Actor): boolean {
  return (
    one.kind === "person" &&
    other.kind === "person" &&
    one.channel === other.channel &&
    one.accountId === other.accountId &&
    one.id === other.id
  );
}
