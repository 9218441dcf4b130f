/** The raw side of one child: bytes, exit and close, before anything is decoded or decided. Pipes and PTY implement it. */
import type { StreamName } from "./types.ts";

export interface TransportEvents {
  data(stream: StreamName, chunk: Buffer): void;
  /** The child was reaped. Output may still come. */
  exit(code: number | null, signal: string | null): void;
  /** No more output will come. Always after `exit`, or after `failed`. */
  closed(): void;
  /** Nothing was started. `closed` does not follow. */
  failed(error: NodeJS.ErrnoException): void;
}

export interface Transport {
  readonly pid: number | undefined;
  /** The child leads its own process group and session. */
  readonly ownGroup: boolean;
  readonly pty: boolean;
  readonly stdinWritable: boolean;
  /** Bytes taken by `write` that the program has not read. */
  readonly queuedInput: number;
  /** Resolves when the bytes are taken; rejects when the other side has closed. */
  write(data: Uint8Array): Promise<void>;
  endInput(): Promise<void>;
  /** Pipes have no size. */
  resize(cols: number, rows: number): void;
  /** Stops or goes on reading output. */
  pause(paused: boolean): void;
  /** Stops listening to output that others still hold open. `closed` may or may not follow. */
  detach(): void;
}
