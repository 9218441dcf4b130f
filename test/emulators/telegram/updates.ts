/** Updates on their way to the bot: a true long poll (held for `timeout` seconds) or a webhook with its secret. */
import type { Update } from "grammy/types";
import type { UpdateBody } from "./world.ts";

export class Conflict extends Error {}

interface Waiter {
  readonly answer: (updates: readonly Update[]) => void;
  readonly conflict: (error: Conflict) => void;
  readonly timer: NodeJS.Timeout;
  readonly limit: number;
}

export interface Webhook {
  readonly url: string;
  readonly secret: string | undefined;
  /** Posts at once. Default 40, as at Telegram. */
  readonly connections?: number | undefined;
}

export interface WebhookState {
  readonly hook: Webhook | undefined;
  readonly lastError: string | undefined;
}

/** The platform waits longer between tries; tests should not. */
const WEBHOOK_RETRY_MS = 50;
const DEFAULT_CONNECTIONS = 40;
const DEFAULT_LIMIT = 100;

export class UpdateQueue {
  #pending: Update[] = [];
  #delivered: Update[] = [];
  #nextId = 1000;
  #waiter: Waiter | undefined;
  #hook: Webhook | undefined;
  #lastError: string | undefined;
  /** Lines that are being posted: each chat's messages, and each person's presses, one after the other. */
  readonly #posting = new Set<string>();
  #stopped = false;
  #repeat = 0;
  #allowed: readonly string[] = [];
  readonly #onChange: () => void;
  /** How many polls were answered or are open, to prove that polling is long. */
  polls = 0;

  /** `onChange`: told when updates were confirmed. */
  constructor(onChange: () => void = () => undefined) {
    this.#onChange = onChange;
  }

  webhook(): WebhookState {
    return { hook: this.#hook, lastError: this.#lastError };
  }

  pendingCount(): number {
    return this.#pending.length;
  }

  push(body: UpdateBody): Update | undefined {
    const kind = Object.keys(body)[0] ?? "";
    if (this.#allowed.length > 0 && !this.#allowed.includes(kind)) return undefined;
    const update: Update = { update_id: this.#nextId++, ...body };
    this.#pending.push(update);
    this.#wake();
    return update;
  }

  /** The next delivery brings the newest delivered update again, as after a lost confirmation. */
  duplicate(): void {
    this.#repeat += 1;
    this.#wake();
  }

  poll(options: {
    offset: number | undefined;
    limit: number | undefined;
    timeoutSeconds: number;
    allowed: readonly string[] | undefined;
    closed: (drop: () => void) => void;
  }): Promise<readonly Update[]> {
    this.polls += 1;
    this.#stopped = false;
    if (this.#hook)
      return Promise.reject(
        new Conflict(
          "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
        ),
      );
    this.conflict("terminated by other getUpdates request; make sure that only one bot instance is running");
    if (options.allowed) this.#allowed = options.allowed;
    const { offset } = options;
    if (offset !== undefined && offset < 0) this.#pending = this.#pending.slice(offset);
    else if (offset !== undefined) {
      this.#delivered.push(...this.#pending.filter((one) => one.update_id < offset));
      this.#pending = this.#pending.filter((one) => one.update_id >= offset);
      this.#onChange();
    }
    const limit = Math.min(Math.max(options.limit ?? DEFAULT_LIMIT, 1), DEFAULT_LIMIT);
    const ready = this.#take(limit);
    if (ready.length > 0 || options.timeoutSeconds <= 0) return Promise.resolve(ready);
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        if (this.#waiter === waiter) this.#waiter = undefined;
        clearTimeout(waiter.timer);
      };
      const waiter: Waiter = {
        limit,
        timer: setTimeout(() => {
          finish();
          resolve([]);
        }, options.timeoutSeconds * 1000),
        answer: (updates) => {
          finish();
          resolve(updates);
        },
        conflict: (error) => {
          finish();
          reject(error);
        },
      };
      options.closed(() => waiter.answer([]));
      this.#waiter = waiter;
    });
  }

  /** Ends an open poll the way the server does when somebody else polls. */
  conflict(reason: string): void {
    this.#waiter?.conflict(new Conflict(reason));
  }

  setWebhook(
    hook: Webhook | undefined,
    options: { dropPending: boolean; allowed: readonly string[] | undefined },
  ): void {
    this.#hook = hook;
    this.#stopped = false;
    this.#lastError = undefined;
    if (options.allowed) this.#allowed = options.allowed;
    if (options.dropPending) this.#pending = [];
    if (hook) this.conflict("terminated by setWebhook request");
    this.#wake();
  }

  /** The server goes down: an open poll and webhook deliveries end. */
  release(): void {
    this.#stopped = true;
    this.#waiter?.answer([]);
  }

  reset(): void {
    this.#pending = [];
    this.#delivered = [];
    this.#repeat = 0;
    this.#hook = undefined;
    this.#allowed = [];
    this.#waiter?.answer([]);
  }

  #take(limit: number): Update[] {
    const again = this.#delivered.at(-1) ?? this.#pending[0];
    const repeated: Update[] = [];
    while (this.#repeat > 0 && again) {
      this.#repeat -= 1;
      repeated.push(again);
    }
    return [...repeated, ...this.#pending].slice(0, limit);
  }

  #wake(): void {
    if (this.#hook) {
      this.#post();
      return;
    }
    const waiter = this.#waiter;
    if (!waiter) return;
    const ready = this.#take(waiter.limit);
    if (ready.length > 0) waiter.answer(ready);
  }

  /** As many lines at once as there are connections. */
  #post(): void {
    const again = this.#repeat > 0 ? this.#delivered.at(-1) : undefined;
    for (const update of [...(again ? [again] : []), ...this.#pending]) {
      const line = lineOf(update);
      if (this.#posting.size >= (this.#hook?.connections ?? DEFAULT_CONNECTIONS)) return;
      if (this.#posting.has(line)) continue;
      if (update === again) this.#repeat -= 1;
      this.#posting.add(line);
      void this.#deliver(update).then(() => {
        this.#posting.delete(line);
        if (!this.#stopped && this.#hook) this.#post();
      });
    }
  }

  /** Anything but 2xx is tried again before the next of its line, as the platform does. */
  async #deliver(update: Update): Promise<void> {
    while (!this.#stopped && this.#hook) {
      const { url, secret } = this.#hook;
      try {
        const response = await fetch(url, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            ...(secret === undefined ? {} : { "x-telegram-bot-api-secret-token": secret }),
          },
          body: JSON.stringify(update),
        });
        await response.arrayBuffer();
        if (response.ok) {
          this.#pending = this.#pending.filter((one) => one !== update);
          this.#delivered.push(update);
          this.#onChange();
          return;
        }
        this.#lastError = `Wrong response from the webhook: ${response.status} ${response.statusText}`;
      } catch (error) {
        this.#lastError = error instanceof Error ? error.message : "connection failed";
      }
      await new Promise((resolve) => setTimeout(resolve, WEBHOOK_RETRY_MS));
    }
  }
}

function lineOf(update: Update): string {
  if (update.callback_query) return `presses of ${update.callback_query.from.id}`;
  const message = update.message ?? update.edited_message ?? update.channel_post ?? update.edited_channel_post;
  return `chat ${message?.chat.id}`;
}
