/**
 * Long polling whose offset moves past an update only after it was durably taken. The client library's own loop moves
 * it first, so a full disk or a lost store would lose messages.
 */

import type { Api } from "grammy";
import type { Update } from "grammy/types";
import { pause } from "../../core/pause.ts";
import { timeLimit } from "../../core/time-limit.ts";
import { describeError } from "../adapter-deps.ts";
import type { Redactor } from "../text/redact.ts";
import { failureOf } from "./errors.ts";
import { ALLOWED_UPDATES } from "./inbound.ts";
import {
  CONFLICT_RETRY_MAX_MS,
  CONFLICT_RETRY_MS,
  PEEK_MS,
  POLL_GRACE_MS,
  POLL_SECONDS,
  RETRY_MAX_MS,
  RETRY_MIN_MS,
} from "./limits.ts";

export type PollState =
  | { readonly kind: "polling" }
  | { readonly kind: "retrying"; readonly why: string }
  /** The token is refused: trying again can not help. */
  | { readonly kind: "refused"; readonly why: string };

export interface PollerOptions {
  readonly api: Api;
  readonly redactor: Redactor;
  /** Resolves once the update is durably taken; a rejection is tried again with the same update. */
  readonly take: (update: Update) => Promise<void>;
  /** Called with updates as soon as they are known, before those ahead of them have been taken; the same ones may come again. */
  readonly onSeen: (updates: readonly Update[]) => void;
  readonly onState: (state: PollState) => void;
  readonly pollSeconds?: number;
}

export class Poller {
  readonly #options: PollerOptions;
  readonly #stop = new AbortController();
  #offset: number | undefined;
  #running: Promise<void> | undefined;
  /** After a failure the first poll does not stay open, so that a connection that is back is known to be. */
  #probing = false;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves when the last poll has ended; updates not yet taken stay with Telegram. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let failures = 0;
    while (!signal.aborted) {
      try {
        const updates = await this.#poll();
        failures = 0;
        this.#probing = false;
        this.#options.onState({ kind: "polling" });
        this.#options.onSeen(updates);
        for (const update of updates) {
          if (signal.aborted) return;
          await this.#take(update);
        }
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        this.#probing = true;
        const failure = failureOf(error);
        const why = describeError(error, this.#options.redactor);
        if (failure.kind === "bad-token") {
          this.#options.onState({ kind: "refused", why });
          return;
        }
        this.#options.onState({ kind: "retrying", why });
        if (failure.kind === "conflict" && failure.webhook) await this.#dropWebhook();
        await pause(waitMs(failure, failures), signal);
      }
    }
  }

  /** A poll that Telegram never answers is given up a little after it should have ended. */
  async #poll(): Promise<Update[]> {
    const seconds = this.#probing ? 0 : (this.#options.pollSeconds ?? POLL_SECONDS);
    return this.#ask(seconds, seconds * 1000 + POLL_GRACE_MS, this.#stop.signal);
  }

  async #ask(seconds: number, withinMs: number, stop: AbortSignal): Promise<Update[]> {
    const limit = timeLimit(withinMs, stop);
    try {
      return await this.#options.api.getUpdates(
        {
          ...(this.#offset === undefined ? {} : { offset: this.#offset }),
          timeout: seconds,
          allowed_updates: [...ALLOWED_UPDATES],
        },
        limit.signal as never,
      );
    } finally {
      limit.done();
    }
  }

  async #take(update: Update): Promise<void> {
    const taken = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, taken.signal]);
    const peeking = this.#peekUntil(signal);
    try {
      for (let failures = 1; !signal.aborted; failures++) {
        try {
          await this.#options.take(update);
          this.#offset = update.update_id + 1;
          return;
        } catch (error) {
          this.#options.onState({ kind: "retrying", why: describeError(error, this.#options.redactor) });
          await pause(backoff(failures, RETRY_MIN_MS, RETRY_MAX_MS), signal);
        }
      }
    } finally {
      taken.abort();
      await peeking;
    }
  }

  /** While an update can not be taken: who presses a button behind it is not left alone. Confirms nothing. */
  async #peekUntil(signal: AbortSignal): Promise<void> {
    for (;;) {
      await pause(PEEK_MS, signal);
      if (signal.aborted) return;
      try {
        this.#options.onSeen(await this.#ask(0, POLL_GRACE_MS, signal));
      } catch {
        // The next poll meets the same trouble and tells of it.
      }
    }
  }

  async #dropWebhook(): Promise<void> {
    try {
      await this.#options.api.deleteWebhook();
    } catch {
      // The next poll meets the same conflict and comes back here.
    }
  }
}

function waitMs(failure: ReturnType<typeof failureOf>, failures: number): number {
  switch (failure.kind) {
    case "rate-limited":
      return failure.afterMs;
    case "conflict":
      return failure.webhook ? 0 : backoff(failures, CONFLICT_RETRY_MS, CONFLICT_RETRY_MAX_MS);
    default:
      return backoff(failures, RETRY_MIN_MS, RETRY_MAX_MS);
  }
}

function backoff(failures: number, min: number, max: number): number {
  return Math.min(max, min * 2 ** Math.min(failures - 1, 10));
}
