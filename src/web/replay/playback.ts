/** Plays events at their times: play, pause, seek and speed. Knows no browser; time and the screen are handed in. */
import type { ReplayEvent } from "../../protocol/frames.ts";

export const SPEEDS = [0.5, 1, 2, 4, 8] as const;
export type Speed = (typeof SPEEDS)[number];

/** Characters put on the screen before it is asked again where to go: a seek through megabytes can be changed. */
const SLICE_CHARS = 1_000_000;
const FRAME_MS = 16;
/** The shown time moves at least this often. */
const CLOCK_STEP_MS = 250;

export interface PlaybackScreen {
  reset(): void;
  apply(events: readonly ReplayEvent[]): Promise<void>;
}

export interface PlaybackOptions {
  readonly events: readonly ReplayEvent[];
  readonly screen: PlaybackScreen;
  /** Milliseconds, never backwards. */
  now(): number;
  /** Calls once after that many milliseconds; gives back how to call it off. */
  later(ms: number, action: () => void): () => void;
  /** State or screen changed. */
  onChange(): void;
}

export class Playback {
  readonly duration: number;
  readonly #options: PlaybackOptions;
  #speed: Speed = 1;
  /** Where the replay was, in seconds, at `#sinceMs`. */
  #from = 0;
  #sinceMs: number | undefined;
  #cancel = () => {};
  /** How many events the screen shows, and how many it should. */
  #shown = 0;
  #wanted = 0;
  #working = false;

  constructor(options: PlaybackOptions) {
    this.#options = options;
    this.duration = options.events.at(-1)?.[0] ?? 0;
  }

  get playing(): boolean {
    return this.#sinceMs !== undefined;
  }

  get speed(): Speed {
    return this.#speed;
  }

  /** Seconds from the start of the recording. */
  get position(): number {
    const { now } = this.#options;
    const gone = this.#sinceMs === undefined ? 0 : ((now() - this.#sinceMs) / 1000) * this.#speed;
    return Math.min(this.duration, this.#from + gone);
  }

  /** From the beginning when it stands at the end. */
  play(): void {
    if (this.playing) return;
    if (this.#from >= this.duration) this.#from = 0;
    this.#sinceMs = this.#options.now();
    this.#tick();
  }

  pause(): void {
    this.#from = this.position;
    this.#sinceMs = undefined;
    this.#cancel();
    this.#options.onChange();
  }

  seek(seconds: number): void {
    this.#from = Math.min(this.duration, Math.max(0, seconds));
    if (this.playing) this.#sinceMs = this.#options.now();
    this.#tick();
  }

  setSpeed(speed: Speed): void {
    this.#from = this.position;
    if (this.playing) this.#sinceMs = this.#options.now();
    this.#speed = speed;
    this.#tick();
  }

  stop(): void {
    this.#sinceMs = undefined;
    this.#cancel();
  }

  #tick(): void {
    this.#cancel();
    const { position } = this;
    this.#wanted = this.#countUntil(position);
    void this.#show();
    if (this.playing && position >= this.duration) this.pause();
    else if (this.playing) {
      // Asleep until the next output, but awake often enough for the clock to move.
      const next = this.#options.events[this.#wanted]?.[0] ?? this.duration;
      const ms = ((next - position) / this.#speed) * 1000;
      this.#cancel = this.#options.later(Math.min(CLOCK_STEP_MS, Math.max(FRAME_MS, ms)), () => this.#tick());
    }
    this.#options.onChange();
  }

  /** Events at or before that second; their times never go down. */
  #countUntil(seconds: number): number {
    const { events } = this.#options;
    let low = 0;
    let high = events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((events[middle]?.[0] ?? 0) <= seconds) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  async #show(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    const { events, screen, onChange } = this.#options;
    while (this.#shown !== this.#wanted) {
      if (this.#wanted < this.#shown) {
        screen.reset();
        this.#shown = 0;
      }
      let chars = 0;
      let end = this.#shown;
      while (end < this.#wanted && chars < SLICE_CHARS) chars += events[end++]?.[2].length ?? 0;
      const slice = events.slice(this.#shown, end);
      this.#shown = end;
      await screen.apply(slice);
      if (this.#shown === this.#wanted) onChange();
    }
    this.#working = false;
  }
}
