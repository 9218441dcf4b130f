/**
 * Discord through discord.js. The first thing done with an interaction is its first answer: the token dies after three
 * seconds, while commands and decisions take as long as they take. One handler for all buttons, without collectors, so
 * that cards work after a restart.
 */

import {
  type APIInteraction,
  type Client,
  type GatewayMessageCreateDispatchData,
  InteractionResponseType,
  Routes,
} from "discord.js";
import type { Card } from "../../core/cards.ts";
import type { MessageRef, Outbound, Recall, SendResult } from "../../core/outbound.ts";
import { pause } from "../../core/pause.ts";
import type { Actor, Route } from "../../core/route.ts";
import { type Messages, messagesFor } from "../../core/words/messages.ts";
import { phrase, type Wording } from "../../core/words/phrase.ts";
import { type AdapterDeps, describeError, type SuggestQuery } from "../adapter-deps.ts";
import type { Channel, ChannelCapabilities, ChannelStatus, Inbound, Ingress } from "../channel.ts";
import { type ReconnectLimits, Reconnects } from "../pacing/reconnects.ts";
import { SendBudget } from "../pacing/send-budget.ts";
import { Silence } from "../pacing/silence.ts";
import { Turns } from "../turns.ts";
import { maySee } from "./audience.ts";
import { CatchUp } from "./catch-up.ts";
import { Connection } from "./connection.ts";
import { Deafness } from "./deafness.ts";
import { failureOf } from "./errors.ts";
import { firstAnswerBody, placeholderOf } from "./first-answer.ts";
import { type ChannelFacts, type FirstAnswer, type InboundContext, takeInteraction, takeMessage } from "./inbound.ts";
import {
  CATCH_UP_WAIT_MS,
  MAX_V2_TEXT,
  MIN_EDIT_MS,
  PLACEHOLDER_MS,
  READY_TIMEOUT_MS,
  SILENT_MS,
  TAKE_FIRST_MS,
  TAKE_RETRY_MS,
} from "./limits.ts";
import { type OpenInteraction, OpenInteractions } from "./open-interactions.ts";
import { Outgoing } from "./outgoing.ts";
import { DEFAULT_RATES, type DiscordRates } from "./rates.ts";
import { syncCommands } from "./registration.ts";
import { choicesFor } from "./suggestions.ts";

export interface DiscordAccount {
  readonly accountId: string;
  readonly token: string;
  /** The application that the token has to belong to. Default: not checked. */
  readonly applicationId?: string;
  /** Root of the API without version. */
  readonly apiRoot?: string;
  readonly messageContent?: boolean;
  readonly guildMembers?: boolean;
  readonly allowBots?: () => boolean;
  readonly textChunkLimit?: number;
  readonly maxLinesPerMessage?: number;
  readonly rates?: DiscordRates;
  readonly cleanupAfterResolve?: boolean;
  /** How long a command may go unanswered before its "thinking…" is taken away. Default one minute. */
  readonly placeholderMs?: number;
  /** How long the session may take to stand before it all starts over. Default one minute. */
  readonly readyMs?: number;
  /** After how long without any event it is asked whether the connection is deaf. Default two minutes. */
  readonly silentMs?: number;
  /** Default: as Discord's own limits allow. */
  readonly reconnects?: ReconnectLimits;
}

export type DiscordDeps = AdapterDeps;

const CAPABILITIES: ChannelCapabilities = {
  buttons: true,
  edit: true,
  threads: true,
  ephemeral: true,
  files: true,
  maxText: MAX_V2_TEXT,
  minEditMs: MIN_EDIT_MS,
  editsAreSilent: true,
};

/** Connects to nothing yet; what is wrong with the account is in its status after `start`. */
export function createDiscordChannel(account: DiscordAccount, deps: DiscordDeps): Channel {
  return new DiscordAdapter(account, deps);
}

class DiscordAdapter implements Channel {
  readonly id = "discord" as const;
  readonly accountId: string;
  readonly capabilities = CAPABILITIES;
  readonly #account: DiscordAccount;
  readonly #deps: DiscordDeps;
  readonly #open: OpenInteractions;
  readonly #outgoing: Outgoing;
  /** What is said in one place is handed on in the order it was said. */
  readonly #order = new Turns();
  readonly #catchingUp: CatchUp;
  readonly #silence: Silence;
  readonly #deafness: Deafness;
  /** Of the account: a new connection does not make those before it undone. */
  readonly #reconnects: Reconnects;
  /** The session was resumed because nothing arrived, and no message has arrived since. */
  #isResumedDeaf = false;
  #state: ChannelStatus["state"] = "stopped";
  #detail: Wording | undefined;
  #connection: Connection | undefined;
  #ingress: Ingress | undefined;
  #stopping = new AbortController();
  #turn: Promise<void> = Promise.resolve();
  /** Settles when what was missed has been read, or takes too long to be waited for. */
  #reading: Promise<unknown> = Promise.resolve();

  constructor(account: DiscordAccount, deps: DiscordDeps) {
    this.#account = account;
    this.#deps = deps;
    this.accountId = account.accountId;
    this.#open = new OpenInteractions(deps.clock);
    this.#catchingUp = new CatchUp({ ...deps, ...(deps.heard ? { kept: deps.heard } : {}) });
    this.#silence = new Silence(account.silentMs ?? SILENT_MS, () => this.#listenHard());
    this.#deafness = new Deafness({
      ...deps,
      now: () => deps.clock.now(),
      places: (count) => this.#catchingUp.newest(count),
      wasHeard: (id) => this.#catchingUp.wasHeard(id),
    });
    this.#reconnects = new Reconnects(() => deps.clock.monotonic(), account.reconnects);
    this.#outgoing = new Outgoing({
      ...deps,
      accountId: account.accountId,
      client: () => this.#connection?.ready(),
      open: this.#open,
      // Of the account: a new connection has not earned a new burst.
      budget: new SendBudget(deps.clock),
      rates: account.rates ?? DEFAULT_RATES,
      cleanupAfterResolve: account.cleanupAfterResolve ?? false,
      ...(account.textChunkLimit === undefined ? {} : { textLimit: account.textChunkLimit }),
      ...(account.maxLinesPerMessage === undefined ? {} : { maxLines: account.maxLinesPerMessage }),
    });
  }

  /** Resolves after the first attempt to connect. A network that is down is tried again; a refused token is not. */
  start(ingress: Ingress): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#connection) return;
      if (this.#account.token.trim() === "") {
        const problem = phrase("channel.discord.noToken");
        this.#deps.log.error({ channel: "discord", accountId: this.accountId }, problem.text);
        this.#set("failed", problem);
        return;
      }
      this.#ingress = ingress;
      this.#stopping = new AbortController();
      this.#set("connecting");
      this.#connection = new Connection({
        token: this.#account.token,
        ...(this.#account.apiRoot === undefined ? {} : { apiRoot: this.#account.apiRoot }),
        ...(this.#account.applicationId === undefined ? {} : { applicationId: this.#account.applicationId }),
        messageContent: this.#account.messageContent ?? true,
        guildMembers: this.#account.guildMembers ?? false,
        readyMs: this.#account.readyMs ?? READY_TIMEOUT_MS,
        log: this.#deps.log,
        redactor: this.#deps.redactor,
        reconnects: this.#reconnects,
        onDispatch: () => this.#silence.heard(),
        onState: (state, detail) => this.#set(state, detail),
        onReady: (client) => void this.#registerCommands(client),
        onNewSession: (client) => {
          this.#outgoing.missed();
          this.#guarded(this.#catchUp(client));
        },
        onMessage: (client, message) => {
          this.#isResumedDeaf = false;
          this.#guarded(this.#onLive(client, message));
        },
        onInteraction: (client, interaction) => this.#guarded(this.#onInteraction(client, interaction)),
      });
      this.#silence.start();
      await this.#connection.start();
    });
  }

  stop(): Promise<void> {
    // A start that hangs must not hold up the stop behind it.
    this.#connection?.cancel();
    return this.#inTurn(async () => {
      const connection = this.#connection;
      this.#connection = undefined;
      this.#stopping.abort();
      this.#silence.stop();
      await connection?.stop();
      await this.#catchingUp.stop();
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

  send(message: Outbound): Promise<SendResult> {
    return this.#outgoing.send(message);
  }

  edit(ref: MessageRef, message: Outbound): Promise<SendResult> {
    return this.#outgoing.edit(ref, message);
  }

  reconcile(message: Outbound): Promise<MessageRef | undefined> {
    return this.#outgoing.reconcile(message);
  }

  live(ref: MessageRef, card: Card): Promise<boolean> {
    return this.#outgoing.live(ref, card);
  }

  below(ref: MessageRef, atMost: number, how: Recall): Promise<number | undefined> {
    return this.#outgoing.below(ref, atMost, how);
  }

  async maySee(personId: string, channelId: string): Promise<boolean> {
    const client = this.#connection?.ready();
    if (!client) throw new Error("The Discord account is not connected.");
    return maySee(client, personId, channelId);
  }

  typing(route: Route): Promise<void> {
    return this.#outgoing.typing(route);
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

  /** An event nobody foresaw is left out; it must not end the process. */
  #guarded(work: Promise<void>): void {
    work.catch((error: unknown) =>
      this.#deps.log.error(
        { channel: "discord", error: this.#why(error) },
        "An event could not be understood and was left out.",
      ),
    );
  }

  #context(client: Client<true>): InboundContext {
    return {
      accountId: this.#account.accountId,
      selfId: client.user.id,
      nowMs: this.#deps.clock.now(),
      commands: this.#deps.commands,
      allowBots: this.#account.allowBots?.() ?? false,
    };
  }

  /** What is said now comes after what was said before it and is still being read. */
  async #onLive(client: Client<true>, message: GatewayMessageCreateDispatchData): Promise<void> {
    await this.#reading;
    await this.#onMessage(client, message);
  }

  async #onMessage(client: Client<true>, message: GatewayMessageCreateDispatchData): Promise<void> {
    this.#outgoing.said(message.channel_id, message.id);
    if (!this.#catchingUp.heard(message)) return;
    await this.#order.run(message.channel_id, async () => {
      const facts = await this.#factsOf(client, message.channel_id, message.guild_id);
      const taken = takeMessage(message, facts, this.#context(client));
      if (taken.kind === "event" && !(await this.#take(taken.event))) this.#catchingUp.lost(message);
      else await this.#catchingUp.done(message, async () => taken.kind === "event" && this.#listens(taken.event));
    });
  }

  async #catchUp(client: Client<true>): Promise<void> {
    const reading = this.#catchingUp.missed(client);
    this.#reading = Promise.race([reading, pause(CATCH_UP_WAIT_MS, this.#stopping.signal)]);
    const missed = await reading;
    // Places do not wait for each other; within one the order is that of the reading.
    await Promise.all(missed.map((message) => this.#onMessage(client, message)));
  }

  /** Nothing was heard for a while: resumed first, and started over when that does not help. */
  async #listenHard(): Promise<void> {
    const connection = this.#connection;
    const client = connection?.ready();
    if (!connection || !client || this.#state !== "connected") return;
    try {
      const channelId = await this.#deafness.missedIn(client);
      if (channelId === undefined) return;
      const fields = { channel: "discord", accountId: this.accountId, channelId };
      if (this.#isResumedDeaf || !(await connection.resume())) {
        this.#deps.log.warn(fields, "Discord's connection delivers nothing after a resume either; connecting anew.");
        this.#isResumedDeaf = false;
        await connection.anew();
        return;
      }
      this.#isResumedDeaf = true;
      this.#deps.log.warn(fields, "Discord's connection looked open and delivered nothing; resumed.");
      // Not left to the replay of a session that has just proven deaf.
      await this.#catchUp(client);
    } catch (error) {
      this.#deps.log.warn({ channel: "discord", error: this.#why(error) }, "A deaf connection could not be resumed.");
    }
  }

  /** Whoever gives commands somewhere may write there next. */
  async #spokenIn({ id, channel, guild_id }: APIInteraction, event: Inbound): Promise<void> {
    if (channel === undefined) return;
    const spoken = { id, channel_id: channel.id, ...(guild_id === undefined ? {} : { guild_id }) };
    await this.#catchingUp.done(spoken, () => this.#listens(event));
  }

  async #listens({ actor, route }: Inbound): Promise<boolean> {
    return (await this.#deps.heard?.listens(actor, route)) ?? true;
  }

  /** From what the client has seen of the channel; asked for only when a thread is new to it. */
  async #factsOf(
    client: Client<true>,
    channelId: string,
    guildId: string | undefined,
  ): Promise<ChannelFacts | undefined> {
    if (guildId === undefined) return undefined;
    try {
      const channel = client.channels.cache.get(channelId) ?? (await client.channels.fetch(channelId));
      if (!channel) return undefined;
      const parentId = channel.isThread() ? channel.parentId : null;
      return { type: channel.type, ...(parentId === null ? {} : { parentId }) };
    } catch (error) {
      this.#deps.log.info(
        { channel: "discord", channelId, error: this.#why(error) },
        "A channel could not be looked up.",
      );
      return undefined;
    }
  }

  async #onInteraction(client: Client<true>, interaction: APIInteraction): Promise<void> {
    const taken = takeInteraction(interaction, this.#context(client));
    switch (taken.kind) {
      case "ignored":
        return;
      case "suggest":
        await this.#suggest(client, interaction, taken);
        return;
      case "answer-only":
        if (await this.#firstAnswer(client, interaction, taken.answer, taken.actor)) {
          this.#openInteraction(interaction, taken.answer, taken.actor, Promise.resolve(true));
        }
        return;
      case "event": {
        // Registered first: what comes of the event may be ready before Discord has its first answer.
        let tell: (isAnswered: boolean) => void = () => {};
        const answered = new Promise<boolean>((resolve) => {
          tell = resolve;
        });
        const open = this.#openInteraction(interaction, taken.answer, taken.event.actor, answered);
        const durable = this.#takeInTurn(taken.event);
        await Promise.race([durable, new Promise((resolve) => setTimeout(resolve, TAKE_FIRST_MS))]);
        const isAnswered = await this.#firstAnswer(client, interaction, taken.answer, taken.event.actor);
        if (!isAnswered) this.#open.forget(open);
        tell(isAnswered);
        if (!(await durable)) await this.#sayNotTaken(taken.event);
        else await this.#spokenIn(interaction, taken.event);
        return;
      }
    }
  }

  /**
   * The person's client waits for this. Whether it arrives changes nothing about the event: a decision counts even when
   * its answer came too late (10062) or another instance answered first (40060).
   */
  async #firstAnswer(
    client: Client<true>,
    interaction: APIInteraction,
    answer: FirstAnswer,
    actor: Actor,
  ): Promise<boolean> {
    try {
      await client.rest.post(Routes.interactionCallback(interaction.id, interaction.token), {
        body: firstAnswerBody(answer, this.#messages(actor)),
        auth: false,
      });
      return true;
    } catch (error) {
      const { kind } = failureOf(error);
      this.#deps.log.warn(
        { channel: "discord", error: this.#why(error) },
        "An interaction could not be answered in time.",
      );
      return kind === "already-answered";
    }
  }

  #openInteraction(
    interaction: APIInteraction,
    answer: FirstAnswer,
    actor: Actor,
    answered: Promise<boolean>,
  ): OpenInteraction {
    const open = this.#open.add({
      answered,
      id: interaction.id,
      token: interaction.token,
      userId: actor.id,
      channelId: interaction.channel?.id ?? interaction.channel_id ?? "",
      placeholder: placeholderOf(answer),
    });
    if (open.placeholder !== "none") {
      setTimeout(() => void this.#outgoing.giveUp(open), this.#account.placeholderMs ?? PLACEHOLDER_MS).unref();
    }
    return open;
  }

  /** Commands keep their place among what is said; a press overtakes, since what it decides may be waited for. */
  #takeInTurn(event: Inbound): Promise<boolean> {
    if (event.kind === "press") return this.#take(event);
    return this.#order.run(event.route.threadId ?? event.route.chatId, () => this.#take(event));
  }

  /** True once the event is durably taken. Discord does not send it twice, so a store that is away is tried again. */
  async #take(event: Inbound): Promise<boolean> {
    const { signal } = this.#stopping;
    for (const waitMs of [...TAKE_RETRY_MS, undefined]) {
      try {
        await this.#ingress?.(event);
        return true;
      } catch (error) {
        if (waitMs === undefined || signal.aborted) {
          this.#deps.log.error(
            { channel: "discord", event: event.id, error: this.#why(error) },
            "An event could not be taken and is lost.",
          );
          return false;
        }
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
    return false;
  }

  async #sayNotTaken(event: Inbound): Promise<void> {
    const text = this.#messages(event.actor).notice.tryAgain;
    await this.#outgoing.send({
      key: `not-taken:${event.id}`,
      route: event.route,
      card: { kind: "text", tone: "error", text },
      onlyFor: event.actor,
    });
  }

  async #suggest(client: Client<true>, interaction: APIInteraction, query: SuggestQuery): Promise<void> {
    try {
      const choices = await choicesFor(query, this.#deps.suggest);
      await client.rest.post(Routes.interactionCallback(interaction.id, interaction.token), {
        body: { type: InteractionResponseType.ApplicationCommandAutocompleteResult, data: { choices } },
        auth: false,
      });
    } catch (error) {
      this.#deps.log.info({ channel: "discord", error: this.#why(error) }, "Suggestions could not be given.");
    }
  }

  /** In the background: a blocked registration must not block the bot (openclaw 80437). */
  async #registerCommands(client: Client<true>): Promise<void> {
    try {
      const outcome = await syncCommands(client, this.#deps.commands, this.#deps.locale);
      this.#deps.log.info({ channel: "discord", outcome }, "Slash commands checked.");
    } catch (error) {
      this.#deps.log.warn(
        { channel: "discord", error: this.#why(error) },
        "Slash commands could not be registered; commands work as text.",
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
