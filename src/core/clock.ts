/** Time and identity are handed in, so a test never waits for a timer and never guesses an id. */
export interface Clock {
  /** Milliseconds since the epoch: for records that people read. */
  now(): number;
  /** Milliseconds from an arbitrary start that never jumps: for deadlines and durations. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** Makes a fresh id; `crypto.randomUUID` in the product. */
export type NewId = () => string;
