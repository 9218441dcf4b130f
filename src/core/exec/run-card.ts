/** The neutral card of a run. Pure. */
import type { RunCard } from "../cards.ts";
import { formatDuration } from "../duration.ts";
import { phrase, type Wording } from "../words/phrase.ts";
import { type RunRecord, waitSentence } from "./run-record.ts";

export function runCard(
  record: RunRecord,
  live?: { readonly tail: string; readonly totalChars: number },
): RunCard<Wording> {
  const finished = record.state === "finished";
  return {
    kind: "run",
    state: finished ? "finished" : "running",
    runId: record.runId,
    sessionId: record.sessionId,
    command: record.command,
    cwd: record.cwd,
    host: record.host,
    ...(record.node ? { node: record.node.name } : {}),
    startedAtMs: record.startedAtMs,
    tail: live?.tail ?? record.tail,
    totalChars: live?.totalChars ?? record.totalChars,
    notes: record.waitsFor ? [waitSentence(record.waitsFor), ...record.notes] : record.notes,
    actions: finished
      ? record.outcome === "not-started"
        ? ["run-again"]
        : ["full-log", "run-again"]
      : record.state === "queued"
        ? ["stop"]
        : ["stop", "full-log"],
    ...(finished && record.head !== undefined ? { head: record.head } : {}),
    ...(finished && record.totalLines !== undefined ? { totalLines: record.totalLines } : {}),
    ...(record.state === "queued" ? { queued: true } : {}),
    ...(finished && record.recorded ? { recorded: true } : {}),
    ...(record.approvalId ? { approvalId: record.approvalId } : {}),
    ...(record.endedAtMs !== undefined ? { endedAtMs: record.endedAtMs } : {}),
    ...(record.durationMs !== undefined ? { durationMs: record.durationMs } : {}),
    ...(record.outcome ? { outcome: record.outcome } : {}),
    ...(record.exitCode !== undefined ? { exitCode: record.exitCode } : {}),
    ...(record.exitSignal !== undefined ? { exitSignal: record.exitSignal } : {}),
  };
}

/** One line for the approval card and for logs: `exit 0 in 1m12s`. */
export function endLine(record: RunRecord): Wording {
  const took = record.durationMs === undefined ? "" : phrase("end.in", { time: formatDuration(record.durationMs) });
  switch (record.outcome ?? "lost") {
    case "completed":
    case "failed":
      if (record.exitSignal) return phrase("end.signal", { signal: record.exitSignal, took });
      return record.exitCode == null
        ? phrase("end.exit.unknown", { took })
        : phrase("end.exit", { code: record.exitCode, took });
    case "timed-out":
      return phrase("end.timedOut", { took });
    case "killed":
      return phrase("end.stopped", { took });
    case "not-started":
      return record.notes[0] ?? phrase("end.notStarted");
    case "lost":
      return record.notes[0] ?? phrase("end.lost");
  }
}
