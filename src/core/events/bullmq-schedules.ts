import { Queue as BullQueue, type ConnectionOptions, isNotConnectionError, Worker } from "bullmq";
import type { Clock } from "../clock.ts";
import type { RedisLink } from "../store/redis-connection.ts";
import type { OnTrouble } from "../store/topics.ts";
import { digest } from "./bullmq-job.ts";
import { firstTickMs, nextTickMs } from "./cadence.ts";
import type { Cadence, JobSpec } from "./queue.ts";

/** Failed tries to add the job of one tick, a second apart, before that tick is given up. */
const TICK_ATTEMPTS = 60;

/** The name of the BullMQ queue that holds the ticks; it has a key prefix of its own, so no job name can be it. */
const QUEUE_NAME = "schedules";

interface Tick {
  readonly id: string;
  readonly cadence: Cadence;
  readonly spec: JobSpec;
}

export interface BullmqSchedulesOptions {
  readonly link: RedisLink;
  readonly prefix: string;
  readonly clock: Clock;
  readonly onTrouble: OnTrouble;
  readonly add: (spec: JobSpec) => Promise<unknown>;
  /** True when the job of that name and id is still to be started. */
  readonly isWaiting: (name: string, id: string) => Promise<boolean>;
}

/**
 * Recurring jobs by BullMQ's job schedulers. A scheduler's own job is only the tick, in a queue of its own; working it
 * adds the real job through the ordinary `add`, with an id made from the schedule and the time of the tick. So a tick
 * that runs twice adds one job, and keys, attempts and deadlines hold for recurring jobs as for any other.
 */
export class BullmqSchedules {
  readonly #options: BullmqSchedulesOptions;
  readonly #queue: BullQueue<Tick>;
  #worker: Worker<Tick> | undefined;

  constructor(options: BullmqSchedulesOptions) {
    this.#options = options;
    this.#queue = new BullQueue<Tick>(QUEUE_NAME, {
      connection: options.link.redis as unknown as ConnectionOptions,
      prefix: `${options.prefix}ticks`,
      settings: { repeatStrategy },
    });
    this.#queue.on("error", (error) => this.#tell(error));
  }

  /** Begins to work the ticks; any number of gateways may. */
  start(connection: ConnectionOptions, lockMs: number): void {
    if (this.#worker) return;
    this.#worker = new Worker<Tick>(QUEUE_NAME, (job) => this.#tick(job.data, job.opts.prevMillis ?? job.timestamp), {
      connection,
      prefix: `${this.#options.prefix}ticks`,
      lockDuration: lockMs,
      stalledInterval: lockMs,
      settings: { repeatStrategy },
    });
    this.#worker.on("error", (error) => this.#tell(error));
  }

  /** As with the embedded queue, an unchanged cadence keeps its next tick. */
  async set(id: string, cadence: Cadence, spec: JobSpec): Promise<void> {
    const now = this.#options.clock.now();
    const first = firstTickMs(cadence, now);
    const tick: Tick = { id, cadence, spec };
    const known = await this.#queue.getJobScheduler(digest(id));
    if (JSON.stringify(known?.template?.data) === JSON.stringify(tick)) return;
    const repeat =
      "everyMs" in cadence
        ? { every: cadence.everyMs, startDate: first }
        : { pattern: cadence.cron, ...(cadence.timezone === undefined ? {} : { tz: cadence.timezone }) };
    await this.#queue.upsertJobScheduler(digest(id), repeat, {
      name: "tick",
      data: tick,
      opts: {
        attempts: TICK_ATTEMPTS,
        backoff: { type: "fixed", delay: 1000 },
        removeOnComplete: true,
        removeOnFail: { count: 100 },
      },
    });
  }

  async remove(id: string): Promise<boolean> {
    return this.#queue.removeJobScheduler(digest(id));
  }

  async list(): Promise<{ readonly id: string; readonly nextAtMs: number; readonly cadence: Cadence }[]> {
    const schedulers = await this.#queue.getJobSchedulers(0, -1, true);
    return schedulers.flatMap(({ next, template }) => {
      const tick = template?.data as Tick | undefined;
      return tick ? [{ id: tick.id, nextAtMs: next ?? 0, cadence: tick.cadence }] : [];
    });
  }

  async stopWorking(): Promise<void> {
    await this.#worker?.close();
  }

  async disconnect(): Promise<void> {
    await this.#worker?.disconnect();
  }

  async close(): Promise<void> {
    await this.#queue.close();
  }

  /** The connections tell of their own trouble, once per outage. */
  #tell(error: Error): void {
    if (isNotConnectionError(error)) this.#options.onTrouble("The schedules have trouble and go on", error);
  }

  /** One job per tick, and none while that of an earlier tick still waits. */
  async #tick({ id, spec }: Tick, atMs: number): Promise<void> {
    const { link, prefix, add, isWaiting } = this.#options;
    // Unscheduled after this tick came due: it is not wanted any more.
    if (!(await this.#queue.getJobScheduler(digest(id)))) return;
    const lastKey = `${prefix}last-tick:${digest(id)}`;
    const last = await link.run((redis) => redis.get(lastKey));
    const jobId = `schedule ${id} at ${atMs}`;
    if (last !== null && last !== jobId && (await isWaiting(spec.name, last))) return;
    await link.run((redis) => redis.set(lastKey, jobId));
    await add({ ...spec, id: jobId });
  }
}

/** Cron by the same library as the embedded queue, so that both modes tick at the same times. */
function repeatStrategy(
  millis: number,
  options: { readonly pattern?: string; readonly tz?: string },
): number | undefined {
  const { pattern, tz } = options;
  if (pattern === undefined) return undefined;
  return nextTickMs({ cron: pattern, ...(tz === undefined ? {} : { timezone: tz }) }, millis, millis);
}
