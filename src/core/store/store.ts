/**
 * The state port. Two drivers implement it (SQLite in one file, Redis) and one contract suite proves both
 * (`test/contract/store.contract.ts`). Values are JSON: no `undefined`, functions or dates inside.
 *
 * A namespace (`ns`) groups records of one kind; a version starts at 1 and grows by one with each write, so a
 * compare-and-set names the version it has read. TTLs are milliseconds; an expired record is absent at once,
 * whether or not it has been swept.
 */

export interface Versioned<T> {
  readonly value: T;
  readonly version: number;
}

export interface Listed<T> extends Versioned<T> {
  readonly key: string;
}

export interface WriteOptions {
  /** The record vanishes this many milliseconds from now. Absent: it stays. */
  readonly ttlMs?: number;
}

/** A record and where it goes. */
export interface NewRecord extends WriteOptions {
  readonly ns: string;
  readonly key: string;
  readonly value: unknown;
}

export interface LogEntry<T> {
  /** 1, 2, 3 … without gaps per stream. */
  readonly seq: number;
  readonly value: T;
}

export interface Store {
  get<T>(ns: string, key: string): Promise<Versioned<T> | undefined>;
  /** Writes whatever was there; resolves to the new version. */
  put<T>(ns: string, key: string, value: T, options?: WriteOptions): Promise<number>;
  /** True when this call created the record, false when one was there. The base of every once-marker. */
  setIfAbsent<T>(ns: string, key: string, value: T, options?: WriteOptions): Promise<boolean>;
  /**
   * A once-marker and what belongs to it, in one step: creates `marker` and writes `others` beside it, whatever was there.
   * False when the marker was there: then nothing is written.
   */
  createWith(marker: NewRecord, others: readonly NewRecord[]): Promise<boolean>;
  /** The new version, or `undefined` when the record's version is no longer `expected` (or it is gone). */
  compareAndSet<T>(
    ns: string,
    key: string,
    expected: number,
    value: T,
    options?: WriteOptions,
  ): Promise<number | undefined>;
  /** True when something was deleted. With `expected`, only that version is. */
  delete(ns: string, key: string, expected?: number): Promise<boolean>;
  /** In key order (byte-wise). `after` is exclusive; `limit` defaults to 1000. */
  list<T>(
    ns: string,
    options?: { readonly prefix?: string; readonly after?: string; readonly limit?: number },
  ): Promise<Listed<T>[]>;

  /** Adds to an ordered log; resolves to its sequence number. `maxLength` drops the oldest beyond it. */
  append<T>(stream: string, value: T, options?: { readonly maxLength?: number }): Promise<number>;
  /** Several entries in one step, with nobody else's in between; resolves to the sequence number of the last one. */
  appendAll<T>(
    stream: string,
    values: readonly [T, ...T[]],
    options?: { readonly maxLength?: number },
  ): Promise<number>;
  /** Entries with `seq > after` (default 0), oldest first, at most `limit` (default 1000). */
  read<T>(stream: string, options?: { readonly after?: number; readonly limit?: number }): Promise<LogEntry<T>[]>;
  /** The newest `limit` entries, oldest first. */
  tail<T>(stream: string, limit: number): Promise<LogEntry<T>[]>;

  /** Tells every subscriber of `topic` on every gateway that shares this store. At most once, not stored. */
  publish(topic: string, message: unknown): Promise<void>;
  /** Resolves once subscribed; the result unsubscribes. A handler that throws does not disturb others. */
  subscribe(topic: string, handler: (message: unknown) => void): Promise<() => Promise<void>>;

  /** Rejects when the store can not be reached or written. */
  health(): Promise<void>;
  close(): Promise<void>;
}
