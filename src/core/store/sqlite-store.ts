import type { Clock } from "../clock.ts";
import { type DatabaseOptions, StateDatabase, type Statement } from "./database.ts";
import { encodeValue } from "./json.ts";
import { assertName, fromSqlText, prefixEnd, toSqlText } from "./keys.ts";
import { maxLengthOf, pageSize, ttlOf } from "./limits.ts";
import type { Listed, LogEntry, Store, Versioned, WriteOptions } from "./store.ts";
import { type OnTrouble, Topics, warnOfTrouble } from "./topics.ts";

/** How often expired records are removed from the file. They are absent for readers at once. */
export const SWEEP_INTERVAL_MS = 60_000;

/** At most this many are removed per sweep, so that a sweep is a few milliseconds. */
export const SWEEP_BATCH = 2000;

interface RecordRow {
  readonly value: string;
  readonly version: number;
}

interface EntryRow {
  readonly seq: number;
  readonly value: string;
}

export interface SqliteStoreOptions extends DatabaseOptions {
  readonly clock: Clock;
  readonly onTrouble?: OnTrouble;
}

/** A store that owns its file. Errors are those of `StateDatabase.open`. */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const database = StateDatabase.open(options);
  return new SqliteStore(database, options.clock, options.onTrouble ?? warnOfTrouble, () => database.close());
}

/** The store on one SQLite file. Publish and subscribe reach this process, which is the only gateway on the file. */
export class SqliteStore implements Store {
  readonly #clock: Clock;
  readonly #database: StateDatabase;
  readonly #topics: Topics;
  readonly #onClose: () => void;
  readonly #sweeper: NodeJS.Timeout;
  readonly #sql: ReturnType<typeof prepareStatements>;

  constructor(database: StateDatabase, clock: Clock, onTrouble: OnTrouble, onClose: () => void = () => {}) {
    this.#database = database;
    this.#clock = clock;
    this.#topics = new Topics(onTrouble);
    this.#onClose = onClose;
    this.#sql = prepareStatements(database);
    this.#sweeper = setInterval(() => {
      try {
        this.#sql.sweep.run(clock.now(), SWEEP_BATCH);
      } catch (error) {
        onTrouble("Expired records could not be removed", error);
      }
    }, SWEEP_INTERVAL_MS).unref();
  }

  async get<T>(ns: string, key: string): Promise<Versioned<T> | undefined> {
    const row = this.#sql.get.one(...names(ns, key), this.#clock.now());
    return row && { value: JSON.parse(row.value), version: row.version };
  }

  async put<T>(ns: string, key: string, value: T, options?: WriteOptions): Promise<number> {
    const now = this.#clock.now();
    const row = this.#sql.put.one(...names(ns, key), expiry(now, options), encodeValue("The value", value), now);
    return (row as { version: number }).version;
  }

  async setIfAbsent<T>(ns: string, key: string, value: T, options?: WriteOptions): Promise<boolean> {
    const now = this.#clock.now();
    const json = encodeValue("The value", value);
    return this.#sql.setIfAbsent.run(...names(ns, key), expiry(now, options), json, now) === 1;
  }

  async compareAndSet<T>(
    ns: string,
    key: string,
    expected: number,
    value: T,
    options?: WriteOptions,
  ): Promise<number | undefined> {
    const now = this.#clock.now();
    const json = encodeValue("The value", value);
    const changed = this.#sql.compareAndSet.run(json, expiry(now, options), ...names(ns, key), expected, now);
    return changed === 1 ? expected + 1 : undefined;
  }

  async delete(ns: string, key: string, expected?: number): Promise<boolean> {
    const version = expected ?? null;
    return this.#sql.delete.run(...names(ns, key), this.#clock.now(), version, version) === 1;
  }

  async list<T>(
    ns: string,
    options: { readonly prefix?: string; readonly after?: string; readonly limit?: number } = {},
  ): Promise<Listed<T>[]> {
    const { prefix = "", after } = options;
    assertName("prefix", prefix);
    assertName("namespace", ns);
    const from = toSqlText(prefix);
    const end = prefixEnd(from);
    const rows = this.#sql
      .list(after !== undefined, end !== undefined)
      .all(
        ...[toSqlText(ns), from],
        ...(after === undefined ? [] : [toSqlText(after)]),
        ...(end === undefined ? [] : [end]),
        ...[this.#clock.now(), pageSize(options.limit)],
      );
    return rows.map((row) => ({ key: fromSqlText(row.key), value: JSON.parse(row.value), version: row.version }));
  }

  async append<T>(stream: string, value: T, options?: { readonly maxLength?: number }): Promise<number> {
    assertName("stream", stream);
    const name = toSqlText(stream);
    const json = encodeValue("The entry", value);
    const maxLength = maxLengthOf(options);
    return this.#database.transaction(() => {
      const { seq } = this.#sql.nextSeq.one(name) as { seq: number };
      this.#sql.append.run(name, seq, json);
      if (maxLength !== undefined) this.#sql.trim.run(name, seq - maxLength);
      return seq;
    });
  }

  async read<T>(
    stream: string,
    options?: { readonly after?: number; readonly limit?: number },
  ): Promise<LogEntry<T>[]> {
    assertName("stream", stream);
    return this.#sql.read.all(toSqlText(stream), options?.after ?? 0, pageSize(options?.limit)).map(entry<T>);
  }

  async tail<T>(stream: string, limit: number): Promise<LogEntry<T>[]> {
    assertName("stream", stream);
    return this.#sql.tail
      .all(toSqlText(stream), pageSize(limit))
      .map(entry<T>)
      .reverse();
  }

  async publish(topic: string, message: unknown): Promise<void> {
    assertName("topic", topic);
    const json = encodeValue("The message", message);
    // Later, as over Redis: a publisher must not find its subscribers' work done on its own stack.
    setImmediate(() => this.#topics.deliver(topic, json));
  }

  async subscribe(topic: string, handler: (message: unknown) => void): Promise<() => Promise<void>> {
    assertName("topic", topic);
    const remove = this.#topics.add(topic, handler);
    return async () => remove();
  }

  async health(): Promise<void> {
    this.#sql.put.one("health", "write", null, "true", this.#clock.now());
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#topics.clear();
    this.#onClose();
  }
}

function names(ns: string, key: string): [string, string] {
  assertName("namespace", ns);
  assertName("key", key);
  return [toSqlText(ns), toSqlText(key)];
}

function expiry(now: number, options: WriteOptions | undefined): number | null {
  const ttlMs = ttlOf(options);
  return ttlMs === undefined ? null : now + ttlMs;
}

function entry<T>(row: EntryRow): LogEntry<T> {
  return { seq: row.seq, value: JSON.parse(row.value) };
}

function prepareStatements(database: StateDatabase) {
  const lists = new Map<string, Statement<RecordRow & { readonly key: string }>>();
  return {
    get: database.prepare<RecordRow>(
      "SELECT value, version FROM records WHERE ns = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?)",
    ),
    put: database.prepare<{ readonly version: number }>(
      `INSERT INTO records (ns, key, version, expires_at, value) VALUES (?, ?, 1, ?, ?)
       ON CONFLICT (ns, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at,
         version = CASE WHEN expires_at <= ? THEN 1 ELSE version + 1 END
       RETURNING version`,
    ),
    setIfAbsent: database.prepare(
      `INSERT INTO records (ns, key, version, expires_at, value) VALUES (?, ?, 1, ?, ?)
       ON CONFLICT (ns, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at, version = 1
         WHERE expires_at <= ?`,
    ),
    compareAndSet: database.prepare(
      `UPDATE records SET value = ?, expires_at = ?, version = version + 1
       WHERE ns = ? AND key = ? AND version = ? AND (expires_at IS NULL OR expires_at > ?)`,
    ),
    delete: database.prepare(
      `DELETE FROM records WHERE ns = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?)
         AND (? IS NULL OR version = ?)`,
    ),
    sweep: database.prepare(
      `DELETE FROM records WHERE rowid IN (SELECT rowid FROM records WHERE expires_at <= ? LIMIT ?)`,
    ),
    /** One statement per shape of the range: an `OR` for an absent bound would hide the index from SQLite. */
    list(after: boolean, bounded: boolean): Statement<RecordRow & { readonly key: string }> {
      const where = `ns = ? AND key >= ?${after ? " AND key > ?" : ""}${bounded ? " AND key < ?" : ""}`;
      const known = lists.get(where);
      if (known) return known;
      const statement = database.prepare<RecordRow & { readonly key: string }>(
        `SELECT key, value, version FROM records
         WHERE ${where} AND (expires_at IS NULL OR expires_at > ?) ORDER BY key LIMIT ?`,
      );
      lists.set(where, statement);
      return statement;
    },
    nextSeq: database.prepare<{ readonly seq: number }>(
      `INSERT INTO streams (stream, last_seq) VALUES (?, 1)
       ON CONFLICT (stream) DO UPDATE SET last_seq = last_seq + 1 RETURNING last_seq AS seq`,
    ),
    append: database.prepare("INSERT INTO stream_entries (stream, seq, value) VALUES (?, ?, ?)"),
    trim: database.prepare("DELETE FROM stream_entries WHERE stream = ? AND seq <= ?"),
    read: database.prepare<EntryRow>(
      "SELECT seq, value FROM stream_entries WHERE stream = ? AND seq > ? ORDER BY seq LIMIT ?",
    ),
    tail: database.prepare<EntryRow>(
      "SELECT seq, value FROM stream_entries WHERE stream = ? ORDER BY seq DESC LIMIT ?",
    ),
  };
}
