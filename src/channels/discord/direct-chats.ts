/** Direct-message channels by the person's id, and by their own. */
import { ChannelType, type Client, Routes } from "discord.js";
import type { Route } from "../../core/route.ts";
import { failureOf } from "./errors.ts";

export class DirectChats {
  readonly #channels = new Map<string, string>();

  /** The channel of a route as far as it is known without asking. */
  known(route: Route): string {
    return route.threadId ?? this.#channels.get(route.chatId) ?? route.chatId;
  }

  /** A direct message may be addressed by its channel or by the person: only Discord knows which an id is. */
  async placeFor(client: Client<true>, route: Route): Promise<string> {
    if (route.threadId !== undefined) return route.threadId;
    if (route.chatType !== "dm") return route.chatId;
    const known = this.#channels.get(route.chatId);
    if (known !== undefined) return known;
    if (client.channels.cache.get(route.chatId)?.type === ChannelType.DM) return route.chatId;
    const place = await this.#openDm(client, route.chatId);
    this.#channels.set(route.chatId, place);
    this.#channels.set(place, place);
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
}
