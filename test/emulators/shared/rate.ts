/** At most so many in any span of time: for each key, a list of when. */
export interface Rate {
  readonly count: number;
  readonly perMs: number;
}

export class SlidingRates {
  readonly #times = new Map<string, number[]>();

  /** Counts one and answers 0, or counts nothing and answers how many milliseconds too early it is. */
  charge(key: string, { count, perMs }: Rate, nowMs: number): number {
    const recent = (this.#times.get(key) ?? []).filter((at) => at > nowMs - perMs);
    this.#times.set(key, recent);
    const blocking = recent.at(-count);
    if (blocking !== undefined) return blocking + perMs - nowMs;
    recent.push(nowMs);
    return 0;
  }

  reset(): void {
    this.#times.clear();
  }
}
