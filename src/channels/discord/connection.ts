/**
 * One bot account's connection. The library resumes by itself; this starts over when it gives up, and stops for good
 * when Discord says that trying again can not help.
 */

import {
  type APIInteraction,
  Client,
  DiscordjsErrorCodes,
  Events,
  GatewayDispatchEvents,
  GatewayIntentBits,
  type GatewayMessageCreateDispatchData,
  Partials,
  SimpleShardingStrategy,
  WebSocketShardDestroyRecovery,
} from "discord.js";
import { type Phrase, phrase, type Wording } from "../../core/words/phrase.ts";
import { type ChannelLog, describeError } from "../adapter-deps.ts";
import type { ChannelStatus } from "../channel.ts";
import type { Loss, Reconnects } from "../pacing/reconnects.ts";
import type { Redactor } from "../text/redact.ts";
import { FATAL_CLOSE, failureOf } from "./errors.ts";
import { CLOSE_MS, MAX_TRIES, REST_TIMEOUT_MS, RETRY_MAX_MS, RETRY_MIN_MS } from "./limits.ts";

export interface ConnectionOptions {
  readonly token: string;
  /** Root of the API without version: `https://discord.com/api`. */
  readonly apiRoot?: string;
  /** The application that the token has to belong to. */
  readonly applicationId?: string;
  /** Read what is typed in guilds. Off: slash commands, buttons and direct messages only. */
  readonly messageContent: boolean;
  readonly guildMembers: boolean;
  /** How long after the login the session may take to stand. */
  readonly readyMs: number;
  readonly log: ChannelLog;
  readonly redactor: Redactor;
  readonly reconnects: Reconnects;
  /** Anything at all that Discord told. */
  readonly onDispatch: () => void;
  readonly onState: (state: ChannelStatus["state"], detail?: Wording) => void;
  readonly onReady: (client: Client<true>) => void;
  /** A session that is no continuation of one before: what was said in between is not sent. */
  readonly onNewSession: (client: Client<true>) => void;
  readonly onMessage: (client: Client<true>, message: GatewayMessageCreateDispatchData) => void;
  readonly onInteraction: (client: Client<true>, interaction: APIInteraction) => void;
}

/** Limits of these are ours to handle; everything else the library may wait for. */
const OWN_RATE_LIMITS = /\/messages(?:\/|$)|^\/webhooks\//;

export class Connection {
  readonly #options: ConnectionOptions;
  #client: Client | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  /** A session stands; attempts since it does not. */
  #stands = false;
  #tries = 0;
  readonly #strategies = new WeakMap<Client, Strategy>();
  readonly #cancelled = new AbortController();
  #stopped = false;
  #fatal = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** The client while it is connected or resuming. */
  ready(): Client<true> | undefined {
    return this.#client?.isReady() ? this.#client : undefined;
  }

  /** Resolves after the first attempt, whatever came of it. */
  async start(): Promise<void> {
    const { token, log, redactor } = this.#options;
    const client = this.#newClient();
    this.#client = client;
    try {
      await Promise.all([client.login(token), this.#readiness(client)]);
    } catch (error) {
      // The close code that tells why comes a moment after the login has failed.
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#stopped || this.#fatal || this.#client !== client) return;
      const why = describeError(error, redactor);
      await this.#discard(client);
      if (isBadToken(error)) {
        log.error({ channel: "discord", error: why }, "Discord refused the bot token.");
        this.#fail(phrase("channel.discord.token"));
        return;
      }
      log.warn({ channel: "discord", error: why }, "Discord can not be reached.");
      this.#again(phrase("channel.unreachable", { platform: "Discord", why }));
    }
  }

  /** Ends a start that still waits for Discord; nothing is connected anew from here on. */
  cancel(): void {
    this.#stopped = true;
    this.#cancelled.abort();
    clearTimeout(this.#retry);
  }

  async stop(): Promise<void> {
    this.cancel();
    const client = this.#client;
    this.#client = undefined;
    if (client) await this.#discard(client);
  }

  /** The same session over a new socket: Discord sends what was missed. False when there is none to resume. */
  async resume(): Promise<boolean> {
    const client = this.ready();
    const shards = client && this.#strategies.get(client)?.shardsOf();
    if (!shards) return false;
    await Promise.all(
      shards.map((shard) =>
        shard.destroy({ reason: "nothing arrives any more", recover: WebSocketShardDestroyRecovery.Resume }),
      ),
    );
    return true;
  }

  /** A new session. */
  async anew(): Promise<void> {
    const client = this.ready();
    if (!client) return;
    this.#lost(client, phrase("channel.discord.deaf"));
    await this.#discard(client);
  }

  #newClient(): Client {
    const { apiRoot, messageContent, guildMembers, log, redactor } = this.#options;
    const client = new Client({
      intents: [
        GatewayIntentBits.Guilds,
        GatewayIntentBits.GuildMessages,
        GatewayIntentBits.DirectMessages,
        ...(messageContent ? [GatewayIntentBits.MessageContent] : []),
        ...(guildMembers ? [GatewayIntentBits.GuildMembers] : []),
      ],
      // Without it the first direct message of a person is swallowed.
      partials: [Partials.Channel],
      ws: {
        buildStrategy: (manager) => {
          const strategy = new Strategy(manager);
          this.#strategies.set(client, strategy);
          return strategy;
        },
      },
      allowedMentions: { parse: [], repliedUser: false },
      rest: {
        ...(apiRoot === undefined ? {} : { api: apiRoot.replace(/\/+$/, "") }),
        version: "10",
        // Sending again is the deliveries queue's business: it knows what was sent and keeps the order.
        retries: 0,
        timeout: REST_TIMEOUT_MS,
        rejectOnRateLimit: (limit) => OWN_RATE_LIMITS.test(limit.route),
      },
    });
    client.on(Events.Error, (error) =>
      log.warn({ channel: "discord", error: describeError(error, redactor) }, "Discord client error."),
    );
    client.on(Events.ShardError, (error) =>
      log.warn({ channel: "discord", error: describeError(error, redactor) }, "Discord connection error."),
    );
    client.on(Events.Raw, () => this.#options.onDispatch());
    client.on(Events.ShardReconnecting, () => this.#reconnecting(client));
    client.on(Events.ShardReady, () => {
      this.#connected(client);
      if (client.isReady()) this.#options.onNewSession(client);
    });
    client.on(Events.ShardResume, () => this.#connected(client));
    client.on(Events.ShardDisconnect, (event) => void this.#gaveUp(client, event.code));
    client.on(Events.Invalidated, () => void this.#gaveUp(client, undefined));
    client.ws.on(GatewayDispatchEvents.MessageCreate, (data: GatewayMessageCreateDispatchData) => {
      if (client.isReady()) this.#options.onMessage(client, data);
    });
    client.ws.on(GatewayDispatchEvents.InteractionCreate, (data: APIInteraction) => {
      if (client.isReady()) this.#options.onInteraction(client, data);
    });
    return client;
  }

  #readiness(client: Client): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (why: string): void => {
        clearTimeout(timer);
        reject(new Error(why));
      };
      const { readyMs } = this.#options;
      const timer = setTimeout(() => giveUp(`not ready within ${readyMs / 1000} s after the login`), readyMs);
      timer.unref();
      client.once(Events.ClientReady, (ready) => {
        const { applicationId } = this.#options;
        if (applicationId !== undefined && ready.application.id !== applicationId) {
          this.#fail(
            phrase("channel.discord.application", { actual: ready.application.id, configured: applicationId }),
          );
          giveUp("the token of another application");
          void this.#discard(client);
          return;
        }
        clearTimeout(timer);
        this.#failures = 0;
        this.#connected(client);
        this.#options.onNewSession(ready);
        this.#options.onReady(ready);
        resolve();
      });
      client.once(Events.ShardDisconnect, () => giveUp("the connection was closed before it was ready"));
      this.#cancelled.signal.addEventListener("abort", () => giveUp("stopped"), { once: true });
    });
  }

  /** By the library, which would go on for ever. */
  #reconnecting(client: Client): void {
    if (this.#stopped || this.#client !== client) return;
    this.#tries += 1;
    if (this.#stands) {
      this.#stands = false;
      const { waitMs } = this.#loss();
      if (waitMs > 0) {
        this.#again(phrase("channel.discord.ended"), waitMs);
        void this.#discard(client);
        return;
      }
    } else if (this.#tries > MAX_TRIES) {
      this.#again(phrase("channel.discord.ended"));
      void this.#discard(client);
      return;
    }
    this.#state(client, "connecting", phrase("channel.discord.resuming"));
  }

  /** The session is over: another follows, the later the more often that happens. */
  #lost(client: Client, why: Phrase): void {
    if (this.#stopped || this.#client !== client) return;
    const { waitMs } = this.#stands ? this.#loss() : { waitMs: 0 };
    this.#stands = false;
    this.#again(why, waitMs);
  }

  #loss(): Loss {
    const loss = this.#options.reconnects.lost();
    if (loss.waitMs > 0) {
      this.#options.log.warn(
        { channel: "discord", ...loss },
        "The connection is lost again and again; the next one waits.",
      );
    }
    return loss;
  }

  #connected(client: Client): void {
    this.#stands = true;
    this.#tries = 0;
    this.#state(client, "connected", client.user?.tag);
  }

  async #gaveUp(client: Client, code: number | undefined): Promise<void> {
    if (this.#stopped || this.#client !== client) return;
    switch (code) {
      case FATAL_CLOSE.authenticationFailed:
        this.#fail(phrase("channel.discord.token"));
        break;
      case FATAL_CLOSE.invalidIntents:
      case FATAL_CLOSE.disallowedIntents:
        this.#fail(phrase("channel.discord.intents"));
        break;
      default:
        this.#options.log.warn({ channel: "discord", code }, "Discord ended the session; connecting anew.");
        this.#lost(
          client,
          code === undefined ? phrase("channel.discord.ended") : phrase("channel.discord.endedWith", { code }),
        );
    }
    await this.#discard(client);
  }

  #fail(detail: Phrase): void {
    this.#fatal = true;
    this.#options.log.error({ channel: "discord" }, detail.text);
    this.#options.onState("failed", detail);
  }

  /** `atLeastMs`: too many connections were lost lately. */
  #again(detail: Phrase, atLeastMs = 0): void {
    if (this.#stopped) return;
    this.#failures += 1;
    const ownMs = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** Math.min(this.#failures - 1, 10));
    const waitMs = Math.max(atLeastMs, ownMs);
    const seconds = Math.ceil(waitMs / 1_000);
    this.#options.onState(
      "connecting",
      atLeastMs === 0 ? detail : phrase("channel.lostOften", { platform: "Discord", seconds }),
    );
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.start(), waitMs);
    this.#retry.unref();
  }

  #state(client: Client, state: ChannelStatus["state"], detail?: Wording): void {
    if (!this.#stopped && this.#client === client && !this.#fatal) this.#options.onState(state, detail);
  }

  async #discard(client: Client): Promise<void> {
    if (this.#client === client) this.#client = undefined;
    this.#strategies.get(client)?.retire();
    try {
      await Promise.race([client.destroy(), new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())]);
    } catch (error) {
      this.#options.log.info(
        { channel: "discord", error: describeError(error, this.#options.redactor) },
        "Closing failed.",
      );
    }
  }
}

/** The library's own, which shows its shards: only they can be told to resume. */
class Strategy extends SimpleShardingStrategy {
  shardsOf(): readonly ResumableShard[] {
    return [...(this as unknown as { readonly shards: ReadonlyMap<number, ResumableShard> }).shards.values()];
  }

  /**
   * The library takes a shard that is destroyed while it waits for Discord for one that timed out, and connects it anew:
   * nobody would ever end that one. What is retired does not come back.
   */
  retire(): void {
    for (const shard of this.shardsOf()) {
      const destroy = shard.destroy.bind(shard);
      shard.destroy = async (options) => (options?.recover === undefined ? destroy(options) : undefined);
    }
  }
}

interface ResumableShard {
  destroy(options?: { readonly reason?: string; readonly recover?: WebSocketShardDestroyRecovery }): Promise<void>;
}

function isBadToken(error: unknown): boolean {
  return (
    (error as { code?: unknown }).code === DiscordjsErrorCodes.TokenInvalid || failureOf(error).kind === "bad-token"
  );
}
