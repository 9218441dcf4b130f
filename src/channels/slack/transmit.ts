/** The calls that write to Slack: a message, its buttons, its files. None is tried again here; they reject with what the client threw. */
import type { webApi } from "@slack/bolt";
import type { Card } from "../../core/cards.ts";
import { messagesFor } from "../../core/words/messages.ts";
import type { AdapterDeps } from "../adapter-deps.ts";
import type { MessageRef, Outbound, SendResult } from "../channel.ts";
import type { NewerMessages } from "../newer-messages.ts";
import { type CommandFile, type RenderedCard, renderSlackCard, type SlackMessage } from "./cards.ts";
import { deliveryKey, refOf, writeMark } from "./delivery-mark.ts";
import type { DirectChats } from "./direct-chats.ts";
import { placeOf } from "./inbound.ts";
import type { Threads } from "./lookup.ts";
import { type Failure, failureOf, platformError, REFUSED_BLOCKS } from "./outcome.ts";
import type { SlackReads } from "./reads.ts";
import { type DirectLog, Uploads } from "./uploads.ts";

type WebClient = webApi.WebClient;

export interface TransmitOptions {
  /** Never retries by itself: a repeated `chat.postMessage` is a second message. */
  readonly writes: WebClient;
  readonly reads: SlackReads;
  readonly botName: string;
  readonly threads: Threads;
  readonly newer: NewerMessages;
  readonly textLimit?: number;
  readonly deps: Pick<AdapterDeps, "clock" | "log" | "redactor" | "locale">;
}

export class Transmit {
  private readonly options: TransmitOptions;
  private readonly uploads: Uploads;

  constructor(options: TransmitOptions, directChats: DirectChats) {
    this.options = options;
    this.uploads = new Uploads(options.writes, options.deps.redactor, directChats);
  }

  render(card: Card, message?: Outbound): RenderedCard | undefined {
    const { clock, redactor, locale } = this.options.deps;
    return renderSlackCard(card, {
      messages: messagesFor(message?.locale, locale),
      redactor,
      nowMs: clock.now(),
      botName: this.options.botName,
      ...(this.options.textLimit === undefined ? {} : { textLimit: this.options.textLimit }),
      ...(message?.file === undefined ? {} : { attached: message.file.name }),
    });
  }

  /** Never harmless when done twice: whoever calls again has looked for the mark. */
  async post(message: Outbound, body: SlackMessage, part: number, rendered: RenderedCard): Promise<MessageRef> {
    const { chatId, threadId } = message.route;
    const mark = writeMark({
      key: deliveryKey(message.key),
      part,
      parts: rendered.messages.length,
      ready: rendered.commandFile === undefined,
    });
    const base = {
      channel: chatId,
      ...(threadId === undefined ? {} : { thread_ts: threadId }),
      metadata: mark,
      unfurl_links: false,
      unfurl_media: false,
    };
    const send = async (content: { text: string; blocks?: SlackMessage["blocks"] }): Promise<string | undefined> =>
      (await this.options.writes.chat.postMessage({ ...base, ...content })).ts;
    let ts: string | undefined;
    try {
      ts = await send({ text: body.text, blocks: body.blocks });
    } catch (error) {
      if (!REFUSED_BLOCKS.has(platformError(error) ?? "") || rendered.plain === undefined) throw error;
      this.options.deps.log.error(
        { why: platformError(error), card: message.card.kind },
        "Slack refused the card's blocks; sent as plain text",
      );
      ts = await send({ text: rendered.plain });
    }
    if (threadId !== undefined) this.options.threads.remember(chatId, threadId);
    const ref = refOf(message, ts ?? "");
    if (ts !== undefined) this.options.newer.note(placeOf(ref), ts);
    return ref;
  }

  /** The file first, then the buttons: nobody can press a card whose command they could not read. */
  async arm(ref: MessageRef, message: Outbound, file: CommandFile, isAttached: boolean): Promise<SendResult> {
    const attached = isAttached ? undefined : await this.uploads.attach(ref, file.name, file.content);
    if (attached !== undefined) {
      if (attached.kind !== "permanent") return attached;
      await this.update(ref, file.refused).catch(() => {});
      return { kind: "permanent", why: `the whole command could not be attached: ${attached.why}` };
    }
    try {
      await this.update(ref, file.armed, writeMark({ key: deliveryKey(message.key), part: 0, parts: 1, ready: true }));
      return { kind: "sent", ref };
    } catch (error) {
      const failure = failureOf(error);
      // Editing twice is harmless, so an unknown outcome is simply tried again.
      return failure.kind === "unknown" ? { kind: "retry", afterMs: 2000, why: failure.why } : failure;
    }
  }

  /** A failure after which it is worth trying again; one that is for good is said on the card. */
  async attachLog(
    ref: MessageRef,
    message: Outbound,
    file: NonNullable<Outbound["file"]>,
  ): Promise<Failure | undefined> {
    const failure = await this.uploads.attachLog(ref, file);
    if (failure === undefined || failure.kind !== "permanent") return failure;
    const { why } = failure;
    this.options.deps.log.warn({ why, file: file.name }, "A log could not be attached");
    if (message.card.kind !== "run") return undefined;
    const m = messagesFor(message.locale, this.options.deps.locale).run;
    const rendered = this.render({ ...message.card, notes: [...message.card.notes, m.logNotAttached(why)] });
    if (rendered !== undefined) await this.update(ref, rendered.messages[0]).catch(() => {});
    return undefined;
  }

  /** The log as a direct message to whoever asked for it in private; resolves to what became of it. */
  async sendLog(message: Outbound, file: NonNullable<Outbound["file"]>): Promise<DirectLog> {
    return await this.uploads.sendLog(message.onlyFor?.id ?? "", file);
  }

  /** A redrawn pending card must not bring back buttons that a later state has taken away. */
  async stillHasButtons(ref: MessageRef): Promise<boolean> {
    const range = { channel: ref.chatId, latest: ref.messageId, oldest: ref.messageId, inclusive: true, limit: 1 };
    const { messages } =
      ref.threadId === undefined
        ? await this.options.reads.history(range)
        : await this.options.reads.replies({ ...range, ts: ref.threadId, limit: 10 });
    const live = (messages ?? []).find((candidate) => candidate.ts === ref.messageId);
    return live === undefined || (live.blocks ?? []).some((block) => block.type === "actions");
  }

  /** Harmless when done twice. */
  async update(ref: MessageRef, body: SlackMessage, metadata?: ReturnType<typeof writeMark>): Promise<void> {
    await this.options.writes.chat.update({
      channel: ref.chatId,
      ts: ref.messageId,
      text: body.text,
      blocks: body.blocks,
      ...(metadata === undefined ? {} : { metadata }),
    });
  }
}
