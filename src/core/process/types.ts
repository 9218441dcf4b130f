/** What the process room offers: starting, watching, feeding and ending children. Knows no policy and no chat. */
import type { Wording } from "../words/phrase.ts";

/** Why a process ended; the first forced reason wins over what the system reports (exec.md section 4). */
export type EndReason = "exit" | "signal" | "manual-cancel" | "overall-timeout" | "shutdown" | "spawn-failed" | "lost";

export interface SpawnPlan {
  readonly file: string;
  readonly args: readonly string[];
  readonly argv0?: string;
  /** Existing directory. */
  readonly cwd: string;
  /** The whole environment of the child; nothing is inherited beside it. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: "closed" | "open";
  /** Milliseconds from spawn; absent means no limit. */
  readonly timeoutMs?: number;
  readonly pty?: { readonly cols: number; readonly rows: number };
}

export interface EndInfo {
  readonly reason: EndReason;
  readonly exitCode: number | null;
  /** `SIGTERM`, `SIGKILL` … also for PTY children. */
  readonly exitSignal: string | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
  /** Something worth telling: a child kept the output open, the group could not be confirmed gone. */
  readonly notes: readonly Wording[];
}

/** A terminal as the program in it made it; decides the bytes of arrow keys and of a paste. */
export interface TerminalState {
  readonly cols: number;
  readonly rows: number;
  /** `unknown` until the program says it. */
  readonly cursorKeys: "unknown" | "normal" | "application";
  /** The program asked for pastes to be bracketed (mode 2004). */
  readonly bracketedPaste: boolean;
}

export type StreamName = "stdout" | "stderr";

export type OutputListener = (stream: StreamName, text: string) => void;

/** `bytes` are printable ASCII, TAB, LF, CR and whole colour sequences only, and must not be kept. */
export type PlainListener = (stream: StreamName, bytes: Buffer) => void;

export type ResizeListener = (cols: number, rows: number) => void;

/** The chunk must not be kept. */
export type RawOutputListener = (stream: StreamName, chunk: Uint8Array) => void;

/** A live child. `pid` is undefined until the spawn has happened (and for ever when it failed). */
export interface ProcessHandle {
  readonly pid: number | undefined;
  /** Start time in clock ticks since boot (`/proc/<pid>/stat` field 22); tells a reused pid apart. */
  readonly startTicks: number | undefined;
  readonly pty: boolean;
  readonly stdinWritable: boolean;
  /** Bytes written that the program has not read yet, where that is known. */
  readonly queuedInput?: number;
  readonly warnings: readonly string[];
  /** PTY children only. */
  readonly terminal?: TerminalState | undefined;
  /**
   * Called with decoded, sanitised text, in arrival order. `plain`, where given, may be called instead for pieces that
   * need neither: in a flood, making text of them costs more than all the rest. Returns the unsubscribe.
   */
  onOutput(listener: OutputListener, plain?: PlainListener): () => void;
  /**
   * The bytes as they came, escape sequences included: for recordings. Output from before the first `onOutput` is
   * given again, so subscribe here first.
   */
  onRawOutput?(listener: RawOutputListener): () => void;
  /** Settles exactly once, never rejects. */
  readonly ended: Promise<EndInfo>;
  /** Resolves when the bytes have been accepted; rejects when stdin is not writable. */
  write(data: string | Uint8Array): Promise<void>;
  endInput(): Promise<void>;
  /** The program in the terminal is told by SIGWINCH. Throws an `ExecError` where there is no terminal (any more). */
  resize(cols: number, rows: number): void;
  /** Called after each change of size. Returns the unsubscribe. */
  onResize?(listener: ResizeListener): () => void;
  /** Reads no more output until told otherwise: a program that writes on has to wait. Nothing is lost. */
  pauseOutput?(paused: boolean): void;
  /** SIGTERM, then SIGKILL after the grace. Idempotent; a second call after settle kills at once. */
  stop(reason: Extract<EndReason, "manual-cancel" | "overall-timeout" | "shutdown">): void;
}
