/** What is said of runs whose gateway did not see their end. Pure. */

import { type Phrase, phrase } from "../words/phrase.ts";
import type { RunRecord } from "./run-record.ts";

/** The gateway was restarted; `wasAlive`: a child of the run was found and stopped. */
export function lostNote(record: RunRecord, wasAlive: boolean): Phrase {
  if (record.host === "node") return phrase("run.lost.node", { node: record.node?.name ?? "node" });
  if (wasAlive) return phrase("run.lost.stopped");
  return phrase(record.state === "starting" ? "run.lost.starting" : "run.lost.running");
}

/** Said by another gateway. */
export function diedNote(record: RunRecord): Phrase {
  return phrase(record.state === "starting" ? "run.died.starting" : "run.died.running", { gateway: record.gatewayId });
}

/** It waited in line and its turn never came. */
export function notRunNote(record: RunRecord, restarted: boolean): Phrase {
  return restarted ? phrase("run.waited.restarted") : phrase("run.waited.gone", { gateway: record.gatewayId });
}

/** This run was reported as lost by somebody who took its gateway for dead. */
export function foundLost(record: RunRecord | undefined): boolean {
  return record?.state === "finished" && record.outcome === "lost";
}
