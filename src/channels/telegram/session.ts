/** Everything that lives between one start of a Telegram account and its stop. */

import { Bot } from "grammy";
import type { Message, Update } from "grammy/types";
import type { MessageRef, Outbound } from "../../core/outbound.ts";
import type { Actor, Route } from "../../core/route.ts";
import { type Messages, messagesFor } from "../../core/words/messages.ts";
import { phrase, type Wording } from "../../core/words/phrase.ts";
import { type AdapterDeps, describeError } from "../adapter-deps.ts";
import type { ChannelStatus, Ingress } from "../channel.ts";
import type { NewerMessages } from "../newer-messages.ts";
import type { SendBudget } from "../pacing/send-budget.ts";
import { Recent } from "../recent.ts";
import { connectingAgent } from "./agent.ts";
import { CallbackAnswers } from "./callbacks.ts";
import type { OnMigrated } from "./calls.ts";
import { failureOf } from "./errors.ts";
import { ALLOWED_UPDATES, reasonLink, routeOf, type Self, type Taken, takeUpdate } from "./inbound.ts";
import { type InlineButtons, showsButtons } from "./inline-buttons.ts";
import {
  CLIENT_TIMEOUT_SECONDS,
  MAX_ALERT,
  MAX_FORUMS,
  RETRY_MAX_MS,
  RETRY_MIN_MS,
  WEBHOOK_CONNECTIONS,
} from "./limits.ts";
import { join, link, text } from "./markup.ts";
import { commandNames, syncMenu } from "./menu.ts";
import { Outgoing } from "./outgoing.ts";
import { Poller, type PollState } from "./poller.ts";
import { DEFAULT_RATES, type TelegramRates } from "./rates.ts";
import { TakenOnce, type WebhookOptions, WebhookServer } from "./webhook.ts";

export interface TelegramAccount {
  readonly accountId: string;
  readonly token: string;
  /** Root of the Bot API without `/bot<token>`. */
  readonly apiRoot?: string;
  /** Absent: long polling. */
  readonly webhook?: WebhookOptions;
  readonly textChunkLimit?: number;
  /** Hear other bots. Default no. */
  readonly allowBots?: () => boolean;
  /** Where cards have buttons. Default everywhere. */
  readonly inlineButtons?: () => InlineButtons;
  readonly rates?: TelegramRates;
  /** Seconds one poll stays open. Default 30. */
  readonly pollSeconds?: number;
}

const API_ROOT = "https://api.telegram.org";

export interface TelegramDeps extends AdapterDeps {
  /** A group became a supergroup: configuration and sessions name the old id. */
  readonly onChatMigrated?: OnMigrated;
}

export class Session {
  readonly outgoing: Outgoing;
  self: Self | undefined;
  address: { readonly host: string; readonly port: number } | undefined;
  readonly #bot: Bot;
  readonly #account: TelegramAccount;
  readonly #deps: TelegramDeps;
  readonly #ingress: Ingress;
  readonly #report: (state: ChannelStatus["state"], detail?: Wording) => void;
  readonly #callbacks: CallbackAnswers;
  readonly #newer: NewerMessages;
  readonly #forums = new Recent<true>(MAX_FORUMS);
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
    report: (state: ChannelStatus["state"], detail?: Wording) => void,
    budget: SendBudget,
    newer: NewerMessages,
  ) {
    this.#account = account;
    this.#newer = newer;
    this.#deps = deps;
    this.#ingress = ingress;
    this.#report = report;
    this.#bot = new Bot(account.token, {
      client: {
        timeoutSeconds: CLIENT_TIMEOUT_SECONDS,
        // The library types it as what another runtime's fetch takes.
        baseFetchConfig: { agent: connectingAgent(account.apiRoot ?? API_ROOT) } as never,
        ...(account.apiRoot === undefined ? {} : { apiRoot: account.apiRoot.replace(/\/+$/, "") }),
      },
    });
    const posted = new TakenOnce((update) => this.#take(update));
    this.#bot.use(({ update }) => (account.webhook ? posted.take(update) : this.#take(update)));
    this.outgoing = new Outgoing({
      ...deps,
      api: this.#bot.api,
      accountId: account.accountId,
      budget,
      rates: account.rates ?? DEFAULT_RATES,
      hidesButtons: (chatId) => !this.buttonsOn(chatId),
      ...(account.textChunkLimit === undefined ? {} : { textLimit: account.textChunkLimit }),
      onMigrated: (from, to) => deps.onChatMigrated?.(from, to),
      onSent: (message) => this.#note(message),
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

  buttonsOn(chatId: string): boolean {
    return showsButtons(this.#account.inlineButtons?.() ?? "allowlist", isDirectId(chatId) ? "dm" : "group");
  }

  typing(route: Route): Promise<void> {
    return this.outgoing.typing(route, this.#forums.has(route.chatId));
  }

  /** A refusal of a press is shown on the press, when an alert can hold all of it. */
  async verdict(message: Outbound, actor: Actor): Promise<boolean> {
    if (message.card.kind !== "text" || message.file) return false;
    const [body, more] = this.outgoing.render(message.card, message.route.chatId, { locale: actor.locale }).parts;
    if (!body || more || body.plain.length > MAX_ALERT) return false;
    return this.#callbacks.verdict(message.route, actor, body.plain);
  }

  /** The card is being edited to what its presser decided. */
  decided(chatId: string, by: Actor): void {
    this.#callbacks.settle(chatId, by);
  }

  #startFailed(error: unknown): void {
    const why = this.#why(error);
    if (failureOf(error).kind === "bad-token") {
      this.#report("failed", phrase("channel.telegram.token", { why }));
      this.#deps.log.error(
        { channel: "telegram", accountId: this.#account.accountId, error: why },
        "Telegram refused the bot token.",
      );
      return;
    }
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") {
      this.#report("failed", phrase("channel.telegram.port", { why }));
      this.#deps.log.error(
        { channel: "telegram", accountId: this.#account.accountId, error: why },
        "The webhook's port is in use.",
      );
      return;
    }
    this.#report("connecting", phrase("channel.unreachable", { platform: "Telegram", why }));
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
      onSeen: (updates) => this.#answerPresses(updates),
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
      max_connections: WEBHOOK_CONNECTIONS,
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
        this.#report("connecting", phrase("channel.telegram.polling", { why: state.why }));
        this.#deps.log.warn(
          { channel: "telegram", accountId: this.#account.accountId, error: state.why },
          "Polling Telegram failed.",
        );
        return;
      case "refused":
        this.#report("failed", phrase("channel.telegram.token", { why: state.why }));
        this.#deps.log.error(
          { channel: "telegram", accountId: this.#account.accountId, error: state.why },
          "Telegram refused the bot token.",
        );
        return;
    }
  }

  async #registerCommands(): Promise<void> {
    try {
      const outcome = await syncMenu(this.#bot.api, this.#deps.commands, this.#deps.locale);
      this.#deps.log.info({ channel: "telegram", outcome }, "Command menu checked.");
    } catch (error) {
      this.#deps.log.warn(
        { channel: "telegram", error: this.#why(error) },
        "The command menu could not be written; commands work as text.",
      );
    }
  }

  /** A press is answered although it can not be taken yet: it stays with Telegram until it is. */
  #answerPresses(updates: readonly Update[]): void {
    const { self } = this;
    for (const update of self ? updates.filter((one) => one.callback_query) : []) {
      const taken = self && this.#understand(update, self);
      if (taken?.kind === "event" && taken.queryId !== undefined)
        this.#callbacks.expect(taken.queryId, taken.event.route, taken.event.actor);
    }
  }

  /** Rejects when the event could not be taken: it comes again. */
  async #take(update: Update): Promise<void> {
    const { self } = this;
    const taken = self ? this.#understand(update, self) : undefined;
    if (self && taken) await this.#act(taken, self);
  }

  #note(message: Message): void {
    if (message.chat.is_forum) this.#forums.set(String(message.chat.id), true);
    this.#newer.note(placeOf(routeOf(message, this.#account)), String(message.message_id));
  }

  /** An update nobody foresaw is left out: trying it again would hold up all that come after it for ever. */
  #understand(update: Update, self: Self): Taken | undefined {
    try {
      if (update.message) this.#note(update.message);
      return takeUpdate(update, {
        accountId: this.#account.accountId,
        self,
        nowMs: this.#deps.clock.now(),
        commandNames: commandNames(this.#deps.commands),
        allowBots: this.#account.allowBots?.() ?? false,
        inlineButtons: this.#account.inlineButtons?.() ?? "allowlist",
      });
    } catch (error) {
      this.#deps.log.error(
        { channel: "telegram", update: update.update_id, error: this.#why(error) },
        "An update could not be understood and was left out.",
      );
      return undefined;
    }
  }

  async #act(taken: Taken, self: Self): Promise<void> {
    switch (taken.kind) {
      case "event":
        await this.#ingressOf(taken);
        return;
      case "ask-reason":
        void this.#callbacks.plain(taken.queryId);
        // Telegram may be slow to take the question; what others say and press does not wait for it.
        void this.#askReason(taken, self);
        return;
      case "outdated-press":
        void this.#callbacks.alert(taken.queryId, this.#messages(taken.actor).notice.buttonOutdated);
        return;
      case "hidden-press":
        void this.#callbacks.alert(taken.queryId, this.#messages(taken.actor).notice.buttonsOff);
        return;
      case "migrated":
        // What is said next comes from the new id, and must find the group known under it.
        await this.outgoing.migrated(taken.from, taken.to);
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

  #messages(actor: Actor): Messages {
    return messagesFor(actor.locale, this.#deps.locale);
  }

  #why(error: unknown): string {
    return describeError(error, this.#deps.redactor);
  }
}

/** Ids of groups are negative. */
function isDirectId(chatId: string): boolean {
  return !chatId.startsWith("-");
}

/** The conversation in which messages stand below each other: a chat, or a topic by itself. */
export function placeOf({ chatId, threadId }: Pick<MessageRef, "chatId" | "threadId">): string {
  return `${chatId}|${threadId ?? ""}`;
}
