/** One life of the connection to Slack: its clients, its listeners and its way in, from start to stop. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { App, HTTPReceiver, SocketModeReceiver, webApi } from "@slack/bolt";
import { ExecError } from "../../core/errors.ts";
import { messagesFor } from "../../core/words/messages.ts";
import { type Phrase, phrase } from "../../core/words/phrase.ts";
import { type AdapterDeps, describeError } from "../adapter-deps.ts";
import type { Ingress } from "../channel.ts";
import type { NewerMessages } from "../newer-messages.ts";
import type { Reconnects } from "../pacing/reconnects.ts";
import type { SendBudget } from "../pacing/send-budget.ts";
import { Silence } from "../pacing/silence.ts";
import { boltLogger } from "./bolt-log.ts";
import { type ConnectionState, RECONNECT, SocketConnection } from "./connection.ts";
import { type HeardChannels, missedMessages } from "./deafness.ts";
import { DurableReceiver } from "./durable-receiver.ts";
import { type RequestListener, slackRequestListener } from "./http.ts";
import type { SlackIdentity } from "./inbound.ts";
import * as limits from "./limits.ts";
import { SlackListeners } from "./listeners.ts";
import { People, Threads, UserGroups } from "./lookup.ts";
import { BOT_SCOPES, DEFAULT_PATH, DEFAULT_WRAPPER } from "./manifest.ts";
import type { SlackOptions } from "./options.ts";
import { Outbox } from "./outbox.ts";
import { PrivateAnswers } from "./private-answers.ts";
import { DEFAULT_RATES } from "./rates.ts";
import { SlackReads } from "./reads.ts";
import type { ResponseUrls } from "./response-urls.ts";
import { WorkingSign } from "./working-sign.ts";

export interface Session {
  readonly reads: SlackReads;
  readonly outbox: Outbox;
  readonly working: WorkingSign;
  /** HTTP mode: takes Slack's requests. */
  readonly requestListener?: RequestListener;
  stop(): Promise<void>;
}

export interface SessionOptions {
  readonly options: SlackOptions;
  readonly deps: AdapterDeps;
  readonly ingress: Ingress;
  /** Outlives the session: an answer may still be owed when the connection is made anew. */
  readonly responseUrls: ResponseUrls;
  readonly budget: SendBudget;
  /** Outlives it too: what is said while it is made anew comes again, or is asked for. */
  readonly newer: NewerMessages;
  readonly heard: HeardChannels;
  /** Of the account: a new connection does not make those before it undone. */
  readonly reconnects: Reconnects;
  readonly onState: (state: ConnectionState) => void;
}

interface Way {
  readonly requestListener?: RequestListener;
  stop(): Promise<void>;
}

/** Rejects with what Slack or the network answered. */
export async function openSession(session: SessionOptions): Promise<Session> {
  const { options, deps, responseUrls, budget, newer } = session;
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
  const { receiver, connect } = wayIn(session, logger, writeOptions());
  const app = new App({
    token: options.botToken,
    receiver: new DurableReceiver(receiver),
    // Otherwise a refused token is an unhandled rejection in the constructor.
    deferInitialization: true,
    convoStore: false,
    // The bot's own messages stand in the conversation like others; who speaks is looked at by the listeners.
    ignoreSelf: false,
    logger,
    clientOptions: writeOptions(),
  });
  app.error(async (error) => {
    throw error;
  });
  await app.init();
  const auth = await app.client.auth.test();
  const gateways = options.gateways ?? (() => 1);
  const reads = new SlackReads({
    client: new webApi.WebClient(options.botToken, {
      ...writeOptions(),
      // A refused read is put off by its budget; here only what broke on its way is tried again.
      retryConfig: { retries: 2, minTimeout: 200, maxTimeout: 2000 },
    }),
    budget,
    gateways,
  });
  const identity: SlackIdentity = {
    accountId: options.accountId,
    teamId: auth.team_id ?? "",
    botUserId: auth.user_id ?? "",
    botId: auth.bot_id,
  };
  const botName = auth.user ?? "openclaw";
  const threads = new Threads(reads, identity.botUserId);
  const privately = new PrivateAnswers(app.client, responseUrls);
  const rates = options.rates ?? DEFAULT_RATES;
  const working = new WorkingSign({
    client: app.client,
    budget,
    gateways,
    monotonic: () => deps.clock.monotonic(),
    log: deps.log,
    redactor: deps.redactor,
    working: messagesFor(deps.locale).notice.workingOnIt,
    waiting: messagesFor(deps.locale).notice.waitingForApproval,
  });
  const outbox = new Outbox({
    writes: app.client,
    reads,
    botName,
    botUserId: identity.botUserId,
    threads,
    privately,
    budget,
    rates,
    gateways,
    newer,
    working,
    deps,
    ...(options.textChunkLimit === undefined ? {} : { textLimit: options.textChunkLimit }),
  });
  const listeners = new SlackListeners({
    identity,
    rules: {
      replyToMode: options.replyToMode ?? (() => "off"),
      allowBots: options.allowBots ?? (() => false),
      // Cards name `approve` as what to type, so it is understood whatever is registered.
      commandNames: new Set(["approve", ...deps.commands.map((command) => command.name)]),
    },
    implicitMentions: options.implicitMentions ?? { replyToBot: true, threadParticipation: true },
    wrapper: { name: options.wrapper ?? DEFAULT_WRAPPER, answersAll: options.wrapperAnswersAll ?? false },
    people: new People(reads, () => deps.clock.now()),
    threads,
    userGroups: new UserGroups(
      reads,
      identity.botUserId,
      () => deps.clock.now(),
      (error) =>
        deps.log.warn(
          { why: describeError(error, deps.redactor) },
          "Who is in a user group can not be looked up; mentions of it do not address the bot",
        ),
    ),
    newer,
    heard: session.heard,
    privately,
    responseUrls,
    ingress: session.ingress,
    deps,
  });
  listeners.attach(app);
  const missed = () =>
    missedMessages({
      ...deps,
      reads,
      heard: session.heard,
      selfUserId: identity.botUserId,
      now: () => deps.clock.now(),
    });
  const way = await connect(accountDetail(auth, botName), {
    missed,
    take: (event) => listeners.onMessage(event),
  });
  return {
    reads,
    outbox,
    working,
    ...way,
    async stop() {
      await working.stop();
      await way.stop();
    },
  };
}

function wayIn(
  session: SessionOptions,
  logger: ReturnType<typeof boltLogger>,
  clientOptions: webApi.WebClientOptions,
): {
  readonly receiver: SocketModeReceiver | HTTPReceiver;
  readonly connect: (detail: Phrase, ears: Ears) => Promise<Way>;
} {
  const { mode, pingTimeoutMs } = session.options;
  if (mode.kind === "socket") {
    const receiver = new SocketModeReceiver({
      appToken: mode.appToken,
      autoReconnectEnabled: false,
      clientPingTimeout: pingTimeoutMs ?? limits.PING_TIMEOUT_MS,
      logger,
      installerOptions: { clientOptions },
    });
    return { receiver, connect: (detail, ears) => bySocket(session, receiver, detail, ears) };
  }
  const path = mode.path ?? DEFAULT_PATH;
  const receiver = new HTTPReceiver({
    signingSecret: mode.signingSecret,
    endpoints: [path],
    bodyLimit: mode.maxBodyBytes ?? limits.MAX_BODY_BYTES,
    logger,
  });
  return { receiver, connect: (detail) => byHttp(session, receiver, { path, listen: mode.listen, detail }) };
}

/** What is said, past the socket. */
interface Ears {
  readonly missed: () => Promise<readonly object[]>;
  readonly take: (event: object) => Promise<void>;
}

async function bySocket(
  { options, deps, newer, reconnects, onState }: SessionOptions,
  receiver: SocketModeReceiver,
  detail: Phrase,
  ears: Ears,
): Promise<Way> {
  let isConnected = false;
  const silence = new Silence(options.silentMs ?? limits.SILENT_MS, async () => {
    if (!isConnected) return;
    const missed = await ears.missed();
    if (missed.length === 0) return;
    deps.log.warn(
      { accountId: options.accountId, missed: missed.length },
      "Slack's socket looked open and delivered nothing; connecting anew",
    );
    await connection.reconnect();
    for (const event of missed) {
      await ears.take(event).catch((error: unknown) => {
        deps.log.error({ why: describeError(error, deps.redactor) }, "A message that was missed could not be taken");
      });
    }
  });
  const connection = new SocketConnection({
    client: receiver.client,
    log: deps.log,
    redactor: deps.redactor,
    monotonic: () => deps.clock.monotonic(),
    backoff: options.reconnect ?? RECONNECT,
    reconnects,
    onEnvelope: () => silence.heard(),
    onState: (state) => {
      isConnected = state.state === "connected";
      // Slack gives up on an event after three tries: while no socket is open, some may be missed.
      if (state.state !== "connected") newer.forget();
      onState(state.state === "connected" ? { ...state, detail } : state);
    },
  });
  await connection.start();
  silence.start();
  return {
    stop: () => {
      silence.stop();
      return connection.stop();
    },
  };
}

async function byHttp(
  { deps, onState }: SessionOptions,
  receiver: HTTPReceiver,
  to: {
    readonly path: string;
    readonly listen: { readonly host: string; readonly port: number } | undefined;
    readonly detail: Phrase;
  },
): Promise<Way> {
  const requestListener = slackRequestListener(receiver, to.path, () => deps.clock.now());
  const server = to.listen === undefined ? undefined : await listenOn(requestListener, to.listen);
  const { path, detail: account } = to;
  const detail =
    server === undefined
      ? phrase("channel.slack.listening", { account, path })
      : phrase("channel.slack.listeningOn", { account, path, port: (server.address() as AddressInfo).port });
  onState({ state: "connected", detail });
  return {
    requestListener,
    async stop() {
      if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function accountDetail(auth: webApi.AuthTestResponse, botName: string): Phrase {
  const granted = auth.response_metadata?.scopes;
  const missing = granted === undefined ? [] : BOT_SCOPES.filter((scope) => !granted.includes(scope));
  const who = { bot: botName, team: auth.team ?? auth.team_id ?? "?" };
  return missing.length === 0
    ? phrase("channel.slack.account", who)
    : phrase("channel.slack.missingScopes", { ...who, scopes: missing });
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
