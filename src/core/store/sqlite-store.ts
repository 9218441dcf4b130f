import type { Clock } from "../clock.ts";
import { type DatabaseOptions, StateDatabase, type Statement } from "./database.ts";
import { GroupCommit } from "./group-commit.ts";
import { encodeValue } from "./json.ts";
import { assertName, fromSqlText, prefixEnd, toSqlText } from "./keys.ts";
import { maxLengthOf, pageSize, ttlOf } from "./limits.ts";
import type { Listed, LogEntry, NewRecord, Store, Versioned, WriteOptions } from "./store.ts";
import { type OnTrouble, Topics, warnOfTrouble } from "./topics.ts";

/** How often expired records are removed from the file. They are absent for readers at once. */
export const SWEEP_INTERVAL_MS = 60_000;

/** At most this many are removed per sweep, so that a sweep is a few milliseconds. */
const SWEEP_BATCH = 2000;

interface RecordRow {
  readonly value: string;
  readonly version: number;
}

/** What the statements that write a whole record take. */
type Row = [ns: string, key: string, expiresAt: number | null, json: string, now: number];

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
  readonly #commits: GroupCommit;
  readonly #topics: Topics;
  readonly #onClose: () => void;
  readonly #sweeper: NodeJS.Timeout;
  readonly #sql: ReturnType<typeof prepareStatements>;

  constructor(database: StateDatabase, clock: Clock, onTrouble: OnTrouble, onClose: () => void = () => {}) {
    this.#database = database;
    this.#commits = new GroupCommit(database);
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
    const name = names(ns, key);
    const row = await this.#commits.read(() => this.#sql.get.one(...name, this.#clock.now()));
    return row && { value: JSON.parse(row.value), version: row.version };
  }

  async put<T>(ns: string, key: string, value: T, options?: WriteOptions): Promise<number> {
    const now = this.#clock.now();
    const row = [...names(ns, key), expiry(now, options), encodeValue("The value", value), now];
    return this.#commits.write(() => (this.#sql.put.one(...row) as { version: number }).version);
  }

  async setIfAbsent<T>(ns: string, key: string, value: T, options?: WriteOptions): Promise<boolean> {
    const now = this.#clock.now();
    const row = [...names(ns, key), expiry(now, options), encodeValue("The value", value), now];
    return this.#commits.write(() => this.#sql.setIfAbsent.run(...row) === 1);
  }

  async createWith(marker: NewRecord, others: readonly NewRecord[]): Promise<boolean> {
    const now = this.#clock.now();
    const row = (one: NewRecord): Row => [
      ...names(one.ns, one.key),
      expiry(now, one),
      encodeValue("The value", one.value),
      now,
    ];
    const [first, rest] = [row(marker), others.map(row)];
    const create = () => {
      if (this.#sql.setIfAbsent.run(...first) !== 1) return false;
      for (const other of rest) this.#sql.put.one(...other);
      return true;
    };
    return this.#commits.write(() => this.#database.transaction(create));
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
    const row = [json, expiry(now, options), ...names(ns, key), expected, now];
    return this.#commits.write(() => (this.#sql.compareAndSet.run(...row) === 1 ? expected + 1 : undefined));
  }

  async delete(ns: string, key: string, expected?: number): Promise<boolean> {
    const version = expected ?? null;
    const row = [...names(ns, key), this.#clock.now(), version, version];
    return this.#commits.write(() => this.#sql.delete.run(...row) === 1);
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
    const range = [
      ...[toSqlText(ns), from],
      ...(after === undefined ? [] : [toSqlText(after)]),
      ...(end === undefined ? [] : [end]),
      ...[this.#clock.now(), pageSize(options.limit)],
    ];
    const statement = this.#sql.list(after !== undefined, end !== undefined);
    const rows = await this.#commits.read(() => statement.all(...range));
    return rows.map((row) => ({ key: fromSqlText(row.key), value: JSON.parse(row.value), version: row.version }));
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
    const name = toSqlText(stream);
    const entries = values.map((value) => encodeValue("The entry", value));
    const maxLength = maxLengthOf(options);
    const add = () => {
      const { seq: last } = this.#sql.nextSeq.one(name, entries.length, entries.length) as { seq: number };
      for (const [index, json] of entries.entries()) {
        this.#sql.append.run(name, last - entries.length + 1 + index, json);
      }
      if (maxLength !== undefined) this.#sql.trim.run(name, last - maxLength);
      return last;
    };
    return this.#commits.write(() => this.#database.transaction(add));
  }

  async read<T>(
    stream: string,
    options?: { readonly after?: number; readonly limit?: number },
  ): Promise<LogEntry<T>[]> {
    assertName("stream", stream);
    const range = [toSqlText(stream), options?.after ?? 0, pageSize(options?.limit)];
    return (await this.#commits.read(() => this.#sql.read.all(...range))).map(entry<T>);
  }

  async tail<T>(stream: string, limit: number): Promise<LogEntry<T>[]> {
    assertName("stream", stream);
    const range = [toSqlText(stream), pageSize(limit)];
    return (await this.#commits.read(() => this.#sql.tail.all(...range))).map(entry<T>).reverse();
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
    await this.put("health", "write", true);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#topics.clear();
    this.#commits.flush();
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
      `INSERT INTO streams (stream, last_seq) VALUES (?, ?)
       ON CONFLICT (stream) DO UPDATE SET last_seq = last_seq + ? RETURNING last_seq AS seq`,
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
