/**
 * What was said while no session was open: Discord replays it to a session that is resumed, and to nobody else. Of the
 * places where the bot listens and that were heard lately the messages behind the last one are read, and taken like any
 * other. The places are kept over restarts; what had been taken before a kill is known to the queue by its id.
 */
import {
  type APIGuildMember,
  type APIMessage,
  type Client,
  type GatewayMessageCreateDispatchData,
  Routes,
} from "discord.js";
import type { Clock } from "../../core/clock.ts";
import { type ChannelLog, describeError, type HeardPlace, type HeardPlaces } from "../adapter-deps.ts";
import { Recent } from "../recent.ts";
import type { Redactor } from "../text/redact.ts";
import { snowflakeAt } from "./inbound.ts";

/** Older words have been given up by whoever said them. */
export const CATCH_UP_MS = 5 * 60_000;
/** Places that are read; the one heard longest ago is left out first. */
const MAX_PLACES = 50;
/** So many are read at once. */
const READERS = 5;
/** Messages that are known by their ids; events of the queue are known for a day. */
const MAX_HEARD = 5_000;
/** The most that Discord gives at once, and how often it is asked for more of one place. */
const MESSAGES = 100;
const MAX_PAGES = 5;
/** Writers of missed messages whose roles are looked up, since Discord tells them only with a live message. */
const MAX_MEMBERS = 20;
/**
 * How far what is kept may be behind: a new place is kept at once, a later message there with the next write. Being behind
 * costs only that some messages are read again, which the queue knows.
 */
const KEEP_EVERY_MS = 5_000;

/** A message, or a command in its place. */
type Spoken = Pick<GatewayMessageCreateDispatchData, "channel_id" | "guild_id" | "id">;

export interface CatchUpOptions {
  readonly clock: Clock;
  readonly log: ChannelLog;
  readonly redactor: Redactor;
  /** Absent: nothing is kept, and the bot listens everywhere. */
  readonly kept?: HeardPlaces;
}

export class CatchUp {
  readonly #options: CatchUpOptions;
  readonly #places = new Recent<HeardPlace>(MAX_PLACES);
  readonly #heard = new Recent<true>(MAX_HEARD);
  #keeping: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isLoaded = false;

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  /** False when it was heard before: read here, and handed on by the session as well. */
  heard({ id }: Pick<GatewayMessageCreateDispatchData, "id">): boolean {
    if (this.#heard.has(id)) return false;
    this.#heard.set(id, true);
    return true;
  }

  /** It is durable, or nothing has to come of it. `listens` is asked only of places that are not known yet. */
  async done(spoken: Spoken, listens: () => Promise<boolean>): Promise<void> {
    const { channel_id: placeId, guild_id: scopeId, id: lastId } = spoken;
    const known = this.#places.get(placeId);
    if (known && BigInt(known.lastId) >= BigInt(lastId)) return;
    if (!known && !(await listens())) return;
    this.#places.set(placeId, { placeId, lastId, ...(scopeId === undefined ? {} : { scopeId }) });
    if (!known) this.#keep();
    else this.#timer ??= setTimeout(() => this.#keep(), KEEP_EVERY_MS).unref();
  }

  /** It could not be taken: when it is read again, it counts as new. */
  lost({ id }: Pick<GatewayMessageCreateDispatchData, "id">): void {
    this.#heard.delete(id);
  }

  wasHeard(messageId: string): boolean {
    return this.#heard.has(messageId);
  }

  /** The places that were heard last, newest first. */
  newest(count: number): readonly HeardPlace[] {
    return this.#places.newest().slice(0, count);
  }

  /** Oldest first in each place. Never rejects: a place that can not be read is left out. */
  async missed(client: Client<true>): Promise<readonly GatewayMessageCreateDispatchData[]> {
    // As it was when the session began: what arrives while these are read does not hide what came before it.
    const places = new Map(this.#places.newest().map((place) => [place.placeId, place]));
    for (const place of await this.#load()) if (!places.has(place.placeId)) places.set(place.placeId, place);
    const waiting = [...places.values()];
    const found: GatewayMessageCreateDispatchData[] = [];
    const reader = async (): Promise<void> => {
      for (let place = waiting.shift(); place; place = waiting.shift()) {
        found.push(...(await this.#readAfter(client, place)));
      }
    };
    await Promise.all(Array.from({ length: READERS }, reader));
    return this.#withMembers(client, found);
  }

  /** Resolves when the newest state is written. */
  async stop(): Promise<void> {
    if (this.#timer) this.#keep();
    await this.#keeping;
  }

  /** Once: later everything that was heard is known here. */
  async #load(): Promise<readonly HeardPlace[]> {
    if (this.#isLoaded || !this.#options.kept) return [];
    try {
      const kept = await this.#options.kept.load();
      this.#isLoaded = true;
      // Oldest first, below what was heard since.
      const since = this.#places.newest().reverse();
      for (const place of [...kept].reverse()) this.#places.set(place.placeId, place);
      for (const place of since) this.#places.set(place.placeId, place);
      return kept;
    } catch (error) {
      this.#say(error, "Where people spoke before is not known; what was said meanwhile is not looked for.");
      return [];
    }
  }

  #keep(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { kept } = this.#options;
    if (!kept) return;
    this.#keeping = this.#keeping
      .then(async () => {
        // What another life kept is not written over before it was read.
        await this.#load();
        if (this.#isLoaded) await kept.keep(this.#places.newest());
      })
      .catch((error: unknown) => this.#say(error, "Where people speak could not be written down."));
  }

  async #readAfter(client: Client<true>, place: HeardPlace): Promise<GatewayMessageCreateDispatchData[]> {
    const { placeId, scopeId } = place;
    const oldest = snowflakeAt(this.#options.clock.now() - CATCH_UP_MS);
    let after = BigInt(place.lastId) > BigInt(oldest) ? place.lastId : oldest;
    const found: APIMessage[] = [];
    try {
      for (let page = 0; page < MAX_PAGES; page++) {
        const query = new URLSearchParams({ after, limit: String(MESSAGES) });
        const read = (await client.rest.get(Routes.channelMessages(placeId), { query })) as APIMessage[];
        found.push(...read);
        for (const { id } of read) if (BigInt(id) > BigInt(after)) after = id;
        if (read.length < MESSAGES) break;
      }
    } catch (error) {
      this.#say(error, "What was said while there was no session could not be read.", placeId);
    }
    return found
      .sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
      .map((message) => ({ ...message, ...(scopeId === undefined ? {} : { guild_id: scopeId }) }));
  }

  /** Rooms may be open to roles: what is read does not tell them, a live message does. */
  async #withMembers(
    client: Client<true>,
    messages: readonly GatewayMessageCreateDispatchData[],
  ): Promise<readonly GatewayMessageCreateDispatchData[]> {
    const members = new Map<string, Promise<APIGuildMember | undefined>>();
    const memberOf = ({ guild_id: guildId, author, webhook_id: webhook }: GatewayMessageCreateDispatchData) => {
      if (guildId === undefined || webhook !== undefined || author.id === client.user.id) return undefined;
      const key = `${guildId}/${author.id}`;
      if (!members.has(key) && members.size < MAX_MEMBERS) {
        const asked = client.rest.get(Routes.guildMember(guildId, author.id)) as Promise<APIGuildMember>;
        members.set(
          key,
          asked.catch((error: unknown) => {
            this.#say(error, "The roles of somebody who spoke while there was no session are not known.");
            return undefined;
          }),
        );
      }
      return members.get(key);
    };
    return Promise.all(
      messages.map(async (message) => {
        if (message.member || this.#heard.has(message.id)) return message;
        const member = await memberOf(message);
        return member ? { ...message, member } : message;
      }),
    );
  }

  #say(error: unknown, what: string, channelId?: string): void {
    const { log, redactor } = this.#options;
    log.info(
      {
        channel: "discord",
        ...(channelId === undefined ? {} : { channelId }),
        error: describeError(error, redactor),
      },
      what,
    );
  }
}
