import {
  type Job as BullJob,
  type Queue as BullQueue,
  type ConnectionOptions,
  DelayedError,
  isNotConnectionError,
  UnrecoverableError,
  WaitingError,
  Worker,
} from "bullmq";
import type { Clock } from "../clock.ts";
import type { OnTrouble } from "../store/topics.ts";
import { DEFAULT_BACKOFF, retryDelayMs } from "./backoff.ts";
import { type Envelope, PARK_MS } from "./bullmq-job.ts";
import type { Lanes } from "./bullmq-lanes.ts";
import { errorText, MAX_CRASHES, retryLaterMs } from "./job-spec.ts";
import { type Handler, type Job, PermanentFailure, RetryLater } from "./queue.ts";

/** How often each worker looks for lanes that a dead process left unreleased. */
const LANE_SWEEP_MS = 15_000;

export interface BullmqWorkerOptions {
  readonly queue: BullQueue;
  readonly handler: Handler;
  readonly concurrency: number;
  readonly connection: ConnectionOptions;
  readonly prefix: string;
  readonly lockMs: number;
  readonly lanes: Lanes;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onTrouble: OnTrouble;
  /** Called after BullMQ has moved a job to completed or failed. */
  readonly onFinished: (how: "completed" | "expired" | "dead") => Promise<void>;
}

interface Running {
  readonly job: BullJob<Envelope>;
  readonly controller: AbortController;
  /** Ends the run for BullMQ although its handler goes on. */
  readonly abandon: () => void;
}

/** How a run ended, for BullMQ. `again`: it was cut off by a shutdown, and runs once more as the same attempt. */
type Ending =
  | { readonly kind: "done" }
  | { readonly kind: "again" }
  | { readonly kind: "failed"; readonly error: unknown };

/** The value that BullMQ keeps for a job that was dropped unrun. */
const EXPIRED = "expired";

/** The jobs of one name in this process: a BullMQ worker, and what our contract asks beyond it. */
export class BullmqWorker {
  readonly #options: BullmqWorkerOptions;
  readonly #worker: Worker<Envelope, string | undefined>;
  readonly #sweeper: NodeJS.Timeout;
  readonly #running = new Set<Running>();
  readonly #settling = new Set<Promise<void>>();
  #sweeping: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: BullmqWorkerOptions) {
    this.#options = options;
    const { queue, random, onTrouble } = options;
    this.#worker = new Worker<Envelope, string | undefined>(queue.name, (job, token) => this.#process(job, token), {
      connection: options.connection,
      prefix: options.prefix,
      concurrency: options.concurrency,
      lockDuration: options.lockMs,
      // A job counts as stalled at the second look that finds it without a lock.
      stalledInterval: options.lockMs / 2,
      // BullMQ fails a job whose process died more often than this.
      maxStalledCount: MAX_CRASHES - 1,
      settings: {
        backoffStrategy: (attempt, _type, _error, job) =>
          Math.max(0, retryDelayMs((job as BullJob<Envelope>).data.backoff ?? DEFAULT_BACKOFF, attempt, random)),
      },
    });
    this.#worker.on("error", (error) => {
      // The connections tell of their own trouble, once per outage.
      if (!isNotConnectionError(error)) return;
      onTrouble(`The worker for ${queue.name} jobs has trouble and goes on`, error);
      // The end of a job that was sent again after an outage is such an error: it was done, but we were not told.
      this.sweep();
    });
    this.#worker.on("stalled", (jobId) =>
      onTrouble(`A ${queue.name} job was cut off and runs again`, new Error(`job ${jobId} lost its lock`)),
    );
    this.#worker.on("lockRenewalFailed", (jobIds) =>
      this.#abort(new Error("Another gateway took this job over."), jobIds),
    );
    this.#worker.on("completed", (job, result) => this.#settle(job, result === EXPIRED ? "expired" : "completed"));
    this.#worker.on("failed", (job) => {
      // Without `finishedOn` it is only one failed try, and the job keeps its place.
      if (job?.finishedOn) this.#settle(job, "dead");
    });
    this.#sweeper = setInterval(() => this.sweep(), LANE_SWEEP_MS).unref();
    this.sweep();
  }

  /** Stops taking jobs at once; resolves when those that run are done with, which `abort` and `abandon` hasten. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await this.#worker.close();
    await Promise.all([...this.#settling, this.#sweeping]);
  }

  /** For a close that does not end because Redis does not answer. */
  async disconnect(): Promise<void> {
    await this.#worker.disconnect();
  }

  /** Resolves when nothing runs any more, or after `limitMs`. */
  idle(limitMs: number): Promise<void> {
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

  /** Releases what an outage or the death of a gateway left unreleased. */
  sweep(): void {
    const { queue, lanes, onTrouble } = this.#options;
    this.#sweeping ??= lanes
      .sweep(queue)
      .catch((error) => onTrouble(`The lanes of ${queue.name} jobs could not be checked`, error))
      .finally(() => {
        this.#sweeping = undefined;
      });
  }

  abort(): void {
    this.#abort(new Error("The queue is closing."));
  }

  /** Gives back the jobs whose handlers do not end, to be run again. */
  abandon(): void {
    for (const { abandon } of this.#running) abandon();
  }

  #abort(reason: Error, jobIds?: readonly string[]): void {
    for (const { job, controller } of this.#running) {
      if (jobIds === undefined || jobIds.includes(job.id ?? "")) controller.abort(reason);
    }
  }

  async #process(job: BullJob<Envelope>, token: string | undefined): Promise<string | undefined> {
    const { queue, lanes, clock, onTrouble } = this.#options;
    const { key, notAfterMs } = job.data;
    if (key !== undefined && !(await this.#mayGo(job, token, key))) {
      await job.moveToDelayed(Date.now() + PARK_MS, token);
      // Its turn may have come between the two, when it was not parked yet and so could not be released.
      await lanes.nudge(queue, key).catch((error) => {
        onTrouble(`A ${queue.name} job that waits for its turn starts with the next sweep`, error);
      });
      throw new DelayedError();
    }
    if (notAfterMs !== undefined && notAfterMs < clock.now()) return EXPIRED;
    const ending = await this.#run(job);
    switch (ending.kind) {
      case "done":
        return undefined;
      case "again":
        await job.moveToWait(token);
        throw new WaitingError();
      case "failed":
        if (ending.error instanceof RetryLater) {
          await job.moveToDelayed(Date.now() + retryLaterMs(ending.error.afterMs), token);
          throw new DelayedError();
        }
        if (ending.error instanceof PermanentFailure) throw new UnrecoverableError(errorText(ending.error));
        throw new Error(errorText(ending.error));
    }
  }

  /** Whether it is the first of its key. Where that can not be asked the job goes back: nothing of it was tried. */
  async #mayGo(job: BullJob<Envelope>, token: string | undefined, key: string): Promise<boolean> {
    const { queue, lanes, onTrouble } = this.#options;
    try {
      return await lanes.isHead(queue, key, job.id ?? "");
    } catch (error) {
      onTrouble(`Whether a ${queue.name} job may start could not be asked; it will be asked again`, error);
      await job.moveToWait(token);
      throw new WaitingError();
    }
  }

  async #run(job: BullJob<Envelope>): Promise<Ending> {
    const controller = new AbortController();
    let abandon: () => void = () => {};
    const abandoned = new Promise<Ending>((resolve) => {
      abandon = () => resolve({ kind: "again" });
    });
    const running = { job, controller, abandon };
    this.#running.add(running);
    const { handler, queue } = this.#options;
    const handled = (async () => handler(publicJob(job, queue.name, controller.signal)))().then(
      (): Ending => ({ kind: "done" }),
      (error): Ending => (controller.signal.aborted ? { kind: "again" } : { kind: "failed", error }),
    );
    const ending = await Promise.race([handled, abandoned]);
    this.#running.delete(running);
    if (this.#running.size === 0) this.#onIdle?.();
    return ending;
  }

  #settle(job: BullJob<Envelope>, how: "completed" | "expired" | "dead"): void {
    const { queue, lanes, onFinished, onTrouble } = this.#options;
    const { key } = job.data;
    const settled = (async () => {
      if (key !== undefined) await lanes.leave(queue, key, job.id ?? "");
      await onFinished(how);
    })().catch((error) => onTrouble(`The end of a ${queue.name} job could not be noted; the next sweep will`, error));
    this.#settling.add(settled);
    void settled.then(() => this.#settling.delete(settled));
  }
}

function publicJob(job: BullJob<Envelope>, name: string, signal: AbortSignal): Job {
  const { id, data, key, enqueuedAtMs } = job.data;
  return {
    id,
    name,
    data,
    ...(key === undefined ? {} : { key }),
    attempt: job.attemptsMade + 1,
    enqueuedAtMs,
    signal,
  };
}
