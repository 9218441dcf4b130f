/**
 * Keeps a terminal open until all that was written to it has been read. libuv before 1.52 takes the hang-up of the slave
 * side as the end, although the kernel still holds output (microsoft/node-pty#72 and others; measured on Node 20: 71 of
 * 100 runs above 4 KB lose their end). As long as we hold the slave open there is no hang-up. When the child is gone a
 * mark is written to the slave, behind everything the child wrote: once the mark has been read, all else has been too.
 */
import { randomInt } from "node:crypto";
import { closeSync, constants as fsConstants, openSync, writeSync } from "node:fs";

/** The terminal's buffer is full of output that is being read: try again after this. */
const RETRY_MS = 2;
const MARK_DIGITS = 24;

export class HeldSlave {
  #fd: number | undefined;
  /** What of the mark is not written yet; digits and NUL pass through every setting of a terminal. */
  #unwritten: Buffer;
  readonly #mark: Buffer;
  /** The end of what was read, as long as it may be the start of the mark. */
  #held: Buffer = Buffer.alloc(0);
  #drained: (() => void) | undefined;
  #retry: NodeJS.Timeout | undefined;

  /** `path`: of the slave side; undefined where nothing has to be held. */
  constructor(path: string | undefined) {
    this.#mark = Buffer.from(`\0${Array.from({ length: MARK_DIGITS }, () => randomInt(10)).join("")}\0`, "latin1");
    this.#unwritten = this.#mark;
    if (path === undefined) return;
    try {
      this.#fd = openSync(path, fsConstants.O_RDWR | fsConstants.O_NOCTTY | fsConstants.O_NONBLOCK);
    } catch {
      // No descriptor to spare: the end of large output may be lost, the command itself is not.
    }
  }

  /** The child is gone: `drained` is called when all it wrote has been read. False when that can not be known. */
  finish(drained: () => void): boolean {
    if (this.#fd === undefined) return false;
    this.#drained = drained;
    this.#writeMark();
    return this.#fd !== undefined;
  }

  /** What of `chunk`, and of chunks before it, is output of the program. */
  take(chunk: Buffer): Buffer {
    if (this.#drained === undefined) return chunk;
    const joined = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const at = joined.indexOf(this.#mark);
    if (at < 0) {
      const kept = startOfMark(joined, this.#mark);
      this.#held = joined.subarray(joined.length - kept);
      return joined.subarray(0, joined.length - kept);
    }
    const drained = this.#drained;
    this.#drained = undefined;
    this.#held = Buffer.alloc(0);
    drained();
    return Buffer.concat([joined.subarray(0, at), joined.subarray(at + this.#mark.length)]);
  }

  /** Lets the slave go. What was held back in vain is output after all. */
  release(): Buffer {
    clearTimeout(this.#retry);
    this.#drained = undefined;
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return rest;
  }

  #writeMark(): void {
    if (this.#fd === undefined) return;
    try {
      const written = writeSync(this.#fd, this.#unwritten);
      this.#unwritten = this.#unwritten.subarray(written);
    } catch (error) {
      // Anything but a full buffer (or output stopped by ^S): the terminal takes no mark any more.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
    }
    if (this.#unwritten.length > 0) this.#retry = setTimeout(() => this.#writeMark(), RETRY_MS);
  }
}

/** Length of the longest end of `bytes` that begins `mark`. */
function startOfMark(bytes: Buffer, mark: Buffer): number {
  for (let length = Math.min(mark.length - 1, bytes.length); length > 0; length--) {
    if (bytes.subarray(bytes.length - length).equals(mark.subarray(0, length))) return length;
  }
  return 0;
}
