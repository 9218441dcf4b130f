import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { assertName } from "./keys.ts";
import type { Store } from "./store.ts";

const NAMESPACE = "lease";

/** Who has a lease, as it is stored. The record is never deleted, so its version, and with it the token, only grows. */
interface LeaseRecord {
  readonly holder: string;
  readonly token: number;
  readonly ttlMs: number;
  readonly released: boolean;
}

export interface LeasesOptions {
  readonly store: Store;
  readonly clock: Clock;
  /**
   * Who asks. Must be one living process at a time: a lease is given to its holder again at once, so that a restart
   * after a crash need not wait for its own lease to run out.
   */
  readonly holder: string;
  /** How long a lease lasts without a renewal. */
  readonly ttlMs: number;
}

/**
 * Leases: one holder at a time for a name, taken over when the holder is gone.
 *
 * No clocks are compared. The holder counts its time from before its write, a contender from when it first saw that
 * write, each by its own monotonic clock; so the contender's time is over only after the holder's, however far apart
 * their wall clocks are.
 *
 * A holder that was frozen may act late all the same. Whatever it writes to should refuse a `token` smaller than one
 * it has seen: tokens of a name only grow from holder to holder.
 */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #seen = new Map<string, { readonly version: number; readonly atMs: number }>();

  constructor(options: LeasesOptions) {
    if (!(options.ttlMs > 0)) throw new ExecError("invalid-argument", `ttlMs must be above 0, not ${options.ttlMs}.`);
    this.#options = options;
  }

  /**
   * One try. `undefined`: another has it; ask again, at least once per `ttlMs`, since it takes two looks at an unchanged
   * lease to know that its holder is gone. Rejects with `state-unavailable` when the store does.
   */
  async acquire(name: string): Promise<Lease | undefined> {
    assertName("lease name", name);
    const { store, clock, holder, ttlMs } = this.#options;
    const startedMs = clock.monotonic();
    const found = await store.get<LeaseRecord>(NAMESPACE, name);
    if (found && !this.#isFree(name, found.value, found.version)) return undefined;
    const token = (found?.version ?? 0) + 1;
    const record: LeaseRecord = { holder, token, ttlMs, released: false };
    const taken = found
      ? (await store.compareAndSet(NAMESPACE, name, found.version, record)) !== undefined
      : await store.setIfAbsent(NAMESPACE, name, record);
    if (!taken) return undefined;
    this.#seen.delete(name);
    return new Lease(store, clock, name, record, startedMs + ttlMs);
  }

  #isFree(name: string, record: LeaseRecord, version: number): boolean {
    if (record.released || record.holder === this.#options.holder) return true;
    const now = this.#options.clock.monotonic();
    const seen = this.#seen.get(name);
    if (seen?.version === version) return now - seen.atMs >= record.ttlMs;
    this.#seen.set(name, { version, atMs: now });
    return false;
  }
}

/** A lease that was acquired. It ends by itself: ask `isHeld` right before each act that needs it. */
export class Lease {
  readonly name: string;
  /** Grows with each new holder of the name. */
  readonly token: number;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #record: LeaseRecord;
  #version: number;
  #untilMs: number;
  #lost = false;

  constructor(store: Store, clock: Clock, name: string, record: LeaseRecord, untilMs: number) {
    this.name = name;
    this.token = record.token;
    this.#store = store;
    this.#clock = clock;
    this.#record = record;
    this.#version = record.token;
    this.#untilMs = untilMs;
  }

  isHeld(): boolean {
    return !this.#lost && this.#clock.monotonic() < this.#untilMs;
  }

  /** Milliseconds until it ends, 0 when it has. */
  remainingMs(): number {
    return this.#lost ? 0 : Math.max(0, this.#untilMs - this.#clock.monotonic());
  }

  /**
   * Another full time from now. False: another has it, for good. Rejects with `state-unavailable` when the store does;
   * the lease is still held until its time is over, and may be renewed after that if nobody took it.
   */
  async renew(): Promise<boolean> {
    if (this.#lost) return false;
    const startedMs = this.#clock.monotonic();
    const version = await this.#store.compareAndSet(NAMESPACE, this.name, this.#version, this.#record);
    if (version === undefined) {
      this.#lost = !(await this.#adopt());
      return !this.#lost;
    }
    this.#version = version;
    this.#untilMs = startedMs + this.#record.ttlMs;
    return true;
  }

  /** Gives it up, so that the next need not wait. Harmless when it is lost already. */
  async release(): Promise<void> {
    if (this.#lost) return;
    this.#lost = true;
    await this.#store.compareAndSet(NAMESPACE, this.name, this.#version, { ...this.#record, released: true });
  }

  /** A renewal whose answer was lost on the way did happen: the record is still this holder's, at a later version. */
  async #adopt(): Promise<boolean> {
    const found = await this.#store.get<LeaseRecord>(NAMESPACE, this.name);
    const same = found?.value.token === this.token && found.value.holder === this.#record.holder;
    if (!found || !same || found.value.released) return false;
    this.#version = found.version;
    return this.isHeld() || this.renew();
  }
}
