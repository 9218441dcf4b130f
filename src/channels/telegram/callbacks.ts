/**
 * Stops the spinner of a pressed button. A query can be answered once, so it waits a moment for a refusal that belongs
 * to this press ("you may not decide this"), which then shows as an alert to the presser alone; without one it is
 * answered plainly. Late and repeated answers fail on the platform and change nothing here.
 */
import type { Api } from "grammy";
import type { Actor, Route } from "../../core/route.ts";
import { Recent } from "../recent.ts";
import { excerpt } from "../text/excerpt.ts";
import { MAX_ALERT, MAX_PRESSES, VERDICT_WAIT_MS } from "./limits.ts";

interface Open {
  readonly queryId: string;
  readonly timer: NodeJS.Timeout;
}

export class CallbackAnswers {
  readonly #api: Api;
  readonly #onError: (error: unknown) => void;
  readonly #open = new Map<string, Open>();
  /** Seen when it came, and again when it is taken. */
  readonly #known = new Recent<true>(MAX_PRESSES);

  constructor(api: Api, onError: (error: unknown) => void) {
    this.#api = api;
    this.#onError = onError;
  }

  /** From now on a verdict for this person in this chat is shown on the press. */
  expect(queryId: string, route: Route, actor: Actor): void {
    if (this.#known.has(queryId)) return;
    this.#known.set(queryId, true);
    const key = keyOf(route, actor);
    this.#finish(key);
    const timer = setTimeout(() => this.#finish(key), VERDICT_WAIT_MS);
    timer.unref();
    this.#open.set(key, { queryId, timer });
  }

  /** True when a press was waiting and now shows `text`. */
  async verdict(route: Route, actor: Actor, text: string): Promise<boolean> {
    const key = keyOf(route, actor);
    const open = this.#open.get(key);
    if (!open) return false;
    clearTimeout(open.timer);
    this.#open.delete(key);
    return this.#answer(open.queryId, text);
  }

  /** What this person pressed for has happened and shows on the card: no alert will come. */
  settle(chatId: string, actor: Actor): void {
    this.#finish(`${chatId}|${actor.id}`);
  }

  async plain(queryId: string): Promise<void> {
    await this.#answer(queryId, undefined);
  }

  async alert(queryId: string, text: string): Promise<void> {
    await this.#answer(queryId, text);
  }

  /** Answers what is still open. */
  stop(): void {
    for (const key of [...this.#open.keys()]) this.#finish(key);
  }

  #finish(key: string): void {
    const open = this.#open.get(key);
    if (!open) return;
    clearTimeout(open.timer);
    this.#open.delete(key);
    void this.#answer(open.queryId, undefined);
  }

  async #answer(queryId: string, text: string | undefined): Promise<boolean> {
    const shown = text === undefined ? undefined : alertText(text);
    try {
      await this.#api.answerCallbackQuery(queryId, shown === undefined ? {} : { text: shown, show_alert: true });
      return true;
    } catch (error) {
      this.#onError(error);
      return false;
    }
  }
}

function alertText(text: string): string {
  const shown = excerpt(text, { budget: MAX_ALERT - 1, headShare: 1 });
  return shown.hidden === 0 ? shown.head : `${shown.head}…`;
}

function keyOf(route: Route, actor: Actor): string {
  return `${route.chatId}|${actor.id}`;
}
