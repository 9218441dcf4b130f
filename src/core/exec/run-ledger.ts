/**
 * The stored side of runs: the record (the once-marker), the list of those whose end has not been handed on, and, for a
 * run that waits in line, what it is to be started with.
 */
import type { Store, Versioned } from "../store/store.ts";
import { FINISHED_RUN_TTL_MS, type RunRecord, type RunSpec } from "./run-record.ts";

const NS = "run";
/** Runs whose end has not been recorded and handed on: what is looked at after a kill. */
const OPEN_NS = "run-open";
const SPEC_NS = "run-spec";
const PAGE = 500;

/** Whose run it is: one life of one gateway. */
export interface Owner {
  readonly gatewayId: string;
  readonly instanceId: string;
}

export class RunLedger {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get(runId: string): Promise<Versioned<RunRecord> | undefined> {
    return this.#store.get<RunRecord>(NS, runId);
  }

  /** False: the record was there before, whoever made it. With `spec`, what a later life needs to start it is kept too. */
  create(record: RunRecord, spec?: RunSpec): Promise<boolean> {
    const { runId } = record;
    return this.#store.createWith({ ns: NS, key: runId, value: record }, [
      { ns: OPEN_NS, key: runId, value: ownerOf(record) },
      ...(spec ? [{ ns: SPEC_NS, key: runId, value: spec, ttlMs: FINISHED_RUN_TTL_MS }] : []),
    ]);
  }

  /** As if it had never been created: nothing was started. */
  async withdraw(runId: string): Promise<void> {
    await Promise.all([this.#store.delete(NS, runId), this.close(runId)]);
  }

  /** The run is this life's to end and to hand on. */
  async reopen(record: RunRecord): Promise<void> {
    await this.#store.put(OPEN_NS, record.runId, ownerOf(record));
  }

  /** The new version, or `undefined` when somebody else has changed the record since `version`. */
  advance(version: number, record: RunRecord): Promise<number | undefined> {
    return this.#store.compareAndSet(NS, record.runId, version, record, ttl(record));
  }

  put(record: RunRecord): Promise<number> {
    return this.#store.put(NS, record.runId, record, ttl(record));
  }

  async spec(runId: string): Promise<RunSpec | undefined> {
    return (await this.#store.get<RunSpec>(SPEC_NS, runId))?.value;
  }

  /** It has left the line; what it was to be started with is not needed again. */
  async forgetSpec(runId: string): Promise<void> {
    await this.#store.delete(SPEC_NS, runId);
  }

  /** Its end has been handed on. */
  async close(runId: string): Promise<void> {
    await Promise.all([this.#store.delete(OPEN_NS, runId), this.forgetSpec(runId)]);
  }

  /** Runs that are not closed and whose owner is one of those wanted. */
  async open(wanted: (owner: Owner) => boolean): Promise<Versioned<RunRecord>[]> {
    const found: Versioned<RunRecord>[] = [];
    for (const { runId, owner } of await this.#owners()) {
      if (!wanted(owner)) continue;
      const record = await this.get(runId);
      // Its record has gone by its time, or was never there: nothing can be said of it.
      if (!record) await this.close(runId);
      else found.push(record);
    }
    return found;
  }

  /** Gateways that have runs which are not closed. */
  async gateways(): Promise<ReadonlySet<string>> {
    return new Set((await this.#owners()).map(({ owner }) => owner.gatewayId));
  }

  async #owners(): Promise<{ readonly runId: string; readonly owner: Owner }[]> {
    const found: { runId: string; owner: Owner }[] = [];
    for (let after: string | undefined; ; after = found.at(-1)?.runId) {
      const page = await this.#store.list<Owner>(OPEN_NS, { limit: PAGE, ...(after ? { after } : {}) });
      found.push(...page.map(({ key, value }) => ({ runId: key, owner: value })));
      if (page.length < PAGE) return found;
    }
  }
}

function ownerOf({ gatewayId, instanceId }: RunRecord): Owner {
  return { gatewayId, instanceId };
}

function ttl(record: RunRecord): { readonly ttlMs?: number } {
  return record.state === "finished" ? { ttlMs: FINISHED_RUN_TTL_MS } : {};
}
