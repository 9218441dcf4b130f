/**
 * Tells people and agents what becomes of approvals and runs. The only place that decides which card goes where; the
 * texts are made from records by pure functions and every message goes through the deliveries queue.
 */

import type { ApprovalTargets } from "../access/approval-targets.ts";
import { approvalCard } from "../approvals/approval-card.ts";
import type { Approvals } from "../approvals/approvals.ts";
import { type ApprovalRecord, slugOf } from "../approvals/record.ts";
import type { Clock } from "../clock.ts";
import type { ExecConfig } from "../config/schema.ts";
import { endLine, runCard } from "../exec/run-card.ts";
import { CARD_TAIL_CHARS, type LiveRun, type RunListener, type RunRecord } from "../exec/runs.ts";
import { type Actor, type Route, routeKey } from "../route.ts";
import { inEnglish, phrase, type Wording } from "../words/phrase.ts";
import { askedBelow, leftBehind, noticeOf, refusedCard } from "./announcement-cards.ts";
import { type Deliveries, PROGRESS_MAX_AGE_MS, type Undelivered } from "./deliveries.ts";
import {
  completionPhrase,
  deniedText,
  finishedText,
  isWorthTelling,
  runningText,
  type SystemEvents,
} from "./system-events.ts";
import type { Wakes } from "./wakes.ts";

/** A command that ends within this gets one card, its end; a person is not shown a card that flickers (channels.md 6.2). */
export const RUNNING_CARD_AFTER_MS = 1_500;
/** Where an edit makes no sound, the end of a longer run is a message of its own. */
export const NEW_MESSAGE_AFTER_MS = 60_000;

/** Versions of a run's card. The last one is for a run that was reported as lost and then turned out to have ended. */
const QUEUED_VERSION = 1;
const RUNNING_VERSION = 2;
const FINISHED_VERSION = 3;
const CORRECTED_VERSION = 4;
/** Keys of messages that stand in for one that its chat did not take. */
const STRAY = "stray:";

export interface Announcements extends RunListener {
  /** Puts the approval's card, as it is now, everywhere it belongs. */
  showApproval(id: string): Promise<void>;
  /** It was decided, expired or cancelled: the card says so, and with `approvals.wakeOnDenial` the agent is told of a no. */
  settled(record: ApprovalRecord): Promise<void>;
  /** It had been put off here: the card comes down as a new message. Once per `token`. */
  remind(id: string, at: Route, token: string): Promise<void>;
  /** Somebody pressed what is over: the card there shows what became of it, though its edit may have been lost. */
  redraw(id: string, at: Route): Promise<void>;
  /** The same was asked once more: everything that offered to says so. */
  askedAgain(id: string): Promise<void>;
  /** A card or an end that its chat did not take: somebody who can act on it is told instead, never nobody. */
  undelivered(lost: Undelivered): Promise<void>;
  /** A card that was given up is to be shown after all, as it is now. False: what it was about is forgotten. */
  showAgain(entity: string, route: Route): Promise<boolean>;
  /** The gateway that would run what these requests ask for is gone: their cards say so. */
  asksForGone(gatewayId: string): Promise<void>;
  stop(): void;
}

export interface AnnouncementsOptions {
  readonly clock: Clock;
  readonly approvals: Approvals;
  readonly deliveries: Deliveries;
  readonly events: SystemEvents;
  readonly wake: Wakes["request"];
  /** `approvals.wakeOnDenial` (decisions.md D14). */
  readonly wakeOnDenial: () => boolean;
  readonly execConfig: (agentId: string) => ExecConfig;
  /** Where this request is shown, and, when that is not the chat that asked, the chat that is told so. */
  readonly approvalTargets: (record: ApprovalRecord) => ApprovalTargets;
  /** Whether an agent has been shown, or has taken in, the end of this run by now: a poll may be quicker than its event. */
  readonly endSeen: (runId: string) => "no" | "observed" | "acknowledged";
  /** Who hears of what this chat did not take: its owners' direct messages, or where the operator is. */
  readonly responsible: (origin: Route) => readonly Route[];
  /** All of an output that is too long for messages, for a chat that takes files. */
  readonly outputFile: (record: RunRecord) => Promise<{ readonly name: string; readonly path: string } | undefined>;
  /** Where the operator is: the last resort. */
  readonly operatorRoute: Route;
  readonly onError: (error: unknown, what: string) => void;
}

export function createAnnouncements(options: AnnouncementsOptions): Announcements {
  const { approvals, deliveries, events, clock } = options;
  const timers = new Map<string, NodeJS.Timeout[]>();
  const steps = new Map<string, Promise<void>>();

  async function showApproval(id: string): Promise<void> {
    let found = await approvals.versioned(id);
    if (!found) return;
    const known = new Set(found.record.shownAt.map(routeKey));
    if (found.record.status === "pending") {
      const targets = options.approvalTargets(found.record);
      const wanted = targets.cards.filter((route) => !known.has(routeKey(route)));
      if (wanted.length > 0) {
        found = (await approvals.annotate(id, { shownAt: [...found.record.shownAt, ...wanted] })) ?? found;
      }
      if (targets.notice) await deliveries.upsert(noticeOf(found.record, targets.notice, targets.link));
    }
    const { record, version } = found;
    const lost = new Set((record.lostAt ?? []).map(routeKey));
    for (const route of record.shownAt) {
      if (lost.has(routeKey(route))) continue;
      await deliveries.upsert({
        entity: `approval:${id}`,
        version,
        route,
        card: approvalCard(record),
        ...(record.status === "pending" ? { notAfterMs: record.expiresAtMs } : {}),
      });
    }
  }

  /**
   * A chat that asked and has no card of its own: its notice says what became of the request. A run speaks for itself;
   * a no is a message of its own where an edit makes no sound (decisions.md D14).
   */
  async function tellOrigin(record: ApprovalRecord): Promise<void> {
    const { notice } = options.approvalTargets(record);
    if (!notice) return;
    const told = noticeOf(record, notice);
    const isHeard = record.status === "allowed" || !deliveries.editsAreSilent(notice);
    // Whoever asked has no card here: they can ask again where they are told.
    const newest = { ...told, card: refusedCard(record, told.card) };
    if (isHeard) return deliveries.upsert(newest);
    await deliveries.upsert(told);
    await deliveries.upsert({ ...newest, entity: `approval-refused:${record.id}` });
  }

  /** channels.md 5.1: when no card reached anybody, the chat that asked gets the words that decide, the operator the card. */
  async function cardLost(id: string, { route, why }: Undelivered): Promise<void> {
    const record = await approvals.get(id);
    if (record?.status !== "pending") return;
    const lostAt = [...(record.lostAt ?? []).filter((one) => routeKey(one) !== routeKey(route)), route];
    const lost = new Set(lostAt.map(routeKey));
    const seen = record.shownAt.some((one) => !lost.has(routeKey(one)));
    const shownAt = seen ? record.shownAt : [...record.shownAt, options.operatorRoute];
    await approvals.annotate(id, { lostAt, shownAt });
    if (seen) return;
    await showApproval(id);
    const origin = record.request.route;
    if (!origin || lost.has(routeKey(origin))) return;
    const slug = slugOf(id);
    await deliveries.post({
      key: `approval-unseen:${id}`,
      route: origin,
      card: {
        kind: "text",
        tone: "warning",
        text: phrase("request.unseen", { slug, why }),
        hint: phrase("request.unseen.hint", { form: `/approve ${slug} ${record.request.offered.join("|")}` }),
      },
      notAfterMs: record.expiresAtMs,
    });
  }

  /** channels.md 7.1: an end that can not come to the chat that asked comes to who is responsible, with that chat named. */
  async function endLost({ key, route, card, why }: Undelivered): Promise<void> {
    if (card.kind !== "run" || card.state !== "finished") return;
    const isStray = key.startsWith(STRAY);
    const told = isStray ? [options.operatorRoute] : options.responsible(route);
    const note = phrase("run.undelivered", { channel: route.channel, chat: route.chatId, why });
    for (const other of told) {
      if (routeKey(other) === routeKey(route)) continue;
      await deliveries.post({
        key: `${STRAY}${card.runId}`,
        route: other,
        card: isStray ? card : { ...card, notes: [...card.notes, note] },
      });
    }
  }

  async function note(approvalId: string | undefined, statusLine: Wording): Promise<void> {
    if (!approvalId) return;
    await approvals.annotate(approvalId, { statusLine });
    await showApproval(approvalId);
  }

  function after(runId: string, ms: number, what: string, act: () => Promise<void>): void {
    const timer = setTimeout(() => inOrder(runId, act).catch((error) => options.onError(error, what)), ms);
    timer.unref();
    timers.set(runId, [...(timers.get(runId) ?? []), timer]);
  }

  /** One step of a run's story at a time: "running" that is still being written must not overtake its end. */
  function inOrder(runId: string, act: () => Promise<void>): Promise<void> {
    const step = (steps.get(runId) ?? Promise.resolve()).then(act);
    const settled = step
      .catch(() => {})
      .then(() => {
        if (steps.get(runId) === settled) steps.delete(runId);
      });
    steps.set(runId, settled);
    return step;
  }

  function clearTimers(runId: string): void {
    for (const timer of timers.get(runId) ?? []) clearTimeout(timer);
    timers.delete(runId);
  }

  /** Runs whose running card has been posted: only those get live changes. */
  const shown = new Set<string>();

  return {
    showApproval,

    async settled(record) {
      await showApproval(record.id);
      await tellOrigin(record);
      const { requester, sessionKey } = record.request;
      const wasRefused = record.status === "denied" || record.status === "expired";
      if (!wasRefused || !options.wakeOnDenial() || isChatPerson(requester)) return;
      await events.add(sessionKey, {
        contextKey: `exec:${record.id}`,
        text: deniedText(record),
        atMs: clock.now(),
        hasCard: true,
        ...(record.request.route ? { route: record.request.route } : {}),
      });
      await options.wake({ agentId: record.request.agentId, sessionKey }, "approval");
    },

    async remind(id, at, token) {
      const found = await approvals.versioned(id);
      if (found?.record.status !== "pending") return;
      const { record, version } = found;
      await deliveries.upsert({
        entity: `approval:${id}`,
        version,
        route: at,
        card: approvalCard(record),
        leftBehind: askedBelow(record),
        bringDown: token,
        notAfterMs: record.expiresAtMs,
      });
      // Elsewhere too the card says that it is not put off any more.
      await showApproval(id);
    },

    async redraw(id, at) {
      const found = await approvals.versioned(id);
      if (!found) return;
      const { record, version } = found;
      await deliveries.upsert({
        entity: `approval:${id}`,
        version,
        route: at,
        card: approvalCard(record),
        redraw: true,
      });
    },

    async askedAgain(id) {
      await showApproval(id);
      const record = await approvals.get(id);
      if (record) await tellOrigin(record);
    },

    async undelivered(lost) {
      const [, kind, id = ""] = /^(approval):(.+)$/.exec(lost.entity ?? "") ?? [];
      if (kind === undefined) await endLost(lost);
      else await inOrder(id, () => cardLost(id, lost));
    },

    async showAgain(entity, route) {
      const [, id = ""] = /^approval:(.+)$/.exec(entity) ?? [];
      const record = await approvals.get(id);
      if (!record) return false;
      const lostAt = (record.lostAt ?? []).filter((one) => routeKey(one) !== routeKey(route));
      await approvals.annotate(id, { lostAt });
      await showApproval(id);
      return true;
    },

    async asksForGone(gatewayId) {
      const statusLine = phrase("request.gatewayGone", { gateway: gatewayId });
      for (const record of await approvals.pending()) {
        if (record.gatewayId !== gatewayId || inEnglish(record.statusLine ?? "") === statusLine.text) continue;
        await approvals.annotate(record.id, { statusLine });
        await showApproval(record.id);
      }
    },

    queued(record: RunRecord) {
      const { route } = record;
      if (record.report !== "card" || !route) return;
      after(record.runId, RUNNING_CARD_AFTER_MS, `showing that run ${record.runId} waits`, async () => {
        await deliveries.upsert({
          entity: `run:${record.runId}`,
          version: QUEUED_VERSION,
          route,
          card: runCard(record),
          notAfterMs: clock.now() + PROGRESS_MAX_AGE_MS,
        });
        await note(record.approvalId, phrase("request.inLine"));
      });
    },

    started(run: LiveRun) {
      const { record } = run;
      const { route } = record;
      clearTimers(record.runId);
      if (record.report === "card" && route) {
        after(record.runId, record.cardAfterMs ?? RUNNING_CARD_AFTER_MS, `showing run ${record.runId}`, async () => {
          shown.add(record.runId);
          await deliveries.upsert({
            entity: `run:${record.runId}`,
            version: RUNNING_VERSION,
            route,
            notAfterMs: clock.now() + PROGRESS_MAX_AGE_MS,
            card: runCard(record, {
              tail: run.session.tail(CARD_TAIL_CHARS, "colored"),
              totalChars: run.session.totalChars,
            }),
          });
          await note(record.approvalId, phrase("request.running"));
        });
      }
      const noticeMs = options.execConfig(record.agentId).approvalRunningNoticeMs;
      if (record.approvalId && noticeMs > 0 && !isChatPerson(record.requester)) {
        after(record.runId, noticeMs, `telling that run ${record.runId} goes on`, () =>
          events.add(record.sessionKey, {
            contextKey: `exec-running:${record.approvalId}`,
            text: runningText(record, noticeMs),
            atMs: clock.now(),
          }),
        );
      }
    },

    output(run: LiveRun) {
      const { record } = run;
      if (!record.route || !shown.has(record.runId)) return;
      deliveries.live(`run:${record.runId}`, record.route, () =>
        runCard(record, { tail: run.session.tail(CARD_TAIL_CHARS, "colored"), totalChars: run.session.totalChars }),
      );
    },

    finished(record: RunRecord) {
      clearTimers(record.runId);
      return inOrder(record.runId, () => tellEnd(record));
    },

    stop() {
      for (const runId of [...timers.keys()]) clearTimers(runId);
    },
  };

  async function tellEnd(record: RunRecord): Promise<void> {
    const { route } = record;
    if (record.report === "card" && route) {
      const late = (record.durationMs ?? 0) > NEW_MESSAGE_AFTER_MS && deliveries.editsAreSilent(route);
      const card = runCard(record);
      await deliveries.upsert({
        entity: `run:${record.runId}`,
        version: record.corrects ? CORRECTED_VERSION : FINISHED_VERSION,
        route,
        card: late ? { ...card, actions: [] } : card,
        ...(late ? {} : { leftBehind: leftBehind(record) }),
      });
      if (late) await deliveries.post({ key: `run-ended:${record.runId}`, route, card });
      const file = await options.outputFile(record);
      if (file) {
        const text = phrase("chat.log", { session: record.sessionId });
        await deliveries.post({
          key: `run-output:${record.runId}`,
          route,
          card: { kind: "text", tone: "info", text },
          file,
        });
      }
    }
    await note(record.approvalId, endLine(record));
    shown.delete(record.runId);
    await tellAgent(record);
  }

  async function tellAgent(record: RunRecord): Promise<void> {
    const settings = record.notify ?? options.execConfig(record.agentId);
    // Of the end itself, so that telling it again after a kill is known to be the same.
    const atMs = record.endedAtMs ?? clock.now();
    if (record.approvalId) {
      if (isChatPerson(record.requester)) return;
      await events.remove(record.sessionKey, `exec-running:${record.approvalId}`);
      await events.add(record.sessionKey, {
        contextKey: `exec:${record.approvalId}`,
        text: finishedText(record, record.tail),
        atMs,
        hasCard: true,
        ...(record.route ? { route: record.route } : {}),
      });
      await options.wake({ agentId: record.agentId, sessionKey: record.sessionKey }, "exec-event");
      return;
    }
    const unseen = record.outcome === "lost" || record.backgrounded === true;
    if (record.report !== "event" || !unseen || record.observed || options.endSeen(record.runId) !== "no") return;
    if (!isWorthTelling(record, settings, record.tail)) return;
    const contextKey = `exec:${record.sessionId}`;
    const said = completionPhrase(record, record.tail);
    await events.add(record.sessionKey, {
      contextKey,
      text: said.text,
      said,
      atMs,
      ...(record.route ? { route: record.route } : {}),
    });
    // A poll that came while it was being written took back an event that was not there yet.
    if (options.endSeen(record.runId) === "acknowledged") await events.remove(record.sessionKey, contextKey);
    else await options.wake({ agentId: record.agentId, sessionKey: record.sessionKey }, "exec-event");
  }
}

/** Sees the card; holders of the API's token are told like an agent. */
function isChatPerson(requester: Actor): boolean {
  return requester.kind === "person" && requester.channel !== "api";
}
