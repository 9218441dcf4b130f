/**
 * Telegram through grammY: long polling by default, a webhook when one is configured. Handlers only hand events to the
 * ingress and never wait for a command or a decision, so a press is never stuck behind the run it would allow.
 */

import type { Card } from "../../core/cards.ts";
import type { MessageRef, Outbound, SendResult } from "../../core/outbound.ts";
import type { Route } from "../../core/route.ts";
import { type Phrase, phrase, type Wording } from "../../core/words/phrase.ts";
import type { Channel, ChannelCapabilities, ChannelStatus, Ingress } from "../channel.ts";
import { NewerMessages } from "../newer-messages.ts";
import { SendBudget } from "../pacing/send-budget.ts";
import type { Self } from "./inbound.ts";
import { MIN_EDIT_MS, RETRY_MIN_MS, TEXT_BUDGET } from "./limits.ts";
import { placeOf, Session, type TelegramAccount, type TelegramDeps } from "./session.ts";
import { webhookProblem } from "./webhook.ts";

export type { TelegramAccount, TelegramDeps };

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

/** Connects to nothing yet; what is wrong with the account is in its status after `start`. */
export function createTelegramChannel(account: TelegramAccount, deps: TelegramDeps): TelegramChannel {
  return new TelegramAdapter(account, deps);
}

/** What to set before this account can connect. */
function problemOf(account: TelegramAccount): Phrase | undefined {
  if (account.token.trim() === "") return phrase("channel.telegram.noToken");
  return account.webhook ? webhookProblem(account.webhook) : undefined;
}

class TelegramAdapter implements TelegramChannel {
  readonly id = "telegram" as const;
  readonly accountId: string;
  readonly capabilities = CAPABILITIES;
  readonly #account: TelegramAccount;
  readonly #deps: TelegramDeps;
  #state: ChannelStatus["state"] = "stopped";
  #detail: Wording | undefined;
  #session: Session | undefined;
  /** Of the account: a new connection has not earned a new burst. */
  readonly #budget: SendBudget;
  /** Of the account too: Telegram keeps what is said while the bot is away and hands it on later. */
  readonly #newer = new NewerMessages();
  /** Starts and stops of one token never overlap: two polls of it would end each other for ever. */
  #turn: Promise<void> = Promise.resolve();

  constructor(account: TelegramAccount, deps: TelegramDeps) {
    this.#account = account;
    this.#deps = deps;
    this.accountId = account.accountId;
    this.#budget = new SendBudget(deps.clock);
  }

  /** Resolves after the first attempt to connect. A network that is down is tried again; a refused token is not. */
  start(ingress: Ingress): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#session) return;
      const problem = problemOf(this.#account);
      if (problem !== undefined) {
        this.#deps.log.error({ channel: "telegram", accountId: this.accountId }, problem.text);
        this.#set("failed", problem);
        return;
      }
      this.#set("connecting");
      const session = new Session(
        this.#account,
        this.#deps,
        ingress,
        (state, detail) => this.#set(state, detail),
        this.#budget,
        this.#newer,
      );
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

  buttonsOn({ chatId }: Route): boolean {
    return this.#session?.buttonsOn(chatId) ?? true;
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
    if (isAlertRef(ref)) return { kind: "sent", ref };
    const { card } = message;
    if (card.kind === "approval" && card.decidedBy) session.decided(ref.chatId, card.decidedBy);
    if (card.kind === "menu" && message.onlyFor) session.decided(ref.chatId, message.onlyFor);
    return session.outgoing.edit(ref, message);
  }

  async live(ref: MessageRef, card: Card): Promise<boolean> {
    const session = this.#session;
    return isAlertRef(ref) || !session || session.outgoing.live(ref, card);
  }

  /** Telegram can not be asked: what was said before this process began is known only as far as it was seen. */
  async below(ref: MessageRef, atMost: number): Promise<number | undefined> {
    return this.#newer.below(placeOf(ref), ref.messageId, atMost);
  }

  async typing(route: Route): Promise<void> {
    await this.#session?.typing(route);
  }

  #set(state: ChannelStatus["state"], detail?: Wording): void {
    this.#state = state;
    this.#detail = detail;
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const next = this.#turn.then(work);
    this.#turn = next.catch(() => undefined);
    return next;
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
