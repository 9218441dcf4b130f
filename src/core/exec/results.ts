/** Result shapes of the `exec` tool (exec.md section 2). Field names are the seeds'; the sentences are ours. */

import type { ApprovalReach } from "../access/approval-reach.ts";
import { type ApprovalRecord, slugOf } from "../approvals/record.ts";
import type { EndInfo } from "../process/types.ts";
import { inEnglish, type Wording } from "../words/phrase.ts";

export interface ToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  /** The same for a person, in words of their language; models read `content`. */
  readonly said?: Wording;
  readonly details: Readonly<Record<string, unknown>> & { readonly status: string };
}

export type FailureKind =
  | "shell-command-not-found"
  | "shell-not-executable"
  | "signal"
  | "overall-timeout"
  | "aborted"
  | "runtime-error"
  | "workdir-unavailable";

export interface EndedRun {
  readonly end: EndInfo;
  /** Cleaned text: no escape sequences. */
  readonly output: string;
  /** Earlier output is gone for good. */
  readonly lost: boolean;
  readonly cwd: string;
  readonly sessionId: string;
  readonly warnings: readonly string[];
  readonly timeoutMs?: number;
  readonly canBackground: boolean;
}

export function endedResult(run: EndedRun): ToolResult {
  const { end } = run;
  const output = run.output.trim();
  const lead = [
    ...(run.lost ? ["[Earlier output was discarded and can not be recovered.]"] : []),
    ...run.warnings.map((warning) => `[${warning}]`),
  ].join("\n");
  const { failureKind, line } = outcomeOf(run);
  const body = [
    output === "" ? "(no output)" : output,
    ...end.notes.map((note) => `[${inEnglish(note)}]`),
    ...(line ? [line] : []),
  ];
  return {
    content: [{ type: "text", text: [...(lead ? [lead] : []), ...body].join("\n\n") }],
    details: {
      status: failureKind ? "failed" : "completed",
      exitCode: end.exitCode,
      exitSignal: end.exitSignal,
      exitReason: end.reason,
      durationMs: Math.round(end.durationMs),
      aggregated: run.output,
      timedOut: end.timedOut,
      noOutputTimedOut: false,
      cwd: run.cwd,
      ...(failureKind ? { failureKind } : {}),
    },
  };
}

function outcomeOf(run: EndedRun): { failureKind?: FailureKind; line?: string } {
  const { end } = run;
  if (end.timedOut) {
    const seconds = (run.timeoutMs ?? 0) / 1000;
    return {
      failureKind: "overall-timeout",
      line: `Command timed out after ${seconds} seconds. It may have had effects already: look before running it again.${
        run.canBackground ? " For long work start it with background or yieldMs instead of &." : ""
      }`,
    };
  }
  switch (end.reason) {
    case "manual-cancel":
      return { failureKind: "aborted", line: "Command stopped on request." };
    case "shutdown":
      return { failureKind: "aborted", line: "Command stopped because the gateway is stopping." };
    case "spawn-failed":
    case "lost":
      return { failureKind: "runtime-error", line: "The command could not be run to its end." };
    case "signal":
    case "overall-timeout":
      return { failureKind: "signal", line: `Command aborted by signal ${end.exitSignal ?? "unknown"}.` };
    case "exit":
      if (end.exitCode === 127) {
        return { failureKind: "shell-command-not-found", line: "Command not found (exit code 127)." };
      }
      if (end.exitCode === 126) {
        return {
          failureKind: "shell-not-executable",
          line: "Command not executable, permission denied (exit code 126).",
        };
      }
      return end.exitCode === 0 ? {} : { line: `(Command exited with code ${end.exitCode})` };
  }
}

export interface RunningRun {
  readonly sessionId: string;
  readonly pid: number | undefined;
  readonly startedAtMs: number;
  readonly cwd: string;
  /** Last 2000 characters. */
  readonly tail: string;
  readonly warnings: readonly string[];
  readonly isTold: boolean;
}

/** `isTold`: the caller hears of the end by itself. A program over the API has to look. */
function endOf(isTold: boolean): string {
  return isTold ? "its end is announced by itself." : "its end is not announced here: poll waits for it.";
}

export function runningResult(run: RunningRun): ToolResult {
  const followUp = `Use process (poll, log, write, kill) with sessionId ${run.sessionId}; ${endOf(run.isTold)}`;
  const lines = [
    ...run.warnings.map((warning) => `[${warning}]`),
    `Command still running (session ${run.sessionId}, pid ${run.pid ?? "unknown"}). ${followUp}`,
    ...(run.tail.trim() === "" ? [] : [run.tail.trim()]),
  ];
  return {
    content: [{ type: "text", text: lines.join("\n\n") }],
    details: {
      status: "running",
      sessionId: run.sessionId,
      pid: run.pid ?? null,
      startedAt: run.startedAtMs,
      cwd: run.cwd,
      tail: run.tail,
      followUp,
    },
  };
}

export interface QueuedRun {
  readonly sessionId: string;
  readonly cwd: string;
  readonly why: string;
  readonly warnings: readonly string[];
  readonly isTold: boolean;
}

/** Allowed, and waits for a place: for its caller the same as running in the background. */
export function queuedResult(run: QueuedRun): ToolResult {
  const followUp = `Use process (poll, kill) with sessionId ${run.sessionId}; ${endOf(run.isTold)}`;
  return {
    content: [
      { type: "text", text: [...run.warnings.map((warning) => `[${warning}]`), `${run.why} ${followUp}`].join("\n\n") },
    ],
    details: {
      status: "running",
      queued: true,
      sessionId: run.sessionId,
      pid: null,
      cwd: run.cwd,
      tail: "",
      followUp,
    },
  };
}

/** Names `/approve` only where nobody of the chat that asked has a card with buttons to press (seed 000). */
export function pendingResult(
  record: ApprovalRecord,
  warnings: readonly string[],
  reach: ApprovalReach,
  { isTold }: { readonly isTold: boolean },
): ToolResult {
  const slug = slugOf(record.id);
  const { request } = record;
  const text = [
    `Approval required (id ${slug}, full ${record.id}).`,
    `Host: ${request.node ? `node ${request.node.name}` : request.host}\nCWD: ${request.cwd}\nCommand:\n${fence(request.command)}`,
    ...warnings,
    howToDecide(reach, `/approve ${slug} ${request.offered.join("|")}`),
    ...(request.offered.includes("allow-always") ? [] : ["Allow always is not available for this command."]),
    isTold
      ? "Nothing has been run yet. The result is announced by itself once it is decided."
      : "Nothing has been run yet, and the result is not announced here: once it is allowed, process list shows its session, and process poll its end.",
  ].join("\n\n");
  return {
    content: [{ type: "text", text }],
    details: {
      status: "approval-pending",
      approvalId: record.id,
      approvalSlug: slug,
      expiresAtMs: record.expiresAtMs,
      allowedDecisions: request.offered,
      host: request.host,
      command: request.command,
      cwd: request.cwd,
      ...(request.node ? { nodeId: request.node.id, node: request.node.name } : {}),
      ...(warnings.length > 0 ? { warningText: warnings.join("\n") } : {}),
    },
  };
}

function howToDecide(reach: ApprovalReach, typed: string): string {
  switch (reach.kind) {
    case "card":
      return "A card with buttons was sent. Do not ask anybody to type a command; wait for the answer.";
    case "typed":
      return `The request was sent without buttons, which are switched off there. Whoever may approve types: ${typed}`;
    case "operator":
      return `Nobody in this chat may decide it, so no card is shown here. It waits in the operator's web chat; the operator can also type there: ${typed}`;
    case "none":
      return `No card with buttons could be shown (not available: ${reach.chats.join(", ")}). Somebody who may approve has to type: ${typed}`;
  }
}

export function failedResult(kind: FailureKind, message: string, extra: Record<string, unknown> = {}): ToolResult {
  return {
    content: [{ type: "text", text: message }],
    details: { status: "failed", failureKind: kind, error: message, ...extra },
  };
}

/** A fence longer than any run of backticks inside. */
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const mark = "`".repeat(longest + 1);
  return `${mark}\n${text}\n${mark}`;
}
