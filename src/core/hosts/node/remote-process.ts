/**
 * A command that runs on a node, as a `ProcessHandle`: the session, the process tool and cards see no difference. What
 * comes from the node is cleaned here like any other output; nothing it says can reach another run.
 *
 * The connection may go and come back: output is numbered and acknowledged, so it goes on where it stopped. When it does
 * not come back in time the run is lost: how it ended is unknown, and it is never started again.
 */
import type { Clock } from "../../clock.ts";
import { ExecError } from "../../errors.ts";
import { OutputHub } from "../../process/output-hub.ts";
import type { OwnText } from "../../process/plain-ascii.ts";
import { PTY_COLS, PTY_ROWS } from "../../process/pty.ts";
import { MAX_QUEUED_INPUT_BYTES } from "../../process/run.ts";
import type { TerminalRequest } from "../../process/sanitizer.ts";
import type {
  EndInfo,
  EndReason,
  OutputListener,
  PlainListener,
  ProcessHandle,
  RawOutputListener,
  ResizeListener,
  TerminalState,
} from "../../process/types.ts";
import { phrase, type Wording } from "../../words/phrase.ts";
import type { KnownRun, NodeLink, NodeRunEnd, NodeRunStarted, RunReport } from "./types.ts";

/** Output is acknowledged in steps of this many bytes. */
const ACK_STEP_BYTES = 128 * 1024;
/** A node that was told to stop a command says that it has ended within this; its own escalation takes 9 s. */
export const STOP_GIVE_UP_MS = 20_000;
/** Input written and not yet taken by the node counts as accepted after this long, as with pipes. */
const INPUT_ACCEPTED_MS = 2_000;

type StopReason = Extract<EndReason, "manual-cancel" | "overall-timeout" | "shutdown">;

export interface RemoteProcessOptions {
  readonly runId: string;
  readonly nodeName: string;
  readonly pty: boolean;
  readonly stdin: "closed" | "open";
  readonly clock: Clock;
  readonly ownText: OwnText;
  /** The connection of its node may be gone for this long. */
  readonly reconnectMs: () => number;
  readonly stopGiveUpMs?: number;
}

export class RemoteProcess implements ProcessHandle {
  readonly ended: Promise<EndInfo>;
  /** A process number of another machine means nothing here. */
  readonly pid = undefined;
  readonly startTicks = undefined;
  warnings: readonly string[] = [];
  readonly #options: RemoteProcessOptions;
  readonly #output: OutputHub;
  readonly #startedAt: number;
  readonly #resizeListeners = new Set<ResizeListener>();
  readonly #inputs = new Map<number, { readonly bytes: number; resolve(): void; reject(error: Error): void }>();
  #link: NodeLink | undefined;
  #pty: boolean;
  #writable: boolean;
  #queuedThere = 0;
  #nextInput = 0;
  #lastSeq = 0;
  #unackedBytes = 0;
  #terminal: TerminalState = { cols: PTY_COLS, rows: PTY_ROWS, cursorKeys: "unknown", bracketedPaste: false };
  #stopWanted: StopReason | undefined;
  #stopTimer: NodeJS.Timeout | undefined;
  #lossTimer: NodeJS.Timeout | undefined;
  #settled = false;
  #settle: (end: EndInfo) => void = () => {};

  constructor(link: NodeLink, options: RemoteProcessOptions) {
    this.#link = link;
    this.#options = options;
    this.#pty = options.pty;
    this.#writable = options.pty || options.stdin === "open";
    this.#startedAt = options.clock.monotonic();
    this.#output = new OutputHub(options.ownText, (request) => this.#onTerminalRequest(request));
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get pty(): boolean {
    return this.#pty;
  }

  get terminal(): TerminalState | undefined {
    return this.#pty ? this.#terminal : undefined;
  }

  get stdinWritable(): boolean {
    return !this.#settled && this.#writable && this.#link !== undefined;
  }

  get queuedInput(): number {
    return this.#queuedThere + this.#inFlight();
  }

  /** What the node said when it had started it. */
  started({ pty, stdinWritable, warnings }: NodeRunStarted): void {
    this.#pty = pty;
    this.#writable = stdinWritable;
    this.warnings = warnings;
  }

  onOutput(listener: OutputListener, plain?: PlainListener): () => void {
    return this.#output.listen(listener, plain);
  }

  onRawOutput(listener: RawOutputListener): () => void {
    return this.#output.listenRaw(listener);
  }

  async write(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === "string" ? Buffer.from(data, "utf8") : Buffer.from(data);
    if (!this.stdinWritable) throw stdinClosed();
    if (this.queuedInput + bytes.length > MAX_QUEUED_INPUT_BYTES) {
      throw new ExecError(
        "payload-too-large",
        phrase("session.inputFull", { bytes: this.queuedInput, most: MAX_QUEUED_INPUT_BYTES }),
      );
    }
    for (let at = 0; at < bytes.length; at += INPUT_PIECE_BYTES) {
      await this.#input(bytes.subarray(at, at + INPUT_PIECE_BYTES), false);
    }
  }

  async endInput(): Promise<void> {
    if (!this.stdinWritable) throw stdinClosed();
    const sent = this.#input(Buffer.alloc(0), true);
    this.#writable = false;
    await sent;
  }

  resize(cols: number, rows: number): void {
    if (!this.#pty || this.#settled || !this.#link) {
      throw new ExecError("invalid-argument", phrase("session.terminalGone"));
    }
    this.#link.order({ kind: "resize", runId: this.#options.runId, cols, rows });
    this.#terminal = { ...this.#terminal, cols, rows };
    for (const listener of this.#resizeListeners) listener(cols, rows);
  }

  onResize(listener: ResizeListener): () => void {
    this.#resizeListeners.add(listener);
    return () => this.#resizeListeners.delete(listener);
  }

  stop(reason: StopReason): void {
    if (this.#settled || this.#stopWanted !== undefined) return;
    this.#stopWanted = reason;
    this.#link?.order({ kind: "stop", runId: this.#options.runId, reason });
    this.#stopTimer = setTimeout(() => {
      this.#end(reason, null, null, [phrase("note.notConfirmed")]);
    }, this.#options.stopGiveUpMs ?? STOP_GIVE_UP_MS).unref();
  }

  /** From the node that runs it, over whatever connection it has now. `false`: it does not keep the order of pieces. */
  report(report: RunReport): boolean {
    if (this.#settled) return true;
    switch (report.kind) {
      case "output": {
        // After a reconnect pieces may come that had arrived.
        if (report.seq <= this.#lastSeq) return true;
        if (report.seq !== this.#lastSeq + 1) return false;
        this.#lastSeq = report.seq;
        this.#output.data(report.stream, report.data);
        this.#unackedBytes += report.data.length;
        if (this.#unackedBytes >= ACK_STEP_BYTES) this.#acknowledge();
        return true;
      }
      case "input-taken": {
        const input = this.#inputs.get(report.id);
        this.#inputs.delete(report.id);
        this.#queuedThere = report.queued;
        if (!report.writable) this.#writable = false;
        if (report.error === undefined) input?.resolve();
        else input?.reject(stdinClosed());
        return true;
      }
      case "ended":
        // Its last pieces come first, always.
        if (report.end.lastSeq > this.#lastSeq) return false;
        this.#ended(report.end);
        return true;
    }
  }

  /** The connection is gone. It may come back within the time there is for that. */
  disconnected(): void {
    if (this.#settled) return;
    this.#link = undefined;
    for (const [id, input] of this.#inputs) {
      this.#inputs.delete(id);
      input.reject(stdinClosed());
    }
    clearTimeout(this.#lossTimer);
    this.#lossTimer = setTimeout(
      () => this.lost(phrase("run.lost.nodeGone", { node: this.#options.nodeName })),
      this.#options.reconnectMs(),
    ).unref();
  }

  /** Its node is there again and says this of it; undefined: it knows nothing of this run. */
  reconnected(link: NodeLink, known: KnownRun | undefined): void {
    if (this.#settled) return;
    clearTimeout(this.#lossTimer);
    if (known === undefined) {
      this.lost(phrase("run.lost.nodeForgot", { node: this.#options.nodeName }));
      return;
    }
    this.#link = link;
    if (known.state === "running") this.started(known.started);
    link.order({ kind: "resume", runId: this.#options.runId, seq: this.#lastSeq });
    if (this.#stopWanted !== undefined) {
      link.order({ kind: "stop", runId: this.#options.runId, reason: this.#stopWanted });
    }
  }

  /** Nothing more will be heard of it: how it ended is unknown. */
  lost(note: Wording): void {
    this.#end("lost", null, null, [note]);
  }

  #ended(end: NodeRunEnd): void {
    const reason = this.#stopWanted !== undefined && end.reason !== "exit" ? this.#stopWanted : end.reason;
    this.#end(reason, end.exitCode, end.exitSignal, end.notes, end);
  }

  #end(
    reason: EndReason,
    exitCode: number | null,
    exitSignal: string | null,
    notes: readonly Wording[],
    there?: NodeRunEnd,
  ): void {
    if (this.#settled) return;
    this.#output.end();
    this.#settled = true;
    clearTimeout(this.#stopTimer);
    clearTimeout(this.#lossTimer);
    for (const input of this.#inputs.values()) input.reject(stdinClosed());
    this.#inputs.clear();
    this.#settle({
      reason,
      exitCode,
      exitSignal,
      timedOut: there?.timedOut ?? reason === "overall-timeout",
      durationMs: there?.durationMs ?? this.#options.clock.monotonic() - this.#startedAt,
      notes,
    });
  }

  #acknowledge(): void {
    this.#unackedBytes = 0;
    this.#link?.order({ kind: "ack", runId: this.#options.runId, seq: this.#lastSeq });
  }

  #input(bytes: Buffer, end: boolean): Promise<void> {
    this.#nextInput += 1;
    const id = this.#nextInput;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, INPUT_ACCEPTED_MS).unref();
      this.#inputs.set(id, {
        bytes: bytes.length,
        resolve: () => {
          clearTimeout(timer);
          resolve();
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
      const data = bytes.toString("base64");
      this.#link?.order({ kind: "input", runId: this.#options.runId, id, data, end });
    });
  }

  #inFlight(): number {
    let sum = 0;
    for (const { bytes } of this.#inputs.values()) sum += bytes;
    return sum;
  }

  /** The node answers the terminal's questions; here only what they tell of it counts. */
  #onTerminalRequest(request: TerminalRequest): void {
    if (request.kind !== "mode") return;
    if (request.mode === 1) this.#terminal = { ...this.#terminal, cursorKeys: request.on ? "application" : "normal" };
    if (request.mode === 2004) this.#terminal = { ...this.#terminal, bracketedPaste: request.on };
  }
}

/** Bytes of input in one frame. */
const INPUT_PIECE_BYTES = 256 * 1024;

function stdinClosed(): ExecError {
  return new ExecError("invalid-argument", phrase("session.inputClosed"));
}
