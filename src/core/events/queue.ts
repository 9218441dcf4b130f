/**
 * The queue port: durable jobs that survive a kill. Two drivers implement it (embedded on the SQLite file,
 * BullMQ on Redis) and one contract suite proves both (`test/contract/queue.contract.ts`).
 *
 * Guarantee: at least once. A handler that must not happen twice puts a once-marker in the store first.
 */

export type Backoff =
  /** `baseMs · 2^(attempt-1)`, never above `maxMs`, plus or minus up to `jitter` (0…1, default 0.1) of itself. */
  | { readonly type: "exponential"; readonly baseMs: number; readonly maxMs: number; readonly jitter?: number }
  /** The n-th retry waits the n-th entry; the last one repeats. Same jitter. */
  | { readonly type: "steps"; readonly stepsMs: readonly number[]; readonly jitter?: number };

export interface JobSpec<T = unknown> {
  /** What kind of work: selects the handler. `[a-z][a-z0-9-]*` */
  readonly name: string;
  readonly data: T;
  /**
   * Idempotency: a second add with an id still known adds nothing. Known is what is waiting, delayed or active, what
   * was completed or expired within 24 h, and a dead letter for as long as it is there. Any text; make it unique over
   * all names (`delivery/…`, `wake/…`), since `cancel` and the dead letters go by the id alone.
   */
  readonly id?: string;
  /**
   * Jobs of one name with one key run one at a time in the order they were added. A job that waits, for its delay or
   * for its next try, holds back those behind it, and only those of its own key.
   */
  readonly key?: string;
  readonly delayMs?: number;
  /** How many tries in all. Default 1. */
  readonly attempts?: number;
  /** Default exponential, 1 s up to 60 s. */
  readonly backoff?: Backoff;
  /** Epoch milliseconds after which the job is dropped unrun (and counted as `expired`). */
  readonly notAfterMs?: number;
}

export interface Job<T = unknown> {
  readonly id: string;
  readonly name: string;
  readonly data: T;
  readonly key?: string;
  /** 1 for the first try. */
  readonly attempt: number;
  readonly enqueuedAtMs: number;
  /** Aborted when the job will be run again: the queue is closing and the drain time is over, or another gateway took it over. */
  readonly signal: AbortSignal;
}

export type Handler<T = unknown> = (job: Job<T>) => Promise<void>;

/** Thrown by a handler: trying again can not help. The job goes to the dead letters at once. */
export class PermanentFailure extends Error {
  override readonly name = "PermanentFailure";
}

/** Thrown by a handler: try again after `afterMs` (a platform's Retry-After). Does not use up an attempt. */
export class RetryLater extends Error {
  override readonly name = "RetryLater";
  readonly afterMs: number;
  constructor(afterMs: number, message = `retry after ${afterMs} ms`) {
    super(message);
    this.afterMs = afterMs;
  }
}

export interface DeadLetter {
  readonly id: string;
  readonly name: string;
  readonly data: unknown;
  readonly key?: string;
  readonly error: string;
  readonly attempts: number;
  readonly diedAtMs: number;
}

export interface QueueCounts {
  /** Could run but for a free place, or wait for an earlier job of their key. */
  readonly waiting: number;
  /** Wait for their delay or their next try. */
  readonly delayed: number;
  readonly active: number;
  readonly dead: number;
  /** Since the state was created. */
  readonly completed: number;
  /** Since the state was created. */
  readonly expired: number;
}

export type Cadence = { readonly everyMs: number } | { readonly cron: string; readonly timezone?: string };

export interface Queue {
  /** `added: false` means the id was known already; nothing changed. Rejects when the job is not durably stored. */
  add<T>(spec: JobSpec<T>): Promise<{ readonly id: string; readonly added: boolean }>;
  /** Starts working jobs of this name. One handler per name and process. `concurrency` defaults to 1. */
  process<T>(name: string, handler: Handler<T>, options?: { readonly concurrency?: number }): Promise<void>;
  /** Removes a job that does not run now: waiting, delayed, or between two tries. False when it runs, is finished or unknown. */
  cancel(id: string): Promise<boolean>;
  /**
   * Creates or replaces a recurring job; the first tick of an interval comes one interval from now. Declaring the same
   * cadence again, as each start of a gateway does, keeps the next tick. Missed ticks collapse into one, and a tick adds
   * nothing while the job of an earlier one still waits.
   */
  schedule<T>(scheduleId: string, cadence: Cadence, spec: Omit<JobSpec<T>, "id" | "delayMs">): Promise<void>;
  unschedule(scheduleId: string): Promise<boolean>;
  schedules(): Promise<readonly { readonly id: string; readonly nextAtMs: number; readonly cadence: Cadence }[]>;
  counts(name?: string): Promise<QueueCounts>;
  /** Newest first. */
  deadLetters(options?: { readonly name?: string; readonly limit?: number }): Promise<DeadLetter[]>;
  /** Puts a dead letter back with fresh attempts and without its deadline, behind what waits for its key. */
  retryDead(id: string): Promise<boolean>;
  removeDead(id: string): Promise<boolean>;
  health(): Promise<void>;
  /** Stops taking jobs, waits up to `drainMs` (default 5000) for active ones; those that do not end run again later. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}
