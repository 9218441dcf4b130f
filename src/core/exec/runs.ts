/**
 * Runs: one record per command that was allowed to start. The record is the once-marker (it is created with
 * set-if-absent before anything is spawned), the trace a killed gateway leaves behind, and what cards are made from.
 *
 * Order of a start: record `queued` while it waits for a place → record `starting` → policy and binding checked again →
 * spawn → record `running` (pid) → … → record `finished` → announced. A kill between any two steps is found by
 * `sweep()`: nothing is run a second time, a queued command that a person asked for takes its place in line again, and
 * whoever asked is told what is known.
 */

import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Host, NodeRun } from "../hosts/host.ts";
import type { NodeRunEnd } from "../hosts/node/types.ts";
import type { Reason } from "../policy/decision.ts";
import type { NodeTarget } from "../policy/node-target.ts";
import { reasonPhrase } from "../policy/reasons.ts";
import type { EffectiveHost } from "../policy/types.ts";
import type { Leftovers } from "../process/leftovers.ts";
import type { ProcessSessions } from "../process/registry.ts";
import { RUN_MARK, runMark } from "../process/run-mark.ts";
import type { ProcessSession } from "../process/session.ts";
import type { EndInfo, ProcessHandle } from "../process/types.ts";
import type { Store } from "../store/store.ts";
import { phrase, type Wording } from "../words/phrase.ts";
import { RunEnds } from "./run-ends.ts";
import { RunLedger } from "./run-ledger.ts";
import { type InLine, RunLine } from "./run-line.ts";
import type { Place, RunLimits } from "./run-queue.ts";
import { correctedRecord, finishedRecord, firstRecord, type RunRecord, type RunSpec } from "./run-record.ts";
import type { RunRecorder } from "./run-recorder.ts";
import { RunRecovery } from "./run-recovery.ts";

export * from "./run-record.ts";

export interface LiveRun {
  readonly record: RunRecord;
  readonly session: ProcessSession;
  readonly handle: ProcessHandle;
  /** Settles once the record and the audit trail say that it is finished; handing the end on goes on after that. */
  readonly ended: Promise<{ readonly record: RunRecord; readonly end: EndInfo }>;
}

export type Launch =
  | { readonly kind: "started"; readonly run: LiveRun }
  /** It waits for a place. */
  | InLine<LiveRun>
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
  readonly #line: RunLine<LiveRun>;
  readonly #live = new Map<string, LiveRun>();
  /** Calls of `launch` at work, by run: a second one waits, so that it sees what the first one wrote. */
  readonly #launching = new Map<string, Promise<unknown>>();
  /** Runs that this life has gone on to start and whose end is not recorded. */
  readonly #begun = new Set<string>();
  readonly #listeners = new Set<RunListener>();
  readonly #ends: RunEnds;
  readonly #recovery: RunRecovery;
  #draining = false;

  constructor(options: RunsOptions) {
    this.#options = options;
    this.#ledger = new RunLedger(options.store);
    this.#ends = new RunEnds({
      ledger: this.#ledger,
      audit: options.audit,
      announce: async (record) => {
        for (const listener of this.#listeners) await listener.finished(record);
      },
      onError: options.onError,
    });
    this.#line = new RunLine({
      ...{ ledger: this.#ledger, ends: this.#ends, clock: options.clock, instanceId: options.instanceId },
      limits: options.limits,
      reserve: (spec) => (options.hosts.has(spec.host) ? this.#reserve(spec) : undefined),
      forget: (session) => options.sessions.forget(session),
      onTurn: (runId) => this.#begun.add(runId),
      begin: (spec, starting, session, place) => this.#begin(spec, starting, session, place),
      finish: (record) => this.#finish(record),
      onQueued: (record) => {
        for (const listener of this.#listeners) listener.queued?.(record);
      },
      onError: options.onError,
    });
    this.#recovery = new RunRecovery({
      ledger: this.#ledger,
      ends: this.#ends,
      clock: options.clock,
      leftovers: options.leftovers,
      gatewayId: options.gatewayId,
      instanceId: options.instanceId,
      readmit: (found) => this.#line.readmit(found),
    });
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
    return this.#line.records();
  }

  live(runId: string): LiveRun | undefined {
    return this.#live.get(runId);
  }

  async get(runId: string): Promise<RunRecord | undefined> {
    return this.#live.get(runId)?.record ?? this.#line.get(runId) ?? (await this.#ledger.get(runId))?.value;
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
    this.#line.close();
  }

  /** Resolves when every run of this instance has been recorded as finished, or could not be within `withinMs`. */
  settled(withinMs?: number): Promise<void> {
    return this.#ends.settled(
      [...this.#live.values()].map((run) => run.ended),
      withinMs,
    );
  }

  /** Runs of earlier lives of this gateway: reported, and what waited in line for a person stands in line again. */
  sweep(): Promise<readonly RunRecord[]> {
    return this.#recovery.sweep();
  }

  /** Another gateway is gone: its runs are reported, none is started. Resolves to the runs that were lost. */
  reportDead(gatewayId: string): Promise<readonly RunRecord[]> {
    return this.#recovery.reportDead(gatewayId);
  }

  /**
   * A node tells how a run ended that had been reported as lost: the record is corrected and the end handed on, once. False
   * while it may still be reported: ask again. True also for what is not this node's to tell.
   */
  async correct(runId: string, nodeId: string, end: NodeRunEnd): Promise<boolean> {
    const found = await this.#ledger.get(runId);
    if (found?.value.host !== "node" || found.value.node?.id !== nodeId) return true;
    const { value, version } = found;
    if (value.state !== "finished") return false;
    // Nobody knows more than before, or it was corrected already.
    if (value.outcome !== "lost" || value.corrects || end.reason === "lost") return true;
    const corrected = correctedRecord(value, end, this.#options.clock.now());
    await this.#ledger.reopen({
      ...corrected,
      gatewayId: this.#options.gatewayId,
      instanceId: this.#options.instanceId,
    });
    if ((await this.#ledger.advance(version, corrected)) === undefined) return false;
    await this.#ends.audited(corrected);
    await this.#ends.handOn(corrected);
    return true;
  }

  /** Gateways that have runs which are not ended and handed on. */
  openGateways(): Promise<ReadonlySet<string>> {
    return this.#ledger.gateways();
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
    const { clock, gatewayId, instanceId } = this.#options;
    const about = { gatewayId, instanceId, sessionId: session.id, startedAtMs: clock.now() };
    const record = firstRecord(spec, about, this.#line.waitOf(place.waitsFor));
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
    if (place.waitsFor !== undefined) return this.#line.wait(spec, record, session, place);
    this.#begun.add(spec.runId);
    return { kind: "started", run: await this.#begin(spec, record, session, place) };
  }

  /** A place; where there is none, a run that was started before is still not refused. */
  async #enter(spec: RunSpec): Promise<Place | { readonly known: RunRecord }> {
    try {
      return this.#line.enter(spec);
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
    return (
      untouched &&
      instanceId === this.#options.instanceId &&
      !this.#begun.has(runId) &&
      this.#line.get(runId) === undefined
    );
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
        ...(spec.node ? { node: nodeRunOf(spec, spec.node) } : {}),
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
        ...(record.node ? { node: record.node } : {}),
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
      const finished = await this.#finish(
        finishedRecord(record, session, end, this.#options.clock.now()),
        version ?? undefined,
      );
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

  /** `version`: of the record as this life wrote it last. */
  async #finish(record: RunRecord, version?: number): Promise<RunRecord> {
    const finished = await this.#ends.record(record, version);
    this.#begun.delete(record.runId);
    this.#live.delete(record.runId);
    return finished;
  }
}

function nodeRunOf({ runId, command, binding, consent }: RunSpec, node: NodeTarget): NodeRun {
  return { ...node, runId, command, binding, ...(consent ? { consent } : {}) };
}

function outOfTouch(): ExecError {
  return new ExecError("state-unavailable", phrase("error.stateLost"));
}
