/** A map that forgets its oldest entries, for what is worth remembering but never needed for correctness. */
export class Recent<V> {
  readonly #limit: number;
  readonly #entries = new Map<string, V>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    const oldest = this.#entries.keys().next().value;
    if (this.#entries.size > this.#limit && oldest !== undefined) this.#entries.delete(oldest);
  }

  getOrAdd(key: string, make: () => V): V {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const fresh = make();
    this.set(key, fresh);
    return fresh;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Newest first. */
  newest(): V[] {
    return [...this.#entries.values()].reverse();
  }
}
