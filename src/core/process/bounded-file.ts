/**
 * A file that text is poured into without waiting: encoded into a few reused blocks and written by one writer at a
 * time. A disk that can not follow, or a file that is full, costs text (and `complete` says so), never the gateway's
 * memory or its event loop. Mode 0600; a symbolic link in its place is refused.
 */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

const BLOCK_BYTES = 128 * 1024;
/** Blocks that may wait for the disk. */
const MAX_BLOCKS = 64;

export interface BoundedFileState {
  readonly path: string;
  readonly bytes: number;
  /** Nothing is missing up to now. */
  readonly complete: boolean;
}

export class BoundedFile {
  readonly path: string;
  readonly #maxBytes: number;
  readonly #encoder = new TextEncoder();
  readonly #free: Buffer[] = [];
  #blocks = 0;
  #active: { readonly block: Buffer; used: number } | undefined;
  readonly #full: { readonly block: Buffer; readonly used: number }[] = [];
  #writer: Promise<void> | undefined;
  #file: FileHandle | undefined;
  #accepted = 0;
  #written = 0;
  #missedChars = 0;
  #broken = false;

  constructor(path: string, maxBytes: number) {
    this.path = path;
    this.#maxBytes = maxBytes;
  }

  /** Bytes taken so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Never waits and never throws. */
  write(whole: string): void {
    let text = whole;
    while (text !== "") {
      const active = this.#room();
      if (active === undefined) {
        this.#missedChars += text.length;
        return;
      }
      const target = active.block.subarray(
        active.used,
        active.used + Math.min(BLOCK_BYTES, this.#maxBytes - this.#accepted),
      );
      const { read, written } = this.#encoder.encodeInto(text, target);
      if (read === 0) {
        // Less room than one character: the block is full, or the file is.
        if (active.used === 0 || this.#maxBytes - this.#accepted < 4) this.#broken = true;
        else this.#turnOver();
        continue;
      }
      active.used += written;
      this.#accepted += written;
      text = text.slice(read);
      if (text !== "") this.#turnOver();
    }
  }

  /** `bytes` are ASCII; they are copied. Never waits and never throws. */
  writePlain(whole: Uint8Array): void {
    for (let from = 0; from < whole.length; ) {
      const active = this.#room();
      if (active === undefined) {
        this.#missedChars += whole.length - from;
        return;
      }
      const room = Math.min(BLOCK_BYTES - active.used, this.#maxBytes - this.#accepted);
      if (room === 0) {
        this.#turnOver();
        continue;
      }
      const piece = whole.subarray(from, from + room);
      active.block.set(piece, active.used);
      active.used += piece.length;
      this.#accepted += piece.length;
      from += piece.length;
    }
  }

  /** Waits until everything taken so far is in the file. */
  async flush(): Promise<BoundedFileState> {
    this.#turnOver();
    while (this.#writer !== undefined) await this.#writer;
    return {
      path: this.path,
      bytes: this.#written,
      complete: this.#missedChars === 0 && this.#written === this.#accepted,
    };
  }

  /** Writes what is left and lets the file go. The file stays. */
  async close(): Promise<void> {
    await this.flush();
    this.#broken = true;
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => {});
    this.#free.length = 0;
  }

  #room(): { readonly block: Buffer; used: number } | undefined {
    if (this.#broken || this.#accepted >= this.#maxBytes) return undefined;
    if (this.#active === undefined) {
      const block = this.#free.pop() ?? this.#allocate();
      if (block !== undefined) this.#active = { block, used: 0 };
    }
    return this.#active;
  }

  #allocate(): Buffer | undefined {
    if (this.#blocks >= MAX_BLOCKS) return undefined;
    this.#blocks++;
    return Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  #turnOver(): void {
    const active = this.#active;
    if (active === undefined || active.used === 0) return;
    this.#active = undefined;
    this.#full.push(active);
    this.#kick();
  }

  #kick(): void {
    this.#writer ??= this.#drain().finally(() => {
      this.#writer = undefined;
      if (this.#full.length > 0) this.#kick();
    });
  }

  async #drain(): Promise<void> {
    try {
      this.#file ??= await openFresh(this.path);
      for (let next = this.#full.shift(); next !== undefined; next = this.#full.shift()) {
        await this.#file.write(next.block, 0, next.used);
        this.#written += next.used;
        this.#free.push(next.block);
      }
    } catch {
      // Disk full or folder gone: whoever writes goes on, `complete` tells it.
      this.#broken = true;
      this.#full.length = 0;
    }
  }
}

async function openFresh(path: string): Promise<FileHandle> {
  const flags = constants.O_CREAT | constants.O_WRONLY | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0);
  const file = await open(path, flags, 0o600);
  // The mode above counts only for a file that was not there.
  await file.chmod(0o600);
  return file;
}
