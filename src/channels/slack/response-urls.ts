/**
 * The newest response URL of each person and conversation: the way to answer in private where the bot is no member.
 * Kept in memory only; a URL dies after 30 minutes and 5 uses anyway.
 */
import { Recent } from "../recent.ts";
import { RESPONSE_URL_MS, RESPONSE_URL_USES } from "./limits.ts";

interface Entry {
  readonly url: string;
  readonly expiresAtMs: number;
  usesLeft: number;
}

export class ResponseUrls {
  private readonly entries = new Recent<Entry>(2000);
  private readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  remember(userId: string, chatId: string, url: string | undefined): void {
    if (url === undefined) return;
    this.entries.set(`${userId}|${chatId}`, {
      url,
      expiresAtMs: this.now() + RESPONSE_URL_MS,
      usesLeft: RESPONSE_URL_USES,
    });
  }

  /** Takes one use. */
  take(userId: string, chatId: string): string | undefined {
    const entry = this.entries.get(`${userId}|${chatId}`);
    if (entry === undefined || entry.usesLeft <= 0 || entry.expiresAtMs <= this.now()) return undefined;
    entry.usesLeft -= 1;
    return entry.url;
  }
}
