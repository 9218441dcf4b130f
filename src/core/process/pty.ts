/**
 * A child on a pseudo-terminal, by node-pty: the only file that knows it. The library is loaded at the first use, so a
 * machine where it can not load still runs everything else.
 */
import { write } from "node:fs";
import { createRequire } from "node:module";
import { constants as osConstants } from "node:os";
import type { IPty } from "node-pty";
import { readProcStat } from "./proc-table.ts";
import { HeldSlave } from "./pty-slave.ts";
import type { Transport, TransportEvents } from "./transport.ts";
import type { SpawnPlan } from "./types.ts";

export const PTY_COLS = 120;
export const PTY_ROWS = 30;

/** With the child gone and the terminal silent this long, everything it wrote has been read. */
const QUIET_AFTER_EXIT_MS = 40;
/** Silence after which nobody waits for the mark behind the output any more. */
const MARK_LATE_MS = 1000;
/** The terminal's input is full (the program does not read): try again after this. */
const INPUT_RETRY_MS = 10;
/** A write that the program does not take counts as accepted after this long; it stays queued. */
const WRITE_ACCEPTED_MS = 250;
const END_OF_TRANSMISSION = process.platform === "win32" ? 0x1a : 0x04;

export type NodePty = typeof import("node-pty");
export type LoadPty = () => NodePty;
type PtyPlan = SpawnPlan & { readonly pty: { readonly cols: number; readonly rows: number } };

/** Loads node-pty once; a failed load is tried again at the next call. */
export function loadNodePty(): LoadPty {
  let loaded: NodePty | undefined;
  return () => {
    loaded ??= createRequire(import.meta.url)("node-pty") as NodePty;
    return loaded;
  };
}

/** One `SIGCHLD` listener for all terminals, there only while one is open. */
export class ChildSignals {
  readonly #watchers = new Set<() => void>();
  readonly #onSignal = (): void => {
    for (const watcher of [...this.#watchers]) watcher();
  };

  add(watcher: () => void): void {
    if (process.platform !== "linux") return;
    if (this.#watchers.size === 0) process.on("SIGCHLD", this.#onSignal);
    this.#watchers.add(watcher);
  }

  delete(watcher: () => void): void {
    if (this.#watchers.delete(watcher) && this.#watchers.size === 0) process.off("SIGCHLD", this.#onSignal);
  }
}

/** Throws when no terminal can be opened. */
export function spawnPty(
  plan: PtyPlan,
  events: TransportEvents,
  library: NodePty,
  childSignals: ChildSignals,
): Transport {
  const { file, args } = withArgv0(plan);
  const pty = library.spawn(file, [...args], {
    cols: plan.pty.cols,
    rows: plan.pty.rows,
    cwd: plan.cwd,
    env: plan.env as Record<string, string>,
    encoding: null,
    ...terminalName(plan),
  });
  const slave = new HeldSlave(slavePath(pty));
  const input = new PtyInput(pty);
  let exited = false;
  let ended = false;
  let lastData = 0;
  let quiet: NodeJS.Timeout | undefined;

  const emit = (bytes: Buffer): void => {
    if (bytes.length > 0) events.data("stdout", bytes);
  };
  const release = (): void => emit(slave.release());

  /** Where no mark tells that all has been read, silence does. */
  const releaseWhenQuiet = (quietMs: number): void => {
    const left = lastData + quietMs - performance.now();
    if (left > 0) {
      quiet = setTimeout(releaseWhenQuiet, Math.ceil(left), quietMs);
      return;
    }
    // On a busy loop the timer is due before output that is already there has been read: look once more behind a poll.
    const seen = lastData;
    setImmediate(() => {
      setImmediate(() => {
        if (lastData === seen) release();
        else releaseWhenQuiet(quietMs);
      });
    });
  };
  const onChildSignal = (): void => {
    if (exited) return;
    const stat = readProcStat(pty.pid);
    if (stat !== undefined && !stat.zombie) return;
    exited = true;
    pty.resume();
    // From here on the library may close the descriptor at any time, and its number may be given to another file.
    input.stop();
    lastData = performance.now();
    // Not at once: what was read together with the mark is handed out first.
    const marked = slave.finish(() => queueMicrotask(release));
    releaseWhenQuiet(marked ? MARK_LATE_MS : QUIET_AFTER_EXIT_MS);
  };
  // node-pty tells the exit only after the terminal has closed, or 200 ms late; SIGCHLD tells it at once.
  childSignals.add(onChildSignal);

  const data = pty.onData((chunk) => {
    // With `encoding: null` the library hands out bytes; its types only know text.
    const bytes = chunk as unknown as Buffer;
    if (exited) lastData = performance.now();
    emit(slave.take(bytes));
  });
  const exit = pty.onExit(({ exitCode, signal }) => {
    ended = true;
    clearTimeout(quiet);
    childSignals.delete(onChildSignal);
    release();
    input.stop();
    data.dispose();
    exit.dispose();
    const name = signal === undefined || signal === 0 ? null : signalName(signal);
    events.exit(name === null ? exitCode : null, name);
    events.closed();
  });

  return {
    pid: pty.pid,
    ownGroup: true,
    pty: true,
    get stdinWritable() {
      return input.open;
    },
    get queuedInput() {
      return input.queued;
    },
    write: (bytes) => input.write(bytes),
    async endInput() {
      // A program that ends meanwhile needs no end of input.
      await input.write(Uint8Array.of(END_OF_TRANSMISSION)).catch(() => {});
      input.end();
    },
    resize(cols, rows) {
      if (!ended && !exited) pty.resize(cols, rows);
    },
    pause(paused) {
      if (ended || exited) return;
      if (paused) pty.pause();
      else pty.resume();
    },
    detach() {
      if (ended) return;
      childSignals.delete(onChildSignal);
      slave.release();
      input.stop();
    },
  };
}

/** `TERM` of the child: what its environment says, unless that is empty or `dumb`. */
function terminalName(plan: SpawnPlan): { readonly name?: string } {
  const term = plan.env.TERM ?? "";
  return { name: term === "" || term === "dumb" ? "xterm-256color" : term };
}

/** node-pty has no `argv0`; bash can set it. Only multi-call binaries (busybox) need this. */
function withArgv0(plan: SpawnPlan): { readonly file: string; readonly args: readonly string[] } {
  if (plan.argv0 === undefined || plan.argv0 === plan.file || plan.argv0 === plan.file.split("/").at(-1)) return plan;
  const script = 'exec -a "$0" -- "$@"';
  return { file: "/bin/bash", args: ["--noprofile", "--norc", "-c", script, plan.argv0, plan.file, ...plan.args] };
}

/** The library's own members on Unix that its types leave out. */
interface UnixPty {
  readonly fd?: number;
  readonly ptsName?: string;
}

/** The first libuv seen to read all there is before it believes a hang-up (Node 24: 0 of 100 runs lose anything). */
const UV_READS_TO_THE_END = 52;

function losesOutputAtHangUp(uv: string): boolean {
  const [major = 0, minor = 0] = uv.split(".").map(Number);
  return major === 1 && minor < UV_READS_TO_THE_END;
}

function slavePath(pty: IPty): string | undefined {
  return process.platform !== "win32" && losesOutputAtHangUp(process.versions.uv)
    ? (pty as UnixPty).ptsName
    : undefined;
}

/**
 * Writes to the terminal. The library's own writer spins while the program does not read and may write on after the
 * descriptor was given to somebody else; this one waits between tries and stops for good when told.
 */
class PtyInput {
  readonly #pty: IPty;
  readonly #fd: number | undefined;
  readonly #queue: { readonly bytes: Uint8Array; at: number; readonly done: (error?: Error) => void }[] = [];
  #writing = false;
  #retry: NodeJS.Timeout | undefined;
  #open = true;

  constructor(pty: IPty) {
    this.#pty = pty;
    this.#fd = process.platform === "win32" ? undefined : (pty as UnixPty).fd;
  }

  get open(): boolean {
    return this.#open;
  }

  get queued(): number {
    return this.#queue.reduce((sum, entry) => sum + entry.bytes.length - entry.at, 0);
  }

  write(bytes: Uint8Array): Promise<void> {
    if (!this.#open) return Promise.reject(new Error("stdin is closed"));
    if (this.#fd === undefined) {
      this.#pty.write(Buffer.from(bytes));
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, WRITE_ACCEPTED_MS);
      timer.unref();
      const done = (error?: Error): void => {
        clearTimeout(timer);
        if (error === undefined) resolve();
        else reject(error);
      };
      this.#queue.push({ bytes, at: 0, done });
      this.#next();
    });
  }

  /** No more writes are taken; what is queued still goes out. */
  end(): void {
    this.#open = false;
  }

  /** Nothing is written any more. */
  stop(): void {
    this.#open = false;
    clearTimeout(this.#retry);
    for (const entry of this.#queue.splice(0)) entry.done(new Error("stdin is closed"));
  }

  #next(): void {
    const entry = this.#queue[0];
    if (this.#writing || entry === undefined || this.#fd === undefined) return;
    this.#writing = true;
    write(this.#fd, entry.bytes, entry.at, (error, written) => {
      this.#writing = false;
      if (this.#queue[0] !== entry) return;
      if (error?.code === "EAGAIN") {
        this.#retry = setTimeout(() => this.#next(), INPUT_RETRY_MS);
        return;
      }
      entry.at += written ?? 0;
      if (error !== null || entry.at >= entry.bytes.length) {
        this.#queue.shift();
        entry.done(error ?? undefined);
      }
      this.#next();
    });
  }
}

/** `9` to `SIGKILL`: a PTY child ends with the same words as any other. */
function signalName(signal: number): string {
  const found = Object.entries(osConstants.signals).find(([, number]) => number === signal);
  return found?.[0] ?? `SIG${signal}`;
}
