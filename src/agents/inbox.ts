/**
 * What waits for a session's model: messages of people, and wakes. Kept in the store until a turn holds it, so nothing
 * is lost when a gateway ends; a message that comes twice is taken once.
 */
import type { WakeReason } from "../core/events/wakes.ts";
import type { Actor, Route } from "../core/route.ts";
import type { Store } from "../core/store/store.ts";

interface WaitingBase {
  readonly id: string;
  readonly sessionKey: string;
  readonly atMs: number;
}

export interface WaitingMessage extends WaitingBase {
  readonly kind: "message";
  readonly text: string;
  readonly actor: Actor;
  readonly route: Route;
  /** The platform may have cut it: the rest comes as another message. */
  readonly mayBeCut?: boolean;
}

export interface WaitingWake extends WaitingBase {
  readonly kind: "wake";
  readonly reason: WakeReason;
  readonly prompt?: string;
  /** Where an answer goes that belongs to no event. */
  readonly route?: Route;
}

export type Waiting = WaitingMessage | WaitingWake;

const INBOX_NS = "agent-inbox";
const SEEN_NS = "agent-seen";
/** As long as the queue remembers the ids of finished jobs. */
const SEEN_TTL_MS = 24 * 3_600_000;
/** What waited longer than this is answered by nobody: the turn it waited for will not come. */
const INBOX_TTL_MS = 7 * 24 * 3_600_000;
/** More than all sessions together are expected to have waiting. */
const MAX_LISTED = 10_000;

export class Inbox {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** `full`: so many wait already. `known`: it has been taken in before. */
  async put(item: Waiting, most: number): Promise<"taken" | "full" | "known"> {
    if (await this.#store.get(SEEN_NS, item.id)) return "known";
    const key = itemKey(item);
    if (await this.#store.get(INBOX_NS, key)) return "taken";
    if (item.kind === "message") {
      const waiting = await this.list(item.sessionKey);
      if (waiting.filter((one) => one.kind === "message").length >= most) return "full";
    }
    await this.#store.setIfAbsent(INBOX_NS, key, item, { ttlMs: INBOX_TTL_MS });
    return "taken";
  }

  /** Oldest first. */
  async list(sessionKey: string): Promise<readonly Waiting[]> {
    const found = await this.#store.list<Waiting>(INBOX_NS, { prefix: `${sessionKey}|` });
    const fresh: Waiting[] = [];
    for (const { key, value } of found) {
      if (await this.#store.get(SEEN_NS, value.id)) await this.#store.delete(INBOX_NS, key);
      else fresh.push(value);
    }
    return fresh;
  }

  /** A turn that is durable holds them, or nobody wants them any more. */
  async settle(items: readonly Waiting[]): Promise<void> {
    for (const item of items) {
      await this.#store.put(SEEN_NS, item.id, true, { ttlMs: SEEN_TTL_MS });
      await this.#store.delete(INBOX_NS, itemKey(item));
    }
  }

  /** Of every session. */
  async all(): Promise<readonly Waiting[]> {
    return (await this.#store.list<Waiting>(INBOX_NS, { limit: MAX_LISTED })).map((one) => one.value);
  }
}

function itemKey({ sessionKey, atMs, id }: Waiting): string {
  return `${sessionKey}|${String(atMs).padStart(15, "0")}|${id.replaceAll("|", "/")}`;
}
