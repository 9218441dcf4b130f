/**
 * Interactions whose token still works. An answer goes through the token when it belongs to one: it replaces the
 * "thinking…" placeholder, or is shown to one person alone. Lost at a restart, which only means that answers come as
 * ordinary messages.
 */
import type { Clock } from "../../core/clock.ts";
import type { Actor, Route } from "../../core/route.ts";
import { Recent } from "../recent.ts";
import { MAX_OPEN_INTERACTIONS, TOKEN_LIFETIME_MS } from "./limits.ts";

export type Placeholder = "none" | "public" | "private";

export interface OpenInteraction {
  readonly id: string;
  readonly token: string;
  readonly userId: string;
  /** The channel or thread it happened in. */
  readonly channelId: string;
  readonly openedAtMs: number;
  /** Settles once Discord has the first answer; false when it did not take it, and so takes no other one. */
  readonly answered: Promise<boolean>;
  /** What the person sees until the first answer, and who sees it. */
  placeholder: Placeholder;
  /** The message that replaced the placeholder. */
  answerId?: string;
}

export class OpenInteractions {
  readonly #clock: Clock;
  readonly #open = new Recent<OpenInteraction>(MAX_OPEN_INTERACTIONS);
  /** Messages that only a token can change, newest last. */
  readonly #byMessage = new Recent<OpenInteraction>(MAX_OPEN_INTERACTIONS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(interaction: Omit<OpenInteraction, "openedAtMs">): OpenInteraction {
    const known = this.#open.get(interaction.id);
    if (known) return known;
    const open: OpenInteraction = { ...interaction, openedAtMs: this.#clock.monotonic() };
    this.#open.set(open.id, open);
    return open;
  }

  forget(interaction: OpenInteraction): void {
    this.#open.delete(interaction.id);
  }

  /** The one this route answers, or for a private message the newest of that person in that place. */
  find(route: Route, onlyFor: Actor | undefined): OpenInteraction | undefined {
    const named = route.replyToId === undefined ? undefined : this.#open.get(route.replyToId);
    if (named && this.#alive(named) && (onlyFor === undefined || onlyFor.id === named.userId)) return named;
    if (!onlyFor) return undefined;
    // Another one's placeholder is not for this message.
    const place = route.threadId ?? route.chatId;
    return this.#open
      .newest()
      .find(
        (one) => one.userId === onlyFor.id && one.channelId === place && one.placeholder === "none" && this.#alive(one),
      );
  }

  /** `messageId` was made with this token and may need it to be changed. */
  made(messageId: string, by: OpenInteraction): void {
    this.#byMessage.set(messageId, by);
  }

  maker(messageId: string): OpenInteraction | undefined {
    const maker = this.#byMessage.get(messageId);
    return maker && this.#alive(maker) ? maker : undefined;
  }

  /** The message that stands where an interaction's placeholder was. */
  answerOf(interactionId: string): string | undefined {
    return this.#open.get(interactionId)?.answerId;
  }

  isInteraction(id: string): boolean {
    return this.#open.has(id);
  }

  #alive(one: OpenInteraction): boolean {
    return this.#clock.monotonic() - one.openedAtMs < TOKEN_LIFETIME_MS;
  }
}
