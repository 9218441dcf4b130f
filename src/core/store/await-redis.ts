/**
 * Waits at the start until Redis takes commands: one that comes up beside us, or still loads its data, needs its time. A
 * Redis that refuses the password will not change its mind, so nobody waits for that.
 */
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { maskUrl, RedisLink } from "./redis-connection.ts";

/** What is told of a wait: first soon, then now and then. */
const FIRST_WORD_MS = 1_000;
const NEXT_WORD_MS = 5_000;

/** Error codes of Redis after which trying again does not help: redis.io/docs/latest/operate/oss_and_stack/management/security/acl */
const REFUSED = /\b(?:WRONGPASS|NOAUTH|NOPERM)\b/;

export interface AwaitRedisOptions {
  readonly url: string;
  /** How long in all, in milliseconds. */
  readonly limitMs: number;
  readonly clock: Clock;
  /** It is not there yet; told after a second, then every five. */
  readonly onWaiting: (waitedMs: number, why: string) => void;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** True once it is there, false when `signal` ended the wait. Rejects with `state-unavailable` when it did not come. */
export async function awaitRedis(options: AwaitRedisOptions): Promise<boolean> {
  const { url, limitMs, clock, onWaiting, signal } = options;
  const link = new RedisLink({ url, name: "openclaw-start", onTrouble: () => {} });
  const begun = clock.monotonic();
  const waited = () => clock.monotonic() - begun;
  const aborted = new Promise<"aborted">((resolve) => {
    signal.addEventListener("abort", () => resolve("aborted"), { once: true });
  });
  try {
    for (let stepMs = FIRST_WORD_MS; !signal.aborted; stepMs = NEXT_WORD_MS) {
      const left = Math.max(0, limitMs - waited());
      const outcome = await Promise.race([link.ready(Math.min(stepMs, left)).catch(asError), aborted]);
      if (outcome === undefined) return true;
      if (outcome === "aborted") break;
      if (REFUSED.test(outcome.message)) throw outcome;
      if (waited() >= limitMs) throw tooLong(url, limitMs, outcome);
      onWaiting(Math.round(waited()), outcome.message);
    }
    return false;
  } finally {
    await link.close();
  }
}

function asError(error: unknown): Error {
  return error as Error;
}

function tooLong(url: string, limitMs: number, last: Error): ExecError {
  return new ExecError(
    "state-unavailable",
    `Redis at ${maskUrl(url)} did not come up within ${Math.round(limitMs / 1_000)} s (redis.startWaitSec). ${last.message}`,
  );
}
