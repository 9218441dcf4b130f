/**
 * Slack as a channel, by @slack/bolt in Socket Mode or over HTTP. Reports facts (who, where, whether the bot was
 * addressed) and renders cards; who may do what is decided elsewhere.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { webApi } from "@slack/bolt";
import type { Card } from "../../core/cards.ts";
import { ExecError } from "../../core/errors.ts";
import type { Route } from "../../core/route.ts";
import { type AdapterDeps, describeError } from "../adapter-deps.ts";
import type {
  Channel,
  ChannelCapabilities,
  ChannelStatus,
  Ingress,
  MessageRef,
  Outbound,
  Recall,
  RequestSign,
  SendResult,
} from "../channel.ts";
import { NewerMessages } from "../newer-messages.ts";
import { Reconnects } from "../pacing/reconnects.ts";
import { SendBudget } from "../pacing/send-budget.ts";
import { RECONNECT } from "./connection.ts";
import { HeardChannels } from "./deafness.ts";
import type { RequestListener } from "./http.ts";
import * as limits from "./limits.ts";
import type { SlackOptions } from "./options.ts";
import { AUTH_ERRORS, failureOf, platformError, refusal } from "./outcome.ts";
import { ResponseUrls } from "./response-urls.ts";
import { openSession, type Session } from "./session.ts";

export type { SlackOptions } from "./options.ts";

export class SlackChannel implements Channel {
  readonly id = "slack" as const;
  readonly accountId: string;
  readonly capabilities: ChannelCapabilities = {
    buttons: true,
    edit: true,
    threads: true,
    ephemeral: true,
    files: true,
    maxText: limits.TEXT_BUDGET,
    minEditMs: limits.MIN_EDIT_MS,
    editsAreSilent: true,
  };

  private readonly options: SlackOptions;
  private readonly deps: AdapterDeps;
  private readonly responseUrls: ResponseUrls;
  /** Of the account: a new connection has not earned a new burst. */
  private readonly budget: SendBudget;
  private readonly newer = new NewerMessages();
  private readonly heard = new HeardChannels();
  private readonly reconnects: Reconnects;
  private current: ChannelStatus;
  private session: Session | undefined;
  private stopping: AbortController | undefined;
  private retrying: Promise<void> | undefined;

  constructor(options: SlackOptions, deps: AdapterDeps) {
    this.options = options;
    this.deps = deps;
    this.accountId = options.accountId;
    this.responseUrls = new ResponseUrls(() => deps.clock.now());
    this.budget = new SendBudget(deps.clock);
    this.reconnects = new Reconnects(() => deps.clock.monotonic(), options.reconnects);
    this.current = { channel: "slack", accountId: options.accountId, state: "stopped" };
  }

  /** For a gateway that serves Slack's request URL on its own port. Answers 503 while the channel is not started. */
  readonly requestListener: RequestListener = (request, response) => {
    const listener = this.session?.requestListener;
    if (listener !== undefined) listener(request, response);
    else response.writeHead(503).end();
  };

  status(): ChannelStatus {
    return this.current;
  }

  /** @throws ExecError `unauthorized` when Slack refuses a token; everything else is retried in the background. */
  async start(ingress: Ingress): Promise<void> {
    if (this.stopping !== undefined) throw new ExecError("internal", "The Slack channel is started already.");
    const stopping = new AbortController();
    this.stopping = stopping;
    const afterMs = await this.tryOpen(ingress);
    if (afterMs !== undefined) this.retrying = this.keepTrying(ingress, afterMs, stopping.signal);
  }

  async stop(): Promise<void> {
    this.stopping?.abort();
    await this.retrying;
    const session = this.session;
    this.session = undefined;
    await session?.stop();
    this.stopping = undefined;
    this.setState({ state: "stopped" });
  }

  /** The least time to wait before the next try, in milliseconds; `undefined`: it is open. */
  private async tryOpen(ingress: Ingress): Promise<number | undefined> {
    this.setState({ state: "connecting" });
    try {
      this.session = await openSession({
        options: this.options,
        deps: this.deps,
        ingress,
        responseUrls: this.responseUrls,
        budget: this.budget,
        newer: this.newer,
        heard: this.heard,
        reconnects: this.reconnects,
        onState: (state) => this.setState(state),
      });
      return undefined;
    } catch (error) {
      const code = platformError(error);
      const detail = describeError(error, this.deps.redactor);
      if (code === undefined ? isSlackTrouble(error) : !AUTH_ERRORS.has(code)) {
        const failure = failureOf(error);
        this.setState({ state: "connecting", detail: code === undefined ? detail : refusal(code) });
        return failure.kind === "retry" ? failure.afterMs : 0;
      }
      this.stopping = undefined;
      this.setState({ state: "failed", detail: code === undefined ? detail : refusal(code) });
      if (code === undefined) throw error;
      throw new ExecError("unauthorized", `Slack refused account "${this.accountId}": ${failureOf(error).why}.`, {
        code,
      });
    }
  }

  private async keepTrying(ingress: Ingress, firstMs: number, signal: AbortSignal): Promise<void> {
    const { minMs, maxMs } = this.options.reconnect ?? RECONNECT;
    let atLeastMs: number | undefined = firstMs;
    for (let waitMs = minMs; !signal.aborted; waitMs = Math.min(waitMs * 2, maxMs)) {
      await sleep(Math.max(waitMs, atLeastMs), undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        atLeastMs = await this.tryOpen(ingress);
        if (atLeastMs === undefined) return;
      } catch (error) {
        this.deps.log.error({ why: describeError(error, this.deps.redactor) }, "Slack is given up until a restart");
        return;
      }
    }
  }

  async send(message: Outbound): Promise<SendResult> {
    return (await this.session?.outbox.send(message)) ?? NOT_STARTED;
  }

  async edit(ref: MessageRef, message: Outbound): Promise<SendResult> {
    return (await this.session?.outbox.edit(ref, message)) ?? NOT_STARTED;
  }

  async live(ref: MessageRef, card: Card): Promise<boolean> {
    return (await this.session?.outbox.live(ref, card)) ?? true;
  }

  async typing(route: Route): Promise<void> {
    await this.session?.working.show(route);
  }

  async requestSign(route: Route, requestId: string, sign: RequestSign): Promise<void> {
    await this.session?.working.request(route, requestId, sign);
  }

  async groupMembers(groupId: string): Promise<readonly string[]> {
    if (this.session === undefined) throw new ExecError("internal", "Slack is not connected yet.");
    const { users } = await this.session.reads.groupMembers(groupId);
    return users ?? [];
  }

  async below(ref: MessageRef, atMost: number, how: Recall): Promise<number | undefined> {
    return await this.session?.outbox.below(ref, atMost, how);
  }

  /** @throws ExecError when it can not be looked up now: "not there" must never be guessed, it leads to a second message. */
  async reconcile(message: Outbound): Promise<MessageRef | undefined> {
    if (this.session === undefined) {
      throw new ExecError("internal", "Slack is not connected yet; whether the message was sent can not be looked up.");
    }
    return await this.session.outbox.reconcile(message);
  }

  private setState(state: Pick<ChannelStatus, "state" | "detail">): void {
    this.current = { channel: "slack", accountId: this.accountId, ...state };
    this.options.onStatus?.(this.current);
  }
}

/** Errors of the way to Slack, as opposed to Slack's answers and to mistakes of our own. */
function isSlackTrouble(error: unknown): boolean {
  return (
    error instanceof webApi.WebAPIRequestError ||
    error instanceof webApi.WebAPIHTTPError ||
    error instanceof webApi.WebAPIRateLimitedError
  );
}

const NOT_STARTED: SendResult = { kind: "retry", afterMs: 1000, why: "the Slack channel is not started" };
