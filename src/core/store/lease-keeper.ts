import type { Lease, Leases } from "./lease.ts";
import type { OnTrouble } from "./topics.ts";

/** Renewals per lease time: two may fail and the third still comes in time. */
const RENEWALS_PER_TTL = 3;

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
  #stopped = false;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#next(0);
  }

  get lease(): Lease | undefined {
    return this.#lease?.isHeld() ? this.#lease : undefined;
  }

  /** Gives the lease up and resolves when that is stored, or can not be. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#step;
    const lease = this.#lease;
    this.#lose("The lease was given up.");
    await lease
      ?.release()
      .catch((error) => this.#options.onTrouble(`Lease ${lease.name} could not be released`, error));
  }

  #next(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#step = this.#tryOnce().finally(() => this.#next(this.#options.ttlMs / RENEWALS_PER_TTL));
    }, delayMs);
  }

  async #tryOnce(): Promise<void> {
    try {
      if (!this.#lease) this.#won(await this.#options.leases.acquire(this.#options.name));
      else if (await this.#lease.renew()) this.#armDeadline(this.#lease);
      else this.#lose("Another holder has the lease.");
    } catch (error) {
      // While the store is away the lease runs on until its deadline, which ends it without the store.
      this.#options.onTrouble(`Lease ${this.#options.name} could not be reached`, error);
    }
  }

  #won(lease: Lease | undefined): void {
    if (!lease) return;
    this.#lease = lease;
    this.#lost = new AbortController();
    this.#armDeadline(lease);
    if (!this.#stopped) this.#options.onHeld(lease, this.#lost.signal);
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
