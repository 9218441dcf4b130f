/**
 * The newest response URL of each person and conversation: the way to answer in private where the bot is no member.
 * Kept in memory only; a URL dies after 30 minutes and 5 uses anyway.
 */
import { Recent } from "../recent.ts";
import { RESPONSE_URL_MS, RESPONSE_URL_USES } from "./limits.ts";

interface Entry {
  readonly url: string;
  readonly chatId: string;
  readonly expiresAtMs: number;
  usesLeft: number;
  /** Its owner has been told that the bot can not post there. */
  told: boolean;
}

export class ResponseUrls {
  private readonly entries = new Recent<Entry>(2000);
  private readonly pressed = new Recent<Entry>(2000);
  private readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  remember(userId: string, chatId: string, url: string | undefined): void {
    if (url === undefined) return;
    this.entries.set(`${userId}|${chatId}`, {
      url,
      chatId,
      told: false,
      expiresAtMs: this.now() + RESPONSE_URL_MS,
      usesLeft: RESPONSE_URL_USES,
    });
  }

  /** Of a press on a message: the only way to change one that its presser alone sees. */
  rememberPressed(chatId: string, messageTs: string, url: string | undefined): void {
    if (url === undefined) return;
    const expiresAtMs = this.now() + RESPONSE_URL_MS;
    this.pressed.set(`${chatId}|${messageTs}`, { url, chatId, told: false, expiresAtMs, usesLeft: RESPONSE_URL_USES });
  }

  takePressed(chatId: string, messageTs: string): string | undefined {
    return this.takeFrom(this.pressed, `${chatId}|${messageTs}`);
  }

  /** Takes one use of the newest in this conversation, whoever it belongs to; each only once. */
  takeUntold(chatId: string): string | undefined {
    const entry = this.entries.newest().find((one) => one.chatId === chatId && !one.told && this.isLive(one));
    if (entry === undefined) return undefined;
    entry.told = true;
    entry.usesLeft -= 1;
    return entry.url;
  }

  /** Takes one use. */
  take(userId: string, chatId: string): string | undefined {
    return this.takeFrom(this.entries, `${userId}|${chatId}`);
  }

  private takeFrom(entries: Recent<Entry>, key: string): string | undefined {
    const entry = entries.get(key);
    if (entry === undefined || !this.isLive(entry)) return undefined;
    entry.usesLeft -= 1;
    return entry.url;
  }

  private isLive(entry: Entry): boolean {
    return entry.usesLeft > 0 && entry.expiresAtMs > this.now();
  }
}
