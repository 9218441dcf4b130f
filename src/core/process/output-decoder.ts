import { StringDecoder } from "node:string_decoder";
import type { OwnText } from "./plain-ascii.ts";
import { Sanitizer, type TerminalRequest } from "./sanitizer.ts";

/** Bytes decoded first when a sequence or a character is open, in the hope that it closes there. */
const PATCH_BYTES = 64;
const ESC = 0x1b;

export interface DecoderSink {
  /** Never empty. */
  text(text: string): void;
  /** Printable ASCII, TAB, LF, CR and whole colour sequences; not to be kept. */
  plain(bytes: Buffer): void;
}

/**
 * Bytes of one stream to clean text: UTF-8 over chunk borders, invalid bytes as U+FFFD, then `Sanitizer`. Bytes that are
 * their own text pass as they are.
 */
export class OutputDecoder {
  readonly #bytes = new StringDecoder("utf8");
  readonly #sanitizer: Sanitizer;
  readonly #ownText: OwnText;
  readonly #sink: DecoderSink;
  /** Nothing is held back: the next bytes can be judged by themselves. */
  #atRest = true;

  constructor(ownText: OwnText, sink: DecoderSink, onRequest?: (request: TerminalRequest) => void) {
    this.#ownText = ownText;
    this.#sink = sink;
    this.#sanitizer = new Sanitizer(onRequest);
  }

  write(chunk: Buffer): void {
    let rest = chunk;
    if (!this.#atRest) {
      // Not into the next sequence, which would be cut in its turn.
      const next = chunk.subarray(0, PATCH_BYTES).indexOf(ESC, 1);
      const end = next < 0 ? PATCH_BYTES : next;
      this.#decode(chunk.subarray(0, end));
      rest = chunk.subarray(end);
    }
    if (rest.length === 0) return;
    const own = this.#atRest ? this.#ownText(rest) : 0;
    if (own > 0) this.#sink.plain(own === rest.length ? rest : rest.subarray(0, own));
    if (own < rest.length) this.#decode(rest.subarray(own));
  }

  /** What was still held: an incomplete character becomes one U+FFFD. */
  end(): void {
    this.#emit(this.#sanitizer.push(this.#bytes.end()));
    this.#sanitizer.end();
    this.#atRest = true;
  }

  #decode(bytes: Buffer): void {
    this.#emit(this.#sanitizer.push(this.#bytes.write(bytes)));
    this.#atRest = this.#sanitizer.atRest && !endsInsideCharacter(bytes);
  }

  #emit(text: string): void {
    if (text !== "") this.#sink.text(text);
  }
}

/** Only a chunk that ends in ASCII leaves nothing in the decoder for certain. */
function endsInsideCharacter(chunk: Buffer): boolean {
  return ((chunk.at(-1) ?? 0) & 0x80) !== 0;
}
