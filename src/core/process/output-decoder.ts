import { StringDecoder } from "node:string_decoder";
import { Sanitizer, type TerminalRequest } from "./sanitizer.ts";

/** Bytes of one stream to clean text: UTF-8 over chunk borders, invalid bytes as U+FFFD, then `Sanitizer`. */
export class OutputDecoder {
  readonly #bytes = new StringDecoder("utf8");
  readonly #sanitizer: Sanitizer;

  constructor(onRequest?: (request: TerminalRequest) => void) {
    this.#sanitizer = new Sanitizer(onRequest);
  }

  write(chunk: Buffer): string {
    return this.#sanitizer.push(this.#bytes.write(chunk));
  }

  /** What was still held: an incomplete character becomes one U+FFFD. */
  end(): string {
    const rest = this.#sanitizer.push(this.#bytes.end());
    this.#sanitizer.end();
    return rest;
  }
}
