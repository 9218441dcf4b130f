/**
 * In which language somebody is answered. Per person, never per process:
 *
 * - what one person alone sees (a private answer, a direct message) is in that person's language, as their platform told
 *   it last;
 * - what a room sees is in the room's language: the one its platform tells (a Discord community), else the configured
 *   one. The person who asked does not decide what everybody else has to read;
 * - where nothing is told, the account's `locale`, else `messages.locale`.
 */
import type { Actor, Route } from "../route.ts";
import type { Store } from "../store/store.ts";
import { firstLanguage, type Language, languageOf } from "../words/languages.ts";

/** A language that nobody has confirmed for this long is forgotten. */
const LANGUAGE_TTL_MS = 365 * 24 * 3_600_000;
/** Languages remembered in memory as well, so that a person who goes on speaking costs no write. */
const MAX_KNOWN = 10_000;

const NS = "language";

export interface Readers {
  /** Somebody spoke or pressed: their language, and their room's, are remembered. Resolves once that is stored. */
  heard(from: { readonly actor: Actor; readonly route: Route; readonly roomLocale?: string }): Promise<void>;
  /** `onlyFor`: the one person who sees it. */
  languageOf(route: Route, onlyFor?: Actor): Promise<Language>;
}

export interface ReadersOptions {
  readonly store: Store;
  /** The configured language of an account. */
  readonly configured: (route: Route) => string;
}

export function createReaders({ store, configured }: ReadersOptions): Readers {
  const known = new Map<string, Language>();

  async function remember(key: string, locale: string | undefined): Promise<void> {
    const language = languageOf(locale);
    if (language === undefined || known.get(key) === language) return;
    await store.put(NS, key, language, { ttlMs: LANGUAGE_TTL_MS });
    known.delete(key);
    known.set(key, language);
    const oldest = known.keys().next().value;
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  }

  async function recall(key: string): Promise<Language | undefined> {
    return (await store.get<Language>(NS, key))?.value;
  }

  return {
    async heard({ actor, route, roomLocale }) {
      await remember(personKey(route, actor.id), actor.locale);
      // A direct message is addressed by its chat on some platforms, by its person on others.
      if (route.chatType === "dm") await remember(personKey(route, route.chatId), actor.locale);
      else await remember(roomKey(route), roomLocale);
    },

    async languageOf(route, onlyFor) {
      const told = languageOf(onlyFor?.locale);
      if (told !== undefined) return told;
      const reader = onlyFor?.id ?? (route.chatType === "dm" ? route.chatId : undefined);
      const remembered = await recall(reader === undefined ? roomKey(route) : personKey(route, reader));
      return remembered ?? firstLanguage(configured(route));
    },
  };
}

const account = (route: Route) => `${route.channel}:${route.accountId}`;
const personKey = (route: Route, id: string) => `${account(route)}:person:${id}`;
/** Rooms of one server speak one language, as their platform tells it for the server. */
const roomKey = (route: Route) => `${account(route)}:room:${route.scopeId ?? route.chatId}`;
