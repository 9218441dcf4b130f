/**
 * The tail of a stream of text in a fixed amount of memory. Text is kept as UTF-8 bytes in one circular buffer that
 * starts small and doubles up to its limit, so a flood costs one copy per piece and leaves nothing for the garbage
 * collector to trace.
 *
 * Lengths are UTF-16 units ("characters"). Cuts never fall inside a surrogate pair or a colour sequence.
 */

const FIRST_BYTES = 1024;
/** Kept beyond the limit, so that a cut can see whether it stands inside a colour sequence. */
const SLACK_BYTES = 160;
/** Longest `ESC [ … m` the sanitizer lets through, in characters. */
const MAX_COLOR = 132;
/** UTF-8 needs at most three bytes for one UTF-16 unit. */
const MAX_BYTES_PER_CHAR = 3;

export class TextRing {
  readonly #capChars: number;
  #buffer: Buffer = Buffer.alloc(0);
  #start = 0;
  #length = 0;
  #ascii = true;
  #dropped = false;
  #totalChars = 0;

  /** `capChars`: how many characters are kept. */
  constructor(capChars: number) {
    this.#capChars = capChars;
  }

  /** Characters ever pushed. */
  get totalChars(): number {
    return this.#totalChars;
  }

  /** True once text fell out: it is gone for good. */
  get overflowed(): boolean {
    return this.#totalChars > this.#capChars;
  }

  /** `plain`: the text is known to be ASCII. */
  push(text: string, plain = false): void {
    this.#totalChars += text.length;
    if (!plain && this.#ascii && Buffer.byteLength(text, "utf8") !== text.length) this.#ascii = false;
    const limit = this.#capChars * (this.#ascii ? 1 : MAX_BYTES_PER_CHAR) + SLACK_BYTES;
    if (text.length > this.#capChars + SLACK_BYTES) {
      this.#append(text.slice(-(this.#capChars + SLACK_BYTES)), limit, plain);
      this.#dropped = true;
    } else this.#append(text, limit, plain);
  }

  /** All that is kept, at most the limit. */
  text(): string {
    return this.tail(this.#capChars);
  }

  /** The last `chars` characters, fewer when a cut would split something. */
  tail(chars: number): string {
    const wanted = Math.min(chars, this.#capChars);
    if (wanted <= 0) return "";
    const bytes = Math.min(this.#length, wanted * (this.#ascii ? 1 : MAX_BYTES_PER_CHAR) + SLACK_BYTES);
    const partial = this.#dropped || bytes < this.#length;
    return cutTail(this.#decode(bytes, partial), wanted);
  }

  /** Forgets everything, the count as well. Memory that is already there is used again. */
  clear(): void {
    this.#start = 0;
    this.#length = 0;
    this.#ascii = true;
    this.#dropped = false;
    this.#totalChars = 0;
  }

  /** Gives the memory back and keeps the count. */
  release(): void {
    this.#buffer = Buffer.alloc(0);
    this.#start = 0;
    this.#length = 0;
  }

  #append(text: string, limit: number, plain: boolean): void {
    const bytes = this.#ascii || plain ? text.length : Buffer.byteLength(text, "utf8");
    this.#reserve(Math.min(limit, this.#length + bytes));
    const size = this.#buffer.length;
    if (bytes >= size) {
      // Only reached when the piece alone fills the ring.
      const encoded = Buffer.from(text, "utf8");
      encoded.copy(this.#buffer, 0, bytes - size);
      this.#dropped ||= bytes > size || this.#length > 0;
      this.#start = 0;
      this.#length = size;
      return;
    }
    const end = (this.#start + this.#length) % size;
    const room = size - end;
    if (this.#ascii || plain) {
      const first = Math.min(bytes, room);
      this.#buffer.write(text, end, first, "latin1");
      if (first < bytes) this.#buffer.write(text.slice(first), 0, bytes - first, "latin1");
    } else if (bytes <= room) this.#buffer.write(text, end, bytes, "utf8");
    else {
      const encoded = Buffer.from(text, "utf8");
      encoded.copy(this.#buffer, end, 0, room);
      encoded.copy(this.#buffer, 0, room);
    }
    const over = this.#length + bytes - size;
    if (over > 0) {
      this.#start = (this.#start + over) % size;
      this.#length = size;
      this.#dropped = true;
    } else this.#length += bytes;
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    let size = Math.max(FIRST_BYTES, this.#buffer.length);
    while (size < bytes) size *= 2;
    const limit = this.#capChars * (this.#ascii ? 1 : MAX_BYTES_PER_CHAR) + SLACK_BYTES;
    const grown = Buffer.allocUnsafeSlow(Math.min(size, limit));
    const head = Math.min(this.#length, this.#buffer.length - this.#start);
    this.#buffer.copy(grown, 0, this.#start, this.#start + head);
    this.#buffer.copy(grown, head, 0, this.#length - head);
    this.#buffer = grown;
    this.#start = 0;
  }

  #decode(bytes: number, partial: boolean): string {
    if (bytes === 0) return "";
    const size = this.#buffer.length;
    let from = (this.#start + this.#length - bytes) % size;
    let left = bytes;
    if (partial) {
      // The window may start inside a character: step over its continuation bytes.
      while (left > 0 && ((this.#buffer[from] ?? 0) & 0xc0) === 0x80) {
        from = (from + 1) % size;
        left--;
      }
    }
    const encoding = this.#ascii ? "latin1" : "utf8";
    if (from + left <= size) return this.#buffer.toString(encoding, from, from + left);
    const joined = Buffer.allocUnsafe(left);
    this.#buffer.copy(joined, 0, from, size);
    this.#buffer.copy(joined, size - from, 0, left - (size - from));
    return joined.toString(encoding);
  }
}

/** The last `chars` characters of `text`, starting neither inside a surrogate pair nor inside a colour sequence. */
export function cutTail(text: string, chars: number): string {
  if (text.length <= chars) return text;
  let at = text.length - chars;
  const open = text.lastIndexOf("\x1b", at - 1);
  if (open >= 0 && at - open <= MAX_COLOR) {
    const close = text.indexOf("m", open);
    if (close >= at && /^\[[0-9;:]*$/.test(text.slice(open + 1, close))) at = close + 1;
  }
  const code = text.charCodeAt(at);
  if (code >= 0xdc00 && code <= 0xdfff) at++;
  return text.slice(at);
}
