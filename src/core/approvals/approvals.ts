/**
 * The approval state machine: one durable record, one compare-and-set out of `pending`. First answer wins; the
 * loser learns the winner's decision. Nothing here runs a command: a decision becomes a queue job for the gateway
 * that asked, in the order decide → store → job, so a kill between any two steps loses nothing.
 */

import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Queue } from "../events/queue.ts";
import type { AllowlistEntry, ApprovalDecision } from "../policy/types.ts";
import { type Actor, actorLabel, type Route } from "../route.ts";
import type { Store } from "../store/store.ts";
import { inEnglish, phrase, type Wording } from "../words/phrase.ts";
import { type ApprovalRecord, type ApprovalRequest, slugOf } from "./record.ts";

/** decisions.md D13. */
export const DEFAULT_APPROVAL_TIMEOUT_MS = 30 * 60_000;
/** How long a decided record still answers "already decided by …". */
export const DECIDED_RETENTION_MS = 7 * 24 * 3_600_000;
/** A prefix shorter than this is never accepted: too easy to hit by chance. */
export const MIN_PREFIX_LENGTH = 4;

const NS = "approval";
/** Ids of records that are pending, or settled but not yet announced. Small, so that listing and the sweep stay cheap. */
const OPEN_NS = "approval-open";
const EXPIRE_JOB = "approval-expire";
const TOPIC = "approvals";

export type ResolveResult = {
  /** False when the same decision had been made already. */
  readonly applied: boolean;
  readonly record: ApprovalRecord;
};

export type RevokeResult = {
  readonly record: ApprovalRecord;
  /** The rules that are gone now. Empty when they had been removed before, and when another gateway removes them. */
  readonly removed: readonly AllowlistEntry[];
  /** The rule is in the file of another gateway, which has been told to remove it. */
  readonly elsewhere: boolean;
};

export interface ApprovalsOptions {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly gatewayId: string;
  /** A request of another gateway was settled here: its cards must not wait for that gateway to say so. */
  readonly onForeignSettled?: (record: ApprovalRecord) => Promise<void>;
  /** Removes what "Allow always" stored for this request on this host; resolves to what was there. */
  readonly takeBack: (record: ApprovalRecord) => Promise<readonly AllowlistEntry[]>;
  /** The card has to show that its rule is gone. */
  readonly onRevoked: (record: ApprovalRecord) => Promise<void>;
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
  /** Throws `approval-unknown`, `-ambiguous`, `-expired`, `-already-decided`, `-not-offered` or `not-authorized`. */
  resolve(
    idOrPrefix: string,
    decision: ApprovalDecision,
    actor: Actor,
    options?: { readonly route?: Route; readonly comment?: string },
  ): Promise<ResolveResult>;
  /**
   * Takes back what "Allow always" stored, once. Throws `approval-unknown`, `-ambiguous`, `-already-decided` when it was
   * taken back before, `-not-offered` when nothing was stored, or `not-authorized`.
   */
  revoke(idOrPrefix: string, actor: Actor, options?: { readonly route?: Route }): Promise<RevokeResult>;
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
  const revokeJob = (owner: string) => `approval-revoke-${owner}`;
  let takingBack: Promise<unknown> = Promise.resolve();
  const settledJob = (owner: string) => `approval-settled-${owner}`;

  /** A record past its time is expired whether or not the timer job has run. */
  const isLive = (record: ApprovalRecord) => record.status === "pending" && clock.now() < record.expiresAtMs;

  async function settle(
    id: string,
    change: (record: ApprovalRecord) => Partial<ApprovalRecord>,
    allowExpired: boolean,
  ): Promise<{ applied: boolean; record: ApprovalRecord } | undefined> {
    for (;;) {
      const found = await store.get<ApprovalRecord>(NS, id);
      if (!found) return undefined;
      if (found.value.status !== "pending" || (!allowExpired && !isLive(found.value))) {
        return { applied: false, record: found.value };
      }
      const next: ApprovalRecord = { ...found.value, ...change(found.value) };
      const version = await store.compareAndSet(NS, id, found.version, next, { ttlMs: DECIDED_RETENTION_MS });
      if (version === undefined) continue;
      return { applied: true, record: next };
    }
  }

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
    await store.delete(OPEN_NS, record.id);
    await store.publish(TOPIC, { id: record.id });
    if (record.gatewayId !== gatewayId) await options.onForeignSettled?.(record);
  }

  async function openIds(): Promise<string[]> {
    const ids: string[] = [];
    for (let after: string | undefined; ; after = ids.at(-1)) {
      const page = await store.list<true>(OPEN_NS, { limit: 500, ...(after ? { after } : {}) });
      ids.push(...page.map((listed) => listed.key));
      if (page.length < 500) return ids;
    }
  }

  async function find(idOrPrefix: string): Promise<ApprovalRecord> {
    const wanted = idOrPrefix.trim().toLowerCase();
    const exact = await store.get<ApprovalRecord>(NS, wanted);
    if (exact) return exact.value;
    if (wanted.length < MIN_PREFIX_LENGTH || !/^[0-9a-f-]+$/.test(wanted)) throw unknown(idOrPrefix);
    const matches = (await store.list<ApprovalRecord>(NS, { prefix: wanted, limit: 20 })).map((m) => m.value);
    const live = matches.filter(isLive);
    if (live.length > 1) {
      const ids = live.map((record) => record.id);
      throw new ExecError(
        "approval-ambiguous",
        phrase("error.approval.ambiguous", { matches: live.length, id: wanted, ids }),
        { ids },
      );
    }
    const only = live[0] ?? (matches.length === 1 ? matches[0] : undefined);
    if (!only) throw unknown(idOrPrefix);
    return only;
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

  /**
   * On the gateway whose file holds the rules. The rules go first and the mark second, so that a kill in between leaves
   * a button that can be pressed again; then the rules again, for a grant that was being written meanwhile.
   */
  function takeBackHere(id: string, actor: Actor): Promise<RevokeResult> {
    // One at a time: whoever is told that it is gone is the one who removed it.
    const turn = takingBack.then(() => removeAndMark(id, actor));
    takingBack = turn.catch(() => undefined);
    return turn;
  }

  async function removeAndMark(id: string, actor: Actor): Promise<RevokeResult> {
    let removed: readonly AllowlistEntry[] = [];
    for (;;) {
      const found = await store.get<ApprovalRecord>(NS, id);
      if (!found) throw unknown(id);
      const { value: record } = found;
      if (record.revoked) throw revokedError(record);
      if (removed.length === 0) removed = await options.takeBack(record);
      const next: ApprovalRecord = { ...record, revoked: { by: actor, atMs: clock.now() } };
      if ((await store.compareAndSet(NS, id, found.version, next, { ttlMs: DECIDED_RETENTION_MS })) === undefined)
        continue;
      removed = [...removed, ...(await options.takeBack(next))];
      await audit.record({
        type: "allowlist-changed",
        change: "removed",
        agentId: next.request.agentId,
        patterns: removed.map((rule) => rule.pattern),
        actor,
        approvalId: id,
      });
      await store.publish(TOPIC, { id });
      await options.onRevoked(next);
      return { record: next, removed, elsewhere: false };
    }
  }

  async function expire(id: string): Promise<void> {
    const done = await settle(id, () => ({ status: "expired", decidedAtMs: clock.now() }), true);
    if (!done?.applied) return;
    await recordEnd(done.record, system);
    await announce(done.record);
  }

  return {
    async start(onSettled) {
      await queue.process<{ id: string }>(
        settledJob(gatewayId),
        async (job) => {
          const found = await store.get<ApprovalRecord>(NS, job.data.id);
          if (found && found.value.status !== "pending") await onSettled(found.value);
        },
        { concurrency: 32 },
      );
      await queue.process<{ id: string; actor: Actor }>(revokeJob(gatewayId), async (job) => {
        const found = await store.get<ApprovalRecord>(NS, job.data.id);
        if (found && !found.value.revoked) await takeBackHere(job.data.id, job.data.actor);
      });
      await queue.process<{ id: string }>(EXPIRE_JOB, async (job) => {
        const found = await store.get<ApprovalRecord>(NS, job.data.id);
        if (found && clock.now() >= found.value.expiresAtMs) await expire(job.data.id);
      });
      for (const id of await openIds()) {
        const record = (await store.get<ApprovalRecord>(NS, id))?.value;
        if (!record) await store.delete(OPEN_NS, id);
        else if (record.gatewayId === gatewayId && record.status !== "pending") await announce(record);
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
      await store.put(OPEN_NS, id, true);
      if (!(await store.setIfAbsent(NS, id, record, { ttlMs: timeoutMs + DECIDED_RETENTION_MS }))) {
        const existing = await store.get<ApprovalRecord>(NS, id);
        if (existing) return existing.value;
      }
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
      await store.publish(TOPIC, { id: record.id });
      return record;
    },

    async resolve(idOrPrefix, decision, actor, { route, comment } = {}) {
      const record = await find(idOrPrefix);
      await authorize(actor, record, route);
      if (record.status === "pending" && !isLive(record)) await expire(record.id);
      else if (record.status === "pending" && !record.request.offered.includes(decision)) {
        throw new ExecError(
          "approval-not-offered",
          phrase("error.approval.notOffered", { decision, offered: record.request.offered }),
        );
      }
      const done = await settle(
        record.id,
        () => ({
          status: decision === "deny" ? "denied" : "allowed",
          decision,
          decidedBy: actor,
          decidedAtMs: clock.now(),
          ...(comment ? { comment } : {}),
        }),
        false,
      );
      if (!done) throw unknown(idOrPrefix);
      if (done.applied) {
        await recordEnd(done.record, actor, route);
        await announce(done.record);
        return done;
      }
      if (done.record.status !== "expired" && done.record.decision === decision) return done;
      throw settledError(done.record);
    },

    async revoke(idOrPrefix, actor, { route } = {}) {
      const record = await find(idOrPrefix);
      await authorize(actor, record, route);
      if (record.revoked) throw revokedError(record);
      if (record.status !== "allowed" || record.decision !== "allow-always") {
        throw new ExecError("approval-not-offered", phrase("error.approval.noRule", { slug: slugOf(record.id) }));
      }
      if (record.gatewayId === gatewayId) return takeBackHere(record.id, actor);
      await queue.add({
        name: revokeJob(record.gatewayId),
        id: `approval-revoke:${record.id}`,
        data: { id: record.id, actor },
        attempts: 8,
        backoff: { type: "exponential", baseMs: 250, maxMs: 30_000 },
      });
      return { record, removed: [], elsewhere: true };
    },

    async cancel(id, why) {
      const done = await settle(id, () => ({ status: "cancelled", decidedAtMs: clock.now(), statusLine: why }), true);
      if (!done?.applied) return false;
      await recordEnd(done.record, system);
      await announce(done.record);
      return true;
    },

    async get(id) {
      return (await store.get<ApprovalRecord>(NS, id))?.value;
    },

    async versioned(id) {
      const found = await store.get<ApprovalRecord>(NS, id);
      return found && { record: found.value, version: found.version };
    },

    async pending() {
      const records = await Promise.all((await openIds()).map((id) => store.get<ApprovalRecord>(NS, id)));
      return records
        .flatMap((found) => (found && isLive(found.value) ? [found.value] : []))
        .sort((a, b) => a.createdAtMs - b.createdAtMs);
    },

    async annotate(id, change) {
      for (;;) {
        const found = await store.get<ApprovalRecord>(NS, id);
        if (!found) return undefined;
        const next = { ...found.value, ...change };
        const ttlMs = Math.max(0, found.value.expiresAtMs - clock.now()) + DECIDED_RETENTION_MS;
        const version = await store.compareAndSet(NS, id, found.version, next, { ttlMs });
        if (version !== undefined) return { record: next, version };
      }
    },

    onChange: (listener) => store.subscribe(TOPIC, (message) => listener((message as { id: string }).id)),
  };
}

function unknown(id: string): ExecError {
  return new ExecError("approval-unknown", phrase("error.approval.unknown", { id: id.slice(0, 64) }));
}

function revokedError(record: ApprovalRecord): ExecError {
  const who = record.revoked ? actorLabel(record.revoked.by) : phrase("request.somebody");
  return new ExecError("approval-already-decided", phrase("error.approval.revoked", { slug: slugOf(record.id), who }));
}

/** The same words wherever a late answer arrives. */
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
