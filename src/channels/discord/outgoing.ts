/** Sending and editing: one neutral message, the calls it takes, and what became of it. */
import { createHash } from "node:crypto";
import {
  type APIMessage,
  type APIMessageTopLevelComponent,
  ChannelType,
  type Client,
  ComponentType,
  MessageFlags,
  type RawFile,
  Routes,
} from "discord.js";
import type { Card } from "../../core/cards.ts";
import type { MessageRef, Outbound, SendResult } from "../../core/outbound.ts";
import type { Route } from "../../core/route.ts";
import { type AdapterDeps, describeError } from "../adapter-deps.ts";
import { messagesFor } from "../cards/messages/catalogue.ts";
import { type LogForChat, readLogForChat } from "../log-file.ts";
import { Pauses } from "../pauses.ts";
import { Recent } from "../recent.ts";
import { Turns } from "../turns.ts";
import { type DiscordFile, type DiscordMessage, renderCard } from "./cards.ts";
import { failureOf } from "./errors.ts";
import { MAX_PARTIAL_SENDS, MESSAGE_BUDGET, RETRY_MIN_MS } from "./limits.ts";
import { escapeMarkdown, small } from "./markup.ts";
import type { OpenInteraction, OpenInteractions } from "./open-interactions.ts";

interface Progress {
  readonly sent: Map<number, MessageRef>;
  withholdAllow?: boolean;
}

export interface OutgoingOptions extends AdapterDeps {
  readonly accountId: string;
  readonly client: () => Client<true> | undefined;
  readonly open: OpenInteractions;
  readonly textLimit?: number;
  /** Delete a decided approval card instead of leaving a receipt. */
  readonly cleanupAfterResolve: boolean;
}

interface Body {
  readonly components: readonly APIMessageTopLevelComponent[];
  readonly files: readonly RawFile[];
}

const PRIVATE_V2 = MessageFlags.IsComponentsV2 | MessageFlags.Ephemeral;
const NOBODY = { parse: [] as never[], replied_user: false };

export class Outgoing {
  readonly #options: OutgoingOptions;
  readonly #progress = new Recent<Progress>(MAX_PARTIAL_SENDS);
  /** Edits of one message never overtake each other: a late live tail must not cover the final card. */
  readonly #edits = new Turns();
  readonly #pauses: Pauses;
  /** Direct-message channels by the person's id, and by their own. */
  readonly #dms = new Map<string, string>();

  constructor(options: OutgoingOptions) {
    this.#options = options;
    this.#pauses = new Pauses(options.clock);
  }

  async send(message: Outbound): Promise<SendResult> {
    const client = this.#options.client();
    if (!client) return notConnected();
    const place = message.route.threadId ?? message.route.chatId;
    const wait = this.#pauses.left(`send|${place}`);
    if (wait > 0) return { kind: "retry", afterMs: wait, why: "Discord asked for a pause in this channel." };
    const progress = this.#progress.getOrAdd(message.key, () => ({ sent: new Map() }));
    try {
      const ref = await this.#sendAll(client, message, progress);
      this.#progress.delete(message.key);
      return { kind: "sent", ref };
    } catch (error) {
      return this.#result(error, `send|${place}`);
    }
  }

  edit(ref: MessageRef, message: Outbound): Promise<SendResult> {
    return this.#edits.run(ref.messageId, () => this.#edit(ref, message));
  }

  /** Dropped while the message is being edited or the place is paused. */
  async live(ref: MessageRef, card: Card): Promise<void> {
    const client = this.#options.client();
    const key = `edit|${placeOf(ref)}`;
    if (!client || this.#edits.busy(ref.messageId) || this.#pauses.left(key) > 0) return;
    const [message] = this.#render(card, {});
    if (!message) return;
    try {
      await this.#edits.run(ref.messageId, () =>
        this.#patch(client, ref, { components: message.components, files: [] }),
      );
    } catch (error) {
      // A pause that Discord asks for here holds for the final edit too.
      this.#result(error, key);
    }
  }

  async #edit(ref: MessageRef, message: Outbound): Promise<SendResult> {
    const client = this.#options.client();
    if (!client) return notConnected();
    const key = `edit|${placeOf(ref)}`;
    const wait = this.#pauses.left(key);
    if (wait > 0) return { kind: "retry", afterMs: wait, why: "Discord asked for a pause in this channel." };
    const { card } = message;
    try {
      if (this.#options.cleanupAfterResolve && card.kind === "approval" && card.state !== "pending") {
        await client.rest.delete(Routes.channelMessage(placeOf(ref), ref.messageId));
        return { kind: "sent", ref };
      }
      const rendered = this.#render(card, { locale: localeOf(message) }).at(-1);
      if (!rendered) return { kind: "sent", ref };
      await this.#patch(client, ref, { components: rendered.components, files: filesOf(rendered.file) });
      return { kind: "sent", ref };
    } catch (error) {
      // Somebody deleted the card, or nobody else ever saw it and its token has died: there is nothing to correct.
      const { kind } = failureOf(error);
      if (kind === "message-gone" || kind === "interaction-gone") return { kind: "sent", ref };
      return this.#result(error, key);
    }
  }

  #render(
    card: Card,
    more: { attached?: string; withholdAllow?: boolean; locale?: string | undefined },
  ): readonly DiscordMessage[] {
    return renderCard(card, {
      messages: messagesFor(more.locale, this.#options.locale),
      redactor: this.#options.redactor,
      nowMs: this.#options.clock.now(),
      messageBudget: this.#options.textLimit ?? MESSAGE_BUDGET,
      ...(more.attached === undefined ? {} : { attached: more.attached }),
      ...(more.withholdAllow === undefined ? {} : { withholdAllow: more.withholdAllow }),
    });
  }

  async #sendAll(client: Client<true>, message: Outbound, progress: Progress): Promise<MessageRef> {
    const locale = localeOf(message);
    const log: LogForChat = message.file
      ? await readLogForChat(message.file, this.#options.redactor)
      : { kind: "empty" };
    const attachment = log.kind === "log" ? rawFile({ ...log, name: attachmentName(log.name) }) : undefined;
    const missing =
      log.kind === "unreadable" ? messagesFor(locale, this.#options.locale).run.logNotAttached(log.why) : undefined;
    const render = (): readonly DiscordMessage[] =>
      this.#render(message.card, {
        locale,
        ...(progress.withholdAllow ? { withholdAllow: true } : {}),
        ...(attachment && message.card.kind === "run" ? { attached: attachment.name } : {}),
      });
    let parts = render();
    for (let index = 0; index < parts.length; index++) {
      if (progress.sent.has(index)) continue;
      const part = parts[index];
      if (!part) continue;
      const isLast = index === parts.length - 1;
      const body = bodyOf(part, isLast ? { attachment, missing } : {}, message.card.kind === "run");
      try {
        progress.sent.set(index, await this.#sendOne(client, message, body, index));
      } catch (error) {
        if (failureOf(error).kind !== "file-refused" || !part.file) throw error;
        progress.withholdAllow = true;
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
    if (interaction) {
      try {
        const sent = await this.#throughInteraction(client, interaction, message, body);
        if (sent) return this.#refOf(message.route, sent);
      } catch (error) {
        const { kind } = failureOf(error);
        if (kind !== "interaction-gone" && kind !== "message-gone") throw error;
        this.#options.open.forget(interaction);
      }
    }
    return this.#refOf(message.route, await this.#post(client, message, body, index, interaction));
  }

  async #throughInteraction(
    client: Client<true>,
    interaction: OpenInteraction,
    message: Outbound,
    body: Body,
  ): Promise<APIMessage | undefined> {
    const wanted = message.onlyFor ? "private" : "public";
    const { placeholder } = interaction;
    // Taken before the call, so that nothing else removes what is just being replaced.
    interaction.placeholder = "none";
    if (placeholder === wanted) {
      try {
        const sent = await this.#replacePlaceholder(client, interaction, body);
        interaction.answerId = sent.id;
        this.#options.open.made(sent.id, interaction);
        return sent;
      } catch (error) {
        interaction.placeholder = placeholder;
        throw error;
      }
    }
    // The first follow-up would take over the placeholder's visibility, so the placeholder goes first.
    if (placeholder !== "none") await this.#removePlaceholder(client, interaction);
    return message.onlyFor ? this.#followUp(client, interaction, body, PRIVATE_V2) : undefined;
  }

  async #replacePlaceholder(client: Client<true>, interaction: OpenInteraction, body: Body): Promise<APIMessage> {
    const original = Routes.webhookMessage(client.application.id, interaction.token, "@original");
    const request = { ...requestOf(body, MessageFlags.IsComponentsV2), auth: false };
    return (await client.rest.patch(original, request)) as APIMessage;
  }

  async #removePlaceholder(client: Client<true>, interaction: OpenInteraction): Promise<void> {
    const original = Routes.webhookMessage(client.application.id, interaction.token, "@original");
    await client.rest.delete(original, { auth: false });
  }

  /** Nobody answered: what people see must not go on "thinking". */
  async giveUp(interaction: OpenInteraction): Promise<void> {
    const client = this.#options.client();
    if (!client || interaction.placeholder === "none") return;
    interaction.placeholder = "none";
    try {
      await this.#removePlaceholder(client, interaction);
    } catch (error) {
      const { log, redactor } = this.#options;
      log.info({ channel: "discord", error: describeError(error, redactor) }, "A placeholder could not be removed.");
    }
  }

  async #followUp(client: Client<true>, interaction: OpenInteraction, body: Body, flags: number): Promise<APIMessage> {
    const sent = (await client.rest.post(Routes.webhook(client.application.id, interaction.token), {
      ...requestOf(body, flags),
      query: new URLSearchParams({ wait: "true" }),
      auth: false,
    })) as APIMessage;
    this.#options.open.made(sent.id, interaction);
    return sent;
  }

  async #post(
    client: Client<true>,
    message: Outbound,
    body: Body,
    index: number,
    interaction: OpenInteraction | undefined,
  ): Promise<APIMessage> {
    const place = await this.#placeFor(client, message.route);
    const extra = { nonce: nonceOf(message.key, index), enforce_nonce: true, ...this.#referenceOf(message.route) };
    try {
      return (await client.rest.post(
        Routes.channelMessages(place),
        requestOf(body, MessageFlags.IsComponentsV2, extra),
      )) as APIMessage;
    } catch (error) {
      // Where the bot was not let in, the person who called it there still opened a door.
      if (failureOf(error).kind !== "no-access" || !interaction) throw error;
      return this.#followUp(client, interaction, body, MessageFlags.IsComponentsV2);
    }
  }

  /** A direct message may be addressed by its channel or by the person: only Discord knows which an id is. */
  async #placeFor(client: Client<true>, route: Route): Promise<string> {
    if (route.threadId !== undefined) return route.threadId;
    if (route.chatType !== "dm") return route.chatId;
    const known = this.#dms.get(route.chatId);
    if (known !== undefined) return known;
    if (client.channels.cache.get(route.chatId)?.type === ChannelType.DM) return route.chatId;
    const place = await this.#openDm(client, route.chatId);
    this.#dms.set(route.chatId, place);
    this.#dms.set(place, place);
    return place;
  }

  async #openDm(client: Client<true>, id: string): Promise<string> {
    try {
      const dm = (await client.rest.post(Routes.userChannels(), { body: { recipient_id: id } })) as { id: string };
      return dm.id;
    } catch (error) {
      if (failureOf(error).kind === "not-a-recipient") return id;
      throw error;
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

  #result(error: unknown, key: string): SendResult {
    const failure = failureOf(error);
    const why = describeError(error, this.#options.redactor);
    switch (failure.kind) {
      case "rate-limited":
        this.#pauses.set(key, failure.afterMs);
        return { kind: "retry", afterMs: failure.afterMs, why };
      case "unreachable":
        return { kind: "retry", afterMs: RETRY_MIN_MS, why };
      default:
        return { kind: "permanent", why };
    }
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

function requestOf(body: Body, flags: number, extra: object = {}) {
  return {
    body: { components: body.components, flags, allowed_mentions: NOBODY, ...extra },
    ...(body.files.length === 0 ? {} : { files: [...body.files] }),
  };
}

function filesOf(file: DiscordFile | undefined): RawFile[] {
  return file ? [rawFile(file)] : [];
}

function rawFile(file: DiscordFile): RawFile {
  return { name: file.name, data: Buffer.from(file.content, "utf8"), contentType: "text/plain; charset=utf-8" };
}

/** A run card shows its log itself; elsewhere the file stands below the text. */
function bodyOf(
  part: DiscordMessage,
  log: { readonly attachment?: RawFile | undefined; readonly missing?: string | undefined },
  shownByCard: boolean,
): Body {
  const { attachment, missing } = log;
  const below: APIMessageTopLevelComponent[] = [
    ...(attachment && !shownByCard
      ? [{ type: ComponentType.File as const, file: { url: `attachment://${attachment.name}` } }]
      : []),
    ...(missing === undefined
      ? []
      : [{ type: ComponentType.TextDisplay as const, content: small(escapeMarkdown(missing)) }]),
  ];
  return {
    components: [...part.components, ...below],
    files: [...filesOf(part.file), ...(attachment ? [attachment] : [])],
  };
}

/** `attachment://` links break on anything else. */
function attachmentName(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]/g, "_").slice(-100) || "log.txt";
}

/** 24 hex digits, at most 25 are allowed: a repeated send finds the message of the first. */
function nonceOf(key: string, index: number): string {
  return createHash("sha256").update(`${key}#${index}`).digest("hex").slice(0, 24);
}

function placeOf(ref: MessageRef): string {
  return ref.threadId ?? ref.chatId;
}

function notConnected(): SendResult {
  return { kind: "retry", afterMs: RETRY_MIN_MS, why: "The Discord account is not connected." };
}

function localeOf(message: Outbound): string | undefined {
  if (message.onlyFor?.locale !== undefined) return message.onlyFor.locale;
  return message.card.kind === "approval" ? message.card.requester.locale : undefined;
}
