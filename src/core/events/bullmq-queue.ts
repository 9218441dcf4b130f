import { type ConnectionOptions, Job as RawJob } from "bullmq";
import type { Clock, NewId } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { assertName } from "../store/keys.ts";
import { pageSize } from "../store/limits.ts";
import { closeRedis, connectRedis, RedisLink } from "../store/redis-connection.ts";
import { type OnTrouble, warnOfTrouble } from "../store/topics.ts";
import type { BoardQueue } from "./bullmq-board.ts";
import { bullId, bullOptions, envelopeOf, PARK_MS } from "./bullmq-job.ts";
import { LANE_SCRIPTS, type LaneCommands, Lanes } from "./bullmq-lanes.ts";
import { NamedQueues, within } from "./bullmq-names.ts";
import { BullmqSchedules } from "./bullmq-schedules.ts";
import { BullmqWorker } from "./bullmq-worker.ts";
import { ABORT_GRACE_MS, assertConcurrency, DEFAULT_DRAIN_MS, planJob } from "./job-spec.ts";
import type { Cadence, DeadLetter, Handler, JobSpec, Queue, QueueCounts } from "./queue.ts";

/**
 * How long a job stays with a process that went silent before another may run it. BullMQ's own 30 s would leave whoever
 * waits for a killed gateway's work alone for a minute: here it goes on within 10 s. A process that is silent for longer
 * without being dead runs a job beside another; handlers put a once-marker first, so that does no harm.
 */
const LOCK_MS = 5_000;

/** How long closing waits for Redis to take what is left; beyond it the locks run out and the jobs run again. */
const CLOSE_LIMIT_MS = 1500;

/** How long opening waits for Redis to answer. */
const OPEN_TIMEOUT_MS = 5000;

export interface BullmqQueueOptions {
  readonly url: string;
  /** Put before every key. Default `openclaw:`. */
  readonly prefix?: string;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Numbers from 0 to 1 for the jitter of retries. Default `Math.random`. */
  readonly random?: () => number;
  readonly onTrouble?: OnTrouble;
  /** Default `LOCK_MS`. */
  readonly lockMs?: number;
}

export interface WatchedQueue extends Queue {
  /** Each name's queue for Bull Board, which is loaded with the first call. `redact` masks what is shown of a job. */
  boardQueues(redact: (text: string) => string): Promise<readonly BoardQueue[]>;
}

/**
 * The queue of several gateways, on one Redis. Rejects with `state-unavailable` when Redis can not be reached.
 *
 * Producers and workers have connections of their own: a call from outside fails within a known time while Redis is
 * down, a worker waits for it to come back for as long as it takes.
 */
export async function openBullmqQueue(options: BullmqQueueOptions): Promise<WatchedQueue> {
  const queue = new BullmqQueue(options);
  try {
    await queue.connected();
    return queue;
  } catch (error) {
    await queue.close({ drainMs: 0 });
    throw error;
  }
}

class BullmqQueue implements WatchedQueue {
  readonly #options: BullmqQueueOptions;
  readonly #prefix: string;
  readonly #onTrouble: OnTrouble;
  readonly #link: RedisLink;
  readonly #names: NamedQueues;
  readonly #lanes: Lanes;
  readonly #schedules: BullmqSchedules;
  readonly #workers = new Map<string, BullmqWorker>();
  #workerRedis: ReturnType<typeof connectRedis> | undefined;
  #closing: Promise<void> | undefined;
  #closed = false;

  constructor(options: BullmqQueueOptions) {
    this.#options = options;
    this.#prefix = `${options.prefix ?? "openclaw:"}queue:`;
    this.#onTrouble = options.onTrouble ?? warnOfTrouble;
    this.#link = new RedisLink({
      url: options.url,
      name: "openclaw-queue",
      onTrouble: this.#onTrouble,
      extra: { scripts: LANE_SCRIPTS },
    });
    // A job that ended during an outage could not release the next of its key.
    this.#link.redis.on("ready", () => {
      for (const worker of this.#workers.values()) worker.sweep();
    });
    this.#names = new NamedQueues(this.#link, options.clock, this.#prefix, this.#onTrouble);
    this.#lanes = new Lanes(this.#link, options.clock, this.#prefix);
    this.#schedules = new BullmqSchedules({
      link: this.#link,
      prefix: this.#prefix,
      clock: options.clock,
      onTrouble: this.#onTrouble,
      add: (spec) => this.add(spec),
      isWaiting: (name, id) => this.#names.isWaiting(name, id),
    });
  }

  async connected(): Promise<void> {
    await this.#link.ready(OPEN_TIMEOUT_MS);
    const memory = await this.#link.run((redis) => redis.info("memory"));
    const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
    if (policy !== undefined && policy !== "noeviction") {
      this.#onTrouble(
        "Redis may throw jobs away when its memory is full",
        new Error(`maxmemory-policy is ${policy}; set it to noeviction`),
      );
    }
  }

  async add<T>(spec: JobSpec<T>): Promise<{ readonly id: string; readonly added: boolean }> {
    this.#assertOpen();
    const { clock, newId } = this.#options;
    const planned = planJob(spec, newId);
    const nonce = newId();
    const now = clock.now();
    const queue = await this.#names.of(planned.name);
    const options = bullOptions(planned, planned.key === undefined ? planned.delayMs : PARK_MS);
    const jobId = bullId(planned.id);
    const dueAtMs = now + planned.delayMs;
    const job = new RawJob(queue, planned.name, envelopeOf(planned, nonce, now), options, jobId);
    const [mine, release] = await this.#names.run(async (): Promise<[mine: number, release: number]> => {
      const client = await queue.getBackend().client;
      if (planned.key === undefined && !planned.named) {
        await job.addJob(client);
        return [1, 0];
      }
      const transaction = client.multi();
      const commands = transaction as unknown as LaneCommands;
      await job.addJob(transaction);
      if (planned.key === undefined) void commands.openclawIsMine(queue.toKey(jobId), nonce);
      else void commands.openclawEnterLane(...this.#lanes.enterArguments(queue, planned.key, jobId, nonce, dueAtMs));
      const results = (await transaction.exec()) as [Error | null, unknown][];
      for (const [error] of results) if (error) throw error;
      const answer = results.at(-1)?.[1] as number | [number, number];
      return Array.isArray(answer) ? answer : [answer, 0];
    });
    // From here on the job is stored; a release that fails is made up for by the next sweep.
    if (release === 1) {
      await this.#lanes.release(queue, jobId, dueAtMs).catch((error) => {
        this.#onTrouble(`A ${planned.name} job was added and starts with the next sweep`, error);
      });
    }
    return { id: planned.id, added: mine === 1 };
  }

  async process<T>(name: string, handler: Handler<T>, options: { readonly concurrency?: number } = {}): Promise<void> {
    this.#assertOpen();
    const { concurrency = 1 } = options;
    assertConcurrency(concurrency);
    const queue = await this.#names.of(name);
    // Asked only now, so that nothing can come between the answer and the worker.
    if (this.#closing) throw new ExecError("state-unavailable", "The job queue is closing and takes no handlers.");
    if (this.#workers.has(name)) {
      throw new ExecError("invalid-argument", `Jobs named ${name} have a handler in this process already.`);
    }
    const { clock, lockMs = LOCK_MS, random = Math.random } = this.#options;
    const connection = this.#workerConnection();
    this.#schedules.start(connection, lockMs);
    const worker = new BullmqWorker({
      ...{ queue, concurrency, connection, lockMs, clock, random },
      handler: handler as Handler,
      prefix: this.#names.jobsPrefix,
      lanes: this.#lanes,
      onTrouble: this.#onTrouble,
      onFinished: async (how) => {
        if (how !== "dead") await this.#names.count(name, how);
      },
    });
    this.#workers.set(name, worker);
  }

  async cancel(id: string): Promise<boolean> {
    this.#assertOpen();
    assertName("job id", id);
    return this.#names.any((queue) => this.#lanes.cancel(queue, bullId(id)));
  }

  async schedule<T>(scheduleId: string, cadence: Cadence, spec: Omit<JobSpec<T>, "id" | "delayMs">): Promise<void> {
    this.#assertOpen();
    assertName("schedule id", scheduleId);
    planJob(spec, this.#options.newId);
    await this.#names.run(() => this.#schedules.set(scheduleId, cadence, spec));
  }

  async unschedule(scheduleId: string): Promise<boolean> {
    this.#assertOpen();
    return this.#names.run(() => this.#schedules.remove(scheduleId));
  }

  async schedules(): Promise<readonly { readonly id: string; readonly nextAtMs: number; readonly cadence: Cadence }[]> {
    this.#assertOpen();
    return this.#names.run(() => this.#schedules.list());
  }

  async counts(name?: string): Promise<QueueCounts> {
    this.#assertOpen();
    return this.#names.counts(name);
  }

  async deadLetters(options: { readonly name?: string; readonly limit?: number } = {}): Promise<DeadLetter[]> {
    this.#assertOpen();
    return this.#names.deadLetters(options.name, pageSize(options.limit));
  }

  async retryDead(id: string): Promise<boolean> {
    this.#assertOpen();
    return this.#names.retryDead(id);
  }

  async removeDead(id: string): Promise<boolean> {
    this.#assertOpen();
    return this.#names.any((queue) => this.#lanes.removeDead(queue, bullId(id)));
  }

  async boardQueues(redact: (text: string) => string): Promise<readonly BoardQueue[]> {
    this.#assertOpen();
    const { boardQueue } = await import("./bullmq-board.ts");
    return (await this.#names.all()).map((queue) => boardQueue(queue, redact));
  }

  async health(): Promise<void> {
    this.#assertOpen();
    await this.#link.run((redis) => redis.ping());
  }

  close(options: { readonly drainMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(options.drainMs ?? DEFAULT_DRAIN_MS);
    return this.#closing;
  }

  async #close(drainMs: number): Promise<void> {
    const workers = [...this.#workers.values()];
    const closed = Promise.all([this.#schedules.stopWorking(), ...workers.map((worker) => worker.close())]);
    closed.catch((error) => this.#onTrouble("A worker could not be closed", error));
    await Promise.all(workers.map((worker) => worker.idle(drainMs)));
    for (const worker of workers) worker.abort();
    await Promise.all(workers.map((worker) => worker.idle(ABORT_GRACE_MS)));
    for (const worker of workers) worker.abandon();
    // While Redis is down a worker waits for it; closing does not.
    await within(CLOSE_LIMIT_MS, closed).catch(() => {
      for (const each of [this.#schedules, ...workers]) void each.disconnect().catch(() => {});
    });
    this.#closed = true;
    await within(CLOSE_LIMIT_MS, Promise.all([this.#schedules.close(), this.#names.close()])).catch(() => {});
    if (this.#workerRedis) await closeRedis(this.#workerRedis);
    await this.#link.close();
  }

  #workerConnection(): ConnectionOptions {
    this.#workerRedis ??= connectRedis({
      url: this.#options.url,
      name: "openclaw-worker",
      onTrouble: this.#onTrouble,
      // A worker must not lose the end of a job to an outage: what it sends waits, and is sent again if need be. BullMQ's
      // scripts are made for that, each names the lock it holds.
      extra: { enableOfflineQueue: true, autoResendUnfulfilledCommands: true },
    });
    return this.#workerRedis as unknown as ConnectionOptions;
  }

  #assertOpen(): void {
    if (this.#closed) throw new ExecError("state-unavailable", "The job queue is closed.");
  }
}
