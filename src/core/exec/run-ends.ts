/**
 * How a run ends: the record and the audit trail say so, then whoever listens hands the end on, at least once. Goes on
 * trying while the state can not be written.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Audit } from "../audit/audit.ts";
import type { RunLedger } from "./run-ledger.ts";
import { foundLost } from "./run-loss.ts";
import type { RunRecord } from "./run-record.ts";
import { untilStored } from "./until-stored.ts";

/** How long a stopping gateway tries to record ends while the state can not be written. */
const SETTLE_MS = 5_000;

export interface RunEndsOptions {
  readonly ledger: RunLedger;
  readonly audit: Audit;
  /** Hands the end to the queue under idempotent ids, for every listener. */
  readonly announce: (record: RunRecord) => Promise<void>;
  readonly onError: (error: unknown, what: string) => void;
}

export class RunEnds {
  readonly #options: RunEndsOptions;
  /** Ends that are being handed on. */
  readonly #handingOn = new Set<Promise<unknown>>();
  readonly #giveUp = new AbortController();

  constructor(options: RunEndsOptions) {
    this.#options = options;
  }

  /**
   * Records the end, and begins to hand it on; goes on trying while the state can not be written. `version`: of the record
   * as this life wrote it last.
   */
  async record(record: RunRecord, version?: number): Promise<RunRecord> {
    const what = `the end of run ${record.runId}`;
    const [finished] = await Promise.all([
      this.stored(what, () => this.#writeEnd(record, version)),
      this.stored(what, () => this.audited(record)),
    ]);
    // In the next turn: whoever waits for the end itself is answered first.
    const handing = nextTurn()
      .then(() => this.stored(what, () => this.handOn(finished)))
      .catch((error) => this.#options.onError(error, `handing on ${what}`))
      .finally(() => this.#handingOn.delete(handing));
    this.#handingOn.add(handing);
    return finished;
  }

  /** The record as written: it says so when somebody had reported the run as lost in the meantime. */
  async #writeEnd(record: RunRecord, version: number | undefined): Promise<RunRecord> {
    const { ledger } = this.#options;
    if (version !== undefined && (await ledger.advance(version, record)) !== undefined) return record;
    const before = await ledger.get(record.runId);
    const corrected: RunRecord = foundLost(before?.value) ? { ...record, corrects: true } : record;
    await ledger.put(corrected);
    return corrected;
  }

  /** Tries until it is stored, or `settled` gives up. */
  stored<T>(what: string, act: () => Promise<T>): Promise<T> {
    return untilStored(act, this.#giveUp.signal, (error) => this.#options.onError(error, what));
  }

  /** The end in the trail. */
  async audited(record: RunRecord): Promise<void> {
    await this.#options.audit.record({
      type: "run-ended",
      runId: record.runId,
      outcome: record.outcome ?? "lost",
      ...(record.exitCode !== undefined ? { exitCode: record.exitCode } : {}),
      ...(record.exitSignal !== undefined ? { exitSignal: record.exitSignal } : {}),
      ...(record.durationMs !== undefined ? { durationMs: record.durationMs } : {}),
    });
  }

  /** Only once it has been handed on is the record marked. */
  async handOn(record: RunRecord): Promise<void> {
    await this.#options.announce(record);
    await this.#options.ledger.close(record.runId);
  }

  /** Resolves when those that are about to be recorded (`ending`) are recorded and handed on, or could not be in time. */
  async settled(ending: readonly Promise<unknown>[], withinMs = SETTLE_MS): Promise<void> {
    const timer = setTimeout(() => this.#giveUp.abort(), withinMs);
    await Promise.allSettled(ending);
    await Promise.allSettled(this.#handingOn);
    clearTimeout(timer);
  }
}
