/**
 * Runs: one record per command that was allowed to start. The record is the once-marker (it is created with
 * set-if-absent before anything is spawned), the trace a killed gateway leaves behind, and what cards are made from.
 *
 * Order of a start: record `queued` while it waits for a place → record `starting` → policy and binding checked again →
 * spawn → record `running` (pid) → … → record `finished` → announced. A kill between any two steps is found by
 * `sweep()`: nothing is run a second time, a queued command that a person asked for takes its place in line again, and
 * whoever asked is told what is known.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Host } from "../hosts/host.ts";
import type { Reason } from "../policy/decision.ts";
import { reasonPhrase } from "../policy/reasons.ts";
import type { EffectiveHost } from "../policy/types.ts";
import type { Leftovers } from "../process/leftovers.ts";
import type { ProcessSessions } from "../process/registry.ts";
import { RUN_MARK, runMark } from "../process/run-mark.ts";
import type { ProcessSession } from "../process/session.ts";
import type { EndInfo, ProcessHandle } from "../process/types.ts";
import type { Store, Versioned } from "../store/store.ts";
import { phrase, type Wording } from "../words/phrase.ts";
import { type Owner, RunLedger } from "./run-ledger.ts";
import { type Place, type RunLimits, RunQueue, type WaitReason } from "./run-queue.ts";
import { CARD_TAIL_CHARS, outcomeOf, type RunRecord, type RunSpec } from "./run-record.ts";
import type { RunRecorder } from "./run-recorder.ts";
import { diedNote, foundLost, lostNote, notRunNote } from "./run-recovery.ts";
import { untilStored } from "./until-stored.ts";

export * from "./run-record.ts";

/** How long a stopping gateway tries to record ends while the state can not be written. */
const SETTLE_MS = 5_000;

export interface LiveRun {
  readonly record: RunRecord;
  readonly session: ProcessSession;
  readonly handle: ProcessHandle;
  /** Settles once the record and the audit trail say that it is finished; handing the end on goes on after that. */
  readonly ended: Promise<{ readonly record: RunRecord; readonly end: EndInfo }>;
}

export type Launch =
  | { readonly kind: "started"; readonly run: LiveRun }
  /**
   * It waits for a place. `started` resolves once it runs, to `undefined` when it was taken out of the line; it rejects
   * with an `ExecError` when it could not be started after all.
   */
  | {
      readonly kind: "queued";
      readonly record: RunRecord;
      readonly session: ProcessSession;
      readonly started: Promise<LiveRun | undefined>;
    }
  /** The marker was there already: this run has been started before, by whoever; nothing was started now. */
  | { readonly kind: "duplicate"; readonly record: RunRecord };

export interface RunListener {
  queued?(record: RunRecord): void;
  started?(run: LiveRun): void;
  output?(run: LiveRun): void;
  /** At least once per run, also for runs that a killed gateway left behind. */
  finished(record: RunRecord): Promise<void>;
}

export interface RunsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly sessions: ProcessSessions;
  readonly leftovers: Leftovers;
  readonly gatewayId: string;
  readonly instanceId: string;
  readonly hosts: ReadonlyMap<EffectiveHost, Host>;
  /** Right before spawn: has anything that was approved changed? */
  readonly recheck: (spec: RunSpec) => Reason | undefined;
  /** For a run that waited, for a person or in line: does the policy deny it by now? The layer that does. */
  readonly revokedBy: (spec: RunSpec) => Promise<Wording | undefined>;
  readonly limits: () => RunLimits;
  /** May this life still start commands? False once another gateway may have reported its runs as lost. */
  readonly mayStart: () => boolean;
  /** Tries to be a life again that may: right after an outage it takes a moment. */
  readonly mayStartAgain: () => Promise<boolean>;
  /** Asked before anybody listens to a new child; absent: nothing is recorded. */
  readonly recorder?: Pick<RunRecorder, "started">;
  readonly channelContext: (spec: RunSpec) => Readonly<Record<string, string>>;
  readonly onError: (error: unknown, what: string) => void;
}

export class Runs {
  readonly #options: RunsOptions;
  readonly #ledger: RunLedger;
  readonly #queue: RunQueue;
  readonly #live = new Map<string, LiveRun>();
  readonly #queued = new Map<string, RunRecord>();
  /** Calls of `launch` at work, by run: a second one waits, so that it sees what the first one wrote. */
  readonly #launching = new Map<string, Promise<unknown>>();
  /** Runs that this life has gone on to start and whose end is not recorded. */
  readonly #begun = new Set<string>();
  /** Ends that are being handed on. */
  readonly #announcing = new Set<Promise<unknown>>();
  readonly #listeners = new Set<RunListener>();
  readonly #giveUp = new AbortController();
  #draining = false;

  constructor(options: RunsOptions) {
    this.#options = options;
    this.#ledger = new RunLedger(options.store);
    this.#queue = new RunQueue(options.limits);
  }

  listen(listener: RunListener): void {
    this.#listeners.add(listener);
  }

  /** What runs here now. */
  active(): readonly RunRecord[] {
    return [...this.#live.values()].map((run) => run.record);
  }

  /** What waits in line here, in the order it came. */
  queued(): readonly RunRecord[] {
    return [...this.#queued.values()];
  }

  live(runId: string): LiveRun | undefined {
    return this.#live.get(runId);
  }

  async get(runId: string): Promise<RunRecord | undefined> {
    return this.#live.get(runId)?.record ?? this.#queued.get(runId) ?? (await this.#ledger.get(runId))?.value;
  }

  /** Takes it out of the line, or stops it. True when it was waiting, starting or running here. */
  stop(runId: string): boolean {
    const session = this.#live.get(runId)?.session ?? this.#options.sessions.byRun(runId);
    if (!session || session.end !== undefined) return false;
    session.stop("manual-cancel");
    return true;
  }

  /** From now on nothing starts; what runs goes on until `shutdown` of the supervisor. */
  drain(): void {
    this.#draining = true;
    this.#queue.close();
  }

  /** Resolves when every run of this instance has been recorded as finished, or could not be within `withinMs`. */
  async settled(withinMs = SETTLE_MS): Promise<void> {
    const timer = setTimeout(() => this.#giveUp.abort(), withinMs);
    await Promise.allSettled([...this.#live.values()].map((run) => run.ended));
    await Promise.allSettled(this.#announcing);
    clearTimeout(timer);
  }

  /** `recorded`: what must be durable before anything starts; when it rejects nothing is started. */
  async launch(spec: RunSpec, recorded?: Promise<unknown>): Promise<Launch> {
    const { runId } = spec;
    for (let earlier = this.#launching.get(runId); earlier; earlier = this.#launching.get(runId)) {
      await earlier.catch(() => {});
    }
    const launching = this.#launch(spec, recorded);
    this.#launching.set(runId, launching);
    try {
      return await launching;
    } finally {
      this.#launching.delete(runId);
    }
  }

  async #launch(spec: RunSpec, recorded: Promise<unknown> | undefined): Promise<Launch> {
    if (this.#draining) {
      throw new ExecError("draining", phrase("error.draining"));
    }
    this.#hostOf(spec);
    const place = await this.#enter(spec);
    if ("known" in place) return { kind: "duplicate", record: place.known };
    const session = this.#reserve(spec);
    const record = this.#firstRecord(spec, session, place.waitsFor);
    const giveBack = () => {
      place.leave();
      this.#options.sessions.forget(session);
    };
    // Asked for together, so that a store that can makes one step of them: what was decided and that it may start.
    const created = this.#create(record, place.waitsFor === undefined ? undefined : spec);
    const [marker, written] = await Promise.allSettled([created, recorded]);
    if (marker.status === "rejected") {
      giveBack();
      throw marker.reason;
    }
    if (marker.value) {
      giveBack();
      return { kind: "duplicate", record: marker.value };
    }
    if (written.status === "rejected") {
      giveBack();
      const what = `taking back run ${spec.runId}, which was not started`;
      await this.#ledger.withdraw(spec.runId).catch((error) => this.#options.onError(error, what));
      throw written.reason;
    }
    if (place.waitsFor !== undefined) return this.#wait(spec, record, session, place);
    this.#begun.add(spec.runId);
    return { kind: "started", run: await this.#begin(spec, record, session, place) };
  }

  /** A place; where there is none, a run that was started before is still not refused. */
  async #enter(spec: RunSpec): Promise<Place | { readonly known: RunRecord }> {
    try {
      return this.#queue.enter(spec);
    } catch (error) {
      const known = await this.#ledger.get(spec.runId);
      if (known && !this.#isUnbegun(known.value)) return { known: known.value };
      throw error;
    }
  }

  /** The record that is in the way, or nothing when it is this one. */
  async #create(record: RunRecord, spec: RunSpec | undefined): Promise<RunRecord | undefined> {
    if (await this.#ledger.create(record, spec)) return undefined;
    const existing = await this.#ledger.get(record.runId);
    if (!existing || !this.#isUnbegun(existing.value)) return existing?.value ?? record;
    return (await this.#ledger.advance(existing.version, record)) === undefined ? existing.value : undefined;
  }

  /** Written by this life in a call whose answer was lost on the way: nothing was started, so it may be now. */
  #isUnbegun({ runId, state, instanceId }: RunRecord): boolean {
    const untouched = state === "starting" || state === "queued";
    return untouched && instanceId === this.#options.instanceId && !this.#begun.has(runId) && !this.#queued.has(runId);
  }

  #hostOf(spec: RunSpec): Host {
    const host = this.#options.hosts.get(spec.host);
    if (host) return host;
    throw new ExecError("host-unavailable", phrase("error.host.unavailable", { host: spec.host }));
  }

  #reserve(spec: RunSpec): ProcessSession {
    return this.#options.sessions.reserve({
      runId: spec.runId,
      command: spec.command,
      cwd: spec.cwd,
      host: spec.host,
      agentId: spec.agentId,
      sessionKey: spec.sessionKey,
    });
  }

  #firstRecord(spec: RunSpec, session: ProcessSession, reason: WaitReason | undefined): RunRecord {
    const { clock, gatewayId, instanceId } = this.#options;
    const { total, perAgent } = this.#options.limits();
    return {
      runId: spec.runId,
      state: reason === undefined ? "starting" : "queued",
      gatewayId,
      instanceId,
      sessionId: session.id,
      command: spec.command,
      cwd: spec.cwd,
      host: spec.host,
      agentId: spec.agentId,
      sessionKey: spec.sessionKey,
      requester: spec.requester,
      report: spec.report,
      startedAtMs: clock.now(),
      tail: "",
      totalChars: 0,
      notes: [],
      ...(reason === undefined ? {} : { waitsFor: { reason, limit: reason === "gateway-busy" ? total : perAgent } }),
      ...(spec.approvalId ? { approvalId: spec.approvalId } : {}),
      ...(spec.node ? { node: spec.node } : {}),
      ...(spec.route ? { route: spec.route } : {}),
      ...(spec.timeoutMs !== undefined ? { timeoutMs: spec.timeoutMs } : {}),
      ...(spec.cardAfterMs !== undefined ? { cardAfterMs: spec.cardAfterMs } : {}),
    };
  }

  #wait(spec: RunSpec, record: RunRecord, session: ProcessSession, place: Place): Extract<Launch, { kind: "queued" }> {
    session.waitInLine(place.leave);
    if (spec.background) session.background();
    this.#queued.set(spec.runId, record);
    for (const listener of this.#listeners) listener.queued?.(record);
    const started = this.#startInTurn(spec, record, session, place);
    started.catch((error) => {
      // The record and the card say why; only what was not foreseen is for the log.
      if (!(error instanceof ExecError)) this.#options.onError(error, `starting run ${spec.runId} from the line`);
    });
    return { kind: "queued", record, session, started };
  }

  async #startInTurn(
    spec: RunSpec,
    record: RunRecord,
    session: ProcessSession,
    place: Place,
  ): Promise<LiveRun | undefined> {
    try {
      if (!(await place.taken) || session.stopWanted) {
        await this.#leftLine(record, session);
        return undefined;
      }
      const { waitsFor: _, ...rest } = record;
      const starting: RunRecord = { ...rest, state: "starting", startedAtMs: this.#options.clock.now() };
      const mine = await this.#stored(`starting run ${spec.runId}`, async () => {
        const found = await this.#ledger.get(spec.runId);
        if (found?.value.instanceId !== record.instanceId || found.value.state === "finished") return false;
        return found.value.state === "starting" || (await this.#ledger.advance(found.version, starting)) !== undefined;
      });
      if (!mine) {
        session.fail(phrase("error.reportedLost"));
        throw new ExecError("state-unavailable", phrase("error.reportedLost"));
      }
      this.#begun.add(spec.runId);
      this.#queued.delete(spec.runId);
      session.leftLine();
      return await this.#begin(spec, starting, session, place);
    } finally {
      this.#queued.delete(spec.runId);
      if (!this.#live.has(spec.runId)) place.leave();
    }
  }

  /** Somebody took it out of the line before its turn. */
  async #leftLine(record: RunRecord, session: ProcessSession): Promise<void> {
    const note = phrase("run.stoppedInLine");
    session.fail(note, "manual-cancel");
    const { waitsFor: _, ...rest } = record;
    await this.#finish({
      ...rest,
      state: "finished",
      outcome: "killed",
      endedAtMs: this.#options.clock.now(),
      durationMs: 0,
      notes: [note],
      backgrounded: session.backgrounded,
    });
  }

  /** Checks again what may have changed since it was allowed, and spawns. */
  async #begin(spec: RunSpec, starting: RunRecord, session: ProcessSession, place: Place): Promise<LiveRun> {
    try {
      if (!this.#options.mayStart()) await this.#regainTouch(spec.runId);
      if (spec.approvalId || place.waitsFor) {
        const layer = await this.#options.revokedBy(spec);
        if (layer) throw new ExecError("exec-denied", phrase("error.exec.deniedByNow", { layer }));
      }
      const changed = this.#options.recheck(spec);
      if (changed) throw new ExecError("approval-changed", reasonPhrase(changed), { reason: changed.code });
      if (!this.#options.mayStart()) throw outOfTouch();
      const handle = await this.#hostOf(spec).run({
        plan: spec.plan,
        cwd: spec.cwd,
        env: spec.env,
        marks: { ...this.#options.channelContext(spec), [RUN_MARK]: runMark(starting) },
        pathPrepend: spec.pathPrepend,
        pty: spec.pty,
        stdin: spec.stdin,
        agentId: spec.agentId,
        sessionKey: spec.sessionKey,
        ...(spec.timeoutMs ? { timeoutMs: spec.timeoutMs } : {}),
      });
      return await this.#attach(spec, starting, session, handle, place);
    } catch (error) {
      place.leave();
      const note = error instanceof ExecError ? error.wording : phrase("run.couldNotStart");
      if (session.backgrounded) session.fail(note);
      else this.#options.sessions.forget(session);
      await this.#neverStarted(starting, note, session.backgrounded);
      throw error;
    }
  }

  /** Nobody reports the runs of a gateway that is in touch: what was reported before is seen here, and not started. */
  async #regainTouch(runId: string): Promise<void> {
    if (!(await this.#options.mayStartAgain())) throw outOfTouch();
    if ((await this.#ledger.get(runId))?.value.state !== "finished") return;
    throw new ExecError("state-unavailable", phrase("error.outOfTouch"));
  }

  async #attach(
    spec: RunSpec,
    starting: RunRecord,
    session: ProcessSession,
    handle: ProcessHandle,
    place: Place,
  ): Promise<LiveRun> {
    const { audit, onError } = this.#options;
    const recording = this.#options.recorder?.started({ record: starting, handle }) ?? false;
    const record: RunRecord = {
      ...starting,
      state: "running",
      ...(handle.pid ? { pid: handle.pid } : {}),
      ...(recording ? { recorded: true } : {}),
    };
    session.attach(handle);
    if (spec.background) session.background();
    // Both begin in this tick, so a command that ends at once is still recorded in order: running, then finished. It
    // runs now whether or not that could be stored: a failure is for the log, not for the caller.
    const recorded = Promise.all([
      this.#ledger.put(record),
      audit.record({
        type: "run-started",
        runId: record.runId,
        requestId: record.runId,
        command: record.command,
        cwd: record.cwd,
        host: record.host,
        plan: spec.plan.kind,
        bindingHash: spec.binding.hash,
        ...(record.approvalId ? { approvalId: record.approvalId } : {}),
        ...(record.pid ? { pid: record.pid } : {}),
      }),
    ]).then(
      ([version]) => version,
      (error) => onError(error, `recording the start of run ${record.runId}`),
    );
    const ended = handle.ended.then(async (end) => {
      place.leave();
      const version = await recorded;
      const finished = await this.#finish(this.#finishedRecord(record, session, end), version ?? undefined);
      return { record: finished, end };
    });
    ended
      .catch((error) => onError(error, `recording the end of run ${record.runId}`))
      .finally(() => this.#live.delete(record.runId));
    const run: LiveRun = { record, session, handle, ended };
    this.#live.set(record.runId, run);
    for (const listener of this.#listeners) listener.started?.(run);
    const changed = (): void => {
      for (const listener of this.#listeners) listener.output?.(run);
    };
    handle.onOutput(changed, changed);
    await recorded;
    return run;
  }

  #finishedRecord(record: RunRecord, session: ProcessSession, end: EndInfo): RunRecord {
    return {
      ...record,
      state: "finished",
      endedAtMs: this.#options.clock.now(),
      durationMs: Math.round(end.durationMs),
      outcome: outcomeOf(end),
      exitCode: end.exitCode,
      exitSignal: end.exitSignal,
      tail: session.tail(CARD_TAIL_CHARS, "colored"),
      totalChars: session.totalChars,
      ...beginningOf(session),
      notes: end.notes,
      backgrounded: session.backgrounded,
      observed: session.endObserved,
    };
  }

  async #neverStarted(starting: RunRecord, note: Wording, backgrounded: boolean): Promise<void> {
    await this.#finish({
      ...starting,
      state: "finished",
      outcome: "not-started",
      endedAtMs: this.#options.clock.now(),
      durationMs: 0,
      notes: [note],
      backgrounded,
    });
  }

  /**
   * Records the end, and begins to hand it on; goes on trying while the state can not be written. `version`: of the record
   * as this life wrote it last.
   */
  async #finish(record: RunRecord, version?: number): Promise<RunRecord> {
    const what = `the end of run ${record.runId}`;
    const [finished] = await Promise.all([
      this.#stored(what, () => this.#writeEnd(record, version)),
      this.#stored(what, () => this.#recordEnd(record)),
    ]);
    this.#begun.delete(record.runId);
    this.#live.delete(record.runId);
    // In the next turn: whoever waits for the end itself is answered first.
    const announcing = nextTurn()
      .then(() => this.#stored(what, () => this.#announce(finished)))
      .catch((error) => this.#options.onError(error, `handing on ${what}`))
      .finally(() => this.#announcing.delete(announcing));
    this.#announcing.add(announcing);
    return finished;
  }

  /** The record as written: it says so when somebody had reported the run as lost in the meantime. */
  async #writeEnd(record: RunRecord, version: number | undefined): Promise<RunRecord> {
    if (version !== undefined && (await this.#ledger.advance(version, record)) !== undefined) return record;
    const before = await this.#ledger.get(record.runId);
    const corrected: RunRecord = foundLost(before?.value) ? { ...record, corrects: true } : record;
    await this.#ledger.put(corrected);
    return corrected;
  }

  #stored<T>(what: string, act: () => Promise<T>): Promise<T> {
    return untilStored(act, this.#giveUp.signal, (error) => this.#options.onError(error, what));
  }

  async #recordEnd(record: RunRecord): Promise<void> {
    await this.#options.audit.record({
      type: "run-ended",
      runId: record.runId,
      outcome: record.outcome ?? "lost",
      ...(record.exitCode !== undefined ? { exitCode: record.exitCode } : {}),
      ...(record.exitSignal !== undefined ? { exitSignal: record.exitSignal } : {}),
      ...(record.durationMs !== undefined ? { durationMs: record.durationMs } : {}),
    });
  }

  /** Listeners hand the end to the queue under idempotent ids; only then is the record marked. */
  async #announce(record: RunRecord): Promise<void> {
    for (const listener of this.#listeners) await listener.finished(record);
    await this.#ledger.close(record.runId);
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

  /** Gateways that have runs which are not ended and handed on. */
  openGateways(): Promise<ReadonlySet<string>> {
    return this.#ledger.gateways();
  }

  async #recover(
    wanted: (owner: Owner) => boolean,
    note: (record: RunRecord, wasAlive: boolean) => Wording,
    mayQueue: boolean,
  ): Promise<readonly RunRecord[]> {
    const found = await this.#ledger.open(wanted);
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
    for (const { value } of found.filter((one) => one.value.state === "finished")) await this.#announce(value);
    const waited = found.filter(({ value }) => value.state === "queued");
    for (const one of waited.sort((a, b) => a.value.startedAtMs - b.value.startedAtMs)) {
      if (!(mayQueue && (await this.#readmit(one)))) {
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
    if ((await this.#ledger.advance(version, finished)) === undefined) return undefined;
    await this.#recordEnd(finished);
    await this.#announce(finished);
    return finished;
  }

  /** Back in line under this life; false when that is not possible or nobody is there to see it run. */
  async #readmit({ value, version }: Versioned<RunRecord>): Promise<boolean> {
    const spec = value.report === "card" ? await this.#ledger.spec(value.runId) : undefined;
    if (!spec || !this.#options.hosts.has(spec.host)) return false;
    const session = this.#reserve(spec);
    const record: RunRecord = { ...value, instanceId: this.#options.instanceId, sessionId: session.id };
    if ((await this.#ledger.advance(version, record)) === undefined) {
      this.#options.sessions.forget(session);
      return true;
    }
    await this.#ledger.reopen(record);
    const place = this.#queue.enter(spec, { readmit: true });
    this.#wait(spec, record, session, place);
    return true;
  }
}

function outOfTouch(): ExecError {
  return new ExecError("state-unavailable", phrase("error.stateLost"));
}

/** What the tail does not tell: how it began and of how many lines it is. Nothing when the tail is all there is. */
function beginningOf(session: ProcessSession): Pick<RunRecord, "head" | "totalLines"> {
  if (session.totalChars <= CARD_TAIL_CHARS) return {};
  const head = session.head();
  if (session.lost) return { head };
  return {
    head,
    totalLines: session
      .aggregated()
      .replace(/\r?\n$/, "")
      .split("\n").length,
  };
}
