/** Answers that go through an interaction's token while it lives. */
import { type APIMessage, type Client, MessageFlags, Routes } from "discord.js";
import { type ChannelLog, describeError } from "../adapter-deps.ts";
import type { Redactor } from "../text/redact.ts";
import type { OpenInteraction, OpenInteractions } from "./open-interactions.ts";
import { type Body, requestOf } from "./requests.ts";

const PRIVATE_V2 = MessageFlags.IsComponentsV2 | MessageFlags.Ephemeral;

export class InteractionAnswers {
  readonly #open: OpenInteractions;
  readonly #log: ChannelLog;
  readonly #redactor: Redactor;

  constructor(open: OpenInteractions, log: ChannelLog, redactor: Redactor) {
    this.#open = open;
    this.#log = log;
    this.#redactor = redactor;
  }

  /** Where the placeholder stood, or below it for one person alone; `undefined`: it has to be an ordinary message. */
  async send(
    client: Client<true>,
    interaction: OpenInteraction,
    privately: boolean,
    body: Body,
  ): Promise<APIMessage | undefined> {
    const wanted = privately ? "private" : "public";
    const { placeholder } = interaction;
    // Taken before the call, so that nothing else removes what is just being replaced.
    interaction.placeholder = "none";
    if (placeholder === wanted) {
      try {
        const sent = await this.#replacePlaceholder(client, interaction, body);
        interaction.answerId = sent.id;
        this.#open.made(sent.id, interaction);
        return sent;
      } catch (error) {
        interaction.placeholder = placeholder;
        throw error;
      }
    }
    // The first follow-up would take over the placeholder's visibility, so the placeholder goes first.
    if (placeholder !== "none") await this.#removePlaceholder(client, interaction);
    return privately ? this.followUp(client, interaction, body, PRIVATE_V2) : undefined;
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
  async giveUp(client: Client<true>, interaction: OpenInteraction): Promise<void> {
    if (interaction.placeholder === "none") return;
    interaction.placeholder = "none";
    try {
      await this.#removePlaceholder(client, interaction);
    } catch (error) {
      this.#log.info(
        { channel: "discord", error: describeError(error, this.#redactor) },
        "A placeholder could not be removed.",
      );
    }
  }

  async followUp(
    client: Client<true>,
    interaction: OpenInteraction,
    body: Body,
    flags: number = MessageFlags.IsComponentsV2,
  ): Promise<APIMessage> {
    const sent = (await client.rest.post(Routes.webhook(client.application.id, interaction.token), {
      ...requestOf(body, flags),
      query: new URLSearchParams({ wait: "true" }),
      auth: false,
    })) as APIMessage;
    this.#open.made(sent.id, interaction);
    return sent;
  }
}
