/**
 * Conversations that wait for somebody's decision say so, where their platform can show it (channels.md 5.3). Every gateway
 * follows all requests, so that whoever takes an account over goes on; one that is not connected with it shows nothing.
 */
import type { Channel, RequestSign } from "../channels/channel.ts";
import type { Approvals } from "../core/approvals/approvals.ts";
import type { ApprovalRecord } from "../core/approvals/record.ts";
import type { Clock } from "../core/clock.ts";
import type { Route } from "../core/route.ts";

/** Slack takes such a sign away after two minutes. */
const AGAIN_MS = 60_000;
/** Requests that are followed; the web chat alone may have more, and shows them itself. */
const MAX_FOLLOWED = 500;

export interface RequestSignsOptions {
  readonly approvals: Pick<Approvals, "get" | "pending" | "onChange">;
  readonly channels: readonly Channel[];
  readonly clock: Pick<Clock, "now">;
  readonly onError: (error: unknown, what: string) => void;
}

export class RequestSigns {
  readonly #options: RequestSignsOptions;
  readonly #waiting = new Map<string, { readonly route: Route; readonly untilMs: number }>();
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe: (() => Promise<void>) | undefined;

  constructor(options: RequestSignsOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { approvals, onError } = this.#options;
    const look = async (id: string): Promise<void> => {
      const record = await approvals.get(id);
      if (record) this.#take(record);
    };
    this.#unsubscribe = await approvals.onChange((id) => {
      look(id).catch((error: unknown) => onError(error, "showing what a request waits for"));
    });
    for (const record of await approvals.pending()) this.#take(record);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#unsubscribe?.();
  }

  #take(record: ApprovalRecord): void {
    const { id, status, request, expiresAtMs } = record;
    const { route } = request;
    if (!route || !this.#channelOf(route)?.requestSign) return;
    if (status === "pending") {
      if (this.#waiting.has(id) || this.#waiting.size >= MAX_FOLLOWED) return;
      this.#waiting.set(id, { route, untilMs: expiresAtMs });
      this.#show(route, id, "waiting");
      this.#timer ??= setInterval(() => this.#again(), AGAIN_MS).unref();
    } else if (this.#waiting.delete(id)) this.#show(route, id, status === "allowed" ? "working" : "over");
  }

  #again(): void {
    const now = this.#options.clock.now();
    for (const [id, { route, untilMs }] of this.#waiting) {
      if (now < untilMs) this.#show(route, id, "waiting");
      else this.#waiting.delete(id);
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #show(route: Route, id: string, sign: RequestSign): void {
    // Worth nothing a moment later, so nothing is made of it when it fails.
    this.#channelOf(route)
      ?.requestSign?.(route, id, sign)
      .catch(() => {});
  }

  #channelOf(route: Route): Channel | undefined {
    return this.#options.channels.find((one) => one.id === route.channel && one.accountId === route.accountId);
  }
}
