/**
 * Slack as a channel, by @slack/bolt in Socket Mode or over HTTP. Reports facts (who, where, whether the bot was
 * addressed) and renders cards; who may do what is decided elsewhere.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { App, HTTPReceiver, SocketModeReceiver, webApi } from "@slack/bolt";
import type { Card } from "../../core/cards.ts";
import { ExecError } from "../../core/errors.ts";
import { type AdapterDeps, describeError } from "../adapter-deps.ts";
import type {
  Channel,
  ChannelCapabilities,
  ChannelStatus,
  Ingress,
  MessageRef,
  Outbound,
  SendResult,
} from "../channel.ts";
import { boltLogger } from "./bolt-log.ts";
import { type Backoff, RECONNECT, SocketConnection } from "./connection.ts";
import { DurableReceiver } from "./durable-receiver.ts";
import { type RequestListener, slackRequestListener } from "./http.ts";
import type { ReplyToMode, SlackIdentity } from "./inbound.ts";
import * as limits from "./limits.ts";
import { type ImplicitMentions, SlackListeners } from "./listeners.ts";
import { People, Threads } from "./lookup.ts";
import { BOT_SCOPES, DEFAULT_PATH, DEFAULT_WRAPPER } from "./manifest.ts";
import { Outbox } from "./outbox.ts";
import { AUTH_ERRORS, failureOf, platformError } from "./outcome.ts";
import { PrivateAnswers } from "./private-answers.ts";
import { ResponseUrls } from "./response-urls.ts";

export type SlackMode =
  /** `appToken` (`xapp-…`) needs the scope `connections:write`. */
  | { readonly kind: "socket"; readonly appToken: string }
  /** Requests arrive at {@link SlackChannel.requestListener}, or on an own port when `listen` is set. */
  | {
      readonly kind: "http";
      readonly signingSecret: string;
      /** Default `/slack/events`. One path serves events, interactivity and slash commands. */
      readonly path?: string;
      readonly listen?: { readonly host: string; readonly port: number };
    };

export interface SlackOptions {
  readonly accountId: string;
  /** `xoxb-…` */
  readonly botToken: string;
  readonly mode: SlackMode;
  /** By conversation; default `off` everywhere. */
  readonly replyToMode?: (chatId: string) => ReplyToMode;
  /** Default: both. */
  readonly implicitMentions?: ImplicitMentions;
  /** Report what other bots say, for rooms that answer bots. Default false; the bot itself is never reported. */
  readonly allowBots?: boolean;
  /** Slash command that takes any other as its text. Default `openclaw`. */
  readonly wrapper?: string;
  /** Web API root, for a proxy. Default Slack's own. */
  readonly apiUrl?: string;
  readonly reconnect?: Backoff;
  readonly pingTimeoutMs?: number;
  /** Called on every change of {@link SlackChannel.status}. */
  readonly onStatus?: (status: ChannelStatus) => void;
}

export { DEFAULT_PATH, DEFAULT_WRAPPER } from "./manifest.ts";

interface Session {
  readonly outbox: Outbox;
  readonly stop: () => Promise<void>;
}

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
  private current: ChannelStatus;
  private session: Session | undefined;
  private stopping: AbortController | undefined;
  private retrying: Promise<void> | undefined;
  private listener: RequestListener | undefined;
  private accountDetail = "";

  constructor(options: SlackOptions, deps: AdapterDeps) {
    this.options = options;
    this.deps = deps;
    this.accountId = options.accountId;
    this.responseUrls = new ResponseUrls(() => deps.clock.now());
    this.current = { channel: "slack", accountId: options.accountId, state: "stopped" };
  }

  /** For a gateway that serves Slack's request URL on its own port. Answers 503 while the channel is not started. */
  readonly requestListener: RequestListener = (request, response) => {
    if (this.listener !== undefined) this.listener(request, response);
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
    if (await this.tryOpen(ingress)) return;
    this.retrying = this.keepTrying(ingress, stopping.signal);
  }

  async stop(): Promise<void> {
    this.stopping?.abort();
    await this.retrying;
    const session = this.session;
    this.session = undefined;
    this.listener = undefined;
    await session?.stop();
    this.stopping = undefined;
    this.setState({ state: "stopped" });
  }

  /** False: Slack could not be reached. */
  private async tryOpen(ingress: Ingress): Promise<boolean> {
    this.setState({ state: "connecting" });
    try {
      this.session = await this.open(ingress);
      return true;
    } catch (error) {
      const code = platformError(error);
      const detail = describeError(error, this.deps.redactor);
      if (code === undefined && !(error instanceof ExecError) && isSlackTrouble(error)) {
        this.setState({ state: "connecting", detail });
        return false;
      }
      this.stopping = undefined;
      this.setState({ state: "failed", detail: code === undefined ? detail : failureOf(error).why });
      if (code === undefined || !AUTH_ERRORS.has(code)) throw error;
      throw new ExecError("unauthorized", `Slack refused account "${this.accountId}": ${failureOf(error).why}.`, {
        code,
      });
    }
  }

  private async keepTrying(ingress: Ingress, signal: AbortSignal): Promise<void> {
    const { minMs, maxMs } = this.options.reconnect ?? RECONNECT;
    for (let waitMs = minMs; !signal.aborted; waitMs = Math.min(waitMs * 2, maxMs)) {
      await sleep(waitMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        if (await this.tryOpen(ingress)) return;
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

  async live(ref: MessageRef, card: Card): Promise<void> {
    await this.session?.outbox.live(ref, card);
  }

  /** @throws ExecError when it can not be looked up now: "not there" must never be guessed, it leads to a second message. */
  async reconcile(message: Outbound): Promise<MessageRef | undefined> {
    if (this.session === undefined) {
      throw new ExecError("internal", "Slack is not connected yet; whether the message was sent can not be looked up.");
    }
    return await this.session.outbox.reconcile(message);
  }

  private async open(ingress: Ingress): Promise<Session> {
    const { options, deps } = this;
    const logger = boltLogger(deps.log, deps.redactor);
    const slackApiUrl = options.apiUrl === undefined ? {} : { slackApiUrl: options.apiUrl };
    // Each client gets its own object: the SDK writes into the one it is given. No headers: the bot token would end up there.
    const writeOptions = (): webApi.WebClientOptions => ({
      ...slackApiUrl,
      logger,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      timeout: limits.WEB_API_TIMEOUT_MS,
    });
    const receivers = this.receivers(logger, writeOptions());
    const app = new App({
      token: options.botToken,
      receiver: new DurableReceiver(receivers.inner),
      // Otherwise a refused token is an unhandled rejection in the constructor.
      deferInitialization: true,
      convoStore: false,
      logger,
      clientOptions: writeOptions(),
    });
    app.error(async (error) => {
      throw error;
    });
    await app.init();
    const auth = await app.client.auth.test();
    const reads = new webApi.WebClient(options.botToken, {
      ...writeOptions(),
      rejectRateLimitedCalls: false,
      retryConfig: { retries: 2, minTimeout: 200, maxTimeout: 2000 },
    });
    const identity: SlackIdentity = {
      accountId: options.accountId,
      teamId: auth.team_id ?? "",
      botUserId: auth.user_id ?? "",
      botId: auth.bot_id,
    };
    const botName = auth.user ?? "openclaw";
    const threads = new Threads(reads, identity.botUserId);
    const privately = new PrivateAnswers(app.client, this.responseUrls);
    const outbox = new Outbox({ writes: app.client, reads, botName, threads, privately, deps });
    this.accountDetail = accountDetail(auth, botName);
    new SlackListeners({
      identity,
      rules: {
        replyToMode: options.replyToMode ?? (() => "off"),
        allowBots: options.allowBots ?? false,
        // Cards name `approve` as what to type, so it is understood whatever is registered.
        commandNames: new Set(["approve", ...deps.commands.map((command) => command.name)]),
      },
      implicitMentions: options.implicitMentions ?? { replyToBot: true, threadParticipation: true },
      wrapper: options.wrapper ?? DEFAULT_WRAPPER,
      people: new People(reads, () => deps.clock.now()),
      threads,
      privately,
      responseUrls: this.responseUrls,
      ingress,
      deps,
    }).attach(app);
    return { outbox, stop: await receivers.connect() };
  }

  private receivers(
    logger: ReturnType<typeof boltLogger>,
    clientOptions: webApi.WebClientOptions,
  ): { inner: SocketModeReceiver | HTTPReceiver; connect: () => Promise<() => Promise<void>> } {
    const { mode } = this.options;
    if (mode.kind === "socket") {
      const receiver = new SocketModeReceiver({
        appToken: mode.appToken,
        autoReconnectEnabled: false,
        clientPingTimeout: this.options.pingTimeoutMs ?? limits.PING_TIMEOUT_MS,
        logger,
        installerOptions: { clientOptions },
      });
      return { inner: receiver, connect: () => this.connectSocket(receiver) };
    }
    const path = mode.path ?? DEFAULT_PATH;
    const receiver = new HTTPReceiver({ signingSecret: mode.signingSecret, endpoints: [path], logger });
    return { inner: receiver, connect: () => this.connectHttp(receiver, path, mode.listen) };
  }

  private async connectSocket(receiver: SocketModeReceiver): Promise<() => Promise<void>> {
    const connection = new SocketConnection({
      client: receiver.client,
      log: this.deps.log,
      redactor: this.deps.redactor,
      monotonic: () => this.deps.clock.monotonic(),
      backoff: this.options.reconnect ?? RECONNECT,
      onState: (state) => this.setState(state.state === "connected" ? { ...state, detail: this.accountDetail } : state),
    });
    await connection.start();
    return () => connection.stop();
  }

  private async connectHttp(
    receiver: HTTPReceiver,
    path: string,
    listen: { readonly host: string; readonly port: number } | undefined,
  ): Promise<() => Promise<void>> {
    this.listener = slackRequestListener(receiver, path, () => this.deps.clock.now());
    const server = listen === undefined ? undefined : await listenOn(this.requestListener, listen);
    const where = server === undefined ? path : `port ${(server.address() as AddressInfo).port}, ${path}`;
    this.setState({ state: "connected", detail: `${this.accountDetail}; listening on ${where}` });
    return async () => {
      if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()));
    };
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

function accountDetail(auth: webApi.AuthTestResponse, botName: string): string {
  const granted = auth.response_metadata?.scopes;
  const missing = granted === undefined ? [] : BOT_SCOPES.filter((scope) => !granted.includes(scope));
  const who = `@${botName} in ${auth.team ?? auth.team_id ?? "?"}`;
  return missing.length === 0 ? who : `${who}; missing scopes: ${missing.join(", ")}`;
}

async function listenOn(
  listener: RequestListener,
  address: { readonly host: string; readonly port: number },
): Promise<Server> {
  const server = createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why =
        error.code === "EADDRINUSE"
          ? "is in use; choose another for channels.slack"
          : `can not be used (${error.code})`;
      reject(new ExecError("invalid-argument", `Port ${address.port} on ${address.host} ${why}.`));
    });
    server.listen(address.port, address.host, resolve);
  });
  return server;
}
