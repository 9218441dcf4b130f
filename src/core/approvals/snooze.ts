/**
 * Putting a request off: it is asked again in the same place a little later, once. What was put off is in the record, so
 * that its card shows it, and the reminder is a delayed job, so that it comes after a kill too.
 */
import type { Clock } from "../clock.ts";
import type { Queue } from "../events/queue.ts";
import { type Actor, type Route, routeKey } from "../route.ts";
import type { ApprovalRecords } from "./approval-records.ts";
import type { ApprovalRecord, Snooze } from "./record.ts";

/** A request is asked again at the latest this long before it expires: there must be time to read it. */
export const SNOOZE_MARGIN_MS = 2 * 60_000;

const REMIND_JOB = "approval-remind";

export type SnoozeResult =
  /** `isNew` false: it was put off here before. `shortened`: it expires before the whole time has passed. */
  | {
      readonly kind: "put-off";
      readonly record: ApprovalRecord;
      readonly snooze: Snooze;
      readonly isNew: boolean;
      readonly shortened: boolean;
    }
  | { readonly kind: "too-late"; readonly record: ApprovalRecord }
  | { readonly kind: "settled" };

export interface SnoozingOptions {
  readonly records: ApprovalRecords;
  readonly queue: Queue;
  readonly clock: Clock;
  /** `approvals.snoozeSec`, in milliseconds. */
  readonly snoozeMs: () => number;
  /** Every card of it has to show that it was put off. */
  readonly onSnoozed: (record: ApprovalRecord) => Promise<void>;
  /** It is asked again here. At least once per `token`. */
  readonly onReminder: (record: ApprovalRecord, at: Route, token: string) => Promise<void>;
  /** Tells every gateway that the record is another one now. */
  readonly changed: (id: string) => Promise<void>;
}

export interface Snoozing {
  start(): Promise<void>;
  snooze(id: string, actor: Actor, route: Route | undefined): Promise<SnoozeResult | undefined>;
  /** Its reminders are in the queue, also when a kill came between the record and the job. */
  keep(record: ApprovalRecord): Promise<void>;
}

/** Whether there is, or was, time enough to put it off at all. */
export function isSnoozable({ status, createdAtMs, expiresAtMs }: ApprovalRecord): boolean {
  return status === "pending" && expiresAtMs - createdAtMs > SNOOZE_MARGIN_MS;
}

/** When to ask again; undefined: too close to its end. */
export function snoozeUntil(times: {
  readonly nowMs: number;
  readonly snoozeMs: number;
  readonly expiresAtMs: number;
}): { readonly untilMs: number; readonly shortened: boolean } | undefined {
  const latestMs = times.expiresAtMs - SNOOZE_MARGIN_MS;
  if (latestMs <= times.nowMs) return undefined;
  const wantedMs = times.nowMs + times.snoozeMs;
  return wantedMs <= latestMs ? { untilMs: wantedMs, shortened: false } : { untilMs: latestMs, shortened: true };
}

/**
 * The place among those that show a request where somebody pressed. A direct message is known by the person before the
 * platform gives it an id, and a message that got replies counts as a thread of its own on Slack.
 */
export function placeOfPress(shownAt: readonly Route[], route: Route | undefined, by: Actor): Route | undefined {
  if (!route) return shownAt[0];
  const sameAccount = shownAt.filter((one) => one.channel === route.channel && one.accountId === route.accountId);
  return (
    sameAccount.find((one) => routeKey(one) === routeKey(route)) ??
    sameAccount.find((one) => one.chatId === route.chatId) ??
    (route.chatType === "dm" ? sameAccount.find((one) => one.chatType === "dm" && one.chatId === by.id) : undefined) ??
    shownAt[0]
  );
}

export function createSnoozing(options: SnoozingOptions): Snoozing {
  const { records, queue, clock } = options;

  async function remindLater(record: ApprovalRecord, { at, untilMs }: Snooze): Promise<void> {
    const place = routeKey(at);
    await queue.add<Reminder>({
      name: REMIND_JOB,
      id: `approval-remind:${record.id}:${place}:${untilMs}`,
      data: { id: record.id, place, untilMs },
      delayMs: Math.max(0, untilMs - clock.now()),
      attempts: 8,
      backoff: { type: "exponential", baseMs: 250, maxMs: 30_000 },
      notAfterMs: record.expiresAtMs,
    });
  }

  async function remind({ id, place, untilMs }: Reminder): Promise<void> {
    const isMeant = (one: Snooze): boolean => one.untilMs === untilMs && routeKey(one.at) === place;
    const done = await records.update(id, (record) => {
      const waits = record.snoozes?.some((one) => isMeant(one) && !one.over) ?? false;
      if (!records.isLive(record) || !waits) return undefined;
      return { ...record, snoozes: record.snoozes?.map((one) => (isMeant(one) ? { ...one, over: true } : one)) ?? [] };
    });
    const snooze = done?.record.snoozes?.find(isMeant);
    // Decided meanwhile: nobody has to be asked any more.
    if (!done || !snooze || !records.isLive(done.record)) return;
    await options.changed(id);
    await options.onReminder(done.record, snooze.at, String(untilMs));
  }

  return {
    start: () => queue.process<Reminder>(REMIND_JOB, (job) => remind(job.data)),

    async snooze(id, actor, route) {
      const nowMs = clock.now();
      let outcome: { readonly snooze: Snooze; readonly isNew: boolean; readonly shortened: boolean } | undefined;
      const done = await records.update(id, (record) => {
        outcome = undefined;
        const at = placeOfPress(record.shownAt, route, actor) ?? route;
        const when = snoozeUntil({ nowMs, snoozeMs: options.snoozeMs(), expiresAtMs: record.expiresAtMs });
        if (!records.isLive(record) || !at) return undefined;
        const place = routeKey(at);
        const elsewhere = (record.snoozes ?? []).filter((one) => routeKey(one.at) !== place);
        const before = record.snoozes?.find((one) => routeKey(one.at) === place && !one.over);
        if (before) {
          outcome = { snooze: before, isNew: false, shortened: false };
          return undefined;
        }
        if (!when) return undefined;
        const snooze: Snooze = { by: actor, untilMs: when.untilMs, at };
        outcome = { snooze, isNew: true, shortened: when.shortened };
        return { ...record, snoozes: [...elsewhere, snooze] };
      });
      if (!done) return undefined;
      const { record } = done;
      if (!records.isLive(record)) return { kind: "settled" };
      if (!outcome) return { kind: "too-late", record };
      // Also for one that was there before: a kill may have come before its job.
      await remindLater(record, outcome.snooze);
      await options.changed(id);
      await options.onSnoozed(record);
      return { kind: "put-off", record, ...outcome };
    },

    async keep(record) {
      for (const one of record.snoozes ?? []) if (!one.over) await remindLater(record, one);
    },
  };
}

interface Reminder {
  readonly id: string;
  readonly place: string;
  readonly untilMs: number;
}
