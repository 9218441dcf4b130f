/**
 * A connection that is lost again and again. The first losses within the window cost nothing, since networks blink and
 * platforms ask for it; beyond them each new connection waits longer (openclaw 11836: 2,483 reconnects in a row).
 */

export interface ReconnectLimits {
  readonly windowMs: number;
  /** Losses within the window after which the next connection may follow at once. */
  readonly free: number;
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * At the longest wait a bot makes 15 connections an hour: Discord allows 1,000 sessions a day before it resets the token.
 * The longest wait stays below the five minutes within which what was said meanwhile is still answered.
 */
export const RECONNECTS: ReconnectLimits = { windowMs: 3_600_000, free: 10, minMs: 5_000, maxMs: 4 * 60_000 };

export interface Loss {
  /** Within the window, this one included. */
  readonly count: number;
  /** Before the next connection; 0: at once. */
  readonly waitMs: number;
}

export class Reconnects {
  readonly #limits: ReconnectLimits;
  readonly #monotonic: () => number;
  #lostAt: number[] = [];

  constructor(monotonic: () => number, limits: ReconnectLimits = RECONNECTS) {
    this.#monotonic = monotonic;
    this.#limits = limits;
  }

  /** A connection that stood is gone. */
  lost(): Loss {
    const { windowMs, free, minMs, maxMs } = this.#limits;
    const now = this.#monotonic();
    this.#lostAt = [...this.#lostAt.filter((at) => now - at < windowMs), now];
    const count = this.#lostAt.length;
    const over = count - free;
    return { count, waitMs: over <= 0 ? 0 : Math.min(maxMs, minMs * 2 ** Math.min(over - 1, 16)) };
  }

  get windowMinutes(): number {
    return Math.round(this.#limits.windowMs / 60_000);
  }
}
