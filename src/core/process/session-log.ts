/** The output of one session on disk: written along from the moment memory overflows, or made from memory when asked for. */
import { unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ExecError } from "../errors.ts";
import { BoundedFile, type BoundedFileState } from "./bounded-file.ts";
import { makePrivateFolder } from "./log-folder.ts";
import type { OutputBuffer } from "./output-buffer.ts";
import { stripColor } from "./sanitizer.ts";

export interface LogSettings {
  readonly folder: string;
  /** Bytes of one log. */
  readonly maxBytes: number;
}

const ESC = 0x1b;

export class SessionLog {
  readonly #settings: LogSettings | undefined;
  readonly #id: string;
  readonly #output: OutputBuffer;
  #file: BoundedFile | undefined;
  #exported: string | undefined;

  /** Without settings nothing is written, and `state` says so. `id` is usable as a file name. */
  constructor(settings: LogSettings | undefined, id: string, output: OutputBuffer) {
    this.#settings = settings;
    this.#id = id;
    this.#output = output;
  }

  /** Called before `text` goes into the memory of the session. */
  beforeOutput(text: string): void {
    this.#fileFor(text.length)?.write(stripColor(text));
  }

  /** `bytes`: printable ASCII, TAB, LF, CR and whole colour sequences only. */
  beforePlain(bytes: Buffer): void {
    const file = this.#fileFor(bytes.length);
    if (file === undefined) return;
    if (bytes.includes(ESC)) file.write(stripColor(bytes.toString("latin1")));
    else file.writePlain(bytes);
  }

  /** The file, with all that was taken up to now. Throws `internal` when there is no folder or it can not be written. */
  async state(): Promise<BoundedFileState> {
    if (this.#file !== undefined) {
      const state = await this.#file.flush();
      if (state.bytes > 0) return state;
    }
    if (this.#settings === undefined) {
      throw new ExecError("internal", "No folder for logs is configured, so there is no full log.");
    }
    return this.#export(this.#settings.folder);
  }

  /** Nothing more comes. The files stay. */
  async close(): Promise<void> {
    await this.#file?.close();
  }

  async remove(): Promise<void> {
    await this.close();
    for (const path of [this.#file?.path, this.#exported]) {
      if (path !== undefined) await unlink(path).catch(() => {});
    }
  }

  /** The file, from the moment on in which memory can not hold so many characters more. */
  #fileFor(chars: number): BoundedFile | undefined {
    if (this.#file === undefined && this.#settings !== undefined && this.#output.overflowsWith(chars)) {
      this.#file = new BoundedFile(join(this.#settings.folder, `${this.#id}.log`), this.#settings.maxBytes);
      this.#file.write(this.#output.aggregated());
    }
    return this.#file;
  }

  async #export(folder: string): Promise<BoundedFileState> {
    const path = join(folder, `${this.#id}.part.log`);
    const text = this.#output.aggregated();
    try {
      await makePrivateFolder(folder);
      await unlink(path).catch(() => {});
      await writeFile(path, text, { mode: 0o600, flag: "wx" });
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code ?? "unknown";
      throw new ExecError("internal", `The log could not be written to ${folder} (${why}).`);
    }
    this.#exported = path;
    return { path, bytes: Buffer.byteLength(text), complete: !this.#output.lost };
  }
}
