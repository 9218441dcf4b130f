import { join } from "node:path";
import type { Clock, NewId } from "../clock.ts";
import type { WatchedQueue } from "../events/bullmq-queue.ts";
import { EmbeddedQueue } from "../events/embedded-queue.ts";
import type { Queue } from "../events/queue.ts";
import { StateDatabase } from "./database.ts";
import { SqliteStore } from "./sqlite-store.ts";
import type { Store } from "./store.ts";
import { type OnTrouble, warnOfTrouble } from "./topics.ts";

/** The state file of the embedded mode, in the state directory. */
export const STATE_FILE = "state.db";

export interface OpenStateOptions {
  /** Made private (0700) and created when missing. */
  readonly stateDir: string;
  /** Given: state and queue live in this Redis, shared by several gateways. Absent: in one file in `stateDir`. */
  readonly redisUrl?: string;
  readonly redisPrefix?: string;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Embedded mode: `power` also survives a power cut, at the price of a disk wait per write. Default `process`. */
  readonly durability?: "process" | "power";
  readonly onTrouble?: OnTrouble;
}

export interface State {
  readonly store: Store;
  readonly queue: Queue;
  /** With Redis: its queues for Bull Board. */
  readonly boardQueues?: WatchedQueue["boardQueues"];
  /** Closes the queue first, so that jobs that end can still write; `drainMs` is the queue's. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/** Opens both drivers of the mode that the options ask for. Errors are those of the drivers. */
export async function openState(options: OpenStateOptions): Promise<State> {
  const { redisUrl } = options;
  const opened = redisUrl === undefined ? openEmbedded(options) : await openRedis(options, redisUrl);
  const { store, queue } = opened;
  return {
    ...opened,
    async close(closeOptions) {
      await queue.close(closeOptions);
      await store.close();
    },
  };
}

function openEmbedded(options: OpenStateOptions): Omit<State, "close"> {
  const database = StateDatabase.open({ ...options, file: join(options.stateDir, STATE_FILE) });
  try {
    const queue = new EmbeddedQueue(database, options);
    const store = new SqliteStore(database, options.clock, options.onTrouble ?? warnOfTrouble, () => database.close());
    return { store, queue };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Loads the Redis libraries only when they are used: a third of a second at each start that the embedded mode saves. */
async function openRedis(options: OpenStateOptions, url: string): Promise<Omit<State, "close">> {
  const [{ openRedisStore }, { openBullmqQueue }] = await Promise.all([
    import("./redis-store.ts"),
    import("../events/bullmq-queue.ts"),
  ]);
  const shared = { ...options, url, ...(options.redisPrefix === undefined ? {} : { prefix: options.redisPrefix }) };
  const store = await openRedisStore(shared);
  try {
    const queue = await openBullmqQueue(shared);
    return { store, queue, boardQueues: (redact) => queue.boardQueues(redact) };
  } catch (error) {
    await store.close();
    throw error;
  }
}
