/**
 * What an agent session is told about its commands: `Exec completed (…)`, `Exec finished (…)`. At most one event per
 * source and session; the newest 20 are kept (exec.md section 12). A terminal poll takes an event back.
 */
import type { ApprovalRecord } from "../approvals/record.ts";
import type { RunRecord } from "../exec/runs.ts";
import { stripColor } from "../process/sanitizer.ts";
import type { Route } from "../route.ts";
import type { Store } from "../store/store.ts";
import { type Phrase, phrase, type Wording } from "../words/phrase.ts";

/** Oldest ones fall out. */
export const MAX_EVENTS_PER_SESSION = 20;
const EVENT_TTL_MS = 24 * 3_600_000;
const SNIPPET_TAIL_CHARS = 400;
const SNIPPET_CHARS = 180;
const SHORT_ID_CHARS = 8;

export interface SystemEvent {
  /** `exec:<session id>` or `exec:<approval id>`. */
  readonly contextKey: string;
  readonly text: string;
  /** The same for people, in the language of whoever reads it. Absent: `text` is somebody's own words. */
  readonly said?: Wording;
  readonly atMs: number;
  /** The conversation it belongs to, frozen when the command was asked for. */
  readonly route?: Route;
  /** People see it on a card already; only an agent has to be told. */
  readonly hasCard?: true;
  /** People have been told it in the event's own words. */
  readonly isTold?: true;
  /** Work for the agent, not news for people: they are told its text only when there is no model that does it. */
  readonly isTask?: true;
}

export interface SystemEvents {
  /** A second event of the same context changes nothing; nor does one that was taken away, when it comes again. */
  add(sessionKey: string, event: SystemEvent): Promise<void>;
  remove(sessionKey: string, contextKey: string): Promise<void>;
  /** Notes that people know it now. Nothing happens to an event that was taken back meanwhile. */
  told(sessionKey: string, contextKey: string): Promise<void>;
  pending(sessionKey: string): Promise<readonly SystemEvent[]>;
}

const NS = "system-event";
/** What was taken in or taken back, by its moment: whoever tells it again after a kill tells nothing (channels.md 9.1). */
const OVER_NS = "system-event-over";
const OVER_TTL_MS = 10 * 60_000;

export function createSystemEvents(store: Store): SystemEvents {
  const key = (sessionKey: string, contextKey: string) => `${sessionKey}|${contextKey}`;
  async function pending(sessionKey: string): Promise<SystemEvent[]> {
    const found = await store.list<SystemEvent>(NS, { prefix: `${sessionKey}|` });
    return found.map((listed) => listed.value).sort((a, b) => a.atMs - b.atMs);
  }
  return {
    pending,
    async add(sessionKey, event) {
      const over = await store.get<number>(OVER_NS, key(sessionKey, event.contextKey));
      if (over?.value === event.atMs) return;
      await store.setIfAbsent(NS, key(sessionKey, event.contextKey), event, { ttlMs: EVENT_TTL_MS });
      const all = await pending(sessionKey);
      for (const old of all.slice(0, Math.max(0, all.length - MAX_EVENTS_PER_SESSION))) {
        await store.delete(NS, key(sessionKey, old.contextKey));
      }
    },
    async remove(sessionKey, contextKey) {
      const found = await store.get<SystemEvent>(NS, key(sessionKey, contextKey));
      if (!found) return;
      await store.put(OVER_NS, key(sessionKey, contextKey), found.value.atMs, { ttlMs: OVER_TTL_MS });
      await store.delete(NS, key(sessionKey, contextKey));
    },
    async told(sessionKey, contextKey) {
      const found = await store.get<SystemEvent>(NS, key(sessionKey, contextKey));
      if (!found || found.value.isTold) return;
      const value: SystemEvent = { ...found.value, isTold: true };
      // Whoever changed it meanwhile took it back or told it as well.
      await store.compareAndSet(NS, key(sessionKey, contextKey), found.version, value, { ttlMs: EVENT_TTL_MS });
    },
  };
}

/** Should a session be told that its background command has ended? (exec.md section 12; decisions.md D15) */
export function isWorthTelling(
  record: RunRecord,
  settings: { readonly notifyOnExit: boolean; readonly notifyOnExitEmptySuccess: boolean },
  output: string,
): boolean {
  if (!settings.notifyOnExit || record.outcome === "killed") return false;
  return record.outcome !== "completed" || stripColor(output).trim() !== "" || settings.notifyOnExitEmptySuccess;
}

/** `Exec completed (quiet-ot, code 0) :: last words`. Agents read its English. */
export function completionPhrase(record: RunRecord, output: string): Phrase {
  const session = record.sessionId.slice(0, SHORT_ID_CHARS);
  const how = endPhrase(record);
  const tail = stripColor(output).slice(-SNIPPET_TAIL_CHARS).replace(/\s+/g, " ").trim();
  const snippet = tail.length > SNIPPET_CHARS ? `${tail.slice(0, SNIPPET_CHARS - 1)}…` : tail;
  const isCompleted = record.outcome === "completed" || record.outcome === "failed";
  const ended = phrase(isCompleted ? "event.completed" : "event.failed", { session, how });
  const told = snippet === "" ? ended : phrase("event.output", { event: ended, output: snippet });
  return record.outcome === "timed-out" ? phrase("event.timedOut", { event: told }) : told;
}

function endPhrase({ exitCode, exitSignal }: RunRecord): Phrase {
  if (typeof exitCode === "number" && !exitSignal) return phrase("session.how.code", { code: exitCode });
  return exitSignal ? phrase("session.how.signal", { signal: exitSignal }) : phrase("event.signalUnknown");
}

/** Readers of these texts know `code N` and `signal X`; an end nobody saw is the second kind. */
function howItEnded({ exitCode, exitSignal }: RunRecord): string {
  return typeof exitCode === "number" && !exitSignal ? `code ${exitCode}` : `signal ${exitSignal ?? "unknown"}`;
}

/** The follow-up of an approved run. */
export function finishedText(record: RunRecord, output: string): string {
  const how = record.outcome === "timed-out" ? "timeout" : howItEnded(record);
  return `Exec finished (${record.host} id=${record.approvalId}, session=${record.sessionId}, ${how})\n${stripColor(output).slice(-SNIPPET_TAIL_CHARS).trim()}`;
}

/** An approval that will not come (`approvals.wakeOnDenial`). */
export function deniedText({ id, status, comment, request }: ApprovalRecord): string {
  const why = comment ? `${status}: ${comment}` : status;
  return `Exec denied (${request.host} id=${id}, ${why}): ${request.command}`;
}

export function runningText(record: RunRecord, noticeMs: number): string {
  const seconds = Math.max(1, Math.round(noticeMs / 1000));
  return `Exec running (${record.host} id=${record.approvalId}, session=${record.sessionId}, >${seconds}s): ${record.command}`;
}
