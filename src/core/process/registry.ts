/**
 * All sessions of this process (exec.md sections 3, 5 and 11): ids, scopes, how long ended ones are kept. In memory only.
 */
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "../clock.ts";
import { JOB_TTL_MS, type ProcessLimits } from "./limits.ts";
import { MAX_LOG_BYTES, makePrivateFolder, surplus, sweepFolder } from "./log-folder.ts";
import { ProcessSession, type SessionRequest } from "./session.ts";
import { newSlug } from "./slug.ts";

/** Ended sessions kept, and characters they hold together; the newest is always kept whole. */
export const MAX_FINISHED = 50;
export const MAX_RETAINED_CHARS = 2_000_000;

export interface ProcessSessionsOptions {
  readonly clock?: Clock;
  /** 0 ≤ x < 1, for names. Default `Math.random`. */
  readonly random?: () => number;
  /** Read at each `reserve`, so that changed config counts for new sessions. */
  readonly limits: () => ProcessLimits;
  readonly maxFinished?: number;
  readonly maxRetainedChars?: number;
  /** Folder for what memory drops (`$stateDir/logs`). Absent: dropped output is gone. */
  readonly logFolder?: string;
  readonly logMaxBytes?: number;
  /** Bytes of all logs together; beyond it the oldest ended sessions are forgotten with theirs. Default: no limit. */
  readonly logMaxTotalBytes?: number;
  /** A listener of `onEnd` threw. Default: a process warning. */
  readonly onListenerError?: (error: unknown) => void;
}

export class ProcessSessions {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #limits: () => ProcessLimits;
  readonly #maxFinished: number;
  readonly #maxRetainedChars: number;
  readonly #logs: { readonly folder: string; readonly maxBytes: number } | undefined;
  readonly #sessions = new Map<string, ProcessSession>();
  readonly #byRun = new Map<string, ProcessSession>();
  readonly #byCall = new Map<string, ProcessSession>();
  readonly #endListeners = new Set<(session: ProcessSession) => void>();
  readonly #ackListeners = new Set<(session: ProcessSession) => void>();
  readonly #onListenerError: (error: unknown) => void;
  /** Removed while running: unknown to everyone, forgotten at its end. */
  readonly #hidden = new Set<ProcessSession>();
  readonly #forgetting = new Set<Promise<void>>();
  #expiry: NodeJS.Timeout | undefined;
  readonly #maxTotalBytes: number;
  #trimming: Promise<void> = Promise.resolve();

  constructor(options: ProcessSessionsOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#limits = options.limits;
    this.#maxFinished = options.maxFinished ?? MAX_FINISHED;
    this.#maxRetainedChars = options.maxRetainedChars ?? MAX_RETAINED_CHARS;
    this.#onListenerError =
      options.onListenerError ?? ((error) => process.emitWarning(error instanceof Error ? error : String(error)));
    this.#maxTotalBytes = options.logMaxTotalBytes ?? Number.POSITIVE_INFINITY;
    this.#logs =
      options.logFolder === undefined
        ? undefined
        : { folder: options.logFolder, maxBytes: options.logMaxBytes ?? MAX_LOG_BYTES };
  }

  /** Makes the folder for logs and removes what earlier processes left in it. */
  async start(): Promise<void> {
    if (this.#logs === undefined) return;
    await makePrivateFolder(this.#logs.folder);
    await sweepFolder(this.#logs.folder, ".log", JOB_TTL_MS.max, this.#clock.now());
    await this.#trimLogs();
  }

  /** Makes a session before anything runs, so that its id is known to cards and audit. */
  reserve(request: SessionRequest): ProcessSession {
    const limits = this.#limits();
    const id = newSlug((candidate) => this.#sessions.has(candidate), this.#random);
    const session = new ProcessSession(
      id,
      request,
      {
        clock: this.#clock,
        maxOutputChars: limits.maxOutputChars,
        pendingMaxChars: limits.pendingMaxChars,
        inputWaitIdleMs: limits.inputWaitIdleMs,
        ttlMs: limits.jobTtlMs,
        logs: this.#logs,
      },
      {
        onEnd: (ended) => this.#onEnd(ended),
        onEndAcknowledged: (ended) => {
          for (const listener of this.#ackListeners) listener(ended);
        },
      },
    );
    this.#sessions.set(id, session);
    // A second delivery of the same call reserves too before it learns that it is one: the run keeps its first session.
    if (!this.#byRun.has(session.runId)) this.#byRun.set(session.runId, session);
    if (session.callId !== undefined) this.#byCall.set(callKey(session.scope, session.callId), session);
    return session;
  }

  /** Whatever has this id, also in the foreground; a session of another scope answers like one that does not exist. */
  find(id: string, scope: string): ProcessSession | undefined {
    const session = this.#sessions.get(id);
    return session?.scope === scope && !this.#hidden.has(session) ? session : undefined;
  }

  /** By run, whoever asks: for cards and their buttons, which carry the run's id. */
  byRun(runId: string): ProcessSession | undefined {
    return this.#byRun.get(runId);
  }

  /** The session an earlier delivery of the same tool call started. */
  byCall(scope: string, callId: string): ProcessSession | undefined {
    return this.#byCall.get(callKey(scope, callId));
  }

  /** What the process tool lists: backgrounded sessions of this scope, newest first. */
  list(scope: string): ProcessSession[] {
    return this.all().filter((session) => session.scope === scope && session.backgrounded);
  }

  /** Every session of every scope, newest first. */
  all(): ProcessSession[] {
    return [...this.#sessions.values()].filter((session) => !this.#hidden.has(session)).reverse();
  }

  /** Called when a session has ended; its state is final by then. A listener that throws does not disturb others. */
  onEnd(listener: (session: ProcessSession) => void): () => void {
    this.#endListeners.add(listener);
    return () => this.#endListeners.delete(listener);
  }

  /** Called once when a terminal answer of the process tool was acknowledged: its completion event is no longer needed. */
  onEndAcknowledged(listener: (session: ProcessSession) => void): () => void {
    this.#ackListeners.add(listener);
    return () => this.#ackListeners.delete(listener);
  }

  /** Forgets a session and its files; a running child is not touched. True when it was known. */
  forget(session: ProcessSession): boolean {
    if (this.#sessions.get(session.id) !== session) return false;
    this.#sessions.delete(session.id);
    this.#hidden.delete(session);
    if (this.#byRun.get(session.runId) === session) this.#byRun.delete(session.runId);
    const key = session.callId === undefined ? undefined : callKey(session.scope, session.callId);
    if (key !== undefined && this.#byCall.get(key) === session) this.#byCall.delete(key);
    const forgotten = session.forget().finally(() => this.#forgetting.delete(forgotten));
    this.#forgetting.add(forgotten);
    this.#armExpiry();
    return true;
  }

  /** Hides a running session at once and stops it; it is forgotten when it has ended. */
  remove(session: ProcessSession): void {
    this.#hidden.add(session);
    session.stop("manual-cancel");
    void session.ended.then(() => this.forget(session));
  }

  /** Lets go of timers and files. Children are the supervisor's to stop, before this. */
  async close(): Promise<void> {
    clearTimeout(this.#expiry);
    for (const session of [...this.#sessions.values()]) this.forget(session);
    await this.#trimming;
    await Promise.all(this.#forgetting);
    clearTimeout(this.#expiry);
    this.#endListeners.clear();
    this.#ackListeners.clear();
  }

  #onEnd(session: ProcessSession): void {
    this.#evict();
    this.#armExpiry();
    // Only what memory could not hold is on disk. One look at the folder at a time, and one after each log is whole.
    if (session.totalChars >= this.#limits().maxOutputChars) {
      this.#trimming = this.#trimming
        .then(() => session.logWritten)
        .then(() => this.#trimLogs())
        .catch(this.#onListenerError);
    }
    for (const listener of this.#endListeners) {
      try {
        listener(session);
      } catch (error) {
        this.#onListenerError(error);
      }
    }
  }

  async #trimLogs(): Promise<void> {
    if (this.#logs === undefined || this.#maxTotalBytes === Number.POSITIVE_INFINITY) return;
    const { folder } = this.#logs;
    const sessionOf = (name: string) => this.#sessions.get(name.split(".", 1)[0] ?? "");
    const ended = this.#ended().reverse();
    /** Those of earlier lives before all of ours, and what still runs behind everything. */
    const rank = (name: string): number => {
      const session = sessionOf(name);
      if (session === undefined) return -1;
      return session.endedAtMs === undefined ? ended.length : ended.indexOf(session);
    };
    for (const name of await surplus(folder, ".log", this.#maxTotalBytes, rank)) {
      const session = sessionOf(name);
      if (session === undefined) await unlink(join(folder, name)).catch(() => {});
      else if (session.endedAtMs !== undefined) this.forget(session);
    }
  }

  #evict(): void {
    const count = { background: 0, foreground: 0 };
    let chars = 0;
    for (const [place, session] of this.#ended().entries()) {
      // Foreground ones are only there for their log; they must not push out what the process tool lists.
      const kind = session.backgrounded ? "background" : "foreground";
      count[kind]++;
      chars += session.keptChars;
      if (place > 0 && (count[kind] > this.#maxFinished || chars > this.#maxRetainedChars)) this.forget(session);
    }
  }

  /** Ended sessions, the one that ended last first. */
  #ended(): ProcessSession[] {
    return [...this.#sessions.values()]
      .reverse()
      .filter((session) => session.endedAtMs !== undefined)
      .sort((a, b) => (b.endedAtMs ?? 0) - (a.endedAtMs ?? 0));
  }

  /** One timer for the earliest expiry; it never keeps the process alive. */
  #armExpiry(): void {
    clearTimeout(this.#expiry);
    this.#expiry = undefined;
    let due = Number.POSITIVE_INFINITY;
    for (const { endedAtMs, ttlMs } of this.#sessions.values()) {
      if (endedAtMs !== undefined) due = Math.min(due, endedAtMs + ttlMs);
    }
    if (due === Number.POSITIVE_INFINITY) return;
    const wait = Math.max(1, due - this.#clock.now());
    this.#expiry = setTimeout(() => this.#expire(), Math.min(wait, JOB_TTL_MS.max)).unref();
  }

  #expire(): void {
    const now = this.#clock.now();
    for (const session of this.#ended()) {
      if ((session.endedAtMs ?? 0) + session.ttlMs <= now) this.forget(session);
    }
    this.#armExpiry();
  }
}

function callKey(scope: string, callId: string): string {
  return `${scope}\0${callId}`;
}
