/** Sending and editing: one neutral message, the calls it takes, and what became of it. */
import { type APIMessage, type Client, MessageFlags, Routes } from "discord.js";
import type { Card } from "../../core/cards.ts";
import type { MessageRef, Outbound, Recall, SendResult } from "../../core/outbound.ts";
import type { Route } from "../../core/route.ts";
import { messagesFor } from "../../core/words/messages.ts";
import { type AdapterDeps, describeError } from "../adapter-deps.ts";
import { type LogForChat, readLogForChat } from "../log-file.ts";
import { NewerMessages } from "../newer-messages.ts";
import { NotYet, paced } from "../pacing/paced.ts";
import type { SendBudget } from "../pacing/send-budget.ts";
import { urgencyOf } from "../pacing/urgency.ts";
import { Recent } from "../recent.ts";
import { Turns } from "../turns.ts";
import { type DiscordMessage, renderCard } from "./cards.ts";
import { DirectChats } from "./direct-chats.ts";
import { failureOf } from "./errors.ts";
import { InteractionAnswers } from "./interaction-answers.ts";
import {
  MAX_LIVE,
  MAX_PARTIAL_SENDS,
  MESSAGE_BUDGET,
  MESSAGE_LINES,
  RECONCILE_MESSAGES,
  RETRY_MIN_MS,
} from "./limits.ts";
import type { OpenInteraction, OpenInteractions } from "./open-interactions.ts";
import { type DiscordRates, lanesOf } from "./rates.ts";
import { attachmentName, type Body, bodyOf, filesOf, marked, markOf, nonceOf, rawFile, requestOf } from "./requests.ts";

const NOT_CONNECTED = "The Discord account is not connected.";

interface Progress {
  readonly sent: Map<number, MessageRef>;
  withoutFiles?: boolean;
}

export interface OutgoingOptions extends AdapterDeps {
  readonly accountId: string;
  readonly client: () => Client<true> | undefined;
  readonly open: OpenInteractions;
  readonly budget: SendBudget;
  readonly rates: DiscordRates;
  readonly textLimit?: number;
  readonly maxLines?: number;
  /** Delete a decided approval card instead of leaving a receipt. */
  readonly cleanupAfterResolve: boolean;
}

export class Outgoing {
  readonly #options: OutgoingOptions;
  readonly #progress = new Recent<Progress>(MAX_PARTIAL_SENDS);
  /** Edits of one message never overtake each other: a late live tail must not cover the final card. */
  readonly #edits = new Turns();
  /** What a live change has drawn: one that draws the same is none. */
  readonly #lastLive = new Recent<string>(MAX_LIVE);
  readonly #directChats = new DirectChats();
  readonly #newer = new NewerMessages();
  readonly #answers: InteractionAnswers;

  constructor(options: OutgoingOptions) {
    this.#options = options;
    this.#answers = new InteractionAnswers(options.open, options.log, options.redactor);
  }

  async send(message: Outbound): Promise<SendResult> {
    const client = this.#options.client();
    if (!client) return notConnected();
    const progress = this.#progress.getOrAdd(message.key, () => ({ sent: sentBefore(message) }));
    try {
      const ref = await this.#sendAll(client, message, progress);
      this.#progress.delete(message.key);
      return { kind: "sent", ref };
    } catch (error) {
      const result = this.#result(error, "send", this.#directChats.known(message.route));
      return result.kind === "retry" && progress.sent.size > 0 ? { ...result, partial: true } : result;
    }
  }

  /**
   * The message of an earlier try that was cut off, by the mark it carries. The nonce alone does not find it: Discord
   * knows none for what replaces a placeholder, and forgets the others after some minutes.
   */
  async reconcile(message: Outbound): Promise<MessageRef | undefined> {
    const client = this.#options.client();
    if (!client) throw new Error(NOT_CONNECTED);
    // What one person alone sees is in no history.
    if (message.onlyFor) return undefined;
    const mark = markOf(message.key);
    try {
      const place = await this.#directChats.placeFor(client, message.route);
      const query = new URLSearchParams({ limit: String(RECONCILE_MESSAGES) });
      const recent = (await client.rest.get(Routes.channelMessages(place), { query })) as APIMessage[];
      const found = recent.find(
        (one) => one.author.id === client.user.id && one.components?.some((component) => component.id === mark),
      );
      return found && this.#refOf(message.route, found);
    } catch (error) {
      const { kind } = failureOf(error);
      // Not now is no answer; a place that can not be read is.
      if (kind === "rate-limited" || kind === "unreachable") throw error;
      return undefined;
    }
  }

  /** Everything that is said in a channel passes by here, the bot's own messages too. */
  said(channelId: string, messageId: string): void {
    this.#newer.note(channelId, messageId);
  }

  /** A new session: what was said between the old one and this was not sent to it. */
  missed(): void {
    this.#newer.forget();
  }

  async below(ref: MessageRef, atMost: number, how: Recall): Promise<number | undefined> {
    const place = placeOf(ref);
    const seen = this.#newer.below(place, ref.messageId, atMost);
    const client = this.#options.client();
    if (seen !== undefined || how === "remembered" || !client) return seen;
    const query = new URLSearchParams({ after: ref.messageId, limit: String(atMost) });
    return ((await client.rest.get(Routes.channelMessages(place), { query })) as APIMessage[]).length;
  }

  edit(ref: MessageRef, message: Outbound): Promise<SendResult> {
    return this.#edits.run(ref.messageId, () => this.#edit(ref, message));
  }

  /** Discord shows it for ten seconds, or until the message comes. */
  async typing(route: Route): Promise<void> {
    const client = this.#options.client();
    if (!client) return;
    await client.rest.post(Routes.channelTyping(await this.#directChats.placeFor(client, route)));
  }

  /** False while the message is being edited or the channel's rate leaves no room. */
  async live(ref: MessageRef, card: Card, locale?: string): Promise<boolean> {
    const client = this.#options.client();
    if (!client || this.#edits.busy(ref.messageId)) return false;
    const [message] = this.#render(card, { locale });
    if (!message) return true;
    const drawn = JSON.stringify(message.components);
    if (this.#lastLive.get(ref.messageId) === drawn) return true;
    const done = this.#options.budget.tryLive(this.#lanes(placeOf(ref), "edit"));
    if (!done) return false;
    try {
      await this.#edits.run(ref.messageId, () =>
        this.#patch(client, ref, { components: message.components, files: [] }),
      );
      this.#lastLive.set(ref.messageId, drawn);
      return true;
    } catch (error) {
      // A pause that Discord asks for here holds for the final edit too.
      return this.#result(error, "edit", placeOf(ref)).kind !== "retry";
    } finally {
      done();
    }
  }

  /** Nobody answered: what people see must not go on "thinking". */
  async giveUp(interaction: OpenInteraction): Promise<void> {
    const client = this.#options.client();
    if (client) await this.#answers.giveUp(client, interaction);
  }

  async #edit(ref: MessageRef, message: Outbound): Promise<SendResult> {
    const client = this.#options.client();
    if (!client) return notConnected();
    this.#lastLive.delete(ref.messageId);
    const { card } = message;
    const place = placeOf(ref);
    const turn = { ...turnOf(message), lanes: this.#lanes(place, "edit") };
    try {
      if (this.#options.cleanupAfterResolve && card.kind === "approval" && card.state !== "pending") {
        await client.rest.delete(Routes.channelMessage(place, ref.messageId));
        return { kind: "sent", ref };
      }
      const rendered = this.#render(card, { locale: message.locale }).at(-1);
      if (!rendered) return { kind: "sent", ref };
      const body = marked({ components: rendered.components, files: filesOf(rendered.file) }, message.key);
      await paced(this.#options.budget, turn, () => this.#patch(client, ref, body));
      return { kind: "sent", ref };
    } catch (error) {
      if (error instanceof NotYet) return this.#result(error, "edit", place);
      // Somebody deleted the card, or nobody else ever saw it and its token has died: there is nothing to correct.
      const { kind } = failureOf(error);
      if (kind === "message-gone" || kind === "interaction-gone") return { kind: "sent", ref };
      return this.#result(error, "edit", place);
    }
  }

  #render(
    card: Card,
    more: { attached?: string; withoutFiles?: boolean; locale?: string | undefined },
  ): readonly DiscordMessage[] {
    return renderCard(card, {
      messages: messagesFor(more.locale, this.#options.locale),
      redactor: this.#options.redactor,
      nowMs: this.#options.clock.now(),
      messageBudget: this.#options.textLimit ?? MESSAGE_BUDGET,
      messageLines: this.#options.maxLines ?? MESSAGE_LINES,
      ...(more.attached === undefined ? {} : { attached: more.attached }),
      ...(more.withoutFiles === undefined ? {} : { withoutFiles: more.withoutFiles }),
    });
  }

  async #sendAll(client: Client<true>, message: Outbound, progress: Progress): Promise<MessageRef> {
    if (message.file && !this.#options.open.find(message.route, message.onlyFor)) {
      // Before a log is read and cleaned for nothing.
      const { id, urgency } = turnOf(message);
      const lanes = this.#lanes(this.#directChats.known(message.route), "send");
      const wait = this.#options.budget.waitFor(id, lanes, urgency);
      if (wait > 0) throw new NotYet(wait);
    }
    const { locale } = message;
    const log: LogForChat = message.file
      ? await readLogForChat(message.file, this.#options.redactor)
      : { kind: "empty" };
    const attachment = log.kind === "log" ? rawFile({ ...log, name: attachmentName(log.name) }) : undefined;
    const missing =
      log.kind === "unreadable" ? messagesFor(locale, this.#options.locale).run.logNotAttached(log.why) : undefined;
    const render = (): readonly DiscordMessage[] =>
      this.#render(message.card, {
        locale,
        ...(progress.withoutFiles ? { withoutFiles: true } : {}),
        ...(attachment && message.card.kind === "run" ? { attached: attachment.name } : {}),
      });
    let parts = render();
    for (let index = 0; index < parts.length; index++) {
      if (progress.sent.has(index)) continue;
      const part = parts[index];
      if (!part) continue;
      const isLast = index === parts.length - 1;
      const whole = bodyOf(part, isLast ? { attachment, missing } : {}, message.card.kind === "run");
      const body = isLast ? marked(whole, message.key) : whole;
      try {
        const ref = await this.#sendOne(client, message, body, index);
        progress.sent.set(index, ref);
        if (!isLast) await message.steps?.record(stepOf(index), ref);
        if (!message.onlyFor) this.said(placeOf(ref), ref.messageId);
      } catch (error) {
        if (error instanceof NotYet || failureOf(error).kind !== "file-refused" || !part.file) throw error;
        progress.withoutFiles = true;
        parts = render();
        index -= 1;
      }
    }
    const ref = progress.sent.get(parts.length - 1);
    if (!ref) throw new Error("a message without parts");
    return ref;
  }

  /** Through the interaction it answers while that lives, else as a message of the bot. */
  async #sendOne(client: Client<true>, message: Outbound, body: Body, index: number): Promise<MessageRef> {
    const interaction = this.#options.open.find(message.route, message.onlyFor);
    if (interaction && (await interaction.answered)) {
      try {
        const sent = await this.#answers.send(client, interaction, message.onlyFor !== undefined, body);
        if (sent) return this.#refOf(message.route, sent);
      } catch (error) {
        const { kind } = failureOf(error);
        if (kind !== "interaction-gone" && kind !== "message-gone") throw error;
        this.#options.open.forget(interaction);
      }
    }
    return this.#refOf(message.route, await this.#post(client, message, body, index, interaction));
  }

  async #post(
    client: Client<true>,
    message: Outbound,
    body: Body,
    index: number,
    interaction: OpenInteraction | undefined,
  ): Promise<APIMessage> {
    const place = await this.#directChats.placeFor(client, message.route);
    const extra = { nonce: nonceOf(message.key, index), enforce_nonce: true, ...this.#referenceOf(message.route) };
    const turn = { ...turnOf(message), lanes: this.#lanes(place, "send") };
    try {
      const request = requestOf(body, MessageFlags.IsComponentsV2, extra);
      const post = () => client.rest.post(Routes.channelMessages(place), request);
      return (await paced(this.#options.budget, turn, post)) as APIMessage;
    } catch (error) {
      if (error instanceof NotYet) throw error;
      // Where the bot was not let in, the person who called it there still opened a door.
      if (failureOf(error).kind !== "no-access" || !interaction) throw error;
      return this.#answers.followUp(client, interaction, body);
    }
  }

  #referenceOf(route: Route): object {
    if (route.replyToId === undefined || route.chatType === "dm") return {};
    const id = this.#options.open.isInteraction(route.replyToId)
      ? this.#options.open.answerOf(route.replyToId)
      : route.replyToId;
    return id === undefined ? {} : { message_reference: { message_id: id, fail_if_not_exists: false } };
  }

  /** With the token it was made with when only that can reach it. */
  async #patch(client: Client<true>, ref: MessageRef, body: Body): Promise<void> {
    // Without `attachments` an edit keeps files that no component shows any more.
    const request = requestOf(body, MessageFlags.IsComponentsV2, {
      attachments: body.files.map((one, index) => ({ id: String(index), filename: one.name })),
    });
    const maker = this.#options.open.maker(ref.messageId);
    const withToken = async (by: OpenInteraction): Promise<void> => {
      const path = Routes.webhookMessage(client.application.id, by.token, ref.messageId);
      await client.rest.patch(path, { ...request, auth: false });
    };
    try {
      await client.rest.patch(Routes.channelMessage(placeOf(ref), ref.messageId), request);
    } catch (error) {
      const { kind } = failureOf(error);
      if (!maker || (kind !== "no-access" && kind !== "message-gone")) throw error;
      await withToken(maker);
    }
  }

  #result(error: unknown, doing: "send" | "edit", place: string): SendResult {
    if (error instanceof NotYet) return { kind: "retry", afterMs: error.afterMs, why: error.message };
    const failure = failureOf(error);
    const why = describeError(error, this.#options.redactor);
    switch (failure.kind) {
      case "rate-limited":
        for (const lane of this.#lanes(place, doing).slice(0, 1)) this.#options.budget.refused(lane, failure.afterMs);
        return { kind: "retry", afterMs: failure.afterMs, why };
      case "unreachable":
        return { kind: "retry", afterMs: RETRY_MIN_MS, why };
      default:
        return { kind: "permanent", why };
    }
  }

  #lanes(place: string, doing: "send" | "edit") {
    return lanesOf(this.#options.rates, place, doing);
  }

  #refOf(route: Route, message: APIMessage): MessageRef {
    return {
      channel: "discord",
      accountId: this.#options.accountId,
      chatId: route.threadId === undefined ? message.channel_id : route.chatId,
      messageId: message.id,
      ...(route.threadId === undefined ? {} : { threadId: route.threadId }),
    };
  }
}

function stepOf(index: number): string {
  return `part-${index}`;
}

/** What an earlier life of this process has sent of it for certain: Discord remembers nonces for some minutes only. */
function sentBefore({ steps }: Outbound): Map<number, MessageRef> {
  const sent = new Map<number, MessageRef>();
  for (const [step, ref] of Object.entries(steps?.done ?? {})) {
    const index = Number(/^part-(\d+)$/.exec(step)?.[1] ?? Number.NaN);
    if (ref && Number.isInteger(index)) sent.set(index, ref);
  }
  return sent;
}

function turnOf(message: Outbound) {
  return { id: message.key, urgency: urgencyOf(message.card) };
}

function placeOf(ref: MessageRef): string {
  return ref.threadId ?? ref.chatId;
}

function notConnected(): SendResult {
  return { kind: "retry", afterMs: RETRY_MIN_MS, why: NOT_CONNECTED };
}
