/** Work with the same key runs one after the other, in order; different keys do not wait for each other. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const next = before.then(work, work);
    const settled = next.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(key, settled);
    try {
      return await next;
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    }
  }

  /** True while something with this key runs or waits. */
  busy(key: string): boolean {
    return this.#last.has(key);
  }
}
