/**
 * A chat account belongs to one of the gateways that share a Redis: two sockets of one account would each get half of the
 * events. Whoever holds the account's lease is connected; the others stand by and take over when it is gone.
 */

import type {
  Channel,
  ChannelStatus,
  Ingress,
  MessageRef,
  Outbound,
  Recall,
  RequestSign,
  SendResult,
} from "../channels/channel.ts";
import type { Card } from "../core/cards.ts";
import type { Route } from "../core/route.ts";
import type { Leases } from "../core/store/lease.ts";
import { LeaseKeeper } from "../core/store/lease-keeper.ts";
import { phrase } from "../core/words/phrase.ts";

/** A lease of a gateway that was killed is free after this; another takes it within half as much again. */
export const LEASE_MS = 5_000;
/** How soon a message is offered again, until the gateway that holds the account has it. */
const OFFER_AGAIN_MS = 200;

export interface LeasedChannelOptions {
  readonly leases: Leases;
  /** A fresh adapter: one that was stopped does not start again. */
  readonly make: () => Promise<Channel>;
  readonly onTrouble: (error: unknown, what: string) => void;
}

export async function leasedChannel(options: LeasedChannelOptions): Promise<Channel> {
  return new LeasedChannel(await options.make(), options);
}

class LeasedChannel implements Channel {
  readonly id: Channel["id"];
  readonly accountId: string;
  readonly capabilities: Channel["capabilities"];
  readonly #options: LeasedChannelOptions;
  #fresh: Channel | undefined;
  #inner: Channel | undefined;
  #keeper: LeaseKeeper | undefined;
  /** Starts and stops follow each other: the lease can change hands faster than a socket opens. */
  #turn: Promise<void> = Promise.resolve();

  constructor(first: Channel, options: LeasedChannelOptions) {
    this.id = first.id;
    this.accountId = first.accountId;
    this.capabilities = first.capabilities;
    this.#fresh = first;
    this.#options = options;
  }

  async start(ingress: Ingress): Promise<void> {
    const { leases, onTrouble } = this.#options;
    this.#keeper = new LeaseKeeper({
      leases,
      name: `channel:${this.id}:${this.accountId}`,
      ttlMs: LEASE_MS,
      onHeld: (_, lost) => {
        this.#next("connecting", () => this.#connect(ingress, lost));
        lost.addEventListener("abort", () => this.#next("disconnecting", () => this.#disconnect()), { once: true });
      },
      onTrouble: (what, error) => onTrouble(error, what),
    });
  }

  async stop(): Promise<void> {
    // Disconnected first: who takes over must not find the old socket still open.
    this.#next("disconnecting", () => this.#disconnect());
    await this.#turn;
    await this.#keeper?.stop();
    await this.#turn;
  }

  status(): ChannelStatus {
    if (this.#inner) return this.#inner.status();
    return {
      channel: this.id,
      accountId: this.accountId,
      state: "stopped",
      detail: phrase("channel.standsBy"),
    };
  }

  send(message: Outbound): Promise<SendResult> {
    return this.#held()?.send(message) ?? offerAgain();
  }

  edit(ref: MessageRef, message: Outbound): Promise<SendResult> {
    return this.#held()?.edit(ref, message) ?? offerAgain();
  }

  async live(ref: MessageRef, card: Card, locale: string): Promise<boolean> {
    return (await this.#held()?.live?.(ref, card, locale)) ?? true;
  }

  async typing(route: Route): Promise<void> {
    await this.#held()?.typing?.(route);
  }

  async requestSign(route: Route, requestId: string, sign: RequestSign): Promise<void> {
    await this.#held()?.requestSign?.(route, requestId, sign);
  }

  groupMembers(groupId: string): Promise<readonly string[]> {
    return this.#held()?.groupMembers?.(groupId) ?? Promise.reject(notHere());
  }

  maySee(personId: string, channelId: string): Promise<boolean> {
    return this.#held()?.maySee?.(personId, channelId) ?? Promise.reject(notHere());
  }

  async below(ref: MessageRef, atMost: number, how: Recall): Promise<number | undefined> {
    return await this.#held()?.below?.(ref, atMost, how);
  }

  async reconcile(message: Outbound): Promise<MessageRef | undefined> {
    const inner = this.#held();
    if (!inner) throw notHere();
    return inner.reconcile?.(message);
  }

  /** Asked before each act: a gateway that was frozen finds here that its time is over. */
  #held(): Channel | undefined {
    return this.#keeper?.lease ? this.#inner : undefined;
  }

  #next(what: string, act: () => Promise<void>): void {
    this.#turn = this.#turn.then(act).catch((error) => {
      this.#options.onTrouble(error, `${what} ${this.id}/${this.accountId}`);
    });
  }

  async #connect(ingress: Ingress, lost: AbortSignal): Promise<void> {
    if (lost.aborted) return;
    const inner = this.#fresh ?? (await this.#options.make());
    this.#fresh = undefined;
    this.#inner = inner;
    await inner.start(ingress);
  }

  async #disconnect(): Promise<void> {
    const inner = this.#inner;
    this.#inner = undefined;
    await inner?.stop();
  }
}

function notHere(): Error {
  return new Error("Another gateway is connected with this account.");
}

async function offerAgain(): Promise<SendResult> {
  return { kind: "retry", afterMs: OFFER_AGAIN_MS, why: "another gateway is connected with this account" };
}
