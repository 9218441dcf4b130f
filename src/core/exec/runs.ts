/**
 * Runs: one record per command that was allowed to start. The record is the once-marker (it is created with
 * set-if-absent before anything is spawned), the trace a killed gateway leaves behind, and what cards are made from.
 *
 * Order of a start: record `starting` → binding checked again → spawn → record `running` (pid) → … → record
 * `finished` → announced. A kill between any two steps is found by `sweep()` at the next start: nothing is run a
 * second time, and whoever asked is told what is known.
 */

import type { Audit } from "../audit/audit.ts";
import type { RunOutcome } from "../cards.ts";
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Host } from "../hosts/host.ts";
import type { Binding, Plan, Reason } from "../policy/decision.ts";
import type { EffectiveHost } from "../policy/types.ts";
import type { Leftovers } from "../process/leftovers.ts";
import { RUN_MARK } from "../process/leftovers.ts";
import type { ProcessSessions } from "../process/registry.ts";
import type { ProcessSession } from "../process/session.ts";
import type { EndInfo, ProcessHandle } from "../process/types.ts";
import type { Actor, Route } from "../route.ts";
import type { Store } from "../store/store.ts";

/** What is kept of a finished run, for "Run again" and late questions. */
export const FINISHED_RUN_TTL_MS = 7 * 24 * 3_600_000;
/** Characters of output kept in the record and shown on the card. */
export const CARD_TAIL_CHARS = 4_000;

export type RunState = "starting" | "running" | "finished";

export interface RunRecord {
  readonly runId: string;
  readonly state: RunState;
  readonly gatewayId: string;
  /** One life of a gateway process: a record of another instance of the same gateway was cut off by its end. */
  readonly instanceId: string;
  readonly sessionId: string;
  readonly approvalId?: string;
  readonly command: string;
  readonly cwd: string;
  readonly host: EffectiveHost;
  readonly node?: string;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly requester: Actor;
  readonly route?: Route;
  /** `card`: a person asked in a chat, or decided it there; the run has its own card. `event`: an agent is told. */
  readonly report: "card" | "event" | "none";
  readonly timeoutMs?: number;
  readonly startedAtMs: number;
  readonly pid?: number;
  readonly endedAtMs?: number;
  readonly durationMs?: number;
  readonly outcome?: RunOutcome;
  readonly exitCode?: number | null;
  readonly exitSignal?: string | null;
  readonly tail: string;
  readonly totalChars: number;
  readonly notes: readonly string[];
  /** The call that started it had returned before it ended. */
  readonly backgrounded?: boolean;
  /** A poll had shown the end before it was recorded. */
  readonly observed?: boolean;
}

export interface RunSpec {
  readonly runId: string;
  readonly approvalId?: string;
  readonly command: string;
  readonly plan: Plan;
  readonly binding: Binding;
  readonly cwd: string;
  readonly host: EffectiveHost;
  readonly node?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly pathPrepend: readonly string[];
  readonly pty: boolean;
  readonly stdin: "closed" | "open";
  readonly timeoutMs?: number;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly requester: Actor;
  readonly route?: Route;
  readonly report: RunRecord["report"];
  /** Nobody waits for it: its session is in the background from the start. */
  readonly background: boolean;
  /** Since it was approved the policy has come to deny it: the layer that does. Nothing is started. */
  readonly revokedBy?: string;
}

export interface LiveRun {
  readonly record: RunRecord;
  readonly session: ProcessSession;
  readonly handle: ProcessHandle;
  /** Settles after the record says `finished`. */
  readonly ended: Promise<{ readonly record: RunRecord; readonly end: EndInfo }>;
}

export type Launch =
  | { readonly kind: "started"; readonly run: LiveRun }
  /** The marker was there already: this run has been started before, by whoever; nothing was started now. */
  | { readonly kind: "duplicate"; readonly record: RunRecord };

export interface RunListener {
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
  readonly explain: (reason: Reason) => string;
  readonly maxConcurrent: () => number;
  readonly channelContext: (spec: RunSpec) => Readonly<Record<string, string>>;
  readonly onError: (error: unknown, what: string) => void;
}

const NS = "run";
/** Ids of runs whose end has not been recorded and handed on: what the sweep looks at. */
const OPEN_NS = "run-open";

export class Runs {
  readonly #options: RunsOptions;
  readonly #live = new Map<string, LiveRun>();
  readonly #listeners = new Set<RunListener>();
  #draining = false;

  constructor(options: RunsOptions) {
    this.#options = options;
  }

  listen(listener: RunListener): void {
    this.#listeners.add(listener);
  }

  active(): readonly RunRecord[] {
    return [...this.#live.values()].map((run) => run.record);
  }

  live(runId: string): LiveRun | undefined {
    return this.#live.get(runId);
  }

  async get(runId: string): Promise<RunRecord | undefined> {
    return this.#live.get(runId)?.record ?? (await this.#options.store.get<RunRecord>(NS, runId))?.value;
  }

  /** True when it was running here. */
  stop(runId: string): boolean {
    const run = this.#live.get(runId);
    run?.handle.stop("manual-cancel");
    return run !== undefined;
  }

  /** From now on nothing starts; what runs goes on until `shutdown` of the supervisor. */
  drain(): void {
    this.#draining = true;
  }

  /** Resolves when every run of this instance has been recorded as finished. */
  async settled(): Promise<void> {
    await Promise.all([...this.#live.values()].map((run) => run.ended));
  }

  async launch(spec: RunSpec): Promise<Launch> {
    const { store, clock, sessions, hosts, gatewayId, instanceId } = this.#options;
    if (this.#draining) {
      throw new ExecError("draining", "The gateway is stopping and starts nothing new. Try again when it is back.");
    }
    const limit = this.#options.maxConcurrent();
    if (this.#live.size >= limit) {
      throw new ExecError(
        "rate-limited",
        `${limit} commands are running, the most that are allowed at once (limits.maxConcurrentRuns). Try again when one has ended, or stop one with /stop.`,
      );
    }
    const host = hosts.get(spec.host);
    if (!host) {
      throw new ExecError("host-unavailable", `host=${spec.host} is not available on this gateway. Nothing was run.`);
    }
    const session = sessions.reserve({
      runId: spec.runId,
      command: spec.command,
      cwd: spec.cwd,
      host: spec.host,
      agentId: spec.agentId,
      sessionKey: spec.sessionKey,
    });
    const starting: RunRecord = {
      runId: spec.runId,
      state: "starting",
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
      ...(spec.approvalId ? { approvalId: spec.approvalId } : {}),
      ...(spec.node ? { node: spec.node } : {}),
      ...(spec.route ? { route: spec.route } : {}),
      ...(spec.timeoutMs !== undefined ? { timeoutMs: spec.timeoutMs } : {}),
    };
    await store.put(OPEN_NS, spec.runId, true);
    if (!(await store.setIfAbsent(NS, spec.runId, starting))) {
      sessions.forget(session);
      const existing = await store.get<RunRecord>(NS, spec.runId);
      return { kind: "duplicate", record: existing?.value ?? starting };
    }
    try {
      if (spec.revokedBy) {
        throw new ExecError("exec-denied", `Not run: exec is denied by now, set by ${spec.revokedBy}.`);
      }
      const changed = this.#options.recheck(spec);
      if (changed) throw new ExecError("approval-changed", this.#options.explain(changed), { reason: changed.code });
      const handle = await host.run({
        plan: spec.plan,
        cwd: spec.cwd,
        env: spec.env,
        marks: { ...this.#options.channelContext(spec), [RUN_MARK]: spec.runId },
        pathPrepend: spec.pathPrepend,
        pty: spec.pty,
        stdin: spec.stdin,
        agentId: spec.agentId,
        sessionKey: spec.sessionKey,
        ...(spec.timeoutMs ? { timeoutMs: spec.timeoutMs } : {}),
      });
      return { kind: "started", run: await this.#attach(spec, starting, session, handle) };
    } catch (error) {
      sessions.forget(session);
      await this.#neverStarted(starting, error);
      throw error;
    }
  }

  async #attach(spec: RunSpec, starting: RunRecord, session: ProcessSession, handle: ProcessHandle): Promise<LiveRun> {
    const { store, audit } = this.#options;
    const record: RunRecord = { ...starting, state: "running", ...(handle.pid ? { pid: handle.pid } : {}) };
    session.attach(handle);
    if (spec.background) session.background();
    // Both begin in this tick, so a command that ends at once is still recorded in order: running, then finished.
    const recorded = Promise.all([
      store.put(NS, record.runId, record),
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
    ]);
    const ended = handle.ended.then(async (end) => {
      await recorded;
      const finished = this.#finishedRecord(record, session, end);
      await store.put(NS, record.runId, finished, { ttlMs: FINISHED_RUN_TTL_MS });
      this.#live.delete(record.runId);
      await this.#recordEnd(finished);
      await this.#announce(finished);
      return { record: finished, end };
    });
    ended.catch((error) => this.#options.onError(error, `recording the end of run ${record.runId}`));
    const run: LiveRun = { record, session, handle, ended };
    this.#live.set(record.runId, run);
    for (const listener of this.#listeners) listener.started?.(run);
    handle.onOutput(() => {
      for (const listener of this.#listeners) listener.output?.(run);
    });
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
      notes: end.notes,
      backgrounded: session.backgrounded,
      observed: session.endObserved,
    };
  }

  async #neverStarted(starting: RunRecord, error: unknown): Promise<void> {
    const finished: RunRecord = {
      ...starting,
      state: "finished",
      outcome: "not-started",
      endedAtMs: this.#options.clock.now(),
      durationMs: 0,
      notes: [error instanceof ExecError ? error.message : "The command could not be started."],
    };
    await this.#options.store.put(NS, finished.runId, finished, { ttlMs: FINISHED_RUN_TTL_MS });
    await this.#recordEnd(finished);
    await this.#announce(finished);
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
    await this.#options.store.delete(OPEN_NS, record.runId);
  }

  /**
   * At start: what did an earlier life of this gateway leave behind? Its children are stopped, its runs are reported
   * as lost, ends that were recorded but not handed on are handed on. Resolves to the runs that were lost.
   */
  async sweep(): Promise<readonly RunRecord[]> {
    const { store, gatewayId, instanceId, leftovers, clock } = this.#options;
    const open: RunRecord[] = [];
    const unannounced: RunRecord[] = [];
    for (const runId of await this.#openIds()) {
      const record = (await store.get<RunRecord>(NS, runId))?.value;
      if (!record) await store.delete(OPEN_NS, runId);
      else if (record.gatewayId !== gatewayId || record.instanceId === instanceId) continue;
      else if (record.state === "finished") unannounced.push(record);
      else open.push(record);
    }
    const stillAlive = await leftovers.stop(new Set(open.map((record) => record.runId)));
    const lost: RunRecord[] = [];
    for (const record of open) {
      const finished: RunRecord = {
        ...record,
        state: "finished",
        outcome: "lost",
        endedAtMs: clock.now(),
        notes: [lostNote(record, stillAlive.has(record.runId))],
      };
      await store.put(NS, record.runId, finished, { ttlMs: FINISHED_RUN_TTL_MS });
      await this.#recordEnd(finished);
      lost.push(finished);
    }
    for (const record of [...lost, ...unannounced]) await this.#announce(record);
    return lost;
  }

  async #openIds(): Promise<string[]> {
    const ids: string[] = [];
    for (let after: string | undefined; ; after = ids.at(-1)) {
      const page = await this.#options.store.list<true>(OPEN_NS, { limit: 500, ...(after ? { after } : {}) });
      ids.push(...page.map((listed) => listed.key));
      if (page.length < 500) return ids;
    }
  }
}

function lostNote(record: RunRecord, wasAlive: boolean): string {
  if (wasAlive)
    return "The gateway was killed while this ran; it was stopped at the restart. It will not be run again by itself.";
  if (record.state === "starting") {
    return "The gateway was killed while this was starting; whether it ran is unknown. It will not be run again by itself.";
  }
  return "The gateway was killed while this ran; how it ended is unknown. It will not be run again by itself.";
}

export function outcomeOf(end: EndInfo): RunOutcome {
  if (end.timedOut) return "timed-out";
  switch (end.reason) {
    case "exit":
      return end.exitCode === 0 ? "completed" : "failed";
    case "signal":
      return "failed";
    case "overall-timeout":
      return "timed-out";
    case "manual-cancel":
    case "shutdown":
      return "killed";
    case "spawn-failed":
      return "not-started";
    case "lost":
      return "lost";
  }
}
