/** Rate limits as Discord announces them in headers and enforces them: buckets per route and channel. */
export interface Bucket {
  readonly limit: number;
  readonly windowMs: number;
}

export interface RateState {
  readonly limited: boolean;
  readonly retryAfterS: number;
  readonly headers: Readonly<Record<string, string>>;
}

const DEFAULT: Bucket = { limit: 50, windowMs: 1_000 };

export class Rates {
  /** By `METHOD template`. */
  readonly buckets: Record<string, Bucket> = {
    "POST /channels/{channel_id}/messages": { limit: 5, windowMs: 5_000 },
    "PATCH /channels/{channel_id}/messages/{message_id}": { limit: 5, windowMs: 5_000 },
  };
  readonly #used = new Map<string, { count: number; resetAtMs: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** `major`: the channel, webhook or guild the route is about. */
  charge(route: string, major: string): RateState {
    const bucket = this.buckets[route] ?? DEFAULT;
    const key = `${route}|${major}`;
    const now = this.#now();
    const known = this.#used.get(key);
    const state = known && known.resetAtMs > now ? known : { count: 0, resetAtMs: now + bucket.windowMs };
    const limited = state.count >= bucket.limit;
    if (!limited) state.count += 1;
    this.#used.set(key, state);
    const resetAfterS = (state.resetAtMs - now) / 1000;
    return {
      limited,
      retryAfterS: resetAfterS,
      headers: {
        "x-ratelimit-limit": String(bucket.limit),
        "x-ratelimit-remaining": String(bucket.limit - state.count),
        "x-ratelimit-reset": (state.resetAtMs / 1000).toFixed(3),
        "x-ratelimit-reset-after": resetAfterS.toFixed(3),
        "x-ratelimit-bucket": Buffer.from(route).toString("base64url").slice(0, 24),
      },
    };
  }

  reset(): void {
    this.#used.clear();
  }
}
