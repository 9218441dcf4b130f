/** Answers that one person sees. They carry no mark: Slack does not list ephemeral messages, so none can be found again. */
import type { webApi } from "@slack/bolt";
import type { MessageRef, Outbound, SendResult } from "../channel.ts";
import type { RenderedCard, SlackMessage } from "./cards.ts";
import { refOf } from "./delivery-mark.ts";
import * as limits from "./limits.ts";
import { type Failure, failureOf, NO_ACCESS, platformError } from "./outcome.ts";
import type { ResponseUrls } from "./response-urls.ts";

export class PrivateAnswers {
  private readonly client: webApi.WebClient;
  private readonly responseUrls: ResponseUrls;

  constructor(client: webApi.WebClient, responseUrls: ResponseUrls) {
    this.client = client;
    this.responseUrls = responseUrls;
  }

  /** Ephemeral; by response URL where the bot is no member; else as a direct message. */
  async send(message: Outbound, rendered: RenderedCard): Promise<SendResult> {
    const user = message.onlyFor?.id ?? "";
    const { chatId, threadId } = message.route;
    const thread = threadId === undefined ? {} : { thread_ts: threadId };
    let last: MessageRef | undefined;
    for (const body of rendered.messages) {
      try {
        const { message_ts } = await this.client.chat.postEphemeral({
          channel: chatId,
          user,
          text: body.text,
          blocks: body.blocks,
          ...thread,
        });
        last ??= refOf(message, message_ts ?? "");
      } catch (error) {
        if (!NO_ACCESS.has(platformError(error) ?? "")) return failureOf(error);
        const failure = await this.answerElsewhere(user, chatId, body, failureOf(error));
        if (failure !== undefined) return failure;
        last ??= refOf(message, "");
      }
    }
    return { kind: "sent", ref: last ?? refOf(message, "") };
  }

  /**
   * What one person sees can be changed only through the press on it; without one it stays, which harms nobody: what
   * stands there was answered, and says so when it is pressed again.
   */
  async replace(ref: MessageRef, body: SlackMessage): Promise<SendResult> {
    await this.post(this.responseUrls.takePressed(ref.chatId, ref.messageId), { ...body, replace_original: true });
    return { kind: "sent", ref };
  }

  private async answerElsewhere(
    user: string,
    chatId: string,
    body: SlackMessage,
    refusal: Failure,
  ): Promise<Failure | undefined> {
    if (await this.respond(user, chatId, body)) return undefined;
    try {
      const { channel } = await this.client.conversations.open({ users: user });
      if (channel?.id === undefined) return refusal;
      await this.client.chat.postMessage({
        channel: channel.id,
        text: body.text,
        blocks: body.blocks,
        unfurl_links: false,
        unfurl_media: false,
      });
      return undefined;
    } catch {
      return refusal;
    }
  }

  /** False: there is no live response URL, or Slack refused it. */
  async respond(
    user: string,
    chatId: string,
    body: { readonly text: string; readonly blocks?: SlackMessage["blocks"] },
  ): Promise<boolean> {
    return await this.post(this.responseUrls.take(user, chatId), body);
  }

  /** To whoever gave the last command in a conversation that the bot can not post to; once per command. */
  async tellAsker(chatId: string, text: string): Promise<void> {
    await this.post(this.responseUrls.takeUntold(chatId), { text });
  }

  private async post(
    url: string | undefined,
    body: { readonly text: string; readonly blocks?: SlackMessage["blocks"]; readonly replace_original?: true },
  ): Promise<boolean> {
    if (url === undefined) return false;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ response_type: "ephemeral", replace_original: false, ...body }),
        redirect: "error",
        signal: AbortSignal.timeout(limits.WEB_API_TIMEOUT_MS),
      });
      await response.body?.cancel();
      return response.ok;
    } catch {
      return false;
    }
  }
}
