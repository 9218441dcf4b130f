import { Redis, type RedisOptions } from "ioredis";
import { ExecError } from "../errors.ts";
import type { OnTrouble } from "./topics.ts";

/** How long a call waits for a connection before it gives up without having sent anything. */
export const READY_WAIT_MS = 2000;

/** How long a call that was sent waits for its answer. */
export const COMMAND_TIMEOUT_MS = 3000;

/** A connection that owes answers and has been silent for this long is taken for dead and made anew. */
const SILENCE_TIMEOUT_MS = 10_000;

const CONNECT_TIMEOUT_MS = 5000;
const QUIT_TIMEOUT_MS = 1000;
const RECONNECT_FIRST_MS = 50;
const RECONNECT_MAX_MS = 1000;

export interface ConnectOptions {
  readonly url: string;
  /** What the connection is for, as `CLIENT LIST` and messages show it. */
  readonly name: string;
  readonly onTrouble: OnTrouble;
  readonly extra?: Omit<RedisOptions, "replyMapping">;
}

/**
 * A connection that reconnects for ever by itself. It never queues commands while it is down and never repeats one
 * that was under way when it broke: whether such a command was done is unknown, and an append must not happen twice.
 */
export function connectRedis(options: ConnectOptions): Redis {
  assertRedisUrl(options.url);
  const redis = new Redis(options.url, {
    connectionName: options.name,
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: null,
    retryStrategy: (times) => Math.min(RECONNECT_FIRST_MS * 2 ** Math.min(times - 1, 10), RECONNECT_MAX_MS),
    ...(options.extra ?? {}),
  });
  reportTrouble(redis, options.name, options.url, options.onTrouble);
  return redis;
}

/** Tells of an outage once when it begins; ioredis repeats the same error with each attempt. */
function reportTrouble(redis: Redis, name: string, url: string, onTrouble: OnTrouble): void {
  let told = false;
  redis.on("error", (error) => {
    if (!told) onTrouble(`Redis connection ${name} to ${maskUrl(url)} has trouble and is being retried`, error);
    told = true;
  });
  redis.on("ready", () => {
    told = false;
  });
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: ExecError) => void;
  readonly timer: NodeJS.Timeout;
}

/** One connection whose calls end within a known time, with an `ExecError` of code `state-unavailable`. */
export class RedisLink {
  readonly redis: Redis;
  readonly #where: string;
  readonly #waiters = new Set<Waiter>();
  #lastError: string | undefined;
  #closed = false;

  constructor(options: ConnectOptions) {
    assertRedisUrl(options.url);
    this.#where = maskUrl(options.url);
    this.redis = connectRedis({
      ...options,
      extra: {
        commandTimeout: COMMAND_TIMEOUT_MS,
        socketTimeout: SILENCE_TIMEOUT_MS,
        // What was under way when the connection broke fails at once, not when its time is over.
        maxRetriesPerRequest: 0,
        ...(options.extra ?? {}),
      },
    });
    this.redis.on("error", (error: Error) => {
      this.#lastError = error.message;
    });
    this.redis.on("ready", () => this.#settle());
  }

  /** Resolves once commands can be sent; rejects after `limitMs`. */
  async ready(limitMs: number = READY_WAIT_MS): Promise<void> {
    if (this.#closed) throw this.#unavailable("the connection was closed");
    if (this.redis.status === "ready") return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter);
        reject(this.#unavailable(this.#lastError ?? `no connection within ${limitMs} ms`));
      }, limitMs);
      const waiter = { resolve, reject, timer };
      this.#waiters.add(waiter);
    });
  }

  async run<T>(call: (redis: Redis) => Promise<T>): Promise<T> {
    await this.ready();
    try {
      return await call(this.redis);
    } catch (error) {
      if (error instanceof ExecError) throw error;
      const broke = (error as Error).name === "MaxRetriesPerRequestError";
      throw this.#unavailable(broke ? "the connection broke" : (error as Error).message);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#settle(this.#unavailable("the connection was closed"));
    await closeRedis(this.redis);
  }

  #settle(error?: ExecError): void {
    for (const { resolve, reject, timer } of this.#waiters) {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve();
    }
    this.#waiters.clear();
  }

  #unavailable(detail: string): ExecError {
    return new ExecError(
      "state-unavailable",
      `Redis at ${this.#where} can not be used now: ${detail}. Nothing was confirmed; try again when it is back.`,
    );
  }
}

/** Ends a connection: politely when it works, at once when it does not. */
export async function closeRedis(redis: Redis): Promise<void> {
  if (redis.status !== "ready") {
    // No `end` follows when there is no socket just now, so there is nothing to wait for.
    redis.disconnect();
    return;
  }
  const force = setTimeout(() => redis.disconnect(), QUIT_TIMEOUT_MS);
  await redis.quit().catch(() => redis.disconnect());
  clearTimeout(force);
}

function assertRedisUrl(url: string): void {
  let protocol: string | undefined;
  try {
    protocol = new URL(url).protocol;
  } catch {
    protocol = undefined;
  }
  if (protocol !== "redis:" && protocol !== "rediss:") {
    throw new ExecError(
      "invalid-argument",
      "The Redis address must look like redis://host:6379 or rediss://host:6380 (with TLS).",
    );
  }
}

/** The address without its password, for messages. */
export function maskUrl(url: string): string {
  const parsed = new URL(url);
  return `${parsed.protocol}//${parsed.username || parsed.password ? "***@" : ""}${parsed.host}${parsed.pathname}`;
}
