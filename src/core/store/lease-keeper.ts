import type { Lease, Leases } from "./lease.ts";
import type { OnTrouble } from "./topics.ts";

/** Renewals per lease time: two may fail and the third still comes in time. */
const RENEWALS_PER_TTL = 3;
/** How soon it is tried again while the store is away: a lease that is about to run out is renewed as soon as it can be. */
const RETRY_MS = 200;

export interface LeaseKeeperOptions {
  readonly leases: Leases;
  readonly name: string;
  /** The lease time that `leases` was made with. */
  readonly ttlMs: number;
  /** Called each time the lease has been won. `lost` is aborted when it must not be relied on any longer. */
  readonly onHeld: (lease: Lease, lost: AbortSignal) => void;
  readonly onTrouble: OnTrouble;
}

/** Wants one lease for as long as it runs: tries to win it, keeps it renewed, and tries again when it is lost. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #lease: Lease | undefined;
  #lost: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #step: Promise<void> = Promise.resolve();
  #isTrying = false;
  #isAway = false;
  #stopped = false;
  readonly #waiting = new Set<(held: boolean) => void>();

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#next(0);
  }

  get lease(): Lease | undefined {
    return this.#lease?.isHeld() ? this.#lease : undefined;
  }

  /** Tries at once, and resolves to true when the lease is held, to false when it could not be had within `limitMs`. */
  held(limitMs: number): Promise<boolean> {
    if (this.lease) return Promise.resolve(true);
    if (this.#stopped) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle(false), limitMs);
      const settle = (held: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(settle);
        resolve(held);
      };
      this.#waiting.add(settle);
      if (!this.#isTrying) this.#next(0);
    });
  }

  /** Gives the lease up and resolves when that is stored, or can not be. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#step;
    const lease = this.#lease;
    this.#lose("The lease was given up.");
    for (const settle of this.#waiting) settle(false);
    await lease
      ?.release()
      .catch((error) => this.#options.onTrouble(`Lease ${lease.name} could not be released`, error));
  }

  #next(delayMs: number): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isTrying = true;
      this.#step = this.#tryOnce().finally(() => {
        this.#isTrying = false;
        const renewal = this.#options.ttlMs / RENEWALS_PER_TTL;
        this.#next(this.#isAway ? Math.min(RETRY_MS, renewal) : renewal);
      });
    }, delayMs);
  }

  async #tryOnce(): Promise<void> {
    try {
      if (!this.#lease) this.#won(await this.#options.leases.acquire(this.#options.name));
      else if (await this.#lease.renew()) this.#renewed(this.#lease);
      else this.#lose("Another holder has the lease.");
      this.#isAway = false;
    } catch (error) {
      // While the store is away the lease runs on until its deadline, which ends it without the store.
      if (!this.#isAway) this.#options.onTrouble(`Lease ${this.#options.name} could not be reached`, error);
      this.#isAway = true;
    }
  }

  #won(lease: Lease | undefined): void {
    if (!lease) return;
    this.#lease = lease;
    this.#lost = new AbortController();
    this.#armDeadline(lease);
    if (!this.#stopped) this.#options.onHeld(lease, this.#lost.signal);
    this.#settleWaiting();
  }

  #renewed(lease: Lease): void {
    this.#armDeadline(lease);
    this.#settleWaiting();
  }

  #settleWaiting(): void {
    if (this.lease) for (const settle of this.#waiting) settle(true);
  }

  #armDeadline(lease: Lease): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#lose("The lease could not be renewed in time."), lease.remainingMs());
  }

  #lose(why: string): void {
    clearTimeout(this.#deadline);
    this.#lease = undefined;
    this.#lost?.abort(new Error(why));
    this.#lost = undefined;
  }
}
