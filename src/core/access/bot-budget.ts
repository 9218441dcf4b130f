/**
 * Two bots that answer each other never stop by themselves. Where other bots are answered (`allowBots`), a room has a
 * budget of their messages; a person who speaks there fills it again.
 */
import type { Route } from "../route.ts";

export const BOT_MESSAGES = 10;
export const BOT_WINDOW_MS = 10 * 60_000;
/** Rooms whose budget is remembered; the ones longest unused are forgotten. */
const MAX_ROOMS = 2_000;

export class BotBudget {
  readonly #spent = new Map<string, number[]>();

  /** False when the budget of this room, its threads together, is used up. */
  take(route: Route, nowMs: number): boolean {
    const key = roomKey(route);
    const recent = (this.#spent.get(key) ?? []).filter((atMs) => nowMs - atMs < BOT_WINDOW_MS);
    this.#spent.delete(key);
    if (recent.length < BOT_MESSAGES) recent.push(nowMs);
    else {
      this.#spent.set(key, recent);
      return false;
    }
    this.#spent.set(key, recent);
    const [oldest] = this.#spent.keys();
    if (this.#spent.size > MAX_ROOMS && oldest !== undefined) this.#spent.delete(oldest);
    return true;
  }

  refill(route: Route): void {
    this.#spent.delete(roomKey(route));
  }
}

function roomKey({ channel, accountId, chatId }: Route): string {
  return `${channel}|${accountId}|${chatId}`;
}
