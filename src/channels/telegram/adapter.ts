/**
 * Telegram through grammY: long polling by default, a webhook when one is configured. Handlers only hand events to the
 * ingress and never wait for a command or a decision, so a press is never stuck behind the run it would allow.
 */
import { Bot } from "grammy";
import type { Update } from "grammy/types";
import type { Card } from "../../core/cards.ts";
import { ExecError } from "../../core/errors.ts";
import type { MessageRef, Outbound, SendResult } from "../../core/outbound.ts";
import type { Actor } from "../../core/route.ts";
import { type AdapterDeps, describeError } from "../adapter-deps.ts";
import { messagesFor } from "../cards/messages/catalogue.ts";
import type { Channel, ChannelCapabilities, ChannelStatus, Ingress } from "../channel.ts";
import { CallbackAnswers } from "./callbacks.ts";
import { failureOf } from "./errors.ts";
import { ALLOWED_UPDATES, reasonLink, type Self, type Taken, takeUpdate } from "./inbound.ts";
import { CLIENT_TIMEOUT_SECONDS, MIN_EDIT_MS, RETRY_MAX_MS, RETRY_MIN_MS, TEXT_BUDGET } from "./limits.ts";
import { join, link, text } from "./markup.ts";
import { commandNames, syncMenu } from "./menu.ts";
import { Outgoing } from "./outgoing.ts";
import { Poller, type PollState } from "./poller.ts";
import { checkWebhook, type WebhookOptions, WebhookServer } from "./webhook.ts";

export interface TelegramAccount {
  readonly accountId: string;
  readonly token: string;
  /** Root of the Bot API without `/bot<token>`. */
  readonly apiRoot?: string;
  /** Absent: long polling. */
  readonly webhook?: WebhookOptions;
  readonly textChunkLimit?: number;
  /** Seconds one poll stays open. Default 30. */
  readonly pollSeconds?: number;
}

export interface TelegramDeps extends AdapterDeps {
  /** A group became a supergroup: configuration, sessions and stored routes name the old id. */
  readonly onChatMigrated?: (fromChatId: string, toChatId: string) => void;
}

export interface TelegramChannel extends Channel {
  /** Where the webhook listens, once started. */
  webhookAddress(): { readonly host: string; readonly port: number } | undefined;
  /** The bot's own name, once connected. */
  self(): Self | undefined;
}

const CAPABILITIES: ChannelCapabilities = {
  buttons: true,
  edit: true,
  threads: true,
  ephemeral: false,
  files: true,
  maxText: TEXT_BUDGET,
  minEditMs: MIN_EDIT_MS,
  editsAreSilent: true,
};

/** @throws ExecError `invalid-argument` without a token, or with a webhook secret that Telegram would refuse. */
export function createTelegramChannel(account: TelegramAccount, deps: TelegramDeps): TelegramChannel {
  if (account.token.trim() === "")
    throw new ExecError(
      "invalid-argument",
      "The Telegram account has no bot token. Set channels.telegram.botToken or TELEGRAM_BOT_TOKEN.",
    );
  if (account.webhook) checkWebhook(account.webhook);
  return new TelegramAdapter(account, deps);
}

class TelegramAdapter implements TelegramChannel {
  readonly id = "telegram" as const;
  readonly accountId: string;
  readonly capabilities = CAPABILITIES;
  readonly #account: TelegramAccount;
  readonly #deps: TelegramDeps;
  #state: ChannelStatus["state"] = "stopped";
  #detail: string | undefined;
  #session: Session | undefined;
  /** Starts and stops of one token never overlap: two polls of it would end each other for ever. */
  #turn: Promise<void> = Promise.resolve();

  constructor(account: TelegramAccount, deps: TelegramDeps) {
    this.#account = account;
    this.#deps = deps;
    this.accountId = account.accountId;
  }

  /** Resolves after the first attempt to connect. A network that is down is tried again; a refused token is not. */
  start(ingress: Ingress): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#session) return;
      this.#set("connecting");
      const session = new Session(this.#account, this.#deps, ingress, (state, detail) => this.#set(state, detail));
      this.#session = session;
      await session.start();
    });
  }

  stop(): Promise<void> {
    // A start that hangs must not hold up the stop behind it.
    this.#session?.cancel();
    return this.#inTurn(async () => {
      const session = this.#session;
      this.#session = undefined;
      await session?.stop();
      this.#set("stopped");
    });
  }

  status(): ChannelStatus {
    return {
      channel: this.id,
      accountId: this.accountId,
      state: this.#state,
      ...(this.#detail === undefined ? {} : { detail: this.#detail }),
    };
  }

  self(): Self | undefined {
    return this.#session?.self;
  }

  webhookAddress(): { readonly host: string; readonly port: number } | undefined {
    return this.#session?.address;
  }

  async send(message: Outbound): Promise<SendResult> {
    const session = this.#session;
    if (!session) return notStarted();
    if (message.onlyFor && (await session.verdict(message, message.onlyFor))) {
      // Nothing to edit later: an alert is gone once it was read.
      return { kind: "sent", ref: alertRef(message) };
    }
    return session.outgoing.send(message);
  }

  async edit(ref: MessageRef, message: Outbound): Promise<SendResult> {
    const session = this.#session;
    if (!session) return notStarted();
    return isAlertRef(ref) ? { kind: "sent", ref } : session.outgoing.edit(ref, message);
  }

  async live(ref: MessageRef, card: Card): Promise<void> {
    if (!isAlertRef(ref)) await this.#session?.outgoing.live(ref, card);
  }

  #set(state: ChannelStatus["state"], detail?: string): void {
    this.#state = state;
    this.#detail = detail;
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const next = this.#turn.then(work);
    this.#turn = next.catch(() => undefined);
    return next;
  }
}

/** Everything that lives between one start and its stop. */
class Session {
  readonly outgoing: Outgoing;
  self: Self | undefined;
  address: { readonly host: string; readonly port: number } | undefined;
  readonly #bot: Bot;
  readonly #account: TelegramAccount;
  readonly #deps: TelegramDeps;
  readonly #ingress: Ingress;
  readonly #report: (state: ChannelStatus["state"], detail?: string) => void;
  readonly #callbacks: CallbackAnswers;
  #poller: Poller | undefined;
  #webhook: WebhookServer | undefined;
  #retry: NodeJS.Timeout | undefined;
  #attempts = 0;
  readonly #cancelled = new AbortController();
  #stopped = false;

  constructor(
    account: TelegramAccount,
    deps: TelegramDeps,
    ingress: Ingress,
    report: (state: ChannelStatus["state"], detail?: string) => void,
  ) {
    this.#account = account;
    this.#deps = deps;
    this.#ingress = ingress;
    this.#report = report;
    this.#bot = new Bot(account.token, {
      client: {
        timeoutSeconds: CLIENT_TIMEOUT_SECONDS,
        ...(account.apiRoot === undefined ? {} : { apiRoot: account.apiRoot.replace(/\/+$/, "") }),
      },
    });
    this.#bot.use((context) => this.#take(context.update));
    this.outgoing = new Outgoing({
      ...deps,
      api: this.#bot.api,
      accountId: account.accountId,
      ...(account.textChunkLimit === undefined ? {} : { textLimit: account.textChunkLimit }),
      onMigrated: (from, to) => deps.onChatMigrated?.(from, to),
    });
    this.#callbacks = new CallbackAnswers(this.#bot.api, (error) =>
      deps.log.info({ channel: "telegram", error: this.#why(error) }, "A press was answered too late or twice."),
    );
  }

  async start(): Promise<void> {
    this.#attempts += 1;
    try {
      const me = await this.#bot.api.getMe(this.#cancelled.signal as never);
      if (this.#stopped) return;
      this.#bot.botInfo = me;
      this.self = { id: me.id, username: me.username };
      await (this.#account.webhook ? this.#startWebhook(this.#account.webhook) : this.#startPolling());
      void this.#registerCommands();
    } catch (error) {
      if (this.#stopped) return;
      this.#startFailed(error);
    }
  }

  /** Ends a start that still waits for Telegram. */
  cancel(): void {
    this.#stopped = true;
    this.#cancelled.abort();
    clearTimeout(this.#retry);
  }

  async stop(): Promise<void> {
    this.cancel();
    this.#callbacks.stop();
    await this.#poller?.stop();
    await this.#webhook?.close();
  }

  /** A refusal of a press is shown on the press. */
  async verdict(message: Outbound, actor: Actor): Promise<boolean> {
    const rendered = this.outgoing.render(message.card, { locale: actor.locale });
    return this.#callbacks.verdict(message.route, actor, rendered.parts[0]?.plain ?? "");
  }

  #startFailed(error: unknown): void {
    const why = this.#why(error);
    if (failureOf(error).kind === "bad-token") {
      this.#report(
        "failed",
        `Telegram refused the bot token (${why}). Set channels.telegram.botToken to the one BotFather shows.`,
      );
      this.#deps.log.error(
        { channel: "telegram", accountId: this.#account.accountId, error: why },
        "Telegram refused the bot token.",
      );
      return;
    }
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") {
      this.#report("failed", `The webhook's port is in use (${why}). Set channels.telegram.webhookPort to a free one.`);
      this.#deps.log.error(
        { channel: "telegram", accountId: this.#account.accountId, error: why },
        "The webhook's port is in use.",
      );
      return;
    }
    this.#report("connecting", `Telegram can not be reached (${why}); trying again.`);
    this.#deps.log.warn(
      { channel: "telegram", accountId: this.#account.accountId, error: why },
      "Telegram can not be reached.",
    );
    const waitMs = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** Math.min(this.#attempts - 1, 10));
    this.#retry = setTimeout(() => void this.start(), waitMs);
    this.#retry.unref();
  }

  async #startPolling(): Promise<void> {
    // A webhook left by an earlier setup would make every poll a conflict.
    await this.#bot.api.deleteWebhook();
    if (this.#stopped) return;
    this.#poller = new Poller({
      api: this.#bot.api,
      redactor: this.#deps.redactor,
      take: (update) => this.#bot.handleUpdate(update),
      onState: (state) => this.#polled(state),
      ...(this.#account.pollSeconds === undefined ? {} : { pollSeconds: this.#account.pollSeconds }),
    });
    this.#report("connected", this.#name());
    this.#poller.start();
  }

  async #startWebhook(options: WebhookOptions): Promise<void> {
    if (!this.#webhook) {
      const server = new WebhookServer(this.#bot, options, (error) =>
        this.#deps.log.warn(
          { channel: "telegram", error: this.#why(error) },
          "An update could not be taken; Telegram repeats it.",
        ),
      );
      const { address, port } = await server.listen();
      this.#webhook = server;
      this.address = { host: address, port };
    }
    await this.#bot.api.setWebhook(options.url, {
      secret_token: options.secret,
      allowed_updates: [...ALLOWED_UPDATES],
    });
    if (!this.#stopped) this.#report("connected", this.#name());
  }

  #name(): string {
    return `@${this.self?.username ?? ""}`;
  }

  #polled(state: PollState): void {
    if (this.#stopped) return;
    switch (state.kind) {
      case "polling":
        this.#report("connected", this.#name());
        return;
      case "retrying":
        this.#report("connecting", `Polling Telegram failed (${state.why}); trying again.`);
        this.#deps.log.warn(
          { channel: "telegram", accountId: this.#account.accountId, error: state.why },
          "Polling Telegram failed.",
        );
        return;
      case "refused":
        this.#report("failed", `Telegram refused the bot token (${state.why}).`);
        this.#deps.log.error(
          { channel: "telegram", accountId: this.#account.accountId, error: state.why },
          "Telegram refused the bot token.",
        );
        return;
    }
  }

  async #registerCommands(): Promise<void> {
    try {
      const outcome = await syncMenu(this.#bot.api, this.#deps.commands);
      this.#deps.log.info({ channel: "telegram", outcome }, "Command menu checked.");
    } catch (error) {
      this.#deps.log.warn(
        { channel: "telegram", error: this.#why(error) },
        "The command menu could not be written; commands work as text.",
      );
    }
  }

  /** Rejects when the event could not be taken: it comes again. */
  async #take(update: Update): Promise<void> {
    if (!this.self) return;
    const taken = takeUpdate(update, {
      accountId: this.#account.accountId,
      self: this.self,
      nowMs: this.#deps.clock.now(),
      commandNames: commandNames(this.#deps.commands),
    });
    await this.#act(taken, this.self);
  }

  async #act(taken: Taken, self: Self): Promise<void> {
    switch (taken.kind) {
      case "event":
        await this.#ingressOf(taken);
        return;
      case "ask-reason":
        void this.#callbacks.plain(taken.queryId);
        await this.#askReason(taken, self);
        return;
      case "outdated-press":
        void this.#callbacks.alert(taken.queryId, this.#messages(taken.actor).notice.buttonOutdated);
        return;
      case "migrated":
        this.outgoing.migrated(taken.from, taken.to);
        return;
      case "ignored":
        return;
    }
  }

  async #ingressOf(taken: Extract<Taken, { kind: "event" }>): Promise<void> {
    const { event, queryId } = taken;
    if (queryId !== undefined) this.#callbacks.expect(queryId, event.route, event.actor);
    await this.#ingress(event);
  }

  async #askReason(taken: Extract<Taken, { kind: "ask-reason" }>, self: Self): Promise<void> {
    const { approval } = this.#messages(taken.actor);
    const slug = taken.request.approvalId.slice(0, 8);
    const name = taken.actor.display ?? taken.actor.id;
    const body = join([
      text(`${name}: ${approval.reasonLabel} (`),
      link(slug, reasonLink(taken.request, self)),
      text(")"),
    ]);
    try {
      await this.outgoing.ask(taken.route, body, taken.route.replyToId);
    } catch (error) {
      this.#deps.log.warn(
        { channel: "telegram", error: this.#why(error) },
        "The question for a reason could not be sent.",
      );
    }
  }

  #messages(actor: Actor) {
    return messagesFor(actor.locale, this.#deps.locale);
  }

  #why(error: unknown): string {
    return describeError(error, this.#deps.redactor);
  }
}

function notStarted(): SendResult {
  return { kind: "retry", afterMs: RETRY_MIN_MS, why: "The Telegram account is not connected." };
}

const ALERT_PREFIX = "alert:";

function alertRef(message: Outbound): MessageRef {
  const { channel, accountId, chatId } = message.route;
  return { channel, accountId, chatId, messageId: `${ALERT_PREFIX}${message.key}` };
}

function isAlertRef(ref: MessageRef): boolean {
  return ref.messageId.startsWith(ALERT_PREFIX);
}
