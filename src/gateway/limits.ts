/** Every limit of the server in one place. */
import { TICK_MS } from "../protocol/frames.ts";

export interface ServerLimits {
  /** `gateway.maxBodyBytes` */
  readonly maxBodyBytes: number;
  /** A socket that has not sent a good `connect` by then is closed. */
  readonly connectDeadlineMs: number;
  readonly tickMs: number;
  /** Bytes waiting for one client before it is closed as too slow. */
  readonly maxBufferedBytes: number;
  /** Above this, live tails are left out for one client: the next one replaces them anyway. */
  readonly maxBufferedForLiveBytes: number;
  readonly maxConnections: number;
  /** Requests of one connection at work at the same time. */
  readonly maxInFlight: number;
  readonly requestsPer10s: number;
  /** Conversations one connection watches at the same time. */
  readonly maxWatchedChats: number;
  /** `gateway.auth.maxFailures`: wrong tokens from one address within a minute before it has to wait. */
  readonly maxTokenFailures: number;
  /** `gateway.auth.lockoutSec` */
  readonly tokenLockoutSec: number;
}

export const DEFAULT_LIMITS: ServerLimits = {
  maxBodyBytes: 1024 * 1024,
  connectDeadlineMs: 10_000,
  tickMs: TICK_MS,
  maxBufferedBytes: 4 * 1024 * 1024,
  maxBufferedForLiveBytes: 128 * 1024,
  maxConnections: 256,
  maxInFlight: 64,
  requestsPer10s: 200,
  maxWatchedChats: 32,
  maxTokenFailures: 10,
  tokenLockoutSec: 300,
};
