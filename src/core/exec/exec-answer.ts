/** What a tool call is answered once its command was launched: the end, or where to look for it. */
import { endedResult, failedResult, queuedResult, runningResult, type ToolResult } from "./results.ts";
import { type Launch, type LiveRun, type RunRecord, waitSentence } from "./runs.ts";

/** Short tail in `status: "running"` (exec.md section 2). */
const RUNNING_TAIL_CHARS = 2_000;

export interface AnswerOptions {
  readonly cwd: string;
  readonly warnings: readonly string[];
  /** The caller has the process tool, so that the command may outlive the call. */
  readonly canBackground: boolean;
  /** How long the call waits for the end; 0: not at all. Absent: until it comes. */
  readonly yieldMs: number | undefined;
  /** The caller hears of the end by itself. */
  readonly isTold: boolean;
  /** Stops the command when the caller goes away. */
  readonly signal?: AbortSignal;
}

export async function answerOf(launched: Launch, options: AnswerOptions): Promise<ToolResult> {
  const { cwd, warnings, canBackground, yieldMs, isTold, signal } = options;
  if (launched.kind === "duplicate") {
    return failedResult("runtime-error", "This call was made before; it is not run a second time.", {
      sessionId: launched.record.sessionId,
    });
  }
  const { session, record } = launched.kind === "queued" ? launched : launched.run;
  const abort = () => session.stop("manual-cancel");
  signal?.addEventListener("abort", abort, { once: true });
  try {
    if (signal?.aborted) abort();
    const begunAt = performance.now();
    const run = await raceStart(launched, yieldMs);
    if (run === "waits") return queuedResult({ sessionId: session.id, cwd, why: waitWhy(record), warnings, isTold });
    if (run === "left") return failedResult("aborted", "It was stopped while it waited in line and never ran.");
    const allWarnings = [...warnings, ...run.handle.warnings];
    const ended = await raceEnd(run, yieldMs && Math.max(1, yieldMs - (performance.now() - begunAt)));
    if (!ended) {
      return runningResult({
        sessionId: run.session.id,
        pid: run.handle.pid,
        startedAtMs: run.record.startedAtMs,
        cwd,
        tail: run.session.tail(RUNNING_TAIL_CHARS),
        warnings: allWarnings,
        isTold,
      });
    }
    const result = endedResult({
      end: ended.end,
      output: run.session.aggregated(),
      lost: run.session.lost,
      cwd,
      sessionId: run.session.id,
      warnings: allWarnings,
      canBackground,
      ...(ended.record.timeoutMs !== undefined ? { timeoutMs: ended.record.timeoutMs } : {}),
    });
    if (signal?.aborted) throw new DOMException("The call was aborted; the command was stopped.", "AbortError");
    return result;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

/** The run once it has its place within the yield window; else it waits on in the background. */
async function raceStart(
  launched: Exclude<Launch, { kind: "duplicate" }>,
  yieldMs: number | undefined,
): Promise<LiveRun | "waits" | "left"> {
  if (launched.kind === "started") return launched.run;
  const { started, session } = launched;
  if (yieldMs === undefined) return (await started) ?? "left";
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<"waits">((resolve) => {
    timer = setTimeout(resolve, yieldMs, "waits");
  });
  try {
    const first = await Promise.race([started.then((run) => run ?? ("left" as const)), timeUp]);
    if (first !== "waits" || session.background()) return first;
    return (await started) ?? "left";
  } finally {
    clearTimeout(timer);
  }
}

function waitWhy(record: RunRecord): string {
  return record.waitsFor ? waitSentence(record.waitsFor).text : "It is about to start.";
}

/** The end of the run when it comes within the yield window; `undefined` once the run is in the background. */
async function raceEnd(run: LiveRun, yieldMs: number | undefined): Promise<Awaited<LiveRun["ended"]> | undefined> {
  if (yieldMs === undefined) {
    return run.ended;
  }
  if (yieldMs === 0) {
    run.session.background();
    return undefined;
  }
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), yieldMs);
  });
  try {
    const first = await Promise.race([run.ended, timeUp]);
    // The session decides which of the two came first: a run that is finalising is not sent to the background.
    if (first || !run.session.background()) return await run.ended;
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
