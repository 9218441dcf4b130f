/** How sessions and their logs look in results of the process tool. Pure. */
import { cutMiddle } from "../process/command-name.ts";
import type { ProcessSession } from "../process/session.ts";
import { type Phrase, phrase } from "../words/phrase.ts";

/** Lines shown when neither offset nor limit is given. */
const DEFAULT_LOG_LINES = 200;
/** Characters of the tail in a row. */
const ROW_TAIL_CHARS = 2000;
const LABEL_NAME_CHARS = 80;
const LABEL_COMMAND_CHARS = 120;
/** Width of the longest status word, so that lists line up. */
const STATUS_WIDTH = 9;

export interface LogPage {
  readonly text: string;
  readonly totalLines: number;
  readonly hint: Phrase | undefined;
}

/** `offset` counts lines from 0. Only `limit`: the last lines. Only `offset`: from there to the end. */
export function logPage(output: string, offset: number | undefined, limit: number | undefined): LogPage {
  const lines = output === "" ? [] : output.replaceAll("\r\n", "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  const total = lines.length;
  const last = limit ?? DEFAULT_LOG_LINES;
  const from = offset ?? Math.max(0, total - last);
  const to = offset !== undefined && limit === undefined ? total : from + last;
  const hint =
    offset === undefined && limit === undefined && total > DEFAULT_LOG_LINES
      ? phrase("session.page", { shown: DEFAULT_LOG_LINES, total })
      : undefined;
  return { text: lines.slice(from, to).join("\n"), totalLines: total, hint };
}

export function listRow(session: ProcessSession): Readonly<Record<string, unknown>> & { readonly status: string } {
  const { end } = session;
  const base = {
    sessionId: session.id,
    status: session.status,
    startedAt: session.startedAtMs,
    runtimeMs: Math.round(session.runtimeMs),
    cwd: session.cwd,
    command: session.command,
    name: session.name,
    tail: session.tail(ROW_TAIL_CHARS),
    truncated: session.truncated,
  };
  if (end === undefined) {
    const terminal = session.handle?.terminal;
    return {
      ...base,
      pid: session.pid,
      stdinWritable: session.stdinWritable,
      waitingForInput: session.waitingForInput,
      idleMs: Math.round(session.idleMs),
      lastOutputAt: session.lastOutputAtMs,
      ...(terminal === undefined ? {} : { cols: terminal.cols, rows: terminal.rows }),
    };
  }
  return {
    ...base,
    waitingForInput: false,
    endedAt: session.endedAtMs,
    exitCode: end.exitCode,
    exitSignal: end.exitSignal,
    exitReason: end.reason,
    timedOut: end.timedOut,
    noOutputTimedOut: false,
  };
}

export function listLine(session: ProcessSession): string {
  const label =
    session.name === ""
      ? cutMiddle(oneLine(session.command), LABEL_COMMAND_CHARS)
      : cutMiddle(session.name, LABEL_NAME_CHARS);
  const marks = [
    ...(session.end?.reason === "overall-timeout" ? ["[overall-timeout]"] : []),
    ...(session.waitingForInput ? ["[input-wait]"] : []),
  ];
  return [
    session.id,
    session.status.padEnd(STATUS_WIDTH),
    [shortDuration(session.runtimeMs), ...marks].join(" "),
    `:: ${label}`,
  ].join(" ");
}

/** The sentence that ends every terminal answer. */
export function exitPhrase(session: ProcessSession): Phrase {
  const { end } = session;
  if (end === undefined) return phrase(session.queued ? "session.queued" : "session.running");
  const how =
    end.exitSignal !== null
      ? phrase("session.how.signal", { signal: end.exitSignal })
      : end.exitCode !== null
        ? phrase("session.how.code", { code: end.exitCode })
        : phrase("session.how.unknown");
  switch (end.reason) {
    case "manual-cancel":
      return phrase("session.end.stopped", { how });
    case "overall-timeout":
      return phrase("session.end.timedOut", { how });
    case "shutdown":
      return phrase("session.end.shutdown", { how });
    case "spawn-failed":
      return phrase("session.end.notStarted");
    case "lost":
      return phrase("session.end.lost");
    case "exit":
    case "signal":
      return phrase("session.end.exited", { how });
  }
}

function shortDuration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}m${seconds % 60}s` : `${Math.floor(minutes / 60)}h${minutes % 60}m`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
