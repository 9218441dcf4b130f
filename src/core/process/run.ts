/** The life of one child: from spawn over exit and drain to the one `EndInfo`. */
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { inEnglish, phrase, type Wording } from "../words/phrase.ts";
import { armDeadline, type Deadline } from "./deadline.ts";
import type { Tree } from "./kill.ts";
import { OutputHub } from "./output-hub.ts";
import type { OwnText } from "./plain-ascii.ts";
import { readProcStat } from "./proc-table.ts";
import type { Reaper } from "./reaper.ts";
import { RUN_MARK } from "./run-mark.ts";
import type { TerminalRequest } from "./sanitizer.ts";
import { spawnError } from "./spawn-error.ts";
import type { Transport, TransportEvents } from "./transport.ts";
import type {
  EndInfo,
  EndReason,
  OutputListener,
  PlainListener,
  ProcessHandle,
  RawOutputListener,
  ResizeListener,
  SpawnPlan,
  StreamName,
  TerminalState,
} from "./types.ts";

/** After exit, output held open by others is waited for this long, restarted by data, and never longer than the cap. */
export const DRAIN_QUIET_MS = 2000;
export const DRAIN_MAX_MS = 10_000;
/** A daemon that is just leaving the group (`setsid`) gets this long to be out of it. */
const DAEMON_SETTLE_MS = 50;
/** Once the tree is gone: how long its last output may still be on the way. */
const LAST_OUTPUT_MS = 1000;
/** Input a program has not read yet; more is refused. */
export const MAX_QUEUED_INPUT_BYTES = 1_048_576;

type ForcedReason = Extract<EndReason, "manual-cancel" | "overall-timeout" | "shutdown">;

export interface RunDeps {
  readonly clock: Clock;
  readonly reaper: Reaper;
  readonly ownText: OwnText;
  readonly drainQuietMs: number;
  readonly drainMaxMs: number;
}

export class Run implements ProcessHandle {
  readonly ended: Promise<EndInfo>;
  /** Settles as soon as it is known whether anything was started; rejects with an `ExecError` when not. */
  readonly spawned: Promise<void>;
  readonly warnings: readonly string[];
  readonly #plan: SpawnPlan;
  readonly #deps: RunDeps;
  readonly #transport: Transport;
  readonly #tree: Tree | undefined;
  readonly #startedAt: number;
  readonly #output: OutputHub;
  readonly #notes: Wording[] = [];
  readonly #resizeListeners = new Set<ResizeListener>();
  #terminal: TerminalState;
  #deadline: Deadline | undefined;
  #drain: Deadline | undefined;
  #drainSince = 0;
  #lastData = 0;
  #forced: ForcedReason | undefined;
  #exit: { readonly code: number | null; readonly signal: string | null } | undefined;
  #paused = false;
  #closed = false;
  #treeGone = false;
  #lookedTwice = false;
  #settled = false;
  #settle: (info: EndInfo) => void = () => {};
  #spawnFailed: (error: ExecError) => void = () => {};

  constructor(
    plan: SpawnPlan,
    deps: RunDeps,
    open: (events: TransportEvents) => { readonly transport: Transport; readonly warnings: readonly string[] },
  ) {
    this.#plan = plan;
    this.#deps = deps;
    this.#terminal = { cols: 0, rows: 0, ...plan.pty, cursorKeys: "unknown", bracketedPaste: false };
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#startedAt = deps.clock.monotonic();
    this.#output = new OutputHub(deps.ownText, (request) => this.#onTerminalRequest(request));
    const { transport, warnings } = open({
      data: (stream, chunk) => this.#onData(stream, chunk),
      exit: (code, signal) => this.#onExit(code, signal),
      closed: () => this.#onClosed(),
      failed: (error) => this.#onFailed(error),
    });
    this.#transport = transport;
    this.warnings = warnings;
    if (transport.pid === undefined) {
      this.spawned = new Promise((_, reject) => {
        this.#spawnFailed = reject;
      });
      // Whoever only looks at `ended` must not be punished for it.
      this.spawned.catch(() => {});
      return;
    }
    this.spawned = Promise.resolve();
    const startTicks = readProcStat(transport.pid)?.startTicks;
    this.#tree = {
      pid: transport.pid,
      startTicks,
      ownGroup: transport.ownGroup,
      terminal: transport.pty,
      // Before the child of a terminal has made its own group, the group alone would look as if nobody lived.
      known: new Map(startTicks === undefined ? [] : [[transport.pid, startTicks]]),
      mark: plan.env[RUN_MARK],
    };
    if (plan.timeoutMs !== undefined) {
      this.#deadline = armDeadline(deps.clock, plan.timeoutMs, () => this.stop("overall-timeout"));
    }
  }

  get pid(): number | undefined {
    return this.#transport.pid;
  }

  get startTicks(): number | undefined {
    return this.#tree?.startTicks;
  }

  get pty(): boolean {
    return this.#transport.pty;
  }

  get terminal(): TerminalState | undefined {
    return this.#transport.pty ? this.#terminal : undefined;
  }

  get queuedInput(): number {
    return this.#transport.queuedInput;
  }

  get stdinWritable(): boolean {
    return !this.#settled && this.#exit === undefined && this.#transport.stdinWritable;
  }

  onOutput(listener: OutputListener, plain?: PlainListener): () => void {
    return this.#output.listen(listener, plain);
  }

  onRawOutput(listener: RawOutputListener): () => void {
    return this.#output.listenRaw(listener);
  }

  async write(data: string | Uint8Array): Promise<void> {
    if (!this.stdinWritable) throw stdinClosed();
    const bytes = typeof data === "string" ? Buffer.from(data, "utf8") : data;
    if (this.#transport.queuedInput + bytes.length > MAX_QUEUED_INPUT_BYTES) {
      throw new ExecError(
        "payload-too-large",
        phrase("session.inputFull", { bytes: this.#transport.queuedInput, most: MAX_QUEUED_INPUT_BYTES }),
      );
    }
    try {
      await this.#transport.write(bytes);
    } catch {
      throw stdinClosed();
    }
  }

  async endInput(): Promise<void> {
    if (!this.stdinWritable) throw stdinClosed();
    await this.#transport.endInput();
  }

  resize(cols: number, rows: number): void {
    if (!this.#transport.pty || this.#exit !== undefined || this.#settled) throw terminalGone();
    try {
      this.#transport.resize(cols, rows);
    } catch {
      throw terminalGone();
    }
    this.#terminal = { ...this.#terminal, cols, rows };
    for (const listener of this.#resizeListeners) listener(cols, rows);
  }

  onResize(listener: ResizeListener): () => void {
    this.#resizeListeners.add(listener);
    return () => this.#resizeListeners.delete(listener);
  }

  /** Once it has exited, what is left is read at once: it is not much, and the wait for it is bounded. */
  pauseOutput(paused: boolean): void {
    if (this.#settled || this.#exit !== undefined) return;
    this.#paused = paused;
    this.#transport.pause(paused);
  }

  stop(reason: ForcedReason): void {
    const tree = this.#tree;
    if (tree === undefined) return;
    if (this.#settled) {
      this.#deps.reaper.hurry(tree);
      return;
    }
    if (this.#exit !== undefined && this.#forced === undefined) {
      // The end is known already; only the wait for somebody else's output is cut short.
      this.#endDrain();
      return;
    }
    if (this.#forced !== undefined) return;
    this.#forced = reason;
    this.#deadline?.cancel();
    this.#deps.reaper.stop(tree, "everything", (confirmed) => this.#onTreeGone(confirmed));
  }

  #onData(stream: StreamName, chunk: Buffer): void {
    if (this.#settled) return;
    if (this.#exit !== undefined) this.#lastData = this.#deps.clock.monotonic();
    this.#output.data(stream, chunk);
  }

  #onTerminalRequest(request: TerminalRequest): void {
    if (!this.#transport.pty) return;
    switch (request.kind) {
      case "cursor-position":
        this.#reply(request.private ? "\x1b[?1;1R" : "\x1b[1;1R");
        return;
      case "device-attributes":
        this.#reply("\x1b[?6c");
        return;
      case "mode":
        if (request.mode === 1) {
          this.#terminal = { ...this.#terminal, cursorKeys: request.on ? "application" : "normal" };
        }
        if (request.mode === 2004) this.#terminal = { ...this.#terminal, bracketedPaste: request.on };
        return;
    }
  }

  #reply(text: string): void {
    this.#transport.write(Buffer.from(text, "latin1")).catch(() => {});
  }

  #onExit(code: number | null, signal: string | null): void {
    if (this.#settled || this.#exit !== undefined) return;
    this.#exit = { code, signal };
    if (this.#paused) this.#transport.pause(false);
    this.#deadline?.cancel();
    if (this.#forced !== undefined) {
      this.#deps.reaper.nudge();
      this.#settleForced();
      return;
    }
    this.#drainSince = this.#deps.clock.monotonic();
    this.#lastData = this.#drainSince;
    this.#armDrain(this.#deps.drainQuietMs);
  }

  #armDrain(ms: number): void {
    this.#drain = armDeadline(this.#deps.clock, ms, () => {
      const now = this.#deps.clock.monotonic();
      const quietLeft = this.#lastData + this.#deps.drainQuietMs - now;
      const capLeft = this.#drainSince + this.#deps.drainMaxMs - now;
      if (quietLeft > 0 && capLeft > 0) this.#armDrain(Math.min(quietLeft, capLeft));
      else this.#endDrain();
    });
  }

  #endDrain(): void {
    this.#drain?.cancel();
    // Bytes that have arrived are read in the poll phase: let it pass once before the pipes go.
    setImmediate(() => {
      if (this.#settled) return;
      if (!this.#closed) this.#note(phrase("note.heldOpen"));
      this.#finishNaturally();
    });
  }

  #onClosed(): void {
    if (this.#settled) return;
    this.#closed = true;
    this.#drain?.cancel();
    this.#output.end();
    if (this.#forced !== undefined) this.#settleForced();
    else this.#finishNaturally();
  }

  /** What is still in the group was left behind by the command: it is stopped, and the result says so. */
  #finishNaturally(): void {
    const tree = this.#tree;
    const exit = this.#exit;
    if (tree === undefined || exit === undefined) return;
    const left = this.#deps.reaper.members(tree);
    if (left !== 0 && !this.#lookedTwice) {
      this.#lookedTwice = true;
      this.#drain = armDeadline(this.#deps.clock, DAEMON_SETTLE_MS, () => this.#finishNaturally());
      return;
    }
    if (left !== 0) {
      if (left !== undefined) this.#note(phrase("note.leftRunning", { count: left }));
      this.#deps.reaper.stop(tree, "all but daemons", () => {});
    }
    this.#end(exit.signal === null ? "exit" : "signal", exit.code, exit.signal);
  }

  #onTreeGone(confirmed: boolean): void {
    this.#treeGone = true;
    if (!confirmed) {
      this.#note(phrase("note.notConfirmed"));
      this.#end(this.#forced ?? "signal", null, this.#exit?.signal ?? "SIGKILL");
      return;
    }
    if (!this.#settled) {
      this.#drain = armDeadline(this.#deps.clock, LAST_OUTPUT_MS, () => {
        this.#end(this.#forced ?? "signal", this.#exit?.code ?? null, this.#exit?.signal ?? null);
      });
    }
    this.#settleForced();
  }

  #settleForced(): void {
    if (this.#forced === undefined || !this.#treeGone || !this.#closed || this.#exit === undefined) return;
    this.#end(this.#forced, this.#exit.code, this.#exit.signal);
  }

  #note(note: Wording): void {
    if (!this.#notes.some((one) => inEnglish(one) === inEnglish(note))) this.#notes.push(note);
  }

  #onFailed(error: NodeJS.ErrnoException): void {
    const failure = spawnError(this.#plan, error);
    this.#note(failure.wording);
    this.#spawnFailed(failure);
    this.#end("spawn-failed", null, null);
  }

  #end(reason: EndReason, exitCode: number | null, exitSignal: string | null): void {
    if (this.#settled) return;
    this.#output.end();
    this.#settled = true;
    this.#deadline?.cancel();
    this.#drain?.cancel();
    this.#transport.detach();
    this.#settle({
      reason,
      exitCode,
      exitSignal,
      timedOut: reason === "overall-timeout",
      durationMs: this.#deps.clock.monotonic() - this.#startedAt,
      notes: this.#notes,
    });
  }
}

function terminalGone(): ExecError {
  return new ExecError("invalid-argument", phrase("session.terminalGone"));
}

function stdinClosed(): ExecError {
  return new ExecError("invalid-argument", phrase("session.inputClosed"));
}
