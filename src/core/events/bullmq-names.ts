import { Queue as BullQueue, type ConnectionOptions, isNotConnectionError, type Job as RawJob } from "bullmq";
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { COMMAND_TIMEOUT_MS, READY_WAIT_MS, type RedisLink } from "../store/redis-connection.ts";
import type { OnTrouble } from "../store/topics.ts";
import { bullId, type Envelope, parkedFrom } from "./bullmq-job.ts";
import { assertJobName } from "./job-spec.ts";
import type { DeadLetter, QueueCounts } from "./queue.ts";

/** BullMQ writes a log of events per job name; nothing of ours reads it. */
const EVENT_LOG_LENGTH = 1000;

/**
 * One BullMQ queue per job name, so that concurrency and counts are BullMQ's own, and the questions that go over all of
 * them. The names ever used are kept in Redis, since an id says nothing about its name.
 */
export class NamedQueues {
  /** The key prefix that workers of these queues must use. */
  readonly jobsPrefix: string;
  readonly #link: RedisLink;
  readonly #clock: Clock;
  readonly #onTrouble: OnTrouble;
  readonly #totalsKey: string;
  readonly #namesKey: string;
  readonly #queues = new Map<string, BullQueue>();
  readonly #counting = new Map<string, number>();
  #counted: Promise<void> | undefined;

  constructor(link: RedisLink, clock: Clock, prefix: string, onTrouble: OnTrouble) {
    this.#link = link;
    this.#clock = clock;
    this.#onTrouble = onTrouble;
    this.jobsPrefix = `${prefix}jobs`;
    this.#totalsKey = `${prefix}totals`;
    this.#namesKey = `${prefix}names`;
  }

  async of(name: string): Promise<BullQueue> {
    assertJobName(name);
    const known = this.#queues.get(name);
    if (known) return known;
    await this.run(() => this.#link.redis.sadd(this.#namesKey, name));
    const queue = this.#queues.get(name) ?? this.#create(name);
    await this.run(() => queue.waitUntilReady());
    return queue;
  }

  /** Those of every name that was ever used. */
  async all(): Promise<readonly BullQueue[]> {
    return Promise.all((await this.#names()).map((name) => this.of(name)));
  }

  /** Asks the queue of each name in turn until one answers true. */
  async any(ask: (queue: BullQueue) => Promise<boolean>): Promise<boolean> {
    for (const name of await this.#names()) if (await ask(await this.of(name))) return true;
    return false;
  }

  /** BullMQ waits for its connection by itself and without end; a caller is not made to. */
  run<T>(call: () => Promise<T>): Promise<T> {
    return within(READY_WAIT_MS + COMMAND_TIMEOUT_MS, this.#link.run(call));
  }

  /** Counts of one turn of the event loop go together: a busy queue ends many jobs in each. */
  count(name: string, how: "completed" | "expired"): Promise<void> {
    const field = `${name}:${how}`;
    this.#counting.set(field, (this.#counting.get(field) ?? 0) + 1);
    this.#counted ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        const counting = [...this.#counting];
        this.#counting.clear();
        this.#counted = undefined;
        Promise.all(
          counting.map(([each, by]) => this.#link.run((redis) => redis.hincrby(this.#totalsKey, each, by))),
        ).then(() => resolve(), reject);
      });
    });
    return this.#counted;
  }

  async counts(name: string | undefined): Promise<QueueCounts> {
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

  async deadLetters(only: string | undefined, limit: number): Promise<DeadLetter[]> {
    if (limit === 0) return [];
    const letters: DeadLetter[] = [];
    for (const name of only === undefined ? await this.#names() : [only]) {
      const queue = await this.of(name);
      for (const job of await this.run(() => queue.getJobs(["failed"], 0, limit - 1, false))) {
        if (job) letters.push(deadLetter(job, name));
      }
    }
    return letters.toSorted((a, b) => b.diedAtMs - a.diedAtMs).slice(0, limit);
  }

  retryDead(id: string): Promise<boolean> {
    const jobId = bullId(id);
    return this.any((queue) =>
      this.run(async () => {
        const job: RawJob<Envelope> | undefined = await queue.getJob(jobId);
        if (!job || !(await job.isFailed())) return false;
        const { notAfterMs: _, ...envelope } = job.data;
        await job.updateData(envelope);
        // Else a job that died of crashes would count them on.
        await this.#link.redis.hdel(queue.toKey(jobId), "stc", "defa");
        await job.retry("failed", { resetAttemptsMade: true, resetAttemptsStarted: true });
        return true;
      }),
    );
  }

  /** True when the job is stored and was never started. */
  async isWaiting(name: string, id: string): Promise<boolean> {
    const queue = await this.of(name);
    const [added, started, finished] = await this.run(() =>
      this.#link.redis.hmget(queue.toKey(bullId(id)), "timestamp", "processedOn", "finishedOn"),
    );
    return Boolean(added) && !started && !finished;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }

  #create(name: string): BullQueue {
    const queue = new BullQueue(name, {
      connection: this.#link.redis as unknown as ConnectionOptions,
      prefix: this.jobsPrefix,
      streams: { events: { maxLen: EVENT_LOG_LENGTH } },
    });
    queue.on("error", (error) => {
      // The connection tells of its own trouble, once per outage.
      if (isNotConnectionError(error)) this.#onTrouble(`The queue of ${name} jobs has trouble and goes on`, error);
    });
    this.#queues.set(name, queue);
    return queue;
  }

  async #names(): Promise<string[]> {
    return (await this.run(() => this.#link.redis.smembers(this.#namesKey))).toSorted();
  }

  async #countsOf(name: string): Promise<QueueCounts> {
    const queue = await this.of(name);
    const parked = parkedFrom(this.#clock.now());
    const answers = await this.run(() =>
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

/** Rejects with `state-unavailable` when the work takes longer. */
export async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
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
