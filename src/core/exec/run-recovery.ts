/**
 * What a killed gateway left behind, found at the next start or by another gateway: nothing runs a second time, and
 * whoever asked is told what is known.
 */
import type { Clock } from "../clock.ts";
import type { Leftovers } from "../process/leftovers.ts";
import { runMark } from "../process/run-mark.ts";
import type { Versioned } from "../store/store.ts";
import type { Wording } from "../words/phrase.ts";
import type { RunEnds } from "./run-ends.ts";
import type { Owner, RunLedger } from "./run-ledger.ts";
import { diedNote, lostNote, notRunNote } from "./run-loss.ts";
import type { RunRecord } from "./run-record.ts";

export interface RunRecoveryOptions {
  readonly ledger: RunLedger;
  readonly ends: RunEnds;
  readonly clock: Clock;
  readonly leftovers: Leftovers;
  readonly gatewayId: string;
  readonly instanceId: string;
  /** Puts a run that waited back in line; false when that is not possible or nobody is there to see it run. */
  readonly readmit: (found: Versioned<RunRecord>) => Promise<boolean>;
}

export class RunRecovery {
  readonly #options: RunRecoveryOptions;

  constructor(options: RunRecoveryOptions) {
    this.#options = options;
  }

  /**
   * At start: what did an earlier life of this gateway leave behind? Its children are stopped, its runs are reported
   * as lost, ends that were recorded but not handed on are handed on, and what waited in line for a person stands in
   * line again. Resolves to the runs that were lost.
   */
  async sweep(): Promise<readonly RunRecord[]> {
    const { gatewayId, instanceId } = this.#options;
    return this.#recover(
      (owner) => owner.gatewayId === gatewayId && owner.instanceId !== instanceId,
      (record, wasAlive) => lostNote(record, wasAlive),
      true,
    );
  }

  /** Another gateway is gone: its runs are reported, none is started. Resolves to the runs that were lost. */
  async reportDead(gatewayId: string): Promise<readonly RunRecord[]> {
    return this.#recover(
      (owner) => owner.gatewayId === gatewayId,
      (record) => diedNote(record),
      false,
    );
  }

  async #recover(
    wanted: (owner: Owner) => boolean,
    note: (record: RunRecord, wasAlive: boolean) => Wording,
    mayQueue: boolean,
  ): Promise<readonly RunRecord[]> {
    const found = await this.#options.ledger.open(wanted);
    const cutOff = found.filter(({ value }) => value.state === "starting" || value.state === "running");
    const stillAlive = await this.#options.leftovers.stop(new Set(cutOff.map(({ value }) => runMark(value))));
    const lost: RunRecord[] = [];
    for (const { value, version } of cutOff) {
      const ended = await this.#endBySweep(
        { value, version },
        { outcome: "lost", notes: [note(value, stillAlive.has(runMark(value)))] },
      );
      if (ended) lost.push(ended);
    }
    for (const { value } of found.filter((one) => one.value.state === "finished"))
      await this.#options.ends.handOn(value);
    const waited = found.filter(({ value }) => value.state === "queued");
    for (const one of waited.sort((a, b) => a.value.startedAtMs - b.value.startedAtMs)) {
      if (!(mayQueue && (await this.#options.readmit(one)))) {
        await this.#endBySweep(one, { outcome: "not-started", notes: [notRunNote(one.value, mayQueue)] });
      }
    }
    return lost;
  }

  async #endBySweep(
    { value, version }: Versioned<RunRecord>,
    end: Pick<RunRecord, "notes"> & { readonly outcome: "lost" | "not-started" },
  ): Promise<RunRecord | undefined> {
    const { waitsFor: _, ...rest } = value;
    const finished: RunRecord = {
      ...rest,
      ...end,
      state: "finished",
      endedAtMs: this.#options.clock.now(),
      ...(end.outcome === "not-started" ? { durationMs: 0 } : {}),
    };
    // Somebody else was quicker: the run itself, whose gateway was not gone after all, or another gateway.
    if ((await this.#options.ledger.advance(version, finished)) === undefined) return undefined;
    await this.#options.ends.audited(finished);
    await this.#options.ends.handOn(finished);
    return finished;
  }
}
