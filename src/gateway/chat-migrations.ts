/**
 * Telegram gives a group that grows a new id, and sends nothing to the old one any more. The configuration, what was set
 * for the conversation and the place a heartbeat speaks in follow; messages that are on their way follow in the adapter.
 * What was learned is kept, so that a gateway whose file still names the old id catches up at its next start.
 */
import { readFile } from "node:fs/promises";
import type { Logger } from "pino";
import { chatMigrationEdits } from "../core/config/chat-migration.ts";
import { parseDocument } from "../core/config/document.ts";
import { editConfigBy } from "../core/config/edit.ts";
import type { LoadedConfig } from "../core/config/load.ts";
import type { Config } from "../core/config/schema.ts";
import type { Route } from "../core/route.ts";
import { type Sessions, sessionKey } from "../core/sessions/sessions.ts";
import type { Store } from "../core/store/store.ts";

export interface ChatMigrationsOptions {
  readonly loaded: LoadedConfig;
  readonly config: () => Config;
  readonly store: Store;
  readonly sessions: Sessions;
  /** Takes up the changed file. */
  readonly reload?: () => Promise<unknown>;
  readonly agentIds: () => readonly string[];
  readonly logger: Logger;
}

interface Migration {
  readonly accountId: string;
  readonly from: string;
  readonly to: string;
}

const NS = "telegram-migration";

export class ChatMigrations {
  readonly #options: ChatMigrationsOptions;

  constructor(options: ChatMigrationsOptions) {
    this.#options = options;
  }

  /** Never rejects: what could not follow is in the log, with what to do. */
  async moved(accountId: string, from: string, to: string): Promise<void> {
    const migration: Migration = { accountId, from, to };
    const { store, logger } = this.#options;
    try {
      await store.put<Migration>(NS, `${accountId}|${from}`, migration);
      await this.#moveSessions(migration);
    } catch (error) {
      logger.error({ err: error, from, to }, "what was set for a Telegram group did not follow it to its new id");
    }
    await this.#rewrite(migration);
  }

  /** At the start of a gateway: its file may have missed what happened while another held the account. */
  async catchUp(): Promise<void> {
    for (const { value } of await this.#options.store.list<Migration>(NS)) await this.#rewrite(value);
  }

  async #rewrite({ from, to }: Migration): Promise<void> {
    const { loaded, logger } = this.#options;
    try {
      // Without a word of it there is nothing to write, and nothing to lock.
      const found = parseDocument(await readFile(loaded.file.path, "utf8"));
      if (!found.ok || chatMigrationEdits(found.value, from, to).length === 0) return;
      const { written, backup } = await editConfigBy(loaded, (document) => chatMigrationEdits(document, from, to));
      if (!written) return;
      await this.#options.reload?.();
      logger.warn(
        { from, to, file: loaded.file.path, backup },
        "a Telegram group has a new id; the configuration names it",
      );
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      logger.error(
        { from, to, file: loaded.file.path, reason: (error as Error).message },
        `a Telegram group has a new id and the configuration could not be changed: write ${to} there instead of ${from}`,
      );
    }
  }

  async #moveSessions({ accountId, from, to }: Migration): Promise<void> {
    const { sessions, config, agentIds } = this.#options;
    const nobody = { kind: "system", channel: "telegram", accountId, id: "" } as const;
    const room = (chatId: string): Route => ({ channel: "telegram", accountId, chatType: "group", chatId });
    for (const agentId of agentIds()) {
      const key = (chatId: string) => sessionKey(agentId, room(chatId), nobody, config().session);
      await sessions.move(key(from), key(to));
    }
  }
}
