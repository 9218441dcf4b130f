/**
 * The nodes that are connected now, one entry for each device, and the commands that run on them. A device that connects
 * again replaces its old connection; what ran goes on over the new one.
 */
import type { Clock } from "../../clock.ts";
import { ExecError } from "../../errors.ts";
import type { OwnText } from "../../process/plain-ascii.ts";
import { phrase } from "../../words/phrase.ts";
import { RemoteProcess } from "./remote-process.ts";
import type { KnownRun, NodeLink, NodeRunEnd, RunReport } from "./types.ts";

export interface NodeRegistryOptions {
  readonly clock: Clock;
  readonly ownText: () => OwnText;
  /** How long a node may be gone before what runs on it counts as lost. */
  readonly reconnectMs: () => number;
  /**
   * A node tells the end of a run that nobody here waits for any more: it had been reported as lost. True: it is recorded,
   * or will never be of interest.
   */
  readonly onLateEnd: (nodeId: string, runId: string, end: NodeRunEnd) => Promise<boolean>;
  readonly onTrouble: (error: unknown, what: string) => void;
}

export class NodeRegistry {
  readonly #options: NodeRegistryOptions;
  readonly #links = new Map<string, NodeLink>();
  /** By node, then by run. */
  readonly #processes = new Map<string, Map<string, RemoteProcess>>();

  constructor(options: NodeRegistryOptions) {
    this.#options = options;
  }

  /** In the order they connected. */
  links(): readonly NodeLink[] {
    return [...this.#links.values()];
  }

  link(nodeId: string): NodeLink | undefined {
    return this.#links.get(nodeId);
  }

  /** Commands that run on nodes, or whose node may still come back. */
  get running(): number {
    let count = 0;
    for (const processes of this.#processes.values()) count += processes.size;
    return count;
  }

  runningOn(nodeId: string): number {
    return this.#processes.get(nodeId)?.size ?? 0;
  }

  /** Tells the node to stop what runs there, and gives it a moment to say so. */
  async stopOn(nodeId: string, withinMs = 2_000): Promise<void> {
    const running = [...(this.#processes.get(nodeId)?.values() ?? [])];
    for (const process of running) process.stop("manual-cancel");
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    await Promise.race([Promise.all(running.map((process) => process.ended)), timeUp]);
    clearTimeout(timer);
  }

  connected(link: NodeLink): void {
    const before = this.#links.get(link.nodeId);
    // Last, so that the order tells who came when.
    this.#links.delete(link.nodeId);
    this.#links.set(link.nodeId, link);
    before?.close("replaced", "This device has connected again.");
  }

  /** The connection is gone; one that was replaced changes nothing. */
  disconnected(link: NodeLink): void {
    if (this.#links.get(link.nodeId) !== link) return;
    this.#links.delete(link.nodeId);
    for (const process of this.#processes.get(link.nodeId)?.values() ?? []) process.disconnected();
  }

  /** What a node that has connected still knows. Runs of which it says nothing are lost. */
  knows(link: NodeLink, known: readonly KnownRun[]): void {
    if (this.#links.get(link.nodeId) !== link) return;
    const here = this.#processes.get(link.nodeId) ?? new Map<string, RemoteProcess>();
    const byRun = new Map(known.map((run) => [run.runId, run]));
    for (const [runId, process] of here) process.reconnected(link, byRun.get(runId));
    for (const run of known) {
      if (here.has(run.runId)) continue;
      // It was reported as lost: it must not go on in secret. Its end comes as that of a run nobody waits for.
      if (run.state === "running") link.order({ kind: "stop", runId: run.runId, reason: "manual-cancel" });
      else this.#lateEnd(link, run.runId, run.end);
    }
  }

  /** False: the node does not keep to the protocol. */
  report(link: NodeLink, report: RunReport): boolean {
    if (this.#links.get(link.nodeId) !== link) return true;
    const process = this.#processes.get(link.nodeId)?.get(report.runId);
    if (process) return process.report(report);
    if (report.kind === "ended") this.#lateEnd(link, report.runId, report.end);
    return true;
  }

  /** A process for a run that is about to be started there. */
  open(
    link: NodeLink,
    run: { readonly runId: string; readonly pty: boolean; readonly stdin: "closed" | "open" },
  ): RemoteProcess {
    const { clock, reconnectMs, ownText } = this.#options;
    const process = new RemoteProcess(link, {
      ...run,
      nodeName: link.name,
      clock,
      ownText: ownText(),
      reconnectMs,
    });
    const ofNode = this.#processes.get(link.nodeId) ?? new Map<string, RemoteProcess>();
    if (ofNode.has(run.runId)) throw new ExecError("internal", `Run ${run.runId} is on this node already.`);
    ofNode.set(run.runId, process);
    this.#processes.set(link.nodeId, ofNode);
    void process.ended.then((end) => {
      this.forget(link.nodeId, run.runId);
      // Lost ones are kept by the node: it tells their end when it comes back.
      if (end.reason !== "lost") this.#links.get(link.nodeId)?.order({ kind: "settled", runId: run.runId });
    });
    return process;
  }

  forget(nodeId: string, runId: string): void {
    const ofNode = this.#processes.get(nodeId);
    ofNode?.delete(runId);
    if (ofNode?.size === 0) this.#processes.delete(nodeId);
  }

  /** Stops what runs on nodes and waits for it, at most `withinMs`; then hangs up. */
  async shutdown(withinMs: number): Promise<void> {
    const running = [...this.#processes.values()].flatMap((ofNode) => [...ofNode.values()]);
    for (const process of running) process.stop("shutdown");
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    await Promise.race([Promise.all(running.map((process) => process.ended)), timeUp]);
    clearTimeout(timer);
    for (const process of running) process.lost(phrase("run.lost.stopping"));
    for (const link of this.links()) link.close("restart", "The gateway is stopping. Reconnect soon.");
  }

  #lateEnd(link: NodeLink, runId: string, end: NodeRunEnd): void {
    this.#options.onLateEnd(link.nodeId, runId, end).then(
      (recorded) => {
        if (recorded) link.order({ kind: "settled", runId });
      },
      (error) => this.#options.onTrouble(error, `recording the late end of run ${runId}`),
    );
  }
}
