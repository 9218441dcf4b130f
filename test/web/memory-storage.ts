import type { KeyValue } from "../../src/web/outbox.ts";

/** A browser's storage, with its one habit that matters: it can be full. */
export class MemoryStorage implements KeyValue {
  private readonly values = new Map<string, string>();
  full = false;

  keys(): readonly string[] {
    return [...this.values.keys()];
  }

  getItem(key: string): string | null {
    return this.values.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    if (this.full) throw new DOMException("no room", "QuotaExceededError");
    this.values.set(key, value);
  }

  removeItem(key: string): void {
    this.values.delete(key);
  }
}
