import type { EndInfo } from "./types.ts";

/** How a session is called in lists: `queued` while it waits for a place, `killed` for a stop that somebody asked for. */
export type SessionStatus = "queued" | "running" | "completed" | "failed" | "killed";

/** 126 and 127 are the shell's own words for "not executable" and "not found": the command never ran. */
const NEVER_RAN = new Set([126, 127]);

export function sessionStatus(end: EndInfo | undefined): SessionStatus {
  if (end === undefined) return "running";
  switch (end.reason) {
    case "exit":
      return end.exitCode !== null && NEVER_RAN.has(end.exitCode) ? "failed" : "completed";
    case "manual-cancel":
      return "killed";
    case "signal":
    case "overall-timeout":
    case "shutdown":
    case "spawn-failed":
    case "lost":
      return "failed";
  }
}
