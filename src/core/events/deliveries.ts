/**
 * Outbound messages: durable, ordered per conversation, never doubled where the platform lets us know. The queue
 * carries each message as one job; a card that changes over time is an `entity` whose newest version wins.
 *
 * Rules: an edit with a lower version than the one shown is dropped; a message whose sending ended in doubt is
 * reconciled before anything is sent again; one dead chat never holds back another (the job key is the route).
 */

import type { Card, UnspokenCard } from "../cards.ts";
import type { Clock } from "../clock.ts";
import {
  AskLater,
  type MessageRef,
  type Outbound,
  type OutboundFile,
  type Recall,
  type SendResult,
  type Steps,
} from "../outbound.ts";
import { type Actor, type ChannelId, type Route, routeKey } from "../route.ts";
import type { Store } from "../store/store.ts";
import { spokenCard } from "../words/spoken-card.ts";
import { DELIVERY_JOB, type DeliveryData } from "./delivery-job.ts";
import { LiveEdits } from "./live-edits.ts";
import { cameDownOf, isDoubted, keyOf, type MessageRecord, messageKey } from "./message-record.ts";
import { NewestVersions } from "./newest-versions.ts";
import { type Job, PermanentFailure, type Queue, RetryLater } from "./queue.ts";
import type { Readers } from "./readers.ts";

/** Tries and waits of one message: about twelve minutes in all, then the dead letters (channels.md 7.1). */
const DELIVERY_ATTEMPTS = 6;
const DELIVERY_STEPS_MS = [1_000, 5_000, 25_000, 120_000, 600_000] as const;
/** How long an entity's message can still be found for an edit. */
const MESSAGE_TTL_MS = 7 * 24 * 3_600_000;
/** Final results are worth delivering for a day, progress for two minutes. */
const FINAL_MAX_AGE_MS = 24 * 3_600_000;
export const PROGRESS_MAX_AGE_MS = 2 * 60_000;
/** A card with so many newer messages below it is out of sight: its end is a message of its own (channels.md 6.2). */
const BURIED_BY = 5;
/** Messages of different conversations that are sent at the same time. */
const DELIVERY_CONCURRENCY = 8;

/** What deliveries need from a channel; `channels/channel.ts` is the full port. */
export interface Sender {
  readonly capabilities: { readonly edit: boolean; readonly minEditMs: number; readonly editsAreSilent: boolean };
  send(message: Outbound): Promise<SendResult>;
  edit(ref: MessageRef, message: Outbound): Promise<SendResult>;
  live?(ref: MessageRef, card: Card, locale: string): Promise<boolean>;
  reconcile?(message: Outbound): Promise<MessageRef | undefined>;
  below?(ref: MessageRef, atMost: number, how: Recall): Promise<number | undefined>;
}

export type FindSender = (channel: ChannelId, accountId: string) => Sender | undefined;

export interface Post {
  /** Idempotency: the same key makes one message, whatever happens. */
  readonly key: string;
  readonly route: Route;
  readonly card: UnspokenCard;
  readonly onlyFor?: Actor;
  readonly file?: OutboundFile;
  readonly notAfterMs?: number;
}

export interface Upsert {
  /** What the card shows: `approval:<id>`, `run:<id>`. One message per entity and route. */
  readonly entity: string;
  /** Grows with each change. */
  readonly version: number;
  readonly route: Route;
  readonly card: UnspokenCard;
  /**
   * The card's last word: when newer messages have buried it, what was there becomes this, and the card comes down as a
   * new message, which is the entity's from then on.
   */
  readonly leftBehind?: UnspokenCard;
  /** It is edited although this version was shown: somebody has seen another one there. Once for each version. */
  readonly redraw?: true;
  /** Only this person sees it, where the platform can do that. */
  readonly onlyFor?: Actor;
  /** With `leftBehind`: the card comes down also when nothing has buried it, once per such word. It is to be heard. */
  readonly bringDown?: string;
  readonly notAfterMs?: number;
}

export interface Deliveries {
  start(): Promise<void>;
  /** Resolves once the message is durably queued. */
  post(post: Post): Promise<void>;
  /** Creates the entity's message or edits it. */
  upsert(upsert: Upsert): Promise<void>;
  /** Best effort, throttled to what the channel allows; nothing is stored. The card is made only when it is shown. */
  live(entity: string, route: Route, card: () => UnspokenCard): void;
  /** How this route's channel shows changes. */
  editsAreSilent(route: Route): boolean;
  stop(): void;
}

export interface DeliveriesOptions {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly findSender: FindSender;
  /** Every card passes here before it is queued or shown: secrets are masked. */
  readonly prepare: (card: UnspokenCard) => UnspokenCard;
  /** Language of whoever reads there. */
  readonly languageOf: Readers["languageOf"];
  /** Why nothing new may be posted there any more. What stands there is still changed: its buttons must not outlive it. */
  readonly refuses?: (route: Route) => string | undefined;
  /** A message that no try will bring to its chat any more. Told before it becomes a dead letter; may be told twice. */
  readonly onUndelivered?: (lost: Undelivered) => Promise<void>;
  readonly onDelivered?: (info: {
    readonly channel: ChannelId;
    readonly kind: Card["kind"];
    readonly waitedMs: number;
    readonly key: string;
    /** What the card shows, `approval:<id>` or `run:<id>`. */
    readonly entity?: string;
    readonly messageId: string;
    /** It may be there twice: an earlier try was cut off, and the channel can not say what became of it. */
    readonly maybeTwice: boolean;
  }) => void;
}

export interface Undelivered {
  readonly entity?: string;
  readonly key: string;
  readonly route: Route;
  readonly card: UnspokenCard;
  readonly why: string;
}

const NS = "message";

export function createDeliveries(options: DeliveriesOptions): Deliveries {
  const { store, queue, clock, findSender } = options;
  const newest = new NewestVersions();
  const live = new LiveEdits(clock, async (entity, route, card) => {
    const sender = findSender(route.channel, route.accountId);
    const found = await store.get<MessageRecord>(NS, messageKey(entity, route));
    if (!sender?.live || !found?.value.ref) return true;
    if (sender.capabilities.editsAreSilent && (await isBuried(sender, found.value.ref, "remembered"))) return true;
    const language = await options.languageOf(route);
    return sender.live(found.value.ref, spokenCard(options.prepare(card()), language), language);
  });

  function enqueue(data: DeliveryData, id: string, notAfterMs: number | undefined): Promise<unknown> {
    return queue.add<DeliveryData>({
      name: DELIVERY_JOB,
      data: {
        ...data,
        card: options.prepare(data.card),
        ...(data.leftBehind ? { leftBehind: options.prepare(data.leftBehind) } : {}),
      },
      id,
      key: routeKey(data.route),
      attempts: DELIVERY_ATTEMPTS,
      backoff: { type: "steps", stepsMs: DELIVERY_STEPS_MS },
      notAfterMs: notAfterMs ?? clock.now() + FINAL_MAX_AGE_MS,
    });
  }

  /** Edits what is there, else sends; after a send in doubt the platform is asked first. */
  async function transmit(
    sender: Sender,
    message: Outbound,
    recordKey: string,
    version: number,
    known: MessageRecord | undefined,
  ): Promise<SendResult> {
    let ref = known?.ref;
    if (!ref && known?.inDoubt !== undefined && sender.reconcile) {
      ref = await askLater(() => sender.reconcile?.(message));
      if (ref && known.inDoubt === version) return { kind: "sent", ref };
    }
    if (ref) return sender.capabilities.edit ? sender.edit(ref, message) : { kind: "sent", ref };
    const steps = known?.inDoubt === version ? known.steps : undefined;
    const begun = { version: 0, inDoubt: version, ...(steps ? { steps } : {}), ...cameDownOf(known) };
    await put(recordKey, begun);
    return sender.send({
      ...message,
      steps: stepsOf(recordKey, begun),
      ...(isDoubted(known, sender) ? { mayRepeat: true } : {}),
    });
  }

  function stepsOf(recordKey: string, begun: MessageRecord): Steps {
    const done: Record<string, MessageRef | null> = { ...begun.steps };
    return {
      done,
      async record(step, ref) {
        done[step] = ref ?? null;
        await put(recordKey, { ...begun, steps: { ...done } });
      },
    };
  }

  function put(recordKey: string, record: MessageRecord): Promise<unknown> {
    return store.put<MessageRecord>(NS, recordKey, record, { ttlMs: MESSAGE_TTL_MS });
  }

  /**
   * Newer messages have buried the card: what stands there is left behind, and the card is to come down as a new message.
   * Done again after a crash in between, it does no harm.
   */
  async function leaveBehind(
    sender: Sender,
    ref: MessageRef,
    message: Outbound,
    recordKey: string,
    version: number,
  ): Promise<MessageRecord> {
    const left: SendResult = sender.capabilities.edit ? await sender.edit(ref, message) : { kind: "sent", ref };
    if (left.kind === "retry") throw new RetryLater(left.afterMs, left.why);
    if (left.kind === "unknown") throw new Error(`The old card may or may not have been edited: ${left.why}`);
    // One that can not be edited any more leaves nothing behind; the news itself goes out all the same.
    const record: MessageRecord = { version: 0, cameDown: version };
    await put(recordKey, record);
    return record;
  }

  /** Nothing was sent; that the card is to come down stays true. */
  async function forget(recordKey: string, known: MessageRecord | undefined): Promise<void> {
    if (known?.cameDown === undefined) await store.delete(NS, recordKey);
    else await put(recordKey, { version: 0, cameDown: known.cameDown });
  }

  /** What fails at its last try is given up: whoever can act on it is told, as with what a chat refuses for good. */
  async function deliver(job: Job<DeliveryData>): Promise<void> {
    try {
      await deliverOnce(job);
    } catch (error) {
      const isOver = !(error instanceof RetryLater) && !(error instanceof PermanentFailure);
      if (isOver && job.attempt >= DELIVERY_ATTEMPTS) {
        await options.onUndelivered?.({ ...job.data, why: error instanceof Error ? error.message : String(error) });
      }
      throw error;
    }
  }

  async function deliverOnce(job: Job<DeliveryData>): Promise<void> {
    const { data } = job;
    const sender = findSender(data.route.channel, data.route.accountId);
    if (!sender) {
      // Accounts come with the configuration, at the start: no later try would find one.
      const why = `there is no ${data.route.channel} account ${data.route.accountId}`;
      await options.onUndelivered?.({ ...data, why });
      throw new PermanentFailure(why);
    }
    const recordKey = messageKey(data.entity ?? data.key, data.route);
    const version = data.version ?? 1;
    const found = await store.get<MessageRecord>(NS, recordKey);
    let known = found?.value;
    // Asked when it is sent, not when it was queued. A private answer to who asks there is no news in the room.
    const refused = known?.ref || data.onlyFor ? undefined : options.refuses?.(data.route);
    if (refused !== undefined) {
      await options.onUndelivered?.({ ...data, why: refused });
      throw new PermanentFailure(refused);
    }
    const isHeard = data.bringDown !== undefined;
    const isShown = isHeard ? (known?.cameDown ?? 0) >= version : (known?.version ?? 0) >= version;
    const isDone = data.redraw ? (known?.version ?? 0) > version : isShown;
    if (known?.ref ? isDone || newest.superseded(recordKey, version, isHeard) : data.redraw) return;

    const language = await options.languageOf(data.route, data.onlyFor);
    const outbound = (card: UnspokenCard): Outbound => ({
      key: data.entity ? keyOf(recordKey, known) : data.key,
      route: data.route,
      card: spokenCard(card, language),
      locale: language,
      ...(data.onlyFor ? { onlyFor: data.onlyFor } : {}),
      ...(data.file ? { file: data.file } : {}),
    });
    if (known?.ref && data.leftBehind && (isHeard || (await isBuried(sender, known.ref, "asked")))) {
      const { file: _, ...left } = outbound(data.leftBehind);
      known = await leaveBehind(sender, known.ref, left, recordKey, version);
    }
    const message = outbound(data.card);
    const result = await transmit(sender, message, recordKey, version, known);
    switch (result.kind) {
      case "sent":
        await put(recordKey, { ref: result.ref, version, ...cameDownOf(known) });
        options.onDelivered?.({
          channel: data.route.channel,
          kind: data.card.kind,
          waitedMs: clock.now() - job.enqueuedAtMs,
          key: data.key,
          ...(data.entity ? { entity: data.entity } : {}),
          messageId: result.ref.messageId,
          maybeTwice: isDoubted(known, sender),
        });
        return;
      case "retry":
        // What was begun stays in doubt: after a crash in between the platform is asked how far it came.
        if (known && isDoubted(known, sender)) await (result.partial ? undefined : put(recordKey, known));
        else if (!known?.ref && !result.partial) await forget(recordKey, known);
        throw new RetryLater(result.afterMs, result.why);
      case "unknown": {
        const why = `The message may or may not have been sent: ${result.why}`;
        if (!isDoubted(known, sender)) throw new Error(why);
        // It may be there twice by now; a third is worse than telling who can look.
        await options.onUndelivered?.({ ...data, why });
        throw new PermanentFailure(why);
      }
      case "permanent":
        if (!known?.ref) await forget(recordKey, known);
        await options.onUndelivered?.({ ...data, why: result.why });
        throw new PermanentFailure(result.why);
    }
  }

  return {
    start: () => queue.process<DeliveryData>(DELIVERY_JOB, deliver, { concurrency: DELIVERY_CONCURRENCY }),
    async post(post) {
      const { notAfterMs, ...data } = post;
      await enqueue(data, `post:${post.key}@${routeKey(post.route)}`, notAfterMs);
    },
    async upsert({ entity, version, route, card, leftBehind, bringDown, redraw, onlyFor, notAfterMs }) {
      live.settle(messageKey(entity, route));
      const key = messageKey(entity, route);
      const data = {
        ...{ key, route, card, entity, version },
        ...(leftBehind ? { leftBehind } : {}),
        ...(onlyFor ? { onlyFor } : {}),
        ...(bringDown === undefined ? {} : { bringDown }),
        ...(redraw ? { redraw } : {}),
      };
      const what = bringDown === undefined ? `${version}${redraw ? ":redraw" : ""}` : `down:${bringDown}`;
      await enqueue(data, `card:${key}:${what}`, notAfterMs);
      // Only what is durably queued stands in for what came before it.
      newest.remember(key, version, card);
    },
    live(entity, route, card) {
      const sender = findSender(route.channel, route.accountId);
      if (sender?.live) live.push(messageKey(entity, route), sender.capabilities.minEditMs, entity, route, card);
    },
    editsAreSilent: (route) => findSender(route.channel, route.accountId)?.capabilities.editsAreSilent ?? false,
    stop: () => live.stop(),
  };
}

/** A platform that can not be asked now is asked when it can: that uses up no try. */
async function askLater<T>(ask: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof AskLater ? new RetryLater(error.afterMs, error.message) : error;
  }
}

/** What nobody can tell is taken for in sight: an edit in place is never wrong. */
async function isBuried(sender: Sender, ref: MessageRef, how: Recall): Promise<boolean> {
  const below = await sender.below?.(ref, BURIED_BY, how).catch(() => undefined);
  return below !== undefined && below >= BURIED_BY;
}
