import type { Clock, NewId } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { type DatabaseOptions, StateDatabase } from "../store/database.ts";
import { assertName } from "../store/keys.ts";
import { pageSize } from "../store/limits.ts";
import { OwnerLock } from "../store/owner-lock.ts";
import { type OnTrouble, warnOfTrouble } from "../store/topics.ts";
import { retryDelayMs } from "./backoff.ts";
import { type ClaimedJob, type Ended, JobTable, type Outcome } from "./embedded-jobs.ts";
import { ScheduleTable } from "./embedded-schedules.ts";
import {
  ABORT_GRACE_MS,
  assertConcurrency,
  assertJobName,
  DEFAULT_DRAIN_MS,
  errorText,
  type PlannedJob,
  planJob,
  retryLaterMs,
} from "./job-spec.ts";
import {
  type Cadence,
  type DeadLetter,
  type Handler,
  type Job,
  type JobSpec,
  PermanentFailure,
  type Queue,
  type QueueCounts,
  RetryLater,
} from "./queue.ts";

/** The most adds, and the most ended jobs, of one transaction: more would block the event loop for long. */
const MAX_BATCH = 1000;

/** The timer never sleeps longer, so that a wall clock that was set forward is noticed. */
const MAX_SLEEP_MS = 60_000;

/** How long to wait after a transaction that failed (disk full, file locked) before trying again. */
const TROUBLE_PAUSE_MS = 1000;

export interface EmbeddedQueueOptions {
  readonly clock: Clock;
  readonly newId: NewId;
  /** Numbers from 0 to 1 for the jitter of retries. Default `Math.random`. */
  readonly random?: () => number;
  readonly onTrouble?: OnTrouble;
}

interface PendingAdd {
  readonly job: PlannedJob;
  readonly atMs: number;
  readonly resolve: (result: { readonly id: string; readonly added: boolean }) => void;
  readonly reject: (error: unknown) => void;
}

interface Worker {
  readonly name: string;
  readonly handler: Handler;
  readonly concurrency: number;
  active: number;
}

interface Running {
  readonly job: ClaimedJob;
  readonly worker: Worker;
  readonly controller: AbortController;
}

/** A queue that owns its file. Errors are those of `StateDatabase.open`, and `state-unavailable` for a second owner. */
export function openEmbeddedQueue(options: EmbeddedQueueOptions & DatabaseOptions): Queue {
  const database = StateDatabase.open(options);
  try {
    return new EmbeddedQueue(database, options, () => database.close());
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * The queue of a single gateway, on its SQLite file.
 *
 * Everything that happens within one turn of the event loop (adds, ends of jobs, claims) is one transaction. An add
 * resolves and a handler starts only after it, so neither is ever ahead of the file. Nothing polls: a turn is asked
 * for by an add, the end of a job, or the one timer that is set to the next due job.
 */
export class EmbeddedQueue implements Queue {
  readonly #database: StateDatabase;
  readonly #clock: Clock;
  readonly #newId: NewId;
  readonly #random: () => number;
  readonly #onTrouble: OnTrouble;
  readonly #onClosed: () => void;
  readonly #lock: OwnerLock;
  readonly #jobs: JobTable;
  readonly #schedules: ScheduleTable;

  readonly #workers = new Map<string, Worker>();
  readonly #running = new Set<Running>();
  #adds: PendingAdd[] = [];
  #ended: Ended[] = [];
  #turn: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #onIdle: (() => void) | undefined;
  #closing: Promise<void> | undefined;
  #closed = false;

  constructor(database: StateDatabase, options: EmbeddedQueueOptions, onClosed: () => void = () => {}) {
    this.#database = database;
    this.#clock = options.clock;
    this.#newId = options.newId;
    this.#random = options.random ?? Math.random;
    this.#onTrouble = options.onTrouble ?? warnOfTrouble;
    this.#onClosed = onClosed;
    this.#lock = OwnerLock.claim(database.file);
    this.#jobs = new JobTable(database);
    this.#schedules = new ScheduleTable(database, this.#jobs, options.newId);
    database.transaction(() => this.#jobs.reclaim(options.clock.now()));
    this.#wake();
  }

  async add<T>(spec: JobSpec<T>): Promise<{ readonly id: string; readonly added: boolean }> {
    this.#assertOpen();
    const job = planJob(spec, this.#newId);
    return new Promise((resolve, reject) => {
      this.#adds.push({ job, atMs: this.#clock.now(), resolve, reject });
      this.#wake();
    });
  }

  async process<T>(name: string, handler: Handler<T>, options: { readonly concurrency?: number } = {}): Promise<void> {
    this.#assertOpen();
    assertJobName(name);
    const { concurrency = 1 } = options;
    assertConcurrency(concurrency);
    if (this.#workers.has(name)) {
      throw new ExecError("invalid-argument", `Jobs named ${name} have a handler in this process already.`);
    }
    this.#workers.set(name, { name, handler: handler as Handler, concurrency, active: 0 });
    this.#wake();
  }

  async cancel(id: string): Promise<boolean> {
    assertName("job id", id);
    return this.#step(() => this.#jobs.cancel(id));
  }

  async schedule<T>(scheduleId: string, cadence: Cadence, spec: Omit<JobSpec<T>, "id" | "delayMs">): Promise<void> {
    assertName("schedule id", scheduleId);
    this.#step((now) => this.#schedules.set(scheduleId, cadence, spec, now));
  }

  async unschedule(scheduleId: string): Promise<boolean> {
    return this.#step(() => this.#schedules.remove(scheduleId));
  }

  async schedules(): Promise<readonly { readonly id: string; readonly nextAtMs: number; readonly cadence: Cadence }[]> {
    return this.#ask(() => this.#schedules.list());
  }

  async counts(name?: string): Promise<QueueCounts> {
    return this.#ask((now) => this.#jobs.counts(name, now));
  }

  async deadLetters(options: { readonly name?: string; readonly limit?: number } = {}): Promise<DeadLetter[]> {
    const limit = pageSize(options.limit);
    return this.#ask(() => this.#jobs.deadLetters(options.name, limit));
  }

  async retryDead(id: string): Promise<boolean> {
    return this.#step((now) => this.#jobs.revive(id, now));
  }

  async removeDead(id: string): Promise<boolean> {
    return this.#step(() => this.#jobs.removeDead(id));
  }

  async health(): Promise<void> {
    this.#assertOpen();
    this.#database.transaction(() => {});
  }

  close(options: { readonly drainMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(options.drainMs ?? DEFAULT_DRAIN_MS);
    return this.#closing;
  }

  async #close(drainMs: number): Promise<void> {
    await this.#idle(drainMs);
    for (const { controller } of this.#running) controller.abort(new Error("The queue is closing."));
    await this.#idle(ABORT_GRACE_MS);
    for (const { job } of this.#running) this.#ended.push({ job, outcome: { kind: "again" } });
    this.#running.clear();
    while (this.#adds.length > 0 || this.#ended.length > 0) {
      // A file that can not be written now keeps its active jobs, and the next start reclaims them.
      if (!this.#runTurn()) break;
    }
    this.#closed = true;
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
    this.#lock.release();
    this.#onClosed();
  }

  /** Resolves when nothing runs any more, or after `limitMs`. */
  #idle(limitMs: number): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#onIdle = undefined;
        resolve();
      };
      const timer = setTimeout(done, limitMs);
      this.#onIdle = done;
    });
  }

  #assertOpen(): void {
    if (this.#closed) throw new ExecError("state-unavailable", "The job queue is closed.");
  }

  /** One question from outside, after everything that was added before it. */
  #ask<T>(work: (now: number) => T): T {
    this.#assertOpen();
    while (this.#adds.length > 0) this.#runTurn();
    return work(this.#clock.now());
  }

  /** One change from outside, likewise. */
  #step<T>(work: (now: number) => T): T {
    const result = this.#ask((now) => this.#database.transaction(() => work(now)));
    this.#wake();
    return result;
  }

  #wake(): void {
    if (this.#turn !== undefined || this.#closed) return;
    this.#turn = setImmediate(() => {
      this.#turn = undefined;
      if (!this.#runTurn()) this.#sleep(TROUBLE_PAUSE_MS);
      else if (this.#adds.length > 0 || this.#ended.length > 0) this.#wake();
      else this.#sleep(this.#untilNextDue());
    });
  }

  #sleep(ms: number | undefined): void {
    clearTimeout(this.#timer);
    this.#timer = ms === undefined || this.#closed ? undefined : setTimeout(() => this.#wake(), ms);
  }

  /** False when the transaction failed: its adds were rejected, all else is still to be done. */
  #runTurn(): boolean {
    const adds = this.#adds.splice(0, MAX_BATCH);
    const ended = this.#ended.splice(0, MAX_BATCH);
    const now = this.#clock.now();
    const added: boolean[] = [];
    const claimed: { readonly worker: Worker; readonly job: ClaimedJob }[] = [];
    try {
      this.#database.transaction(() => {
        this.#jobs.finish(ended, now);
        // Twice as many are forgotten as are remembered, so markers can not pile up.
        if (ended.length > 0) this.#jobs.forgetDone(now, 2 * ended.length);
        for (const { job, atMs } of adds) added.push(this.#jobs.insert(job, atMs));
        if (this.#closing) return;
        this.#schedules.tick(now);
        for (const worker of this.#workers.values()) {
          const free = worker.concurrency - worker.active;
          for (const job of free > 0 ? this.#jobs.claim(worker.name, free, now) : []) claimed.push({ worker, job });
        }
      });
    } catch (error) {
      this.#ended.unshift(...ended);
      this.#schedules.refresh();
      for (const { reject } of adds) reject(error);
      this.#onTrouble("The job queue could not write its file and will try again", error);
      return false;
    }
    for (const [at, { job, resolve }] of adds.entries()) resolve({ id: job.id, added: added[at] === true });
    for (const { worker, job } of claimed) void this.#run(worker, job);
    return true;
  }

  #untilNextDue(): number | undefined {
    if (this.#closing) return undefined;
    try {
      const due = [...this.#workers.values()]
        .filter((worker) => worker.active < worker.concurrency)
        .map((worker) => this.#jobs.nextDueAt(worker.name));
      const next = Math.min(...[...due, this.#schedules.nextAt].filter((at) => at !== undefined));
      return Number.isFinite(next) ? Math.min(Math.max(0, next - this.#clock.now()), MAX_SLEEP_MS) : undefined;
    } catch (error) {
      this.#onTrouble("The job queue could not read its file and will try again", error);
      return TROUBLE_PAUSE_MS;
    }
  }

  async #run(worker: Worker, job: ClaimedJob): Promise<void> {
    const running: Running = { job, worker, controller: new AbortController() };
    this.#running.add(running);
    worker.active++;
    let outcome: Outcome = { kind: "completed" };
    try {
      await worker.handler(publicJob(running));
    } catch (error) {
      outcome = this.#outcomeOf(error, running);
    }
    worker.active--;
    // A run that close() has given up on has been put back already; what it ends with comes too late.
    if (!this.#running.delete(running)) return;
    this.#ended.push({ job, outcome });
    this.#wake();
    if (this.#running.size === 0) this.#onIdle?.();
  }

  #outcomeOf(error: unknown, { job, controller }: Running): Outcome {
    if (controller.signal.aborted) return { kind: "again" };
    const now = this.#clock.now();
    if (error instanceof RetryLater) {
      return { kind: "retry", attempt: job.attempt, dueAtMs: now + retryLaterMs(error.afterMs) };
    }
    if (error instanceof PermanentFailure || job.attempt >= job.attempts) {
      return { kind: "dead", error: errorText(error) };
    }
    const delayMs = retryDelayMs(job.backoff, job.attempt, this.#random);
    return { kind: "retry", attempt: job.attempt + 1, dueAtMs: now + delayMs };
  }
}

function publicJob({ job, controller }: Running): Job {
  return {
    id: job.id,
    name: job.name,
    data: JSON.parse(job.json),
    ...(job.key === undefined ? {} : { key: job.key }),
    attempt: job.attempt,
    enqueuedAtMs: job.enqueuedAtMs,
    signal: controller.signal,
  };
}
