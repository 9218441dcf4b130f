export type TopicHandler = (message: unknown) => void;

/** Told about trouble that has no caller to reject to: a subscriber that threw, a connection that broke. */
export type OnTrouble = (what: string, error: unknown) => void;

/** Where trouble goes when the owner does not say: visible, and never fatal. */
export const warnOfTrouble: OnTrouble = (what, error) => {
  process.emitWarning(`${what}: ${error instanceof Error ? error.message : String(error)}`, "OpenclawStateWarning");
};

/** The subscribers of one process, by topic. */
export class Topics {
  readonly #handlers = new Map<string, Set<{ readonly handle: TopicHandler }>>();
  readonly #onTrouble: OnTrouble;

  constructor(onTrouble: OnTrouble) {
    this.#onTrouble = onTrouble;
  }

  has(topic: string): boolean {
    return this.#handlers.has(topic);
  }

  names(): string[] {
    return [...this.#handlers.keys()];
  }

  /** Subscribing one function twice makes two subscriptions. The result ends this one; calling it again is harmless. */
  add(topic: string, handle: TopicHandler): () => void {
    const subscription = { handle };
    const subscribers = this.#handlers.get(topic) ?? new Set();
    this.#handlers.set(topic, subscribers.add(subscription));
    return () => {
      if (subscribers.delete(subscription) && subscribers.size === 0) this.#handlers.delete(topic);
    };
  }

  /** Each subscriber gets a value of its own, so that one can not change what the next one sees. */
  deliver(topic: string, json: string): void {
    for (const { handle } of [...(this.#handlers.get(topic) ?? [])]) {
      try {
        handle(JSON.parse(json));
      } catch (error) {
        this.#onTrouble(`A subscriber of ${topic} failed`, error);
      }
    }
  }

  clear(): void {
    this.#handlers.clear();
  }
}
