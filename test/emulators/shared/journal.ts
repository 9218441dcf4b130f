/**
 * Everything that crossed the wire, in order, with what was wrong about it. A test ends with
 * `expect(emulator.violations).toEqual([])`: the client broke no rule of the platform.
 */
export interface JournalEntry {
  readonly atMs: number;
  /** `in`: from the product. `out`: to the product. */
  readonly dir: "in" | "out";
  readonly via: "http" | "ws";
  /** API method, frame type or route, without tokens. */
  readonly what: string;
  readonly body?: unknown;
  status?: number;
  readonly violations: string[];
}

/** Old entries fall out so that a long demo does not grow without end. */
const MAX_ENTRIES = 20_000;

export class Journal {
  readonly entries: JournalEntry[] = [];
  private readonly loose: string[] = [];
  private readonly now: () => number;
  private readonly onRecord: () => void;

  constructor(now: () => number, onRecord: () => void = () => {}) {
    this.now = now;
    this.onRecord = onRecord;
  }

  record(entry: Omit<JournalEntry, "atMs" | "violations">): JournalEntry {
    const full: JournalEntry = { atMs: this.now(), violations: [], ...entry };
    this.entries.push(full);
    if (this.entries.length > MAX_ENTRIES) {
      for (const old of this.entries.splice(0, this.entries.length - MAX_ENTRIES)) this.loose.push(...tagged(old));
    }
    this.onRecord();
    return full;
  }

  /** A broken rule that belongs to no single request, for example an event that was never acknowledged. */
  violate(text: string): void {
    this.loose.push(text);
  }

  get violations(): string[] {
    return [...this.loose, ...this.entries.flatMap(tagged)];
  }

  calls(what: string): JournalEntry[] {
    return this.entries.filter((entry) => entry.dir === "in" && entry.what === what);
  }

  reset(): void {
    this.entries.length = 0;
    this.loose.length = 0;
  }
}

function tagged(entry: JournalEntry): string[] {
  return entry.violations.map((text) => `${entry.what}: ${text}`);
}
