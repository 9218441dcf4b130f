/**
 * What a session remembers of its output (exec.md section 5): the aggregate of both streams in arrival order, and
 * what has not been read yet, bounded per stream so that a flood on one can not wash away the errors on the other.
 * Every operation costs a copy of its piece and no more.
 */
import { stripColor } from "./sanitizer.ts";
import { cutTail, TextRing } from "./text-ring.ts";
import type { StreamName } from "./types.ts";

export const MAX_OUTPUT_CHARS = 200_000;
export const MAX_PENDING_CHARS = 30_000;
/** Characters of the beginning that are kept whatever comes after. */
export const MAX_HEAD_CHARS = 6_000;

/** Runs are looked through for forgotten ones when there are this many, then at twice what was left. */
const FIRST_COMPACTION = 4096;

export interface OutputLimits {
  /** Characters of the aggregate. */
  readonly aggregateChars: number;
  /** Unread characters per stream; never above the aggregate. */
  readonly pendingChars: number;
}

export interface Unread {
  readonly text: string;
  /** Characters that fell out before they were read (the log may still hold them). */
  readonly droppedChars: number;
}

/** Which view of the output: `plain` for tool results and logs, `color` for a client that shows ANSI colours. */
export type OutputView = "plain" | "colored";

interface Run {
  readonly stream: StreamName;
  chars: number;
}

export class OutputBuffer {
  readonly #aggregate: TextRing;
  readonly #pending: Record<StreamName, TextRing>;
  readonly #aggregateCap: number;
  readonly #pendingCap: number;
  /** Unread pieces in arrival order; their text stands in the ring of their stream. */
  #runs: Run[] = [];
  /** Set by `freeze`: the final text, when the rings have been given back. */
  #final: string | undefined;
  #head = "";
  #everDropped = false;
  #compactAt = FIRST_COMPACTION;
  /** Characters of runs that `#compactRuns` threw away since the last drain. */
  #forgotten: Record<StreamName, number> = { stdout: 0, stderr: 0 };

  constructor(limits: OutputLimits) {
    this.#aggregateCap = limits.aggregateChars;
    this.#pendingCap = Math.min(limits.pendingChars, limits.aggregateChars);
    this.#aggregate = new TextRing(limits.aggregateChars);
    this.#pending = { stdout: new TextRing(this.#pendingCap), stderr: new TextRing(this.#pendingCap) };
  }

  push(stream: StreamName, text: string): void {
    if (text === "") return;
    if (this.#head.length < MAX_HEAD_CHARS) this.#head += text.slice(0, MAX_HEAD_CHARS - this.#head.length);
    this.#aggregate.push(text);
    this.#pending[stream].push(text);
    this.#pushed(stream, text.length);
  }

  /** `bytes`: printable ASCII, TAB, LF, CR and whole colour sequences only. */
  pushPlain(stream: StreamName, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const headRoom = MAX_HEAD_CHARS - this.#head.length;
    if (headRoom > 0) this.#head += Buffer.from(bytes.subarray(0, headRoom)).toString("latin1");
    this.#aggregate.pushPlain(bytes);
    this.#pending[stream].pushPlain(bytes);
    this.#pushed(stream, bytes.length);
  }

  /** Characters ever produced, colour sequences included. */
  get totalChars(): number {
    return this.#aggregate.totalChars;
  }

  /** Earlier output is gone for good. */
  get lost(): boolean {
    return this.#aggregate.overflowed;
  }

  /** So many characters more would not fit beside what is kept. */
  overflowsWith(chars: number): boolean {
    return this.totalChars + chars > this.#aggregateCap;
  }

  /** Either cap was hit at some time. */
  get truncated(): boolean {
    return this.#aggregate.overflowed || this.#everDropped;
  }

  get hasUnread(): boolean {
    return this.#runs.length > 0;
  }

  /** Characters held in memory for the aggregate. */
  get keptChars(): number {
    return this.#final?.length ?? this.#aggregate.text().length;
  }

  aggregated(view: OutputView = "plain"): string {
    const text = this.#final ?? this.#aggregate.text();
    return view === "plain" ? stripColor(text) : text;
  }

  /** The last `chars` characters in that view. */
  tail(chars: number, view: OutputView = "plain"): string {
    if (view === "colored") return this.#rawTail(chars);
    // Colours take room that the plain view does not show: look further back until there is enough.
    for (let window = chars; ; window *= 4) {
      const raw = this.#rawTail(window);
      const plain = stripColor(raw);
      if (plain.length >= chars || window >= this.totalChars || window > MAX_OUTPUT_CHARS) return cutTail(plain, chars);
    }
  }

  /** The first characters, at most {@link MAX_HEAD_CHARS}, colours included. */
  head(): string {
    return this.#head;
  }

  /** Takes what has not been read, both streams in arrival order. */
  drain(): Unread {
    const texts: Record<StreamName, string> = {
      stdout: this.#pending.stdout.text(),
      stderr: this.#pending.stderr.text(),
    };
    const skip = this.#fallenOut((stream) => texts[stream].length);
    const droppedChars = skip.stdout + skip.stderr + this.#forgotten.stdout + this.#forgotten.stderr;
    const at: Record<StreamName, number> = { stdout: 0, stderr: 0 };
    let text = "";
    for (const run of this.#runs) {
      const skipped = Math.min(run.chars, skip[run.stream]);
      skip[run.stream] -= skipped;
      const from = at[run.stream];
      const to = from + run.chars - skipped;
      text += texts[run.stream].slice(from, to);
      at[run.stream] = to;
    }
    this.#runs = [];
    this.#forgotten = { stdout: 0, stderr: 0 };
    this.#pending.stdout.clear();
    this.#pending.stderr.clear();
    return { text: stripColor(text), droppedChars };
  }

  /** Ends the growing: the aggregate becomes one string and its working memory is given back. Unread text stays. */
  freeze(): void {
    this.#final ??= this.#aggregate.text();
    this.#aggregate.release();
  }

  #pushed(stream: StreamName, chars: number): void {
    const last = this.#runs.at(-1);
    if (last?.stream === stream) last.chars += chars;
    else {
      this.#runs.push({ stream, chars });
      if (this.#runs.length >= this.#compactAt) this.#compactRuns();
    }
    if (this.#pending[stream].overflowed) this.#everDropped = true;
  }

  /** Two streams that alternate for ever would grow the list: forget the runs whose text has fallen out. */
  #compactRuns(): void {
    const skip = this.#fallenOut((stream) => Math.min(this.#pending[stream].totalChars, this.#pendingCap));
    this.#runs = this.#runs.filter(({ stream, chars }) => {
      if (chars > skip[stream]) {
        skip[stream] = 0;
        return true;
      }
      skip[stream] -= chars;
      this.#forgotten[stream] += chars;
      return false;
    });
    this.#compactAt = Math.max(FIRST_COMPACTION, this.#runs.length * 2);
  }

  /** Characters at the front of the runs, per stream, whose text is no longer in the ring. */
  #fallenOut(kept: (stream: StreamName) => number): Record<StreamName, number> {
    const of = (stream: StreamName): number =>
      this.#pending[stream].totalChars - kept(stream) - this.#forgotten[stream];
    return { stdout: of("stdout"), stderr: of("stderr") };
  }

  #rawTail(chars: number): string {
    return this.#final === undefined ? this.#aggregate.tail(chars) : cutTail(this.#final, chars);
  }
}
