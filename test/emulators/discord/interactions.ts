/**
 * Interactions: a slash command, a press, a modal or an autocomplete reaches the bot; the first answer must come
 * within three seconds and exactly once, later ones use the token for fifteen minutes.
 */
import type { StoredMessage } from "./world.ts";

export const FIRST_ANSWER_MS = 3_000;
export const TOKEN_LIFETIME_MS = 15 * 60_000;

export const INTERACTION = { command: 2, component: 3, autocomplete: 4, modal: 5 } as const;
export const CALLBACK = {
  message: 4,
  deferredMessage: 5,
  deferredUpdate: 6,
  update: 7,
  autocomplete: 8,
  modal: 9,
} as const;

export type InteractionKind = keyof typeof INTERACTION;

export interface ModalShown {
  readonly customId: string;
  readonly title: string;
  /** Its text fields, in order. */
  readonly fields: readonly { readonly id: string; readonly label: string; readonly required: boolean }[];
}

export interface InteractionState {
  readonly id: string;
  readonly token: string;
  readonly kind: InteractionKind;
  readonly userId: string;
  readonly channelId: string;
  readonly createdAtMs: number;
  /** The message whose component was pressed. */
  readonly sourceMessageId?: string;
  answered?: keyof typeof CALLBACK;
  /** Flags of a deferred answer: what comes first takes over its visibility. */
  deferredFlags?: number;
  original?: StoredMessage;
  choices?: readonly { readonly name: string; readonly value: string | number }[];
  modal?: ModalShown;
  /** What the person saw: `This interaction failed`. */
  failed: boolean;
}

export class Interactions {
  readonly all: InteractionState[] = [];
  readonly #now: () => number;
  readonly #onFailed: (interaction: InteractionState) => void;
  readonly #timers = new Set<NodeJS.Timeout>();
  #waiting: (() => void)[] = [];

  constructor(now: () => number, onFailed: (interaction: InteractionState) => void) {
    this.#now = now;
    this.#onFailed = onFailed;
  }

  open(interaction: Omit<InteractionState, "failed" | "createdAtMs">): InteractionState {
    const state: InteractionState = { ...interaction, createdAtMs: this.#now(), failed: false };
    this.all.push(state);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (state.answered) return;
      state.failed = true;
      this.#onFailed(state);
      this.changed();
    }, FIRST_ANSWER_MS);
    timer.unref();
    this.#timers.add(timer);
    return state;
  }

  byIdAndToken(id: string, token: string): InteractionState | undefined {
    return this.all.find((one) => one.id === id && one.token === token);
  }

  byToken(token: string): InteractionState | undefined {
    return this.all.find((one) => one.token === token);
  }

  tooLate(interaction: InteractionState): boolean {
    return interaction.failed || this.#now() - interaction.createdAtMs > FIRST_ANSWER_MS;
  }

  tokenExpired(interaction: InteractionState): boolean {
    return this.#now() - interaction.createdAtMs > TOKEN_LIFETIME_MS;
  }

  changed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** Resolves when the interaction was answered or has failed for the person. */
  async settled(interaction: InteractionState): Promise<InteractionState> {
    while (!interaction.answered && !interaction.failed)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return interaction;
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
