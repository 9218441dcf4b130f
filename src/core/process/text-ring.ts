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

  push(text: string): void {
    this.#totalChars += text.length;
    if (this.#ascii && Buffer.byteLength(text, "utf8") !== text.length) this.#ascii = false;
    const most = this.#capChars + SLACK_BYTES;
    if (text.length > most) this.#dropped = true;
    this.#append(text.length > most ? text.slice(-most) : text);
  }

  /** `bytes` are ASCII; they are copied. */
  pushPlain(bytes: Uint8Array): void {
    this.#totalChars += bytes.length;
    const most = this.#capChars + SLACK_BYTES;
    if (bytes.length > most) this.#dropped = true;
    this.#appendBytes(bytes.length > most ? bytes.subarray(bytes.length - most) : bytes);
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

  get #limit(): number {
    return this.#capChars * (this.#ascii ? 1 : MAX_BYTES_PER_CHAR) + SLACK_BYTES;
  }

  #append(text: string): void {
    const bytes = this.#ascii ? text.length : Buffer.byteLength(text, "utf8");
    this.#reserve(bytes);
    const end = this.#end;
    if (bytes > this.#buffer.length - end) this.#appendBytes(Buffer.from(text, "utf8"));
    else {
      this.#buffer.write(text, end, bytes, this.#ascii ? "latin1" : "utf8");
      this.#grewBy(bytes);
    }
  }

  #appendBytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    const size = this.#buffer.length;
    if (bytes.length >= size) {
      this.#buffer.set(bytes.subarray(bytes.length - size));
      this.#dropped ||= bytes.length > size || this.#length > 0;
      this.#start = 0;
      this.#length = size;
      return;
    }
    const end = this.#end;
    const room = size - end;
    if (bytes.length <= room) this.#buffer.set(bytes, end);
    else {
      this.#buffer.set(bytes.subarray(0, room), end);
      this.#buffer.set(bytes.subarray(room), 0);
    }
    this.#grewBy(bytes.length);
  }

  /** Where the next byte goes. */
  get #end(): number {
    return this.#buffer.length === 0 ? 0 : (this.#start + this.#length) % this.#buffer.length;
  }

  #grewBy(bytes: number): void {
    const size = this.#buffer.length;
    const over = this.#length + bytes - size;
    if (over > 0) {
      this.#start = (this.#start + over) % size;
      this.#length = size;
      this.#dropped = true;
    } else this.#length += bytes;
  }

  /** Makes room for so many bytes more, as far as the limit allows. */
  #reserve(bytes: number): void {
    const limit = this.#limit;
    const wanted = Math.min(limit, this.#length + bytes);
    if (wanted <= this.#buffer.length) return;
    let size = Math.max(FIRST_BYTES, this.#buffer.length);
    while (size < wanted) size *= 2;
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
