/** Changes of a card that are shown while they happen and kept nowhere. */

import type { UnspokenCard } from "../cards.ts";
import type { Clock } from "../clock.ts";
import type { Route } from "../route.ts";

/** Even where a channel takes every change: a flood of output is not a flood of messages. */
const MIN_LIVE_MS = 100;

type ShowLive = (entity: string, route: Route, card: () => UnspokenCard) => Promise<boolean>;

interface LiveSlot {
  lastAt: number;
  timer?: NodeJS.Timeout;
  next?: () => Promise<boolean>;
}

/**
 * Coalesces live changes: at most one per `minEditMs` and card, always the newest. What a channel has no room for is
 * shown when it has, so that output which then stops is not left half shown.
 */
export class LiveEdits {
  readonly #clock: Clock;
  readonly #show: ShowLive;
  readonly #slots = new Map<string, LiveSlot>();

  constructor(clock: Clock, show: ShowLive) {
    this.#clock = clock;
    this.#show = show;
  }

  push(key: string, minEditMs: number, entity: string, route: Route, card: () => UnspokenCard): void {
    const slot = this.#slots.get(key) ?? { lastAt: Number.NEGATIVE_INFINITY };
    this.#slots.set(key, slot);
    slot.next = () => this.#show(entity, route, card);
    this.#arm(key, slot, Math.max(minEditMs, MIN_LIVE_MS));
  }

  #arm(key: string, slot: LiveSlot, spacingMs: number): void {
    if (slot.timer) return;
    const wait = Math.max(0, slot.lastAt + spacingMs - this.#clock.monotonic());
    slot.timer = setTimeout(() => void this.#fire(key, slot, spacingMs), wait);
    slot.timer.unref();
  }

  async #fire(key: string, slot: LiveSlot, spacingMs: number): Promise<void> {
    delete slot.timer;
    slot.lastAt = this.#clock.monotonic();
    const { next } = slot;
    delete slot.next;
    // A live tail that can not be shown is not worth an error: the final card is delivered by the queue.
    const shown = (await next?.().catch(() => true)) ?? true;
    if (shown || !next || this.#slots.get(key) !== slot) return;
    slot.next ??= next;
    this.#arm(key, slot, spacingMs);
  }

  /** The card changes durably: what was waiting would be older than it. */
  settle(key: string): void {
    const slot = this.#slots.get(key);
    if (slot?.timer) clearTimeout(slot.timer);
    this.#slots.delete(key);
  }

  stop(): void {
    for (const key of [...this.#slots.keys()]) this.settle(key);
  }
}
