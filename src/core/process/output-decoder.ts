import { StringDecoder } from "node:string_decoder";
import type { IsPlainAscii } from "./plain-ascii.ts";
import { Sanitizer, type TerminalRequest } from "./sanitizer.ts";

/** Bytes of one stream to clean text: UTF-8 over chunk borders, invalid bytes as U+FFFD, then `Sanitizer`. */
export class OutputDecoder {
  readonly #bytes = new StringDecoder("utf8");
  readonly #sanitizer: Sanitizer;
  readonly #isPlain: IsPlainAscii;
  /** Nothing is held back: the next chunk can be judged by itself. */
  #atRest = true;

  constructor(isPlain: IsPlainAscii, onRequest?: (request: TerminalRequest) => void) {
    this.#isPlain = isPlain;
    this.#sanitizer = new Sanitizer(onRequest);
  }

  /** The text; undefined when the chunk is its own text: nothing but printable ASCII, TAB, LF and CR. */
  write(chunk: Buffer): string | undefined {
    if (this.#atRest && this.#isPlain(chunk)) return undefined;
    const text = this.#sanitizer.push(this.#bytes.write(chunk));
    this.#atRest = this.#sanitizer.atRest && !endsInsideCharacter(chunk);
    return text;
  }

  /** What was still held: an incomplete character becomes one U+FFFD. */
  end(): string {
    const rest = this.#sanitizer.push(this.#bytes.end());
    this.#sanitizer.end();
    this.#atRest = true;
    return rest;
  }
}

/** Only a chunk that ends in ASCII leaves nothing in the decoder for certain. */
function endsInsideCharacter(chunk: Buffer): boolean {
  return ((chunk.at(-1) ?? 0) & 0x80) !== 0;
}
