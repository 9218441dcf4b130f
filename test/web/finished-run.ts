import type { RunCard } from "../../src/core/cards.ts";

/** A run that has ended well. */
export function finishedRun(over: Partial<RunCard> = {}): RunCard {
  return {
    kind: "run",
    state: "finished",
    runId: "run-1",
    sessionId: "calm-heron",
    command: "make",
    cwd: "/srv/shop",
    host: "gateway",
    startedAtMs: Date.now(),
    tail: "built\n",
    totalChars: 6,
    endedAtMs: Date.now(),
    durationMs: 1200,
    outcome: "completed",
    exitCode: 0,
    notes: [],
    actions: ["full-log", "run-again"],
    ...over,
  };
}
