import type { Clock } from "../core/clock.ts";

/** Places a platform asked to leave alone for a while (HTTP 429): nothing is sent there before the time it named. */
export class Pauses {
  readonly #clock: Clock;
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  set(place: string, forMs: number): void {
    this.#until.set(place, this.#clock.monotonic() + forMs);
  }

  /** Milliseconds left; 0 when the place may be written to. */
  left(place: string): number {
    const until = this.#until.get(place);
    if (until === undefined) return 0;
    const left = until - this.#clock.monotonic();
    if (left <= 0) this.#until.delete(place);
    return Math.max(0, Math.ceil(left));
  }
}
