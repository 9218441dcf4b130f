import type { Redis } from "ioredis";
import { encodeValue } from "./json.ts";
import { assertName, prefixEnd } from "./keys.ts";
import { maxLengthOf, pageSize, ttlOf } from "./limits.ts";
import { RedisLink } from "./redis-connection.ts";
import { APPEND, DELETE, LIST, WRITE } from "./redis-scripts.ts";
import type { Listed, LogEntry, NewRecord, Store, Versioned, WriteOptions } from "./store.ts";
import { type OnTrouble, Topics, warnOfTrouble } from "./topics.ts";

const DEFAULT_REDIS_PREFIX = "openclaw:";

/** How long opening waits for Redis to answer. */
export const OPEN_TIMEOUT_MS = 5000;

const HEALTH_KEY_TTL_MS = 60_000;

/** Redis is there but refuses the subscription: it is asked again after this. */
const SUBSCRIBE_RETRY_MS = 1000;

export interface RedisStoreOptions {
  readonly url: string;
  /** Put before every key and topic. Default `openclaw:`. */
  readonly prefix?: string;
  readonly onTrouble?: OnTrouble;
}

/** ioredis adds the scripts as methods; it sends their hash, and their text when Redis does not know it (any more). */
interface Scripted extends Redis {
  openclawWrite(...args: (string | number)[]): Promise<number>;
  openclawDelete(...args: (string | number)[]): Promise<number>;
  openclawList(...args: (string | number)[]): Promise<string[]>;
  openclawAppend(...args: (string | number)[]): Promise<number>;
}

const SCRIPTS = {
  /** Takes the number of its keys as its first argument. */
  openclawWrite: { lua: WRITE },
  openclawDelete: { lua: DELETE, numberOfKeys: 3 },
  openclawList: { lua: LIST, numberOfKeys: 1 },
  openclawAppend: { lua: APPEND, numberOfKeys: 2 },
};

/**
 * TTLs run on Redis's clock, the only one that all gateways share.
 *
 * Connects and checks that Redis answers; rejects with `state-unavailable` within `OPEN_TIMEOUT_MS` otherwise. Later
 * outages end each call within `READY_WAIT_MS` (not sent) or `COMMAND_TIMEOUT_MS` (sent, outcome unknown), and pass
 * by themselves.
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<Store> {
  const store = new RedisStore(options);
  try {
    await store.connected(OPEN_TIMEOUT_MS);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

class RedisStore implements Store {
  readonly #prefix: string;
  readonly #link: RedisLink;
  readonly #topics: Topics;
  readonly #connectSubscriber: () => RedisLink;
  readonly #onTrouble: OnTrouble;
  #subscriber: RedisLink | undefined;

  constructor(options: RedisStoreOptions) {
    const onTrouble = options.onTrouble ?? warnOfTrouble;
    const { url } = options;
    this.#onTrouble = onTrouble;
    this.#prefix = options.prefix ?? DEFAULT_REDIS_PREFIX;
    this.#topics = new Topics(onTrouble);
    this.#link = new RedisLink({ url, name: "openclaw-store", onTrouble, extra: { scripts: SCRIPTS } });
    this.#connectSubscriber = () => {
      // ioredis would subscribe again without looking at the answer: a connection that breaks just then would end the gateway.
      const subscriber = new RedisLink({ url, name: "openclaw-topics", onTrouble, extra: { autoResubscribe: false } });
      subscriber.redis.on("ready", () => void this.#subscribeAgain(subscriber));
      subscriber.redis.on("message", (channel: string, message: string) => {
        this.#topics.deliver(channel.slice(this.#topicKey("").length), message);
      });
      return subscriber;
    };
  }

  connected(limitMs: number): Promise<void> {
    return this.#link.ready(limitMs);
  }

  async get<T>(ns: string, key: string): Promise<Versioned<T> | undefined> {
    const [recordKey] = this.#recordKeys(ns, key);
    const found = await this.#link.run((redis) => redis.get(recordKey));
    return found === null ? undefined : decode<T>(found);
  }

  async put<T>(ns: string, key: string, value: T, options?: WriteOptions): Promise<number> {
    return this.#write("put", 0, { ns, key, value, ...options });
  }

  async setIfAbsent<T>(ns: string, key: string, value: T, options?: WriteOptions): Promise<boolean> {
    return (await this.#write("absent", 0, { ns, key, value, ...options })) > 0;
  }

  async createWith(marker: NewRecord, others: readonly NewRecord[]): Promise<boolean> {
    return (await this.#write("absent", 0, marker, ...others)) > 0;
  }

  async compareAndSet<T>(
    ns: string,
    key: string,
    expected: number,
    value: T,
    options?: WriteOptions,
  ): Promise<number | undefined> {
    if (!(expected >= 1)) return undefined;
    return (await this.#write("cas", expected, { ns, key, value, ...options })) || undefined;
  }

  async delete(ns: string, key: string, expected?: number): Promise<boolean> {
    const keys = this.#recordKeys(ns, key);
    const deleted = await this.#run((redis) =>
      redis.openclawDelete(...keys, expected ?? "", key, `${namespaceKey(ns)}:${key}`),
    );
    return deleted === 1;
  }

  async list<T>(
    ns: string,
    options: { readonly prefix?: string; readonly after?: string; readonly limit?: number } = {},
  ): Promise<Listed<T>[]> {
    const { prefix = "", after } = options;
    assertName("namespace", ns);
    assertName("prefix", prefix);
    const limit = pageSize(options.limit);
    const end = prefixEnd(prefix);
    const afterIsHigher = after !== undefined && Buffer.compare(Buffer.from(after), Buffer.from(prefix)) >= 0;
    const low = afterIsHigher ? `(${after}` : `[${prefix}`;
    const high = end === undefined ? "+" : `(${end}`;
    const records = `${this.#prefix}r:${namespaceKey(ns)}:`;
    const flat = await this.#run((redis) => redis.openclawList(this.#indexKey(ns), records, low, high, limit));
    return pairs(flat).map(([key, record]) => ({ key, ...decode<T>(record) }));
  }

  append<T>(stream: string, value: T, options?: { readonly maxLength?: number }): Promise<number> {
    return this.appendAll(stream, [value], options);
  }

  async appendAll<T>(
    stream: string,
    values: readonly [T, ...T[]],
    options?: { readonly maxLength?: number },
  ): Promise<number> {
    assertName("stream", stream);
    const entries = values.map((value) => encodeValue("The entry", value));
    const maxLength = maxLengthOf(options) ?? "";
    return this.#run((redis) =>
      redis.openclawAppend(`${this.#prefix}n:${stream}`, this.#streamKey(stream), maxLength, ...entries),
    );
  }

  async read<T>(
    stream: string,
    options?: { readonly after?: number; readonly limit?: number },
  ): Promise<LogEntry<T>[]> {
    assertName("stream", stream);
    const limit = pageSize(options?.limit);
    if (limit === 0) return [];
    const from = `(${Math.max(0, options?.after ?? 0)}-0`;
    const found = await this.#link.run((redis) => redis.xrange(this.#streamKey(stream), from, "+", "COUNT", limit));
    return found.map(logEntry<T>);
  }

  async tail<T>(stream: string, limit: number): Promise<LogEntry<T>[]> {
    assertName("stream", stream);
    const count = pageSize(limit);
    if (count === 0) return [];
    const found = await this.#link.run((redis) => redis.xrevrange(this.#streamKey(stream), "+", "-", "COUNT", count));
    return found.map(logEntry<T>).reverse();
  }

  async publish(topic: string, message: unknown): Promise<void> {
    assertName("topic", topic);
    const json = encodeValue("The message", message);
    await this.#link.run((redis) => redis.publish(this.#topicKey(topic), json));
  }

  async subscribe(topic: string, handler: (message: unknown) => void): Promise<() => Promise<void>> {
    assertName("topic", topic);
    this.#subscriber ??= this.#connectSubscriber();
    const subscriber = this.#subscriber;
    const remove = this.#topics.add(topic, handler);
    try {
      await subscriber.run((redis) => redis.subscribe(this.#topicKey(topic)));
    } catch (error) {
      remove();
      throw error;
    }
    return async () => {
      remove();
      // An outage also ends the subscription, so there is nothing to tell Redis then.
      if (this.#topics.has(topic) || subscriber.redis.status !== "ready") return;
      await subscriber.run((redis) => redis.unsubscribe(this.#topicKey(topic)));
    };
  }

  /** On a new connection, to all there is. One that breaks meanwhile is followed by another. */
  async #subscribeAgain(subscriber: RedisLink): Promise<void> {
    const topics = this.#topics.names().map((topic) => this.#topicKey(topic));
    if (topics.length === 0) return;
    try {
      await subscriber.redis.subscribe(...topics);
    } catch (error) {
      if (subscriber.redis.status !== "ready") return;
      this.#onTrouble("Messages of other gateways can not be heard; trying again", error);
      setTimeout(() => {
        if (subscriber.redis.status === "ready") void this.#subscribeAgain(subscriber);
      }, SUBSCRIBE_RETRY_MS).unref();
    }
  }

  async health(): Promise<void> {
    await this.#link.run((redis) => redis.set(`${this.#prefix}health`, "1", "PX", HEALTH_KEY_TTL_MS));
  }

  async close(): Promise<void> {
    this.#topics.clear();
    await Promise.all([this.#link.close(), this.#subscriber?.close()]);
  }

  #write(mode: "put" | "absent" | "cas", expected: number, ...records: readonly NewRecord[]): Promise<number> {
    const keys = [`${this.#prefix}x`];
    const values: (string | number)[] = [mode, expected, this.#prefix];
    for (const { ns, key, value, ...options } of records) {
      const [record, index] = this.#recordKeys(ns, key);
      keys.push(record, index);
      values.push(encodeValue("The value", value), ttlOf(options) ?? "", key, `${namespaceKey(ns)}:${key}`);
    }
    return this.#run((redis) => redis.openclawWrite(keys.length, ...keys, ...values));
  }

  #run<T>(call: (redis: Scripted) => Promise<T>): Promise<T> {
    return this.#link.run((redis) => call(redis as Scripted));
  }

  #recordKeys(ns: string, key: string): [record: string, index: string, expiries: string] {
    assertName("namespace", ns);
    assertName("key", key);
    return [`${this.#prefix}r:${namespaceKey(ns)}:${key}`, this.#indexKey(ns), `${this.#prefix}x`];
  }

  #indexKey(ns: string): string {
    return `${this.#prefix}i:${namespaceKey(ns)}`;
  }

  #streamKey(stream: string): string {
    return `${this.#prefix}s:${stream}`;
  }

  #topicKey(topic: string): string {
    return `${this.#prefix}t:${topic}`;
  }
}

/** A namespace may hold any character, but the first colon after it must be the separator. */
function namespaceKey(ns: string): string {
  return ns.replaceAll("%", "%25").replaceAll(":", "%3A");
}

function decode<T>(record: string): Versioned<T> {
  const bar = record.indexOf("|");
  return { value: JSON.parse(record.slice(bar + 1)), version: Number(record.slice(0, bar)) };
}

function logEntry<T>([id, fields]: [string, string[]]): LogEntry<T> {
  return { seq: Number.parseInt(id, 10), value: JSON.parse(fields[1] ?? "null") };
}

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at] as string, flat[2 * at + 1] as string]);
}
