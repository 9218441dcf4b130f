/**
 * The conversations of the web chat in the store. Two records of the same facts: an append-only log of changes per
 * chat, whose sequence numbers let a client catch up, and a history with the newest state of each message by its
 * place. The log is written first; a history that lags behind it is repaired from the log.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Card } from "../../core/cards.ts";
import type { Clock } from "../../core/clock.ts";
import { Lanes } from "../../core/lanes.ts";
import type { Store } from "../../core/store/store.ts";
import type { ChatEntry } from "../../protocol/frames.ts";
import {
  CLAIM_MS,
  HISTORY_SPAN,
  LOG_MAX_ENTRIES,
  MAX_CATCH_UP,
  MESSAGE_TTL_MS,
  OVERLAY_ENTRIES,
  PAGE_MAX_CHARS,
  TRIM_EVERY,
} from "./limits.ts";

/** A change as it lies in the log. Without `order` it is the message's first one: its place is its own `seq`. */
interface LoggedChange {
  readonly messageId: string;
  readonly order?: number;
  readonly atMs: number;
  readonly card: Card;
}

/** What is known of a message by its id. Without `order` somebody is about to append it. */
interface MessageRecord {
  readonly order?: number;
  readonly claimedBy: string;
  readonly claimedAtMs: number;
}

export interface Page {
  /** By place, oldest first. */
  readonly entries: readonly ChatEntry[];
  /** The newest change the page contains. */
  readonly seq: number;
  readonly hasOlder: boolean;
}

export type PutResult =
  | { readonly kind: "stored"; readonly messageId: string }
  /** Another gateway is writing this very message. */
  | { readonly kind: "busy"; readonly retryAfterMs: number };

const MESSAGES = "web.message";
const HISTORY = "web.history";
/** Digits of the largest safe integer: keys sort as numbers do. */
const ORDER_DIGITS = 16;
/** Chats this process has repaired; past that many it simply repairs again. */
const MAX_REPAIRED = 1_000;

export interface ChatLogOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Tells this process from others that share the store. */
  readonly instanceId: string;
}

export class ChatLog {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #instanceId: string;
  readonly #lanes = new Lanes();
  readonly #repaired = new Set<string>();

  constructor(options: ChatLogOptions) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#instanceId = options.instanceId;
  }

  /** Where changes of a chat are announced: `{kind: "entry"}` or `{kind: "live", …}`. */
  topic(chatId: string): string {
    return `web:${chatId}`;
  }

  messageIdFor(chatId: string, key: string): string {
    return createHash("sha256")
      .update(JSON.stringify([chatId, key]))
      .digest("base64url")
      .slice(0, 22);
  }

  /** The same key makes one message. A second put with another card changes it, unless the first one is to stay. */
  put(chatId: string, key: string, card: Card, whenKnown: "keep" | "change"): Promise<PutResult> {
    const messageId = this.messageIdFor(chatId, key);
    return this.#lanes.run(chatId, async () => {
      const order = await this.#claim(chatId, messageId);
      if (order === "busy") return { kind: "busy", retryAfterMs: CLAIM_MS };
      if (order === "mine") await this.#write(chatId, messageId, undefined, card);
      else if (whenKnown === "change") await this.#change(chatId, messageId, order, card);
      return { kind: "stored", messageId };
    });
  }

  /** A message nobody remembers any more comes back as the newest one: nothing is lost. */
  edit(chatId: string, messageId: string, card: Card): Promise<void> {
    return this.#lanes.run(chatId, async () => {
      const known = await this.#store.get<MessageRecord>(MESSAGES, messageId);
      const order = known?.value.order ?? (await this.#findInLog(chatId, messageId));
      if (order === undefined) await this.#write(chatId, messageId, undefined, card);
      else await this.#change(chatId, messageId, order, card);
    });
  }

  async has(messageId: string): Promise<boolean> {
    return (await this.#store.get<MessageRecord>(MESSAGES, messageId))?.value.order !== undefined;
  }

  /** Messages placed after this one, at most `atMost`; `undefined`: its own place is not known any more. */
  async below(chatId: string, messageId: string, atMost: number): Promise<number | undefined> {
    const order = (await this.#store.get<MessageRecord>(MESSAGES, messageId))?.value.order;
    if (order === undefined) return undefined;
    const newer = await this.#store.list<ChatEntry>(HISTORY, {
      prefix: `${chatId}/`,
      after: historyKey(chatId, order),
      limit: atMost,
    });
    return newer.length;
  }

  async head(chatId: string): Promise<number> {
    return (await this.#store.tail(streamOf(chatId), 1)).at(-1)?.seq ?? 0;
  }

  /** Changes after `seq`, oldest first. */
  async changes(chatId: string, after: number, limit: number): Promise<ChatEntry[]> {
    const logged = await this.#store.read<LoggedChange>(streamOf(chatId), { after, limit });
    return logged.map(({ seq, value }) => toEntry(seq, value));
  }

  /**
   * What a client that has everything up to `afterSeq` lacks, the newest state of each message only; `undefined` when
   * that can not be told any more or is too much.
   */
  since(chatId: string, afterSeq: number): Promise<{ entries: ChatEntry[]; seq: number } | undefined> {
    return this.#lanes.run(chatId, async () => {
      const found = await this.changes(chatId, afterSeq, MAX_CATCH_UP + 1);
      const [first] = found;
      if (!first) return (await this.head(chatId)) === afterSeq ? { entries: [], seq: afterSeq } : undefined;
      if (first.seq !== afterSeq + 1 || found.length > MAX_CATCH_UP) return undefined;
      const newest = new Map(found.map((entry) => [entry.messageId, entry]));
      const entries = found.filter((entry) => newest.get(entry.messageId) === entry);
      return charsOf(entries) > PAGE_MAX_CHARS ? undefined : { entries, seq: found.at(-1)?.seq ?? afterSeq };
    });
  }

  newest(chatId: string, limit: number): Promise<Page> {
    return this.#lanes.run(chatId, async () => {
      await this.#repair(chatId);
      const overlay = await this.#tailEntries(chatId);
      const seq = overlay.at(-1)?.seq ?? 0;
      return { ...(await this.#page(chatId, seq + 1, limit, overlay)), seq };
    });
  }

  async older(chatId: string, beforeOrder: number, limit: number): Promise<Omit<Page, "seq">> {
    return this.#page(chatId, beforeOrder, limit, []);
  }

  /** The place of a message that exists, `mine` when this call may append it, `busy` when somebody else is about to. */
  async #claim(chatId: string, messageId: string): Promise<number | "mine" | "busy"> {
    const claim: MessageRecord = { claimedBy: this.#instanceId, claimedAtMs: this.#clock.now() };
    const options = { ttlMs: MESSAGE_TTL_MS };
    for (;;) {
      const known = await this.#store.get<MessageRecord>(MESSAGES, messageId);
      if (!known) {
        if (await this.#store.setIfAbsent(MESSAGES, messageId, claim, options)) return "mine";
        continue;
      }
      const { order, claimedBy, claimedAtMs } = known.value;
      if (order !== undefined) return order;
      // This process writes a chat one message at a time, so an open claim of its own is one that failed before.
      if (claimedBy !== this.#instanceId && this.#clock.now() - claimedAtMs < CLAIM_MS) return "busy";
      const renewed = await this.#store.compareAndSet(MESSAGES, messageId, known.version, claim, options);
      if (renewed === undefined) continue;
      const found = await this.#findInLog(chatId, messageId);
      if (found === undefined) return "mine";
      await this.#repairFrom(chatId, messageId);
      return found;
    }
  }

  async #findInLog(chatId: string, messageId: string): Promise<number | undefined> {
    const found = (await this.changes(chatId, 0, LOG_MAX_ENTRIES)).find((entry) => entry.messageId === messageId);
    return found?.order;
  }

  async #change(chatId: string, messageId: string, order: number, card: Card): Promise<void> {
    const shown = await this.#store.get<ChatEntry>(HISTORY, historyKey(chatId, order));
    // What the store gives back has been through JSON; the new card has to be compared as such.
    if (shown && isDeepStrictEqual(shown.value.card, JSON.parse(JSON.stringify(card)))) return;
    await this.#write(chatId, messageId, order, card);
  }

  async #write(chatId: string, messageId: string, order: number | undefined, card: Card): Promise<void> {
    const change: LoggedChange = {
      messageId,
      atMs: this.#clock.now(),
      card,
      ...(order === undefined ? {} : { order }),
    };
    const seq = await this.#store.append(streamOf(chatId), change, { maxLength: LOG_MAX_ENTRIES });
    await this.#settle(chatId, toEntry(seq, change));
    await this.#store.publish(this.topic(chatId), { kind: "entry", seq });
    if (seq % TRIM_EVERY === 0) await this.#trim(chatId, seq);
  }

  /** Brings history and message record up to a logged change. */
  async #settle(chatId: string, entry: ChatEntry): Promise<void> {
    const key = historyKey(chatId, entry.order);
    for (;;) {
      const shown = await this.#store.get<ChatEntry>(HISTORY, key);
      if (shown && shown.value.seq >= entry.seq) break;
      const done = shown
        ? (await this.#store.compareAndSet(HISTORY, key, shown.version, entry)) !== undefined
        : await this.#store.setIfAbsent(HISTORY, key, entry);
      if (done) break;
    }
    const record: MessageRecord = {
      order: entry.order,
      claimedBy: this.#instanceId,
      claimedAtMs: this.#clock.now(),
    };
    await this.#store.put(MESSAGES, entry.messageId, record, { ttlMs: MESSAGE_TTL_MS });
  }

  async #repairFrom(chatId: string, messageId: string): Promise<void> {
    const entries = await this.changes(chatId, 0, LOG_MAX_ENTRIES);
    const newest = entries.findLast((entry) => entry.messageId === messageId);
    if (newest) await this.#settle(chatId, newest);
  }

  /** Once per process and chat: a writer that died left at most its last changes out of the history. */
  async #repair(chatId: string): Promise<void> {
    if (this.#repaired.has(chatId)) return;
    for (const entry of newestStates(await this.#tailEntries(chatId))) await this.#settle(chatId, entry);
    if (this.#repaired.size >= MAX_REPAIRED) this.#repaired.clear();
    this.#repaired.add(chatId);
  }

  async #tailEntries(chatId: string): Promise<ChatEntry[]> {
    const logged = await this.#store.tail<LoggedChange>(streamOf(chatId), OVERLAY_ENTRIES);
    return logged.map(({ seq, value }) => toEntry(seq, value));
  }

  async #page(
    chatId: string,
    before: number,
    limit: number,
    overlay: readonly ChatEntry[],
  ): Promise<Omit<Page, "seq">> {
    const messages = new Map<number, ChatEntry>();
    for (const entry of await this.#historyBefore(chatId, before, limit + 1)) messages.set(entry.order, entry);
    for (const entry of overlay) {
      const shown = messages.get(entry.order);
      if (entry.order < before && (!shown || shown.seq < entry.seq)) messages.set(entry.order, entry);
    }
    const all = [...messages.values()].sort((a, b) => a.order - b.order);
    const entries = newestThatFit(all.slice(-limit));
    return { entries, hasOlder: entries.length < all.length };
  }

  /** At least the newest `count` messages placed before `before`, when there are as many. */
  async #historyBefore(chatId: string, before: number, count: number): Promise<ChatEntry[]> {
    const prefix = `${chatId}/`;
    let found: ChatEntry[] = [];
    let span = count;
    let upper = before;
    // Places are sequence numbers with holes where edits were: a span of n places holds at most n messages.
    while (upper > 1 && found.length < count) {
      const lower = Math.max(1, upper - span);
      const listed = await this.#store.list<ChatEntry>(HISTORY, {
        prefix,
        after: historyKey(chatId, lower - 1),
        limit: upper - lower,
      });
      const within = listed.map((record) => record.value).filter((entry) => entry.order < upper);
      found = [...within, ...found];
      upper = lower;
      span = Math.min(span * 2, HISTORY_SPAN);
    }
    return found;
  }

  async #trim(chatId: string, seq: number): Promise<void> {
    if (seq <= HISTORY_SPAN) return;
    const oldest = await this.#store.list<ChatEntry>(HISTORY, { prefix: `${chatId}/`, limit: TRIM_EVERY });
    for (const { key, value } of oldest) {
      if (value.order <= seq - HISTORY_SPAN) await this.#store.delete(HISTORY, key);
    }
  }
}

function streamOf(chatId: string): string {
  return `web:${chatId}`;
}

function toEntry(seq: number, { messageId, order, atMs, card }: LoggedChange): ChatEntry {
  return { seq, order: order ?? seq, messageId, atMs, card };
}

function historyKey(chatId: string, order: number): string {
  return `${chatId}/${String(order).padStart(ORDER_DIGITS, "0")}`;
}

function newestStates(entries: readonly ChatEntry[]): ChatEntry[] {
  return [...new Map(entries.map((entry) => [entry.messageId, entry])).values()];
}

function charsOf(entries: readonly ChatEntry[]): number {
  return entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0);
}

/** The newest entries within the page's size, at least one. */
function newestThatFit(entries: readonly ChatEntry[]): ChatEntry[] {
  let room = PAGE_MAX_CHARS;
  let from = entries.length;
  while (from > 0) {
    room -= JSON.stringify(entries[from - 1]).length;
    if (room < 0 && from < entries.length) break;
    from -= 1;
  }
  return entries.slice(from);
}
