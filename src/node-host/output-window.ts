/**
 * The output of one run on its way to the gateway: in numbered pieces, kept until they are acknowledged, so that a
 * connection that comes back goes on where it stopped. When too much waits the program is made to wait. Knows no socket.
 */
import type { RunReport } from "../core/hosts/node/types.ts";
import type { StreamName } from "../core/process/types.ts";
import { MAX_OUTPUT_PIECE_BYTES, OUTPUT_WINDOW_BYTES } from "../protocol/node-frames.ts";

/** Small writes are sent together, this long after the first. */
const GATHER_MS = 10;
/** What a program that can not be made to wait may pile up; more is dropped and counted. */
const MAX_KEPT_BYTES = 8 * OUTPUT_WINDOW_BYTES;
/** The end of the output, kept for a gateway that has not seen the pieces. */
const TAIL_BYTES = 8 * 1024;

type Piece = Extract<RunReport, { kind: "output" }>;

export interface OutputWindowOptions {
  readonly runId: string;
  /** Hands a piece to the connection; nothing when there is none. */
  readonly send: (piece: Piece) => void;
  /** The program has to wait, or may go on. */
  readonly pause: (paused: boolean) => void;
}

export class OutputWindow {
  readonly #options: OutputWindowOptions;
  readonly #kept: Piece[] = [];
  #keptBytes = 0;
  #lastSeq = 0;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  #gatheredStream: StreamName = "stdout";
  #timer: NodeJS.Timeout | undefined;
  #paused = false;
  #dropped = 0;
  #tail: Buffer = Buffer.alloc(0);

  constructor(options: OutputWindowOptions) {
    this.#options = options;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get droppedBytes(): number {
    return this.#dropped;
  }

  get tail(): string {
    return this.#tail.toString("utf8");
  }

  /** The chunk is not kept. */
  push(stream: StreamName, chunk: Uint8Array): void {
    if (this.#keptBytes + this.#gatheredBytes + chunk.length > MAX_KEPT_BYTES) {
      this.#dropped += chunk.length;
      return;
    }
    if (stream !== this.#gatheredStream) this.flush();
    this.#gatheredStream = stream;
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + MAX_OUTPUT_PIECE_BYTES - this.#gatheredBytes);
      this.#gathered.push(Buffer.from(part));
      this.#gatheredBytes += part.length;
      at += part.length;
      if (this.#gatheredBytes >= MAX_OUTPUT_PIECE_BYTES) this.flush();
    }
    if (this.#gatheredBytes > 0) this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  /** What was gathered goes out now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#gatheredBytes === 0) return;
    const data = Buffer.concat(this.#gathered);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#lastSeq += 1;
    const { runId, send } = this.#options;
    const piece: Piece = { kind: "output", runId, seq: this.#lastSeq, stream: this.#gatheredStream, data };
    this.#kept.push(piece);
    this.#keptBytes += data.length;
    this.#tail = Buffer.concat([this.#tail, data]).subarray(-TAIL_BYTES);
    send(piece);
    this.#regulate();
  }

  /** Everything up to `seq` has arrived. */
  acknowledge(seq: number): void {
    while (this.#kept[0] !== undefined && this.#kept[0].seq <= seq) {
      this.#keptBytes -= this.#kept.shift()?.data.length ?? 0;
    }
    this.#regulate();
  }

  /** A connection is there (again) and has everything up to `seq`. */
  resume(seq: number): void {
    this.acknowledge(seq);
    for (const piece of this.#kept) this.#options.send(piece);
  }

  /** Nobody will ask for the pieces again. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#kept.length = 0;
    this.#keptBytes = 0;
  }

  #regulate(): void {
    const full = this.#keptBytes >= OUTPUT_WINDOW_BYTES;
    const free = this.#keptBytes <= OUTPUT_WINDOW_BYTES / 2;
    if (this.#paused ? !free : !full) return;
    this.#paused = !this.#paused;
    this.#options.pause(this.#paused);
  }
}
