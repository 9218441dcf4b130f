import type { Clock } from "../../../src/core/clock.ts";

/** Real time plus an offset that a test moves forward: expiry without waiting. */
export class EmulatorClock implements Clock {
  private offsetMs = 0;

  now(): number {
    return Date.now() + this.offsetMs;
  }

  monotonic(): number {
    return performance.now() + this.offsetMs;
  }

  advance(ms: number): void {
    this.offsetMs += ms;
  }

  reset(): void {
    this.offsetMs = 0;
  }
}
