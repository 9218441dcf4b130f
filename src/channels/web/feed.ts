/**
 * Brings the changes of watched chats to their watchers. The store only nudges ("something changed"); what changed
 * is read from the log, so a lost or doubled nudge neither loses nor reorders anything, and chats nobody watches
 * cost nothing.
 */
import type { Card } from "../../core/cards.ts";
import type { Store } from "../../core/store/store.ts";
import type { ChatEntry } from "../../protocol/frames.ts";
import type { ChatLog } from "./chat-log.ts";
import type { ChatWatcher } from "./chats.ts";
import { RECHECK_MS } from "./limits.ts";

const READ_BATCH = 256;

export type FeedMessage =
  | { readonly kind: "entry"; readonly seq: number }
  | { readonly kind: "live"; readonly messageId: string; readonly card: Card };

export interface FeedOptions {
  readonly store: Store;
  readonly log: ChatLog;
  readonly recheckMs?: number;
  readonly onError: (error: unknown) => void;
}

/** Holds changes back until the snapshot is known and on its way, then passes on what is newer, in order. */
export class Subscription {
  readonly #watcher: ChatWatcher;
  #waiting: ChatEntry[] = [];
  #seq: number | undefined;

  constructor(watcher: ChatWatcher) {
    this.#watcher = watcher;
  }

  start(afterSeq: number): void {
    this.#seq = afterSeq;
    for (const entry of this.#waiting.splice(0)) this.entry(entry);
  }

  entry(entry: ChatEntry): void {
    if (this.#seq === undefined) this.#waiting.push(entry);
    else if (entry.seq > this.#seq) {
      this.#seq = entry.seq;
      this.#watcher.entry(entry);
    }
  }

  live(messageId: string, card: Card): void {
    if (this.#seq !== undefined) this.#watcher.live(messageId, card);
  }
}

class Feed {
  readonly subscriptions = new Set<Subscription>();
  readonly #chatId: string;
  readonly #options: FeedOptions;
  #seq = 0;
  #reading = false;
  #again = false;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe: (() => Promise<void>) | undefined;

  constructor(chatId: string, options: FeedOptions) {
    this.#chatId = chatId;
    this.#options = options;
  }

  async start(): Promise<void> {
    const { store, log, recheckMs = RECHECK_MS } = this.#options;
    this.#unsubscribe = await store.subscribe(log.topic(this.#chatId), (message) => this.#take(message as FeedMessage));
    this.#seq = await log.head(this.#chatId);
    this.#timer = setInterval(() => void this.#read(), recheckMs);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#unsubscribe?.();
  }

  #take(message: FeedMessage): void {
    if (message.kind === "entry") void this.#read();
    else for (const subscription of this.subscriptions) subscription.live(message.messageId, message.card);
  }

  /** One reader at a time; a nudge during a read makes it read once more. */
  async #read(): Promise<void> {
    this.#again = true;
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        const entries = await this.#options.log.changes(this.#chatId, this.#seq, READ_BATCH);
        for (const entry of entries) {
          this.#seq = entry.seq;
          for (const subscription of this.subscriptions) subscription.entry(entry);
        }
        if (entries.length === READ_BATCH) this.#again = true;
      }
    } catch (error) {
      // The next nudge or recheck reads on from the same place.
      this.#options.onError(error);
    } finally {
      this.#reading = false;
    }
  }
}

export class Feeds {
  readonly #options: FeedOptions;
  readonly #feeds = new Map<string, { readonly feed: Feed; readonly started: Promise<void>; users: number }>();

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Resolves once no later change can be missed. The result ends the subscription. */
  async subscribe(chatId: string, subscription: Subscription): Promise<() => Promise<void>> {
    const shared = this.#feeds.get(chatId) ?? this.#open(chatId);
    shared.users += 1;
    let left = false;
    const leave = async () => {
      if (left) return;
      left = true;
      shared.feed.subscriptions.delete(subscription);
      shared.users -= 1;
      if (shared.users > 0) return;
      // A later subscriber gets a feed of its own instead of one that is stopping.
      if (this.#feeds.get(chatId) === shared) this.#feeds.delete(chatId);
      await shared.feed.stop();
    };
    try {
      shared.feed.subscriptions.add(subscription);
      await shared.started;
      return leave;
    } catch (error) {
      await leave();
      throw error;
    }
  }

  #open(chatId: string): { readonly feed: Feed; readonly started: Promise<void>; users: number } {
    const feed = new Feed(chatId, this.#options);
    const shared = { feed, started: feed.start(), users: 0 };
    this.#feeds.set(chatId, shared);
    return shared;
  }

  async stop(): Promise<void> {
    const all = [...this.#feeds.values()];
    this.#feeds.clear();
    await Promise.all(all.map(({ feed }) => feed.stop()));
  }
}
