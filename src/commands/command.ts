/**
 * One slash command: one definition registers everywhere (Slack manifest, Discord options, Telegram menu, text
 * parser, completion in the web chat).
 */
import type { Rank } from "../core/access/rank.ts";
import type { UnspokenCard } from "../core/cards.ts";
import type { Actor, Route } from "../core/route.ts";
import type { Wording } from "../core/words/phrase.ts";
import type { Menu } from "./menus.ts";
import type { CommandServices } from "./services.ts";

export interface CommandOption {
  readonly name: string;
  readonly description: Wording;
  readonly choices?: readonly string[];
  readonly required?: boolean;
}

export interface CommandContext {
  /** The raw rest of the text after the command's name, outer blanks removed, never re-tokenised. */
  readonly args: string;
  readonly actor: Actor;
  readonly rank: Rank;
  readonly route: Route;
  readonly agentId: string;
  readonly sessionKey: string;
  /** The inbound event's dedupe key: makes what the command starts idempotent. */
  readonly eventId: string;
  readonly services: CommandServices;
  /**
   * For what can not be made idempotent, right before it is done: false when an earlier try of this event, cut off by a
   * crash or an outage, may have done it.
   */
  beginsOnce(): Promise<boolean>;
  /** Answers in the same conversation. `private` shows it to the asker alone where the platform can. */
  reply(card: UnspokenCard, options?: { readonly private?: boolean }): Promise<void>;
  /** Asks for what is missing, to the asker alone where the platform can: what they choose completes this command. */
  offer(menu: Menu): Promise<void>;
}

export interface CommandDefinition {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** At most 100 characters in every language: the tightest platform (Discord). */
  readonly summary: Wording;
  readonly usage: readonly Wording[];
  readonly options: readonly CommandOption[];
  /** Who may use it; finer rules are the handler's. */
  readonly rank: Rank;
  run(context: CommandContext): Promise<void>;
}
