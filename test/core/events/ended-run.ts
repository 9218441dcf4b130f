import type { RunRecord } from "../../../src/core/exec/run-record.ts";

/** A run that ended well in the background, without a word. */
export function endedRun(over: Partial<RunRecord> = {}): RunRecord {
  return {
    runId: "r",
    state: "finished",
    gatewayId: "g",
    instanceId: "i",
    sessionId: "quiet-otter",
    command: "make",
    cwd: "/",
    host: "gateway",
    agentId: "main",
    sessionKey: "agent:main:main",
    requester: { kind: "agent", channel: "api", accountId: "default", id: "main" },
    report: "event",
    startedAtMs: 0,
    outcome: "completed",
    exitCode: 0,
    exitSignal: null,
    tail: "",
    totalChars: 0,
    notes: [],
    ...over,
  };
}
