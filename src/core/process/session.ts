/** One command and all that is remembered of it. Made by `ProcessSessions.reserve` before anything runs. */
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { EffectiveHost } from "../policy/types.ts";
import { phrase, type Wording } from "../words/phrase.ts";
import type { BoundedFileState } from "./bounded-file.ts";
import { commandName } from "./command-name.ts";
import { OutputBuffer, type OutputView } from "./output-buffer.ts";
import { type LogSettings, SessionLog } from "./session-log.ts";
import { type SessionStatus, sessionStatus } from "./session-status.ts";
import type { EndInfo, EndReason, ProcessHandle } from "./types.ts";
import { type Delivery, Unread } from "./unread.ts";

export interface SessionRequest {
  /** Names the run in cards, audit and buttons. */
  readonly runId: string;
  /** The tool call it came from: a repeated delivery of that call finds this session again. */
  readonly callId?: string;
  readonly command: string;
  readonly cwd: string;
  readonly host: EffectiveHost;
  readonly agentId: string;
  readonly sessionKey: string;
  /** Who sees it in the process tool. Default `agent:<agentId>`. */
  readonly scope?: string;
}

export interface SessionSettings {
  readonly clock: Clock;
  readonly maxOutputChars: number;
  readonly pendingMaxChars: number;
  readonly inputWaitIdleMs: number;
  readonly ttlMs: number;
  /** Where dropped output goes; absent: it is gone. */
  readonly logs: LogSettings | undefined;
}

/** `ended` also for a spawn that failed. */
export type SessionState = "starting" | "running" | "ended";

export class ProcessSession {
  readonly id: string;
  readonly runId: string;
  readonly callId: string | undefined;
  readonly command: string;
  readonly cwd: string;
  readonly host: EffectiveHost;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly scope: string;
  /** Verb and target of the command, for lists. */
  readonly name: string;
  readonly startedAtMs: number;
  readonly ttlMs: number;
  readonly ended: Promise<EndInfo>;
  readonly #settings: SessionSettings;
  readonly #output: OutputBuffer;
  readonly #unread: Unread;
  readonly #log: SessionLog;
  #logWritten: Promise<void> = Promise.resolve();
  readonly #watchers = new Set<() => void>();
  readonly #onEnd: (session: ProcessSession) => void;
  readonly #onEndAcknowledged: (session: ProcessSession) => void;
  #handle: ProcessHandle | undefined;
  #stopWanted: Extract<EndReason, "manual-cancel" | "overall-timeout" | "shutdown"> | undefined;
  #backgrounded = false;
  #end: EndInfo | undefined;
  #endedAtMs: number | undefined;
  #lastOutput: number;
  #lastOutputAtMs: number;
  #endObserved = false;
  #endAcknowledged = false;
  #leaveLine: (() => void) | undefined;
  #settle: (end: EndInfo) => void = () => {};

  /** Use `ProcessSessions.reserve`. */
  constructor(
    id: string,
    request: SessionRequest,
    settings: SessionSettings,
    events: { onEnd(session: ProcessSession): void; onEndAcknowledged(session: ProcessSession): void },
  ) {
    this.id = id;
    this.runId = request.runId;
    this.callId = request.callId;
    this.command = request.command;
    this.cwd = request.cwd;
    this.host = request.host;
    this.agentId = request.agentId;
    this.sessionKey = request.sessionKey;
    this.scope = request.scope ?? `agent:${request.agentId}`;
    this.name = commandName(request.command);
    this.ttlMs = settings.ttlMs;
    this.startedAtMs = settings.clock.now();
    this.#lastOutput = settings.clock.monotonic();
    this.#lastOutputAtMs = this.startedAtMs;
    this.#settings = settings;
    this.#output = new OutputBuffer({
      aggregateChars: settings.maxOutputChars,
      pendingChars: settings.pendingMaxChars,
    });
    // Twice the cap of one stream: what can be unread of both.
    this.#unread = new Unread(this.#output, settings.pendingMaxChars * 2);
    this.#log = new SessionLog(settings.logs, id, this.#output);
    this.#onEnd = events.onEnd;
    this.#onEndAcknowledged = events.onEndAcknowledged;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** The command waits for a place among those that run; a stop until then calls `leave`. */
  waitInLine(leave: () => void): void {
    this.#leaveLine = leave;
  }

  /** It has its place: from here on it is starting. */
  leftLine(): void {
    this.#leaveLine = undefined;
  }

  /** Waits for a place; nothing has been started. */
  get queued(): boolean {
    return this.#leaveLine !== undefined && this.#end === undefined;
  }

  /** Ties the live child to the session; once. A stop asked for meanwhile is passed on now. */
  attach(handle: ProcessHandle): void {
    this.#leaveLine = undefined;
    this.#handle = handle;
    this.#lastOutput = this.#settings.clock.monotonic();
    this.#lastOutputAtMs = this.#settings.clock.now();
    handle.onOutput(
      (stream, text) => {
        this.#log.beforeOutput(text);
        this.#output.push(stream, text);
        this.#hadOutput();
      },
      (stream, bytes) => {
        this.#log.beforePlain(bytes);
        this.#output.pushPlain(stream, bytes);
        this.#hadOutput();
      },
    );
    void handle.ended.then((end) => this.#finish(end));
    if (this.#stopWanted !== undefined) handle.stop(this.#stopWanted);
  }

  /** No child was started and none will be: ends the session without one. */
  fail(note: Wording, reason: Extract<EndReason, "spawn-failed" | "manual-cancel"> = "spawn-failed"): void {
    this.#finish({
      reason,
      exitCode: null,
      exitSignal: null,
      timedOut: false,
      durationMs: 0,
      notes: [note],
    });
  }

  /**
   * From now on the session outlives its call: it is listed, kept when it ends, and tells its end. False when it has
   * ended already; then the foreground result is the only one (exactly one of the two happens).
   */
  background(): boolean {
    if (this.#end !== undefined) return false;
    this.#backgrounded = true;
    return true;
  }

  get backgrounded(): boolean {
    return this.#backgrounded;
  }

  get state(): SessionState {
    if (this.#end !== undefined) return "ended";
    return this.#handle === undefined ? "starting" : "running";
  }

  get status(): SessionStatus {
    return this.queued ? "queued" : sessionStatus(this.#end);
  }

  get end(): EndInfo | undefined {
    return this.#end;
  }

  get endedAtMs(): number | undefined {
    return this.#endedAtMs;
  }

  get pid(): number | undefined {
    return this.#handle?.pid;
  }

  get startTicks(): number | undefined {
    return this.#handle?.startTicks;
  }

  get handle(): ProcessHandle | undefined {
    return this.#handle;
  }

  get pty(): boolean {
    return this.#handle?.pty ?? false;
  }

  get stdinWritable(): boolean {
    return this.#end === undefined && this.#handle?.stdinWritable === true;
  }

  /** Milliseconds since the last output; 0 once it has ended. */
  get idleMs(): number {
    return this.#end === undefined ? this.#settings.clock.monotonic() - this.#lastOutput : 0;
  }

  get lastOutputAtMs(): number {
    return this.#lastOutputAtMs;
  }

  /** Probably waits for a person: stdin open and silent for a while. */
  get waitingForInput(): boolean {
    return this.stdinWritable && this.idleMs >= this.#settings.inputWaitIdleMs;
  }

  /** Milliseconds from start to now or to the end. */
  get runtimeMs(): number {
    return this.#end?.durationMs ?? Math.max(0, this.#settings.clock.now() - this.startedAtMs);
  }

  /** Characters ever produced, colour sequences included. */
  get totalChars(): number {
    return this.#output.totalChars;
  }

  /** Some output fell out of memory or out of what was unread. */
  get truncated(): boolean {
    return this.#output.truncated;
  }

  /** Earlier output is no longer in memory (`logFile` may have it). */
  get lost(): boolean {
    return this.#output.lost;
  }

  /** What is kept of both streams, in arrival order. */
  aggregated(view: OutputView = "plain"): string {
    return this.#output.aggregated(view);
  }

  /** The last `chars` characters. */
  tail(chars: number, view: OutputView = "plain"): string {
    return this.#output.tail(chars, view);
  }

  /** The first characters, kept also when later output has pushed them out of {@link aggregated}. Colours included. */
  head(): string {
    return this.#output.head();
  }

  /** Characters this session holds in memory. */
  get keptChars(): number {
    return this.#output.keptChars;
  }

  get hasUnread(): boolean {
    return this.#unread.any;
  }

  /** Takes the unread output, what was read but not acknowledged first. */
  read(): Delivery {
    return this.#unread.read();
  }

  /** A terminal answer was handed out; a notice that has not been sent yet need not be. */
  get endObserved(): boolean {
    return this.#endObserved;
  }

  /** The terminal answer has arrived where it was wanted. */
  get endAcknowledged(): boolean {
    return this.#endAcknowledged;
  }

  observeEnd(): void {
    if (this.#end !== undefined) this.#endObserved = true;
  }

  acknowledgeEnd(): void {
    if (this.#end === undefined || this.#endAcknowledged) return;
    this.#endObserved = true;
    this.#endAcknowledged = true;
    this.#onEndAcknowledged(this);
  }

  /** Called after each piece of output and at the end; gives no text, so a slow listener can look when it likes. */
  onChange(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Resolves when there is unread output or the session has ended, at the latest after `timeoutMs` or on abort. */
  waitForNews(timeoutMs: number, signal?: AbortSignal): Promise<void> {
    if (this.#end !== undefined || this.hasUnread || timeoutMs <= 0 || signal?.aborted === true)
      return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#watchers.delete(done);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.#watchers.add(done);
      signal?.addEventListener("abort", done, { once: true });
    });
  }

  async write(data: string | Uint8Array): Promise<void> {
    if (this.#handle === undefined) throw notWritable(this.id);
    await this.#handle.write(data);
  }

  async endInput(): Promise<void> {
    if (this.#handle === undefined) throw notWritable(this.id);
    await this.#handle.endInput();
  }

  /** Throws an `ExecError` where there is no terminal (any more). */
  resize(cols: number, rows: number): void {
    this.#handle?.resize(cols, rows);
  }

  stop(reason: Extract<EndReason, "manual-cancel" | "overall-timeout" | "shutdown"> = "manual-cancel"): void {
    if (this.#handle !== undefined) this.#handle.stop(reason);
    else {
      this.#stopWanted ??= reason;
      this.#leaveLine?.();
    }
  }

  /** A stop was asked for before there was a child: do not start one. */
  get stopWanted(): boolean {
    return this.#stopWanted !== undefined;
  }

  /**
   * The output as a file, as whole as it can be had. Made when memory first overflows, or now from what memory holds.
   * Throws `internal` when no folder for logs is configured or it can not be written.
   */
  logFile(): Promise<BoundedFileState> {
    return this.#log.state();
  }

  /** Resolves, once it has ended, when its log is whole on disk. */
  get logWritten(): Promise<void> {
    return this.#logWritten;
  }

  /** Nobody will find it any more: whoever still waits is let go, and its files are removed. */
  async forget(): Promise<void> {
    const watchers = [...this.#watchers];
    this.#watchers.clear();
    for (const watcher of watchers) watcher();
    await this.#log.remove();
  }

  #hadOutput(): void {
    this.#lastOutput = this.#settings.clock.monotonic();
    this.#lastOutputAtMs = this.#settings.clock.now();
    for (const watcher of this.#watchers) watcher();
  }

  #finish(end: EndInfo): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#endedAtMs = this.#settings.clock.now();
    this.#output.freeze();
    this.#logWritten = this.#log.close();
    this.#settle(end);
    this.#onEnd(this);
    for (const watcher of [...this.#watchers]) watcher();
  }
}

function notWritable(id: string): ExecError {
  return new ExecError("invalid-argument", phrase("session.notStarted", { session: id }));
}
