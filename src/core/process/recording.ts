/**
 * Recordings of what a session showed, as asciicast v2 (https://docs.asciinema.org/manual/asciicast/v2/): one JSON
 * header line, then one `[seconds, "o", text]` line per piece of output and `[seconds, "r", "COLSxROWS"]` per resize.
 * What was typed is not recorded: it may be a password. Escape sequences stay, so a replay looks like the session did.
 */
import { constants } from "node:fs";
import { type FileHandle, open, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { BoundedFile } from "./bounded-file.ts";
import { makePrivateFolder, sweepFolder } from "./log-folder.ts";
import type { ProcessHandle, StreamName } from "./types.ts";

/** Bytes of one recording; the rest of the session is not in it. */
export const MAX_RECORDING_BYTES = 20 * 1024 * 1024;
/** Recordings are kept this long, at most this many, and only as long as all together take no more than so many bytes. */
export const RECORDING_TTL_MS = 7 * 24 * 3_600_000;
export const MAX_RECORDINGS = 200;
export const MAX_RECORDINGS_BYTES = 1024 * 1024 * 1024;
/** After so many new recordings the old ones are looked through. */
const SWEEP_EVERY = 20;
/** Bytes of a header line that are read back. */
const MAX_HEADER_BYTES = 64 * 1024;
/** Characters of the command in the header. */
const MAX_HEADER_COMMAND_CHARS = 8_000;
const ENDING = ".cast";
const RUN_ID = /^[A-Za-z0-9_-]{1,128}$/;

export interface RecordingInfo {
  readonly runId: string;
  readonly path: string;
  readonly bytes: number;
  readonly startedAtMs: number;
  readonly cols: number;
  readonly rows: number;
  readonly command: string;
}

export interface RecordingOptions {
  readonly runId: string;
  readonly command: string;
  readonly cols: number;
  readonly rows: number;
  readonly clock: Clock;
}

export interface Recording {
  readonly path: string;
  /** Settles when the session has ended and the file is whole. */
  readonly finished: Promise<void>;
}

/** The recordings of one gateway. `folder`: `$stateDir/recordings`. */
export class Recordings {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #maxTotalBytes: number;
  #sinceSweep = 0;

  constructor(folder: string, maxBytes: number = MAX_RECORDING_BYTES, maxTotalBytes: number = MAX_RECORDINGS_BYTES) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#maxTotalBytes = maxTotalBytes;
  }

  /** Makes the folder and removes what is too old or too much. */
  async start(now: number): Promise<void> {
    await makePrivateFolder(this.#folder);
    await this.sweep(now);
  }

  /** Removes what is too old or too much. */
  async sweep(now: number): Promise<void> {
    this.#sinceSweep = 0;
    await sweepFolder(this.#folder, ENDING, RECORDING_TTL_MS, now);
    let bytes = 0;
    for (const [at, recording] of (await this.list()).entries()) {
      bytes += recording.bytes;
      if (at >= MAX_RECORDINGS || (at > 0 && bytes > this.#maxTotalBytes)) await unlink(recording.path).catch(() => {});
    }
  }

  /** Call it in the tick in which the handle was had, before anyone subscribes to its output: then nothing is missing. */
  record(handle: ProcessHandle, options: RecordingOptions): Recording {
    const { clock } = options;
    const path = this.#pathOf(options.runId);
    const file = new BoundedFile(path, this.#maxBytes);
    const startedAt = clock.monotonic();
    let full = false;
    const line = (value: unknown): void => {
      const text = `${JSON.stringify(value)}\n`;
      // Half a line would make the whole file unreadable.
      full ||= file.accepted + Buffer.byteLength(text) > this.#maxBytes;
      if (!full) file.write(text);
    };
    const seconds = (): number => Math.round(clock.monotonic() - startedAt) / 1000;
    line({
      version: 2,
      width: options.cols,
      height: options.rows,
      timestamp: Math.floor(clock.now() / 1000),
      command: options.command.slice(0, MAX_HEADER_COMMAND_CHARS),
      env: { TERM: "xterm-256color" },
    });
    const decoders: Record<StreamName, StringDecoder> = {
      stdout: new StringDecoder("utf8"),
      stderr: new StringDecoder("utf8"),
    };
    const output = (_stream: StreamName, text: string): void => {
      // Without a terminal nobody has turned line ends into what a terminal needs.
      if (text !== "") line([seconds(), "o", handle.pty ? text : text.replace(/\r?\n/g, "\r\n")]);
    };
    const unsubscribe =
      handle.onRawOutput?.((stream, chunk) => output(stream, decoders[stream].write(Buffer.from(chunk)))) ??
      handle.onOutput(output);
    const unfollow = handle.onResize?.((cols, rows) => line([seconds(), "r", `${cols}x${rows}`]));
    const finished = handle.ended.then(async () => {
      unsubscribe();
      unfollow?.();
      for (const stream of ["stdout", "stderr"] as const) output(stream, decoders[stream].end());
      await file.close();
      if (++this.#sinceSweep >= SWEEP_EVERY) await this.sweep(clock.now());
    });
    return { path, finished };
  }

  /** Newest first. Files that are no recordings are left out. */
  async list(): Promise<RecordingInfo[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const found = await Promise.all(names.filter((name) => name.endsWith(ENDING)).map((name) => this.#info(name)));
    return found.filter((info) => info !== undefined).sort((a, b) => b.startedAtMs - a.startedAtMs);
  }

  /** Throws `not-found` for a run that was not recorded (any more). */
  async read(runId: string): Promise<RecordingInfo & { readonly text: string }> {
    const info = await this.#known(runId);
    const file = await openRegular(info.path);
    try {
      return { ...info, text: await file.readFile("utf8") };
    } finally {
      await file.close();
    }
  }

  /**
   * `length` bytes of the file from byte `start`, fewer at its end. Throws `not-found` for a run that was not recorded
   * (any more).
   */
  async range(runId: string, start: number, length: number): Promise<RecordingInfo & { readonly chunk: Buffer }> {
    const info = await this.#known(runId);
    const file = await openRegular(info.path);
    try {
      const chunk = Buffer.alloc(Math.max(0, Math.min(length, info.bytes - start)));
      const { bytesRead } = await file.read(chunk, 0, chunk.length, start);
      return { ...info, chunk: chunk.subarray(0, bytesRead) };
    } finally {
      await file.close();
    }
  }

  async #known(runId: string): Promise<RecordingInfo> {
    const info = RUN_ID.test(runId) ? await this.#info(`${runId}${ENDING}`) : undefined;
    if (info !== undefined) return info;
    throw new ExecError(
      "not-found",
      `There is no recording of run ${runId.slice(0, 64)} any more. Recordings are made when tools.exec.record says so, and kept for ${RECORDING_TTL_MS / 86_400_000} days.`,
    );
  }

  #pathOf(runId: string): string {
    if (!RUN_ID.test(runId))
      throw new ExecError("internal", `A run id can not be a file name: ${JSON.stringify(runId)}.`);
    return join(this.#folder, `${runId}${ENDING}`);
  }

  async #info(name: string): Promise<RecordingInfo | undefined> {
    const path = join(this.#folder, name);
    try {
      const file = await openRegular(path);
      try {
        const buffer = Buffer.alloc(MAX_HEADER_BYTES);
        const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
        const header = JSON.parse(buffer.toString("utf8", 0, bytesRead).split("\n", 1)[0] ?? "");
        return {
          runId: name.slice(0, -ENDING.length),
          path,
          bytes: (await stat(path)).size,
          startedAtMs: Number(header.timestamp) * 1000,
          cols: Number(header.width),
          rows: Number(header.height),
          command: String(header.command ?? ""),
        };
      } finally {
        await file.close();
      }
    } catch {
      return undefined;
    }
  }
}

function openRegular(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
}
