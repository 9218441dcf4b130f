/** What is known of one command that was allowed to run: the stored record, and what it was started with. */
import type { RunOutcome } from "../cards.ts";
import type { NodeRunEnd } from "../hosts/node/types.ts";
import type { Binding, Plan } from "../policy/decision.ts";
import type { NodeTarget, RunConsent } from "../policy/node-target.ts";
import type { EffectiveHost } from "../policy/types.ts";
import type { ProcessSession } from "../process/session.ts";
import type { EndInfo } from "../process/types.ts";
import type { Actor, Route } from "../route.ts";
import { type Phrase, phrase, type Wording } from "../words/phrase.ts";
import type { WaitReason } from "./run-queue.ts";

/** What is kept of a finished run, for "Run again" and late questions. */
export const FINISHED_RUN_TTL_MS = 7 * 24 * 3_600_000;
/** Characters of output kept in the record and shown on the card. */
export const CARD_TAIL_CHARS = 4_000;
/** An output of more characters than this comes as a file besides (channels.md 6.1). */
export const OUTPUT_FILE_CHARS = 12_000;

/** `queued`: allowed, and waits for a place among those that run. */
export type RunState = "queued" | "starting" | "running" | "finished";

/** Whether its session is told of its end: as it was configured when it was asked for. */
export interface NotifySettings {
  readonly notifyOnExit: boolean;
  readonly notifyOnExitEmptySuccess: boolean;
}

/** What a queued run waits for: a limit and its value. */
export interface RunWait {
  readonly reason: WaitReason;
  readonly limit: number;
}

export interface RunRecord {
  readonly runId: string;
  readonly state: RunState;
  readonly gatewayId: string;
  /** One life of a gateway process: a record of another instance of the same gateway was cut off by its end. */
  readonly instanceId: string;
  readonly sessionId: string;
  readonly approvalId?: string;
  readonly command: string;
  readonly cwd: string;
  readonly host: EffectiveHost;
  readonly node?: { readonly id: string; readonly name: string };
  readonly agentId: string;
  readonly sessionKey: string;
  readonly requester: Actor;
  readonly route?: Route;
  /** `card`: a person asked in a chat, or decided it there; the run has its own card. `event`: an agent is told. */
  readonly report: "card" | "event" | "none";
  readonly timeoutMs?: number;
  /** While it is queued: since when it waits. */
  readonly startedAtMs: number;
  readonly waitsFor?: RunWait;
  /** Absent: of an older version; the configuration says. */
  readonly notify?: NotifySettings;
  /** A command this short shows no running card (`commands.bashForegroundMs`). */
  readonly cardAfterMs?: number;
  readonly pid?: number;
  readonly endedAtMs?: number;
  readonly durationMs?: number;
  readonly outcome?: RunOutcome;
  readonly exitCode?: number | null;
  readonly exitSignal?: string | null;
  readonly tail: string;
  readonly totalChars: number;
  /** The beginning of an ended run's output, when `tail` does not reach back to it. Colours included. */
  readonly head?: string;
  /** Lines in all, when that is still known. */
  readonly totalLines?: number;
  readonly notes: readonly Wording[];
  /** The call that started it had returned before it ended. */
  readonly backgrounded?: boolean;
  /** A poll had shown the end before it was recorded. */
  readonly observed?: boolean;
  /** What it showed is kept for a replay (`tools.exec.record`). */
  readonly recorded?: true;
  /** It had been reported as lost while its gateway was out of reach; this is how it really ended. */
  readonly corrects?: true;
}

export interface RunSpec {
  readonly runId: string;
  readonly approvalId?: string;
  readonly command: string;
  readonly plan: Plan;
  readonly binding: Binding;
  readonly cwd: string;
  readonly host: EffectiveHost;
  readonly node?: NodeTarget;
  /** With host=node: who said yes to what the policy asks about. */
  readonly consent?: RunConsent;
  readonly env: Readonly<Record<string, string>>;
  readonly pathPrepend: readonly string[];
  readonly pty: boolean;
  readonly stdin: "closed" | "open";
  readonly timeoutMs?: number;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly requester: Actor;
  readonly route?: Route;
  readonly report: RunRecord["report"];
  /** Nobody waits for it: its session is in the background from the start. */
  readonly background: boolean;
  readonly notify?: NotifySettings;
  readonly cardAfterMs?: number;
}

/** The one sentence that says why a run waits. */
export function waitSentence({ reason, limit }: RunWait): Phrase {
  switch (reason) {
    case "gateway-busy":
      return phrase("run.waits.gateway", { limit });
    case "agent-busy":
      return phrase("run.waits.agent", { limit });
  }
}

export function outcomeOf(end: EndInfo): RunOutcome {
  if (end.timedOut) return "timed-out";
  switch (end.reason) {
    case "exit":
      return end.exitCode === 0 ? "completed" : "failed";
    case "signal":
      return "failed";
    case "overall-timeout":
      return "timed-out";
    case "manual-cancel":
    case "shutdown":
      return "killed";
    case "spawn-failed":
      return "not-started";
    case "lost":
      return "lost";
  }
}

/** Of a run that is about to start, or to wait. */
export function firstRecord(
  spec: RunSpec,
  about: Pick<RunRecord, "gatewayId" | "instanceId" | "sessionId" | "startedAtMs">,
  waitsFor: RunWait | undefined,
): RunRecord {
  return {
    runId: spec.runId,
    state: waitsFor === undefined ? "starting" : "queued",
    ...about,
    command: spec.command,
    cwd: spec.cwd,
    host: spec.host,
    agentId: spec.agentId,
    sessionKey: spec.sessionKey,
    requester: spec.requester,
    report: spec.report,
    tail: "",
    totalChars: 0,
    notes: [],
    ...(waitsFor === undefined ? {} : { waitsFor }),
    ...(spec.approvalId ? { approvalId: spec.approvalId } : {}),
    ...(spec.node ? { node: { id: spec.node.id, name: spec.node.name } } : {}),
    ...(spec.route ? { route: spec.route } : {}),
    ...(spec.timeoutMs !== undefined ? { timeoutMs: spec.timeoutMs } : {}),
    ...(spec.notify ? { notify: spec.notify } : {}),
    ...(spec.cardAfterMs !== undefined ? { cardAfterMs: spec.cardAfterMs } : {}),
  };
}

/** Of a run whose child has ended. */
export function finishedRecord(record: RunRecord, session: ProcessSession, end: EndInfo, endedAtMs: number): RunRecord {
  return {
    ...record,
    state: "finished",
    endedAtMs,
    durationMs: Math.round(end.durationMs),
    outcome: outcomeOf(end),
    exitCode: end.exitCode,
    exitSignal: end.exitSignal,
    tail: session.tail(CARD_TAIL_CHARS, "colored"),
    totalChars: session.totalChars,
    ...beginningOf(session),
    notes: end.notes,
    backgrounded: session.backgrounded,
    observed: session.endObserved,
  };
}

/** Of a run on a node that had been reported as lost, now that the node tells how it ended. */
export function correctedRecord(record: RunRecord, end: NodeRunEnd, endedAtMs: number): RunRecord {
  return {
    ...record,
    endedAtMs,
    durationMs: Math.round(end.durationMs),
    outcome: outcomeOf({ ...end }),
    exitCode: end.exitCode,
    exitSignal: end.exitSignal,
    tail: record.totalChars > 0 ? record.tail : end.tail.slice(-CARD_TAIL_CHARS),
    totalChars: Math.max(record.totalChars, end.tail.length),
    notes: [phrase("run.corrected.node", { node: record.node?.name ?? "node" }), ...end.notes],
    corrects: true,
  };
}

/** What the tail does not tell: how it began and of how many lines it is. Nothing when the tail is all there is. */
function beginningOf(session: ProcessSession): Pick<RunRecord, "head" | "totalLines"> {
  if (session.totalChars <= CARD_TAIL_CHARS) return {};
  const head = session.head();
  if (session.lost) return { head };
  return {
    head,
    totalLines: session
      .aggregated()
      .replace(/\r?\n$/, "")
      .split("\n").length,
  };
}
