/** Between the bytes of a child and those who listen: decodes, cleans, and keeps what comes before anyone listens. */
import { type DecoderSink, OutputDecoder } from "./output-decoder.ts";
import type { OwnText } from "./plain-ascii.ts";
import type { TerminalRequest } from "./sanitizer.ts";
import type { OutputListener, PlainListener, RawOutputListener, StreamName } from "./types.ts";

/** Output that came before anyone listened, in bytes per child. */
const MAX_EARLY_BYTES = 1_048_576;

interface Listener {
  readonly text: OutputListener;
  readonly plain: PlainListener | undefined;
}

export class OutputHub {
  readonly #decoders: Record<StreamName, OutputDecoder>;
  readonly #listeners = new Set<Listener>();
  readonly #rawListeners = new Set<RawOutputListener>();
  /** Undefined once somebody listens. */
  #early: { readonly stream: StreamName; readonly chunk: Buffer }[] | undefined = [];
  #earlyBytes = 0;
  #ended = false;
  #decodersEnded = false;

  constructor(ownText: OwnText, onTerminalRequest: (request: TerminalRequest) => void) {
    const sink = (stream: StreamName): DecoderSink => ({
      text: (text) => this.#emit(stream, text),
      plain: (bytes) => this.#emitPlain(stream, bytes),
    });
    this.#decoders = {
      stdout: new OutputDecoder(ownText, sink("stdout"), onTerminalRequest),
      stderr: new OutputDecoder(ownText, sink("stderr")),
    };
  }

  listen(text: OutputListener, plain?: PlainListener): () => void {
    const listener = { text, plain };
    this.#listeners.add(listener);
    const early = this.#early;
    this.#early = undefined;
    for (const piece of early ?? []) this.#decode(piece.stream, piece.chunk);
    if (this.#ended) this.#endDecoders();
    return () => this.#listeners.delete(listener);
  }

  listenRaw(listener: RawOutputListener): () => void {
    this.#rawListeners.add(listener);
    for (const piece of this.#early ?? []) listener(piece.stream, piece.chunk);
    return () => this.#rawListeners.delete(listener);
  }

  data(stream: StreamName, chunk: Buffer): void {
    for (const listener of this.#rawListeners) listener(stream, chunk);
    if (this.#early === undefined) this.#decode(stream, chunk);
    else this.#keepEarly(this.#early, stream, chunk);
  }

  /** No more data comes: half a character that was held is given out. Idempotent. */
  end(): void {
    this.#ended = true;
    if (this.#early === undefined) this.#endDecoders();
  }

  #keepEarly(early: { stream: StreamName; chunk: Buffer }[], stream: StreamName, chunk: Buffer): void {
    early.push({ stream, chunk });
    this.#earlyBytes += chunk.length;
    while (this.#earlyBytes > MAX_EARLY_BYTES && early.length > 1) this.#earlyBytes -= early.shift()?.chunk.length ?? 0;
  }

  #decode(stream: StreamName, chunk: Buffer): void {
    this.#decoders[stream].write(chunk);
  }

  #endDecoders(): void {
    if (this.#decodersEnded) return;
    this.#decodersEnded = true;
    for (const stream of ["stdout", "stderr"] as const) this.#decoders[stream].end();
  }

  #emit(stream: StreamName, text: string): void {
    for (const listener of this.#listeners) listener.text(stream, text);
  }

  #emitPlain(stream: StreamName, chunk: Buffer): void {
    let text: string | undefined;
    for (const listener of this.#listeners) {
      if (listener.plain !== undefined) listener.plain(stream, chunk);
      else {
        text ??= chunk.toString("latin1");
        listener.text(stream, text);
      }
    }
  }
}
