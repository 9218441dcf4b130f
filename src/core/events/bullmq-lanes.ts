import { ErrorCode, type Queue } from "bullmq";
import type { Clock } from "../clock.ts";
import type { RedisLink } from "../store/redis-connection.ts";
import { digest, parkedFrom } from "./bullmq-job.ts";
import { ADVANCE_LANE, ENTER_LANE, IS_HEAD, IS_MINE, TAKE_OUT } from "./bullmq-scripts.ts";

type Arguments = (string | number)[];

/** The scripts as ioredis offers them, also on a transaction. */
export interface LaneCommands {
  openclawIsMine(...args: Arguments): Promise<number>;
  openclawEnterLane(...args: Arguments): Promise<[mine: number, release: number]>;
  openclawIsHead(...args: Arguments): Promise<number>;
  openclawAdvanceLane(...args: Arguments): Promise<[] | [id: string, dueAt: string]>;
  openclawTakeOut(...args: Arguments): Promise<[found: number, lane: string]>;
}

export const LANE_SCRIPTS = {
  openclawIsMine: { lua: IS_MINE, numberOfKeys: 1 },
  openclawEnterLane: { lua: ENTER_LANE, numberOfKeys: 5 },
  openclawIsHead: { lua: IS_HEAD, numberOfKeys: 3 },
  openclawAdvanceLane: { lua: ADVANCE_LANE, numberOfKeys: 3 },
  openclawTakeOut: { lua: TAKE_OUT, numberOfKeys: 4 },
};

/** How many lanes a sweep reads per step. */
const SCAN_COUNT = 200;

/**
 * Order per key, which BullMQ has not. Each name and key has a lane: a sorted set of the ids of its unfinished jobs, in
 * the order they were added. Every job of a lane is a BullMQ job of its own, so retries, delays, dead letters and
 * recovery stay BullMQ's; the lane only says whose turn it is.
 *
 * Why it is sound:
 *
 * 1. A keyed job is added parked (far in the delayed set) and put into its lane in one MULTI: it is in both or in none,
 *    so every job whose add was confirmed has a place, and places are in the order of the adds.
 * 2. A worker runs a keyed job only when it is the head of its lane (`isHead`), whatever brought it to the worker; a
 *    head stays the head until it is finished, through retries, waits and stalls. So two jobs of one lane never run at
 *    a time, and never in another order. (A stalled job that runs twice overlaps only itself, as with any BullMQ job.)
 * 3. Only after BullMQ has moved the head to completed or failed does it leave the lane, and the next is released. If
 *    the process dies in between, the head is a finished job and the next stays parked: `sweep`, at each start of a
 *    worker and every few seconds, takes finished heads off and releases parked ones. All of it is idempotent, so two
 *    gateways may do it at once.
 */
export class Lanes {
  readonly #link: RedisLink;
  readonly #clock: Clock;
  readonly #prefix: string;

  /** `prefix` is put before the keys of the lanes. The link must have `LANE_SCRIPTS`. */
  constructor(link: RedisLink, clock: Clock, prefix: string) {
    this.#link = link;
    this.#clock = clock;
    this.#prefix = prefix;
  }

  /** Arguments of `openclawEnterLane`, for the transaction that adds the job. */
  enterArguments(queue: Queue, key: string, jobId: string, nonce: string, dueAtMs: number): Arguments {
    const lane = digest(key);
    const now = this.#clock.now();
    return [
      ...[queue.toKey(jobId), queue.toKey("delayed"), this.#laneKey(queue, lane), this.#lanesKey(queue)],
      ...[this.#lastPlaceKey(), jobId, nonce, parkedFrom(now), dueAtMs, lane],
    ];
  }

  async isHead(queue: Queue, key: string, jobId: string): Promise<boolean> {
    const lane = digest(key);
    const keys = [this.#laneKey(queue, lane), this.#lanesKey(queue), this.#lastPlaceKey()];
    return (await this.#run((redis) => redis.openclawIsHead(...keys, jobId, lane))) === 1;
  }

  /** The job is finished: the next of its key may run. */
  leave(queue: Queue, key: string, jobId: string): Promise<void> {
    return this.#advance(queue, digest(key), jobId);
  }

  /** Brings a parked head back: now, or when it is due. One that is not parked any more was released by another. */
  async release(queue: Queue, jobId: string, dueAtMs: number): Promise<void> {
    const delayMs = dueAtMs - this.#clock.now();
    await this.#link.run(async () => {
      const backend = queue.getBackend();
      try {
        await (delayMs > 0 ? backend.changeDelay(jobId, delayMs) : backend.promote(jobId));
      } catch (error) {
        const { code } = error as { code?: number };
        if (code !== ErrorCode.JobNotInState && code !== ErrorCode.JobNotExist) throw error;
      }
    });
  }

  /** Releases the head of the key's lane if it is parked. */
  nudge(queue: Queue, key: string): Promise<void> {
    return this.#advance(queue, digest(key), "");
  }

  /** Removes a job that waits or is delayed; false when it is active, finished or unknown. */
  async cancel(queue: Queue, jobId: string): Promise<boolean> {
    const keys = [jobId, "wait", "paused", "delayed"].map((type) => queue.toKey(type));
    const [found, lane] = await this.#run((redis) => redis.openclawTakeOut(...keys, jobId));
    if (lane !== "") await this.#advance(queue, lane, jobId);
    return found === 1;
  }

  /** Removes a dead letter, which has left its lane already. */
  async removeDead(queue: Queue, jobId: string): Promise<boolean> {
    const keys = [jobId, "wait", "paused", "failed"].map((type) => queue.toKey(type));
    const [found] = await this.#run((redis) => redis.openclawTakeOut(...keys, jobId));
    return found === 1;
  }

  /** Repairs what a process that died may have left: see point 3. */
  async sweep(queue: Queue): Promise<void> {
    let cursor = "0";
    do {
      const [next, lanes] = await this.#link.run((redis) =>
        redis.sscan(this.#lanesKey(queue), cursor, "COUNT", SCAN_COUNT),
      );
      await Promise.all(lanes.map((lane) => this.#advance(queue, lane, "")));
      cursor = next;
    } while (cursor !== "0");
  }

  async #advance(queue: Queue, lane: string, jobId: string): Promise<void> {
    const keys = [this.#laneKey(queue, lane), this.#lanesKey(queue), queue.toKey("delayed")];
    const [head, dueAt] = await this.#run((redis) =>
      redis.openclawAdvanceLane(...keys, jobId, lane, queue.toKey(""), parkedFrom(this.#clock.now())),
    );
    if (head !== undefined) await this.release(queue, head, Number(dueAt));
  }

  #run<T>(call: (redis: LaneCommands) => Promise<T>): Promise<T> {
    return this.#link.run((redis) => call(redis as unknown as LaneCommands));
  }

  #laneKey(queue: Queue, lane: string): string {
    return `${this.#prefix}lane:${queue.name}:${lane}`;
  }

  #lanesKey(queue: Queue): string {
    return `${this.#prefix}lanes:${queue.name}`;
  }

  #lastPlaceKey(): string {
    return `${this.#prefix}lane-places`;
  }
}
