/** The kept output of a run, by line, for the "Full log" panel: the live session, its file on disk, or the record's tail. */
import { open, readFile } from "node:fs/promises";
import { ExecError } from "../core/errors.ts";
import type { RunRecord, Runs } from "../core/exec/runs.ts";
import type { ProcessSessions } from "../core/process/registry.ts";
import type { ProcessSession } from "../core/process/session.ts";
import { phrase } from "../core/words/phrase.ts";
import type { MethodResults } from "../protocol/frames.ts";

/** Lines of one answer when none are asked for. */
const DEFAULT_LOG_LINES = 2_000;
/** Characters of one answer: a page of very long lines has fewer of them, and at least one. */
const MAX_PAGE_CHARS = 512 * 1024;
/** Bytes of a log file that are read to answer; more is said to be lost here and is in the file. */
const MAX_READ_BYTES = 8 * 1024 * 1024;

export interface RunLogOptions {
  readonly runs: Runs;
  readonly sessions: ProcessSessions;
  /** Masks secrets: the log is shown where cards are. */
  readonly redact: (text: string) => string;
}

export interface RunLog {
  page(request: {
    readonly runId: string;
    readonly offset?: number;
    readonly limit?: number;
  }): Promise<MethodResults["run.log"]>;
  /** As a file, for channels that upload it. */
  file(runId: string): Promise<{ readonly name: string; readonly path: string } | undefined>;
}

export function createRunLog(options: RunLogOptions): RunLog {
  async function textOf(record: RunRecord): Promise<{ text: string; lost: boolean }> {
    const session = options.sessions.byRun(record.runId);
    if (!session) return { text: record.tail, lost: record.totalChars > record.tail.length };
    if (!session.lost) return { text: session.aggregated("colored"), lost: false };
    return fromFile(session);
  }

  return {
    async page({ runId, offset, limit }) {
      const record = await options.runs.get(runId);
      if (!record) throw new ExecError("not-found", phrase("error.run.logGone"));
      const { text, lost } = await textOf(record);
      const lines = text === "" ? [] : text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
      const wanted = limit ?? DEFAULT_LOG_LINES;
      const start = Math.min(offset ?? Math.max(0, lines.length - wanted), lines.length);
      const page = withinPage(lines.slice(start, start + wanted));
      return {
        text: options.redact(page.join("\n")),
        offset: start,
        lines: page.length,
        totalLines: lines.length,
        lost,
        running: record.state !== "finished",
      };
    },

    async file(runId) {
      const session = options.sessions.byRun(runId);
      if (!session) return undefined;
      const { path } = await session.logFile();
      return { name: `output-${session.id}.txt`, path };
    },
  };
}

/** As many whole lines as fit; a first line that is too long by itself is cut at its end. */
function withinPage(lines: readonly string[]): readonly string[] {
  let chars = 0;
  const fitting = lines.findIndex((line) => {
    chars += line.length + 1;
    return chars > MAX_PAGE_CHARS;
  });
  if (fitting < 0) return lines;
  if (fitting > 0) return lines.slice(0, fitting);
  return [(lines[0] ?? "").slice(0, MAX_PAGE_CHARS).replace(/[\ud800-\udbff]$/, "")];
}

async function fromFile(session: ProcessSession): Promise<{ text: string; lost: boolean }> {
  const state = await session.logFile().catch(() => undefined);
  if (!state) return { text: session.aggregated("colored"), lost: true };
  if (state.bytes <= MAX_READ_BYTES) return { text: await readFile(state.path, "utf8"), lost: !state.complete };
  const file = await open(state.path, "r");
  try {
    const buffer = Buffer.alloc(MAX_READ_BYTES);
    const { bytesRead } = await file.read(buffer, 0, MAX_READ_BYTES, state.bytes - MAX_READ_BYTES);
    const text = buffer.toString("utf8", 0, bytesRead);
    return { text: text.slice(text.indexOf("\n") + 1), lost: true };
  } finally {
    await file.close();
  }
}
