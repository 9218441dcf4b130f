/**
 * A connection that looks open, answers heartbeats and hands nothing on (openclaw 16686). Silence alone proves nothing: an
 * idle bot hears nothing for days. So after a while without any event Discord is asked for the newest message of the
 * places heard last; one that was never handed on says that the connection is deaf.
 */
import { type APIChannel, type Client, Routes } from "discord.js";
import { type ChannelLog, describeError, type HeardPlace } from "../adapter-deps.ts";
import type { Redactor } from "../text/redact.ts";
import { snowflakeMs } from "./inbound.ts";
import { DEAF_GRACE_MS, DEAF_PLACES } from "./limits.ts";

export interface DeafnessOptions {
  readonly now: () => number;
  /** Newest first. */
  readonly places: (count: number) => readonly HeardPlace[];
  readonly wasHeard: (messageId: string) => boolean;
  readonly log: ChannelLog;
  readonly redactor: Redactor;
}

export class Deafness {
  readonly #options: DeafnessOptions;
  /** Newest message of a place that was acted on: a deleted one is never handed on, and must not alarm twice. */
  readonly #known = new Map<string, string>();

  constructor(options: DeafnessOptions) {
    this.#options = options;
  }

  /** Where something was said that never arrived; `undefined`: nowhere, or it can not be told. */
  async missedIn(client: Client<true>): Promise<string | undefined> {
    const { places, wasHeard, now, log, redactor } = this.#options;
    const asked = places(DEAF_PLACES);
    for (const placeId of this.#known.keys()) {
      if (!asked.some((place) => place.placeId === placeId)) this.#known.delete(placeId);
    }
    for (const { placeId, lastId } of asked) {
      try {
        const channel = (await client.rest.get(Routes.channel(placeId))) as APIChannel;
        const newest = "last_message_id" in channel ? channel.last_message_id : null;
        if (!newest || BigInt(newest) <= BigInt(lastId) || wasHeard(newest) || this.#known.get(placeId) === newest)
          continue;
        // It may be on its way.
        if (now() - snowflakeMs(newest) < DEAF_GRACE_MS) continue;
        this.#known.set(placeId, newest);
        return placeId;
      } catch (error) {
        log.info(
          { channel: "discord", channelId: placeId, error: describeError(error, redactor) },
          "Whether something was said there can not be asked.",
        );
      }
    }
    return undefined;
  }
}
