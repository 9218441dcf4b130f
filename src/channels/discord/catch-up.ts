/**
 * What was said while no session was open: Discord replays it to a session that is resumed, and to nobody else. Of the
 * places that were heard lately the newest messages are read, and taken like any other; what had been taken is known by its id.
 */
import { type APIMessage, type Client, type GatewayMessageCreateDispatchData, Routes } from "discord.js";
import { type ChannelLog, describeError } from "../adapter-deps.ts";
import { Recent } from "../recent.ts";
import type { Redactor } from "../text/redact.ts";
import { snowflakeMs } from "./inbound.ts";

/** Older words have been given up by whoever said them. */
export const CATCH_UP_MS = 5 * 60_000;
/** Places that are read; the one heard longest ago is left out first. */
const MAX_PLACES = 50;
/** Messages that are known by their ids; events of the queue are known for a day. */
const MAX_HEARD = 5_000;
/** The most that Discord gives at once. */
const MESSAGES = 100;

interface Place {
  readonly channelId: string;
  readonly guildId: string | undefined;
  readonly lastId: string;
}

export class CatchUp {
  readonly #places = new Recent<Place>(MAX_PLACES);
  readonly #heard = new Recent<true>(MAX_HEARD);

  /** False when it was heard before: read here, and handed on by the session as well. */
  heard(message: GatewayMessageCreateDispatchData): boolean {
    const { channel_id: channelId, guild_id: guildId, id: lastId } = message;
    if (this.#heard.has(lastId)) return false;
    this.#heard.set(lastId, true);
    this.#places.set(channelId, { channelId, guildId, lastId });
    return true;
  }

  /** Oldest first in each place. Never rejects: a place that can not be read is left out. */
  async missed(
    client: Client<true>,
    options: { readonly nowMs: number; readonly log: ChannelLog; readonly redactor: Redactor },
  ): Promise<readonly GatewayMessageCreateDispatchData[]> {
    const read = await Promise.all(this.#places.newest().map((place) => readAfter(client, place, options)));
    return read.flat();
  }
}

async function readAfter(
  client: Client<true>,
  { channelId, guildId, lastId }: Place,
  { nowMs, log, redactor }: Parameters<CatchUp["missed"]>[1],
): Promise<GatewayMessageCreateDispatchData[]> {
  try {
    const query = new URLSearchParams({ after: lastId, limit: String(MESSAGES) });
    const found = (await client.rest.get(Routes.channelMessages(channelId), { query })) as APIMessage[];
    return found
      .filter(({ id }) => nowMs - snowflakeMs(id) <= CATCH_UP_MS)
      .sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
      .map((message) => ({ ...message, ...(guildId === undefined ? {} : { guild_id: guildId }) }));
  } catch (error) {
    log.info(
      { channel: "discord", channelId, error: describeError(error, redactor) },
      "What was said while there was no session could not be read.",
    );
    return [];
  }
}
