/**
 * The commands of this node: taken once, cleared by its own policy right before they start, told of to the gateway in
 * order, and stopped when the gateway stays away.
 */
import type { Clock } from "../core/clock.ts";
import { ExecError } from "../core/errors.ts";
import { wrapperOverrides } from "../core/exec/env.ts";
import type { Host } from "../core/hosts/host.ts";
import type {
  KnownRun,
  NodeRunEnd,
  NodeRunRequest,
  NodeRunStarted,
  RunOrder,
  RunReport,
} from "../core/hosts/node/types.ts";
import type { Decision } from "../core/policy/decision.ts";
import { programName, SHELLS } from "../core/policy/program-kinds.ts";
import { mentionedCommands } from "../core/policy/shell/parse.ts";
import type { AllowlistEntry } from "../core/policy/types.ts";
import type { Leftovers } from "../core/process/leftovers.ts";
import { RUN_MARK } from "../core/process/run-mark.ts";
import type { EndInfo, ProcessHandle } from "../core/process/types.ts";
import { phrase } from "../core/words/phrase.ts";
import { MAX_KNOWN_RUNS } from "../protocol/node-frames.ts";
import type { RunJournal } from "./journal.ts";
import { OutputWindow } from "./output-window.ts";
import { denied, type NodePolicy } from "./policy.ts";

/** Characters of output in one report of known runs. */
const MAX_KNOWN_CHARS = 400_000;
/** Commands at once; more are refused. */
export const MAX_NODE_RUNS = 64;

export interface NodeRunsOptions {
  readonly deviceId: string;
  readonly clock: Clock;
  readonly host: Host;
  readonly policy: NodePolicy;
  readonly journal: RunJournal;
  readonly leftovers: Leftovers;
  /** How long the gateway may be away before what runs for it is stopped. */
  readonly graceMs: number;
  readonly send: (report: RunReport) => void;
  readonly grant: (agentId: string, rules: readonly AllowlistEntry[]) => Promise<void>;
  /** Rules that let it run are marked as used. */
  readonly noteUse: (decision: Decision, run: Pick<NodeRunRequest, "agentId" | "command">) => void;
  readonly log: (line: string) => void;
}

interface Running {
  readonly gatewayId: string;
  readonly started: NodeRunStarted;
  readonly handle: ProcessHandle;
  readonly window: OutputWindow;
  end?: NodeRunEnd;
}

export class NodeRuns {
  readonly #options: NodeRunsOptions;
  readonly #runs = new Map<string, Running>();
  #starting = 0;
  #draining = false;
  #grace: NodeJS.Timeout | undefined;
  /** The gateway has been away for longer than the grace. */
  #given = false;

  constructor(options: NodeRunsOptions) {
    this.#options = options;
  }

  get running(): number {
    return [...this.#runs.values()].filter((run) => run.end === undefined).length;
  }

  /** What an earlier life of this node left behind is stopped, and its runs are lost. */
  async recover(): Promise<void> {
    const { journal, leftovers } = this.#options;
    const cutOff = journal.open().filter((entry) => entry.state === "taken");
    await leftovers.stop(new Set(cutOff.map((entry) => this.#mark(entry.runId))));
    for (const { runId } of cutOff) journal.ended(runId, lostEnd());
    if (cutOff.length > 0) this.#options.log(`${cutOff.length} commands of an earlier life were cut off.`);
  }

  /** Everything the gateway with this id may not know the end of. */
  known(gatewayId: string): readonly KnownRun[] {
    const known: KnownRun[] = [];
    for (const [runId, { gatewayId: owner, started, end }] of this.#runs) {
      if (owner !== gatewayId) continue;
      known.push(end ? { runId, state: "ended", end } : { runId, state: "running", started });
    }
    for (const { runId, gatewayId: owner, end } of this.#options.journal.open()) {
      if (owner === gatewayId && end && !this.#runs.has(runId)) known.push({ runId, state: "ended", end });
    }
    return withinOneFrame(known);
  }

  /**
   * `signal`: the gateway does not wait any more; nothing is started then, and what was started meanwhile is stopped.
   * @throws ExecError when nothing was started.
   */
  async start(run: NodeRunRequest, gatewayId: string, signal: AbortSignal): Promise<NodeRunStarted> {
    const { host, policy, journal, grant } = this.#options;
    if (this.#draining) throw new ExecError("draining", phrase("error.draining"));
    if (this.#runs.size + this.#starting >= MAX_NODE_RUNS) {
      throw new ExecError("rate-limited", `At most ${MAX_NODE_RUNS} commands run on this node at once.`);
    }
    const { grants } = policy.clear(run, gatewayId);
    if (signal.aborted) throw denied("cancelled", phrase("error.nodeRun.cancelled"));
    // Durable before anything starts. From here on this run is never started again.
    if (!journal.take(run.runId, gatewayId)) throw denied("duplicate", phrase("error.nodeRun.duplicate"));
    this.#starting += 1;
    try {
      if (grants.length > 0) await grant(run.agentId, grants);
      const { env, warnings } = this.#envOf(run);
      // Anything may have changed while that was written.
      const { decision } = policy.clear(run, gatewayId);
      if (signal.aborted) throw denied("cancelled", phrase("error.nodeRun.cancelled"));
      const handle = await host.run({
        plan: run.plan,
        cwd: run.cwd,
        env,
        marks: {
          ...(run.channelContext === undefined ? {} : { OPENCLAW_CHANNEL_CONTEXT: run.channelContext }),
          [RUN_MARK]: this.#mark(run.runId),
        },
        // Folders of the gateway mean nothing here.
        pathPrepend: [],
        pty: run.pty,
        stdin: run.stdin,
        agentId: run.agentId,
        sessionKey: run.sessionKey,
        ...(run.timeoutMs === undefined ? {} : { timeoutMs: run.timeoutMs }),
      });
      this.#options.noteUse(decision, run);
      const started = this.#attach(run, gatewayId, handle, warnings);
      signal.addEventListener("abort", () => handle.stop("manual-cancel"), { once: true });
      if (signal.aborted) handle.stop("manual-cancel");
      return started;
    } catch (error) {
      // Kept until the gateway has it: the answer may not get there.
      journal.ended(run.runId, notStartedEnd(error));
      throw error;
    } finally {
      this.#starting -= 1;
    }
  }

  order(order: RunOrder): void {
    const run = this.#runs.get(order.runId);
    switch (order.kind) {
      case "settled":
        run?.window.clear();
        if (run?.end !== undefined) this.#runs.delete(order.runId);
        this.#options.journal.settled(order.runId);
        return;
      case "resume":
        run?.window.resume(order.seq);
        this.#tellEnd(order.runId);
        return;
      case "ack":
        run?.window.acknowledge(order.seq);
        return;
      case "stop":
        run?.handle.stop(order.reason);
        return;
      case "resize":
        try {
          run?.handle.resize(order.cols, order.rows);
        } catch {
          // It ended meanwhile; its end tells.
        }
        return;
      case "input":
        void this.#input(order, run);
        return;
    }
  }

  /** The gateway is there: nothing is stopped for its absence. */
  connected(): void {
    clearTimeout(this.#grace);
    this.#grace = undefined;
    this.#given = false;
  }

  /** From now on it has the grace to come back. */
  disconnected(): void {
    if (this.#grace !== undefined || this.#given) return;
    this.#grace = setTimeout(() => {
      this.#grace = undefined;
      this.#given = true;
      const running = [...this.#runs.values()].filter((run) => run.end === undefined);
      if (running.length > 0) this.#options.log(`The gateway stays away: ${running.length} commands are stopped.`);
      for (const { handle, window } of running) {
        handle.stop("manual-cancel");
        window.clear();
      }
    }, this.#options.graceMs).unref();
  }

  /** Nothing new, everything stopped; resolves when all has ended. */
  async shutdown(): Promise<void> {
    this.#draining = true;
    clearTimeout(this.#grace);
    const running = [...this.#runs.values()].filter((run) => run.end === undefined);
    for (const { handle } of running) handle.stop("shutdown");
    await Promise.all(running.map(({ handle }) => handle.ended));
    for (const { window } of this.#runs.values()) window.clear();
  }

  #attach(run: NodeRunRequest, gatewayId: string, handle: ProcessHandle, warnings: readonly string[]): NodeRunStarted {
    const { runId } = run;
    const window = new OutputWindow({
      runId,
      send: (piece) => this.#options.send(piece),
      pause: (paused) => handle.pauseOutput?.(paused),
    });
    const started: NodeRunStarted = {
      pty: handle.pty,
      stdinWritable: handle.stdinWritable,
      warnings: [...warnings, ...handle.warnings],
    };
    const running: Running = { gatewayId, started, handle, window };
    this.#runs.set(runId, running);
    handle.onRawOutput?.((stream, chunk) => window.push(stream, chunk));
    // Somebody has to listen to the text, or questions of the terminal are not answered.
    handle.onOutput(
      () => {},
      () => {},
    );
    void handle.ended.then((end) => {
      window.flush();
      running.end = endOf(end, window);
      this.#options.journal.ended(runId, running.end);
      this.#tellEnd(runId);
    });
    if (this.#given) handle.stop("manual-cancel");
    return started;
  }

  #tellEnd(runId: string): void {
    const end = this.#runs.get(runId)?.end ?? this.#options.journal.get(runId)?.end;
    if (end) this.#options.send({ kind: "ended", runId, end });
  }

  async #input(order: Extract<RunOrder, { kind: "input" }>, run: Running | undefined): Promise<void> {
    const { runId, id, data, end } = order;
    let error: string | undefined;
    try {
      if (!run) throw new Error("This run is not known here.");
      const bytes = Buffer.from(data, "base64");
      if (bytes.length > 0) await run.handle.write(bytes);
      if (end) await run.handle.endInput();
    } catch (thrown) {
      error = thrown instanceof Error ? thrown.message.slice(0, 500) : "The input was not taken.";
    }
    this.#options.send({
      kind: "input-taken",
      runId,
      id,
      queued: run?.handle.queuedInput ?? 0,
      writable: run?.handle.stdinWritable ?? false,
      ...(error === undefined ? {} : { error }),
    });
  }

  /** A shell that a command starts for itself gets few variables: most could change what it runs. */
  #envOf({ command, env }: NodeRunRequest): {
    readonly env: Readonly<Record<string, string>>;
    readonly warnings: readonly string[];
  } {
    const startsShell = mentionedCommands(command).commands.some(({ words }) =>
      words.some((word) => word !== undefined && SHELLS.has(programName(word))),
    );
    if (!startsShell) return { env, warnings: [] };
    const kept = wrapperOverrides(env);
    const dropped = Object.keys(env).filter((name) => !(name in kept));
    return {
      env: kept,
      warnings:
        dropped.length > 0 ? [`Not passed on to a command that starts a shell: ${dropped.sort().join(", ")}.`] : [],
    };
  }

  /** Another mark than the gateway's own, which looks for its children on its own machine. */
  #mark(runId: string): string {
    return `node-${this.#options.deviceId}:${runId}`;
  }
}

/** Ends without the end of their output, where all of it would be too much for one frame. */
function withinOneFrame(known: readonly KnownRun[]): readonly KnownRun[] {
  let left = MAX_KNOWN_CHARS;
  return known.slice(0, MAX_KNOWN_RUNS).map((run) => {
    if (run.state === "running") return run;
    left -= JSON.stringify(run.end.tail).length;
    return left > 0 ? run : { ...run, end: { ...run.end, tail: "" } };
  });
}

function endOf(end: EndInfo, window: OutputWindow): NodeRunEnd {
  const dropped = window.droppedBytes > 0 ? [phrase("note.outputDropped", { bytes: window.droppedBytes })] : [];
  return {
    reason: end.reason,
    exitCode: end.exitCode,
    exitSignal: end.exitSignal,
    timedOut: end.timedOut,
    durationMs: end.durationMs,
    notes: [...end.notes, ...dropped],
    lastSeq: window.lastSeq,
    tail: window.tail,
  };
}

function notStartedEnd(error: unknown): NodeRunEnd {
  const note = error instanceof ExecError ? error.wording : phrase("run.couldNotStart");
  return { ...lostEnd(), reason: "spawn-failed", notes: [note] };
}

function lostEnd(): NodeRunEnd {
  return {
    reason: "lost",
    exitCode: null,
    exitSignal: null,
    timedOut: false,
    durationMs: 0,
    notes: [phrase("run.lost.nodeRestarted")],
    lastSeq: 0,
    tail: "",
  };
}
