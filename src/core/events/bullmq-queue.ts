import { Queue as BullQueue, type ConnectionOptions, isNotConnectionError, Job as RawJob } from "bullmq";
import type { Clock, NewId } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { assertName } from "../store/keys.ts";
import { pageSize } from "../store/limits.ts";
import { COMMAND_TIMEOUT_MS, closeRedis, connectRedis, READY_WAIT_MS, RedisLink } from "../store/redis-connection.ts";
import { type OnTrouble, warnOfTrouble } from "../store/topics.ts";
import { bullId, bullOptions, type Envelope, envelopeOf, PARK_MS, parkedFrom } from "./bullmq-job.ts";
import { LANE_SCRIPTS, type LaneCommands, Lanes } from "./bullmq-lanes.ts";
import { BullmqSchedules } from "./bullmq-schedules.ts";
import { BullmqWorker } from "./bullmq-worker.ts";
import { ABORT_GRACE_MS, assertConcurrency, assertJobName, DEFAULT_DRAIN_MS, planJob } from "./job-spec.ts";
import type { Cadence, DeadLetter, Handler, JobSpec, Queue, QueueCounts } from "./queue.ts";

/** How long a job stays with a process that went silent before another may run it. BullMQ's own default. */
export const LOCK_MS = 30_000;

/** BullMQ writes a log of events per job name; nothing of ours reads it. */
const EVENT_LOG_LENGTH = 1000;

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

/**
 * The queue of several gateways, on one Redis. Rejects with `state-unavailable` when Redis can not be reached.
 *
 * Producers and workers have connections of their own: a call from outside fails within a known time while Redis is
 * down, a worker waits for it to come back for as long as it takes.
 */
export async function openBullmqQueue(options: BullmqQueueOptions): Promise<Queue> {
  const queue = new BullmqQueue(options);
  try {
    await queue.connected();
    return queue;
  } catch (error) {
    await queue.close({ drainMs: 0 });
    throw error;
  }
}

class BullmqQueue implements Queue {
  readonly #options: BullmqQueueOptions;
  readonly #prefix: string;
  readonly #onTrouble: OnTrouble;
  readonly #link: RedisLink;
  readonly #lanes: Lanes;
  readonly #schedules: BullmqSchedules;
  readonly #queues = new Map<string, BullQueue>();
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
    this.#lanes = new Lanes(this.#link, options.clock, this.#prefix);
    this.#schedules = new BullmqSchedules({
      link: this.#link,
      prefix: this.#prefix,
      clock: options.clock,
      onTrouble: this.#onTrouble,
      add: (spec) => this.add(spec),
      isWaiting: (name, id) => this.#isWaiting(name, id),
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
    const queue = await this.#queueFor(planned.name);
    const options = bullOptions(planned, planned.key === undefined ? planned.delayMs : PARK_MS);
    const jobId = bullId(planned.id);
    const dueAtMs = now + planned.delayMs;
    const job = new RawJob(queue, planned.name, envelopeOf(planned, nonce, now), options, jobId);
    const [mine, release] = await this.#run(async (): Promise<[mine: number, release: number]> => {
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
    if (this.#closing) throw new ExecError("state-unavailable", "The job queue is closing and takes no handlers.");
    assertJobName(name);
    const { concurrency = 1 } = options;
    assertConcurrency(concurrency);
    if (this.#workers.has(name)) {
      throw new ExecError("invalid-argument", `Jobs named ${name} have a handler in this process already.`);
    }
    const queue = await this.#queueFor(name);
    const { clock, lockMs = LOCK_MS, random = Math.random } = this.#options;
    const connection = this.#workerConnection();
    this.#schedules.start(connection, lockMs);
    const worker = new BullmqWorker({
      ...{ queue, concurrency, connection, lockMs, clock, random },
      handler: handler as Handler,
      prefix: this.#jobsPrefix,
      lanes: this.#lanes,
      onTrouble: this.#onTrouble,
      onFinished: async (how) => {
        if (how !== "dead") await this.#link.run((redis) => redis.hincrby(this.#totalsKey, `${name}:${how}`, 1));
      },
    });
    this.#workers.set(name, worker);
  }

  async cancel(id: string): Promise<boolean> {
    assertName("job id", id);
    return this.#anyQueue((queue) => this.#lanes.cancel(queue, bullId(id)));
  }

  async schedule<T>(scheduleId: string, cadence: Cadence, spec: Omit<JobSpec<T>, "id" | "delayMs">): Promise<void> {
    this.#assertOpen();
    assertName("schedule id", scheduleId);
    planJob(spec, this.#options.newId);
    await this.#run(() => this.#schedules.set(scheduleId, cadence, spec));
  }

  async unschedule(scheduleId: string): Promise<boolean> {
    this.#assertOpen();
    return this.#run(() => this.#schedules.remove(scheduleId));
  }

  async schedules(): Promise<readonly { readonly id: string; readonly nextAtMs: number; readonly cadence: Cadence }[]> {
    this.#assertOpen();
    return this.#run(() => this.#schedules.list());
  }

  async counts(name?: string): Promise<QueueCounts> {
    this.#assertOpen();
    const names = name === undefined ? await this.#names() : [name];
    const all = await Promise.all(names.map((each) => this.#countsOf(each)));
    const sum = (field: keyof QueueCounts): number => all.reduce((total, counts) => total + counts[field], 0);
    return {
      waiting: sum("waiting"),
      delayed: sum("delayed"),
      active: sum("active"),
      dead: sum("dead"),
      completed: sum("completed"),
      expired: sum("expired"),
    };
  }

  async deadLetters(options: { readonly name?: string; readonly limit?: number } = {}): Promise<DeadLetter[]> {
    this.#assertOpen();
    const limit = pageSize(options.limit);
    if (limit === 0) return [];
    const names = options.name === undefined ? await this.#names() : [options.name];
    const letters: DeadLetter[] = [];
    for (const name of names) {
      const queue = await this.#queueFor(name);
      for (const job of await this.#run(() => queue.getJobs(["failed"], 0, limit - 1, false))) {
        if (job) letters.push(deadLetter(job, name));
      }
    }
    return letters.toSorted((a, b) => b.diedAtMs - a.diedAtMs).slice(0, limit);
  }

  async retryDead(id: string): Promise<boolean> {
    return this.#anyQueue((queue) =>
      this.#run(async () => {
        const job: RawJob<Envelope> | undefined = await queue.getJob(bullId(id));
        if (!job || !(await job.isFailed())) return false;
        const { notAfterMs: _, ...envelope } = job.data;
        await job.updateData(envelope);
        const client = await queue.getBackend().client;
        // Else a job that died of crashes would count them on.
        await client.hdel(queue.toKey(bullId(id)), "stc", "defa");
        await job.retry("failed", { resetAttemptsMade: true, resetAttemptsStarted: true });
        return true;
      }),
    );
  }

  async removeDead(id: string): Promise<boolean> {
    return this.#anyQueue((queue) => this.#lanes.removeDead(queue, bullId(id)));
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
    await within(CLOSE_LIMIT_MS, this.#closeQueues()).catch(() => {});
    if (this.#workerRedis) await closeRedis(this.#workerRedis);
    await this.#link.close();
  }

  async #closeQueues(): Promise<void> {
    await Promise.all([this.#schedules.close(), ...[...this.#queues.values()].map((queue) => queue.close())]);
  }

  get #jobsPrefix(): string {
    return `${this.#prefix}jobs`;
  }

  get #totalsKey(): string {
    return `${this.#prefix}totals`;
  }

  get #namesKey(): string {
    return `${this.#prefix}names`;
  }

  /** One BullMQ queue per job name: concurrency and counts are then BullMQ's own. */
  async #queueFor(name: string): Promise<BullQueue> {
    assertJobName(name);
    const known = this.#queues.get(name);
    if (known) return known;
    await this.#run(() => this.#link.redis.sadd(this.#namesKey, name));
    const queue =
      this.#queues.get(name) ??
      new BullQueue(name, {
        connection: this.#link.redis as unknown as ConnectionOptions,
        prefix: this.#jobsPrefix,
        streams: { events: { maxLen: EVENT_LOG_LENGTH } },
      });
    if (!this.#queues.has(name)) {
      queue.on("error", (error) => {
        // The connection tells of its own trouble, once per outage.
        if (isNotConnectionError(error)) this.#onTrouble(`The queue of ${name} jobs has trouble and goes on`, error);
      });
      this.#queues.set(name, queue);
    }
    await this.#run(() => queue.waitUntilReady());
    return queue;
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

  async #names(): Promise<string[]> {
    return (await this.#run(() => this.#link.redis.smembers(this.#namesKey))).toSorted();
  }

  /** Asks the queue of each name in turn: an id says nothing about its name. */
  async #anyQueue(ask: (queue: BullQueue) => Promise<boolean>): Promise<boolean> {
    this.#assertOpen();
    for (const name of await this.#names()) if (await ask(await this.#queueFor(name))) return true;
    return false;
  }

  async #isWaiting(name: string, id: string): Promise<boolean> {
    const queue = await this.#queueFor(name);
    const [added, started, finished] = await this.#run(() =>
      this.#link.redis.hmget(queue.toKey(bullId(id)), "timestamp", "processedOn", "finishedOn"),
    );
    return Boolean(added) && !started && !finished;
  }

  async #countsOf(name: string): Promise<QueueCounts> {
    const queue = await this.#queueFor(name);
    const parked = parkedFrom(this.#options.clock.now());
    const answers = await this.#run(() =>
      this.#link.redis
        .multi()
        .llen(queue.toKey("wait"))
        .llen(queue.toKey("paused"))
        .zcard(queue.toKey("delayed"))
        .zcount(queue.toKey("delayed"), parked, "+inf")
        .llen(queue.toKey("active"))
        .zcard(queue.toKey("failed"))
        .hmget(this.#totalsKey, `${name}:completed`, `${name}:expired`)
        .exec(),
    );
    const values = (answers ?? []).map(([, value]) => value);
    const [wait = 0, paused = 0, delayed = 0, held = 0, active = 0, dead = 0] = values as number[];
    const [completed, expired] = values[6] as (string | null)[];
    return {
      waiting: wait + paused + held,
      delayed: delayed - held,
      active,
      dead,
      completed: Number(completed ?? 0),
      expired: Number(expired ?? 0),
    };
  }

  #assertOpen(): void {
    if (this.#closed) throw new ExecError("state-unavailable", "The job queue is closed.");
  }

  /** BullMQ waits for its connection by itself and without end; a caller is not made to. */
  #run<T>(call: () => Promise<T>): Promise<T> {
    return within(READY_WAIT_MS + COMMAND_TIMEOUT_MS, this.#link.run(call));
  }
}

function deadLetter(job: RawJob<Envelope>, name: string): DeadLetter {
  const { id, data, key } = job.data;
  return {
    id,
    name,
    data,
    ...(key === undefined ? {} : { key }),
    error: job.failedReason,
    attempts: job.attemptsMade,
    diedAtMs: job.finishedOn ?? job.timestamp,
  };
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ExecError("state-unavailable", `Redis did not answer within ${limitMs} ms. Try again later.`)),
      limitMs,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
