/** What is said of runs whose gateway did not see their end. Pure. */
import type { RunRecord } from "./run-record.ts";

/** The gateway was restarted; `wasAlive`: a child of the run was found and stopped. */
export function lostNote(record: RunRecord, wasAlive: boolean): string {
  if (wasAlive)
    return "The gateway was killed while this ran; it was stopped at the restart. It will not be run again by itself.";
  if (record.state === "starting") {
    return "The gateway was killed while this was starting; whether it ran is unknown. It will not be run again by itself.";
  }
  return "The gateway was killed while this ran; how it ended is unknown. It will not be run again by itself.";
}

/** Said by another gateway. */
export function diedNote(record: RunRecord): string {
  const when = record.state === "starting" ? "was starting; whether it ran" : "ran; how it ended";
  return `The gateway ${record.gatewayId} is gone. It went while this ${when} is unknown. It will not be run again by itself.`;
}

/** It waited in line and its turn never came. */
export function notRunNote(record: RunRecord, restarted: boolean): string {
  return restarted
    ? "The gateway was restarted while this waited in line, so whoever asked is gone. It never ran."
    : `The gateway ${record.gatewayId} is gone. This waited in line there and never ran.`;
}

/** This run was reported as lost by somebody who took its gateway for dead. */
export function foundLost(record: RunRecord | undefined): boolean {
  return record?.state === "finished" && record.outcome === "lost";
}
