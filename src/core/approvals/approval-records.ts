/** The records of requests in the store: found by id or by how it begins, and changed by compare-and-set alone. */
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Store, Versioned } from "../store/store.ts";
import { phrase } from "../words/phrase.ts";
import { unknownApproval } from "./late-answer.ts";
import type { ApprovalRecord } from "./record.ts";

/** How long a decided record still answers "already decided by …". */
const DECIDED_RETENTION_MS = 7 * 24 * 3_600_000;
/** A prefix shorter than this is never accepted: too easy to hit by chance. */
const MIN_PREFIX_LENGTH = 4;

const NS = "approval";
/** Ids of records that are pending, or settled but not yet announced. Small, so that listing and the sweep stay cheap. */
const OPEN_NS = "approval-open";

/** `applied` is false when the record was left as it is. */
export interface Change {
  readonly applied: boolean;
  readonly record: ApprovalRecord;
}

export class ApprovalRecords {
  readonly #store: Store;
  readonly #clock: Clock;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** A record past its time is expired whether or not the timer job has run. */
  isLive(record: ApprovalRecord): boolean {
    return record.status === "pending" && this.#clock.now() < record.expiresAtMs;
  }

  /** The record that exists when there is one with this id; undefined: it is this one now. */
  async create(record: ApprovalRecord): Promise<ApprovalRecord | undefined> {
    await this.#store.put(OPEN_NS, record.id, true);
    const ttlMs = record.expiresAtMs - record.createdAtMs + DECIDED_RETENTION_MS;
    if (await this.#store.setIfAbsent(NS, record.id, record, { ttlMs })) return undefined;
    return this.get(record.id);
  }

  async get(id: string): Promise<ApprovalRecord | undefined> {
    return (await this.versioned(id))?.value;
  }

  versioned(id: string): Promise<Versioned<ApprovalRecord> | undefined> {
    return this.#store.get<ApprovalRecord>(NS, id);
  }

  /** @throws ExecError `approval-unknown` or `approval-ambiguous` */
  async find(idOrPrefix: string): Promise<ApprovalRecord> {
    const wanted = idOrPrefix.trim().toLowerCase();
    const exact = await this.get(wanted);
    if (exact) return exact;
    if (wanted.length < MIN_PREFIX_LENGTH || !/^[0-9a-f-]+$/.test(wanted)) throw unknownApproval(idOrPrefix);
    const matches = (await this.#store.list<ApprovalRecord>(NS, { prefix: wanted, limit: 20 })).map((m) => m.value);
    const live = matches.filter((record) => this.isLive(record));
    if (live.length > 1) {
      const ids = live.map((record) => record.id);
      throw new ExecError(
        "approval-ambiguous",
        phrase("error.approval.ambiguous", { matches: live.length, id: wanted, ids }),
        { ids },
      );
    }
    const only = live[0] ?? (matches.length === 1 ? matches[0] : undefined);
    if (!only) throw unknownApproval(idOrPrefix);
    return only;
  }

  /** The one way out of `pending`. Undefined: there is no such record. */
  async settle(
    id: string,
    change: Partial<ApprovalRecord>,
    { evenExpired }: { readonly evenExpired: boolean },
  ): Promise<Change | undefined> {
    for (;;) {
      const found = await this.versioned(id);
      if (!found) return undefined;
      const { value: record, version } = found;
      if (record.status !== "pending" || (!evenExpired && !this.isLive(record))) return { applied: false, record };
      const next: ApprovalRecord = { ...record, ...change };
      if ((await this.replace(version, next)) !== undefined) return { applied: true, record: next };
    }
  }

  /** The new version, or undefined when somebody else was faster. */
  replace(version: number, next: ApprovalRecord): Promise<number | undefined> {
    return this.#store.compareAndSet(NS, next.id, version, next, { ttlMs: DECIDED_RETENTION_MS });
  }

  /** Changes what the card says, never what was decided. */
  async annotate(
    id: string,
    change: Partial<Pick<ApprovalRecord, "statusLine" | "shownAt" | "lostAt">>,
  ): Promise<Versioned<ApprovalRecord> | undefined> {
    const done = await this.update(id, (record) => ({ ...record, ...change }));
    return done && { value: done.record, version: done.version };
  }

  /** `change` sees the newest record and gives the next one, or nothing to leave it. Undefined: there is no such record. */
  async update(
    id: string,
    change: (record: ApprovalRecord) => ApprovalRecord | undefined,
  ): Promise<(Change & { readonly version: number }) | undefined> {
    for (;;) {
      const found = await this.versioned(id);
      if (!found) return undefined;
      const next = change(found.value);
      if (!next) return { applied: false, record: found.value, version: found.version };
      const ttlMs = Math.max(0, next.expiresAtMs - this.#clock.now()) + DECIDED_RETENTION_MS;
      const version = await this.#store.compareAndSet(NS, id, found.version, next, { ttlMs });
      if (version !== undefined) return { applied: true, record: next, version };
    }
  }

  async openIds(): Promise<string[]> {
    const ids: string[] = [];
    for (let after: string | undefined; ; after = ids.at(-1)) {
      const page = await this.#store.list<true>(OPEN_NS, { limit: 500, ...(after ? { after } : {}) });
      ids.push(...page.map((listed) => listed.key));
      if (page.length < 500) return ids;
    }
  }

  /** It is settled and announced. */
  async close(id: string): Promise<void> {
    await this.#store.delete(OPEN_NS, id);
  }

  /** Oldest first. */
  async pending(): Promise<ApprovalRecord[]> {
    const records = await Promise.all((await this.openIds()).map((id) => this.get(id)));
    return records
      .flatMap((record) => (record && this.isLive(record) ? [record] : []))
      .sort((a, b) => a.createdAtMs - b.createdAtMs);
  }
}
