/**
 * Texts inside texts: `bash -c`, `eval`. One command can name the same text from many places, and each of them again:
 * every text is looked into once, and all of them together only so far.
 */

/** UTF-16 units of all texts of one command. */
const MAX_PAYLOAD_CHARS = 64 * 1024;

export class Payloads {
  private readonly seen = new Set<string>();
  private left = MAX_PAYLOAD_CHARS;

  /** `"new"`: to be looked into. `"seen"`: was looked into. `"too-much"`: nobody can say what it holds. */
  take(text: string): "new" | "seen" | "too-much" {
    if (this.seen.has(text)) return "seen";
    this.seen.add(text);
    this.left -= text.length;
    return this.left < 0 ? "too-much" : "new";
  }
}
