/**
 * Runs that wait for a place: recorded as `queued`, shown as such, and started in their turn by whoever holds the record
 * then. `run-queue.ts` says whose turn it is; the record is what survives a kill.
 */
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { ProcessSession } from "../process/session.ts";
import type { Versioned } from "../store/store.ts";
import { phrase } from "../words/phrase.ts";
import type { RunEnds } from "./run-ends.ts";
import type { RunLedger } from "./run-ledger.ts";
import { type Place, type RunLimits, RunQueue, type WaitReason } from "./run-queue.ts";
import type { RunRecord, RunSpec } from "./run-record.ts";

export interface RunLineOptions<Started> {
  readonly ledger: RunLedger;
  readonly ends: RunEnds;
  readonly clock: Clock;
  readonly instanceId: string;
  readonly limits: () => RunLimits;
  /** Its session; `undefined` when its host is not there. */
  readonly reserve: (spec: RunSpec) => ProcessSession | undefined;
  readonly forget: (session: ProcessSession) => void;
  /** From here on this life goes on to start it, whatever becomes of that. */
  readonly onTurn: (runId: string) => void;
  readonly begin: (spec: RunSpec, starting: RunRecord, session: ProcessSession, place: Place) => Promise<Started>;
  readonly finish: (record: RunRecord) => Promise<RunRecord>;
  readonly onQueued: (record: RunRecord) => void;
  readonly onError: (error: unknown, what: string) => void;
}

export interface InLine<Started> {
  readonly kind: "queued";
  readonly record: RunRecord;
  readonly session: ProcessSession;
  /**
   * Resolves once it runs, to `undefined` when it was taken out of the line; rejects with an `ExecError` when it could not be
   * started after all.
   */
  readonly started: Promise<Started | undefined>;
}

export class RunLine<Started> {
  readonly #options: RunLineOptions<Started>;
  readonly #queue: RunQueue;
  readonly #queued = new Map<string, RunRecord>();

  constructor(options: RunLineOptions<Started>) {
    this.#options = options;
    this.#queue = new RunQueue(options.limits);
  }

  /** What waits here, in the order it came. */
  records(): readonly RunRecord[] {
    return [...this.#queued.values()];
  }

  get(runId: string): RunRecord | undefined {
    return this.#queued.get(runId);
  }

  /** A place, at once or in turn; throws as {@link RunQueue.enter} does. */
  enter(spec: RunSpec): Place {
    return this.#queue.enter(spec);
  }

  /** What a record says of the limit that keeps it waiting. */
  waitOf(reason: WaitReason | undefined): RunRecord["waitsFor"] {
    if (reason === undefined) return undefined;
    const { total, perAgent } = this.#options.limits();
    return { reason, limit: reason === "gateway-busy" ? total : perAgent };
  }

  /** Nobody is let in any more. */
  close(): void {
    this.#queue.close();
  }

  wait(spec: RunSpec, record: RunRecord, session: ProcessSession, place: Place): InLine<Started> {
    session.waitInLine(place.leave);
    if (spec.background) session.background();
    this.#queued.set(spec.runId, record);
    this.#options.onQueued(record);
    const started = this.#startInTurn(spec, record, session, place);
    started.catch((error) => {
      // The record and the card say why; only what was not foreseen is for the log.
      if (!(error instanceof ExecError)) this.#options.onError(error, `starting run ${spec.runId} from the line`);
    });
    return { kind: "queued", record, session, started };
  }

  /** Back in line under this life; false when that is not possible or nobody is there to see it run. */
  async readmit({ value, version }: Versioned<RunRecord>): Promise<boolean> {
    const { ledger, instanceId } = this.#options;
    const spec = value.report === "card" ? await ledger.spec(value.runId) : undefined;
    const session = spec && this.#options.reserve(spec);
    if (!spec || !session) return false;
    const record: RunRecord = { ...value, instanceId, sessionId: session.id };
    if ((await ledger.advance(version, record)) === undefined) {
      this.#options.forget(session);
      return true;
    }
    await ledger.reopen(record);
    this.wait(spec, record, session, this.#queue.enter(spec, { readmit: true }));
    return true;
  }

  async #startInTurn(
    spec: RunSpec,
    record: RunRecord,
    session: ProcessSession,
    place: Place,
  ): Promise<Started | undefined> {
    let isStarted = false;
    try {
      if (!(await place.taken) || session.stopWanted) {
        await this.#left(record, session);
        return undefined;
      }
      const { waitsFor: _, ...rest } = record;
      const starting: RunRecord = { ...rest, state: "starting", startedAtMs: this.#options.clock.now() };
      if (!(await this.#claim(record, starting))) {
        session.fail(phrase("error.reportedLost"));
        throw new ExecError("state-unavailable", phrase("error.reportedLost"));
      }
      this.#options.onTurn(spec.runId);
      this.#queued.delete(spec.runId);
      session.leftLine();
      const started = await this.#options.begin(spec, starting, session, place);
      isStarted = true;
      return started;
    } finally {
      this.#queued.delete(spec.runId);
      if (!isStarted) place.leave();
    }
  }

  /** False when another gateway has reported it as lost meanwhile. */
  #claim({ instanceId }: RunRecord, starting: RunRecord): Promise<boolean> {
    const { ends, ledger } = this.#options;
    return ends.stored(`starting run ${starting.runId}`, async () => {
      const found = await ledger.get(starting.runId);
      if (found?.value.instanceId !== instanceId || found.value.state === "finished") return false;
      return found.value.state === "starting" || (await ledger.advance(found.version, starting)) !== undefined;
    });
  }

  /** Somebody took it out of the line before its turn. */
  async #left(record: RunRecord, session: ProcessSession): Promise<void> {
    const note = phrase("run.stoppedInLine");
    session.fail(note, "manual-cancel");
    const { waitsFor: _, ...rest } = record;
    await this.#options.finish({
      ...rest,
      state: "finished",
      outcome: "killed",
      endedAtMs: this.#options.clock.now(),
      durationMs: 0,
      notes: [note],
      backgrounded: session.backgrounded,
    });
  }
}
