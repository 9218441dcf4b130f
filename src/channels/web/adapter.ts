/**
 * The built-in web chat as a channel like any other. Its platform is the store: a message is an entry in a log,
 * and clients on every gateway that shares the store see it. The server (`gateway/`) carries it to browsers.
 */
import type { Card, PressAction } from "../../core/cards.ts";
import type { Clock } from "../../core/clock.ts";
import { ExecError } from "../../core/errors.ts";
import { Lanes } from "../../core/lanes.ts";
import type { Actor, Route } from "../../core/route.ts";
import type { Store } from "../../core/store/store.ts";
import type {
  Channel,
  ChannelCapabilities,
  ChannelStatus,
  Ingress,
  MessageRef,
  Outbound,
  SendResult,
} from "../channel.ts";
import { ChatLog } from "./chat-log.ts";
import type { ChatWatcher, OpenedChat, WebChats } from "./chats.ts";
import { type FeedMessage, Feeds, Subscription } from "./feed.ts";
import { MAX_TEXT, MIN_LIVE_MS } from "./limits.ts";

export const WEB_ACCOUNT = "default";
const STORE_RETRY_MS = 1_000;
/** As in the protocol: it is part of store keys. */
const CHAT_ID = /^[A-Za-z0-9._-]{1,64}$/;

export interface WebChannelOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Tells this gateway process from others that share the store. */
  readonly instanceId: string;
  /** The store could not be read for watchers; it is tried again by itself. */
  readonly onError?: (error: unknown) => void;
  readonly recheckMs?: number;
}

/** Whoever holds the gateway token is the operator, on every device. */
const OPERATOR: Actor = { kind: "person", channel: "web", accountId: WEB_ACCOUNT, id: "operator" };

export class WebChannel implements Channel, WebChats {
  readonly id = "web";
  readonly accountId = WEB_ACCOUNT;
  readonly capabilities: ChannelCapabilities = {
    buttons: true,
    edit: true,
    threads: false,
    ephemeral: false,
    files: false,
    maxText: MAX_TEXT,
    minEditMs: MIN_LIVE_MS,
    editsAreSilent: false,
  };
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: ChatLog;
  readonly #feeds: Feeds;
  readonly #said = new Lanes();
  #ingress: Ingress | undefined;

  constructor(options: WebChannelOptions) {
    const { store, clock, instanceId, recheckMs, onError = () => undefined } = options;
    this.#store = store;
    this.#clock = clock;
    this.#log = new ChatLog({ store, clock, instanceId });
    this.#feeds = new Feeds({ store, log: this.#log, onError, ...(recheckMs === undefined ? {} : { recheckMs }) });
  }

  async start(ingress: Ingress): Promise<void> {
    this.#ingress = ingress;
  }

  async stop(): Promise<void> {
    this.#ingress = undefined;
    await this.#feeds.stop();
  }

  status(): ChannelStatus {
    return { channel: "web", accountId: WEB_ACCOUNT, state: this.#ingress ? "connected" : "stopped" };
  }

  async send({ key, route, card }: Outbound): Promise<SendResult> {
    if (!CHAT_ID.test(route.chatId)) return { kind: "permanent", why: `${route.chatId} is not a web chat` };
    try {
      const put = await this.#log.put(route.chatId, key, card, "change");
      if (put.kind === "busy") return { kind: "retry", afterMs: put.retryAfterMs, why: "another gateway sends it" };
      return { kind: "sent", ref: this.#ref(route.chatId, put.messageId) };
    } catch (error) {
      return storeTrouble(error);
    }
  }

  async edit(ref: MessageRef, { card }: Outbound): Promise<SendResult> {
    try {
      await this.#log.edit(ref.chatId, ref.messageId, card);
      return { kind: "sent", ref };
    } catch (error) {
      return storeTrouble(error);
    }
  }

  async live(ref: MessageRef, card: Card): Promise<boolean> {
    const message: FeedMessage = { kind: "live", messageId: ref.messageId, card };
    await this.#store.publish(this.#log.topic(ref.chatId), message);
    return true;
  }

  /** By the history in the store, so that a restart changes nothing. */
  below(ref: MessageRef, atMost: number): Promise<number | undefined> {
    return this.#log.below(ref.chatId, ref.messageId, atMost);
  }

  async reconcile({ key, route }: Outbound): Promise<MessageRef | undefined> {
    const messageId = this.#log.messageIdFor(route.chatId, key);
    return (await this.#log.has(messageId)) ? this.#ref(route.chatId, messageId) : undefined;
  }

  async open(
    request: { readonly chatId: string; readonly afterSeq?: number | undefined; readonly limit: number },
    watcher: ChatWatcher,
  ): Promise<OpenedChat> {
    const { chatId, afterSeq, limit } = request;
    const subscription = new Subscription(watcher);
    const stop = await this.#feeds.subscribe(chatId, subscription);
    try {
      const missed = afterSeq === undefined ? undefined : await this.#log.since(chatId, afterSeq);
      // A client that caught up knows already how far back it has read; asking once too often is harmless.
      const result = missed
        ? { ...missed, hasOlder: true }
        : {
            ...(await this.#log.newest(chatId, limit)),
            ...(afterSeq === undefined ? {} : { reset: true as const }),
          };
      return { result, start: () => subscription.start(result.seq), stop };
    } catch (error) {
      await stop();
      throw error;
    }
  }

  older({ chatId, beforeOrder, limit }: Parameters<WebChats["older"]>[0]): ReturnType<WebChats["older"]> {
    return this.#log.older(chatId, beforeOrder, limit);
  }

  say({ chatId, clientId, text, locale }: Parameters<WebChats["say"]>[0]): Promise<void> {
    const receivedAtMs = this.#clock.now();
    return this.#said.run(chatId, async () => {
      const ingress = this.#taking();
      const card: Card = { kind: "said", actor: OPERATOR, text };
      const put = await this.#log.put(chatId, `said:${clientId}`, card, "keep");
      if (put.kind === "busy") {
        throw new ExecError("state-unavailable", "Another gateway is taking this message. It will be sent again.", {
          retryAfterMs: put.retryAfterMs,
        });
      }
      await ingress({
        kind: "message",
        id: `${chatId}/${clientId}`,
        route: routeTo(chatId),
        actor: operator(locale),
        receivedAtMs,
        addressed: true,
        text,
      });
    });
  }

  async press(request: {
    readonly chatId: string;
    readonly clientId: string;
    readonly action: PressAction;
    readonly locale?: string | undefined;
  }): Promise<void> {
    const { chatId, clientId, action, locale } = request;
    await this.#taking()({
      kind: "press",
      id: `${chatId}/${clientId}`,
      route: routeTo(chatId),
      actor: operator(locale),
      receivedAtMs: this.#clock.now(),
      addressed: true,
      action,
    });
  }

  #taking(): Ingress {
    if (this.#ingress) return this.#ingress;
    throw new ExecError("draining", "The gateway is not taking messages just now. Try again soon.");
  }

  #ref(chatId: string, messageId: string): MessageRef {
    return { channel: "web", accountId: WEB_ACCOUNT, chatId, messageId };
  }
}

function operator(locale: string | undefined): Actor {
  return locale === undefined ? OPERATOR : { ...OPERATOR, locale };
}

function routeTo(chatId: string): Route {
  return { channel: "web", accountId: WEB_ACCOUNT, chatType: "dm", chatId };
}

/** Every write is idempotent by its key, so trying again is always right. */
function storeTrouble(error: unknown): SendResult {
  return { kind: "retry", afterMs: STORE_RETRY_MS, why: error instanceof Error ? error.message : "the store failed" };
}
