/**
 * The line in front of the spawn: how many commands run at once, in all and per agent, and who is next. Conversations
 * take turns, so a flood in one of them costs another at most the wait for the next free place. In memory; what has to
 * survive a kill is the run's record.
 */
import { ExecError } from "../errors.ts";
import { phrase } from "../words/phrase.ts";

export interface RunLimits {
  /** Commands running at once (`limits.maxConcurrentRuns`). */
  readonly total: number;
  /** Of these per agent (`limits.maxConcurrentRunsPerAgent`). */
  readonly perAgent: number;
  /** Commands waiting in line (`limits.maxQueuedRuns`). */
  readonly queued: number;
}

/** Which limit keeps a run waiting. */
export type WaitReason = "gateway-busy" | "agent-busy";

export interface Place {
  /** Why it waits; absent: it has its place already. */
  readonly waitsFor?: WaitReason;
  /** Resolves to true with the place, to false when `leave` came first. Rejects with `draining` once the line is closed. */
  readonly taken: Promise<boolean>;
  /** Gives the place up, or leaves the line. Idempotent. */
  leave(): void;
}

export interface RunRequest {
  readonly agentId: string;
  readonly sessionKey: string;
}

interface Waiting extends RunRequest {
  readonly resolve: (taken: boolean) => void;
  readonly reject: (error: ExecError) => void;
  hasPlace: boolean;
}

export class RunQueue {
  readonly #limits: () => RunLimits;
  /** Running, by agent. */
  readonly #running = new Map<string, number>();
  /** Waiting, by conversation; the map's order is the order of turns. */
  readonly #lines = new Map<string, Waiting[]>();
  #runningTotal = 0;
  #waiting = 0;
  #closed = false;

  /** Limits are read at each step, so a changed configuration counts at once. */
  constructor(limits: () => RunLimits) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#runningTotal;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * A place, at once or in turn. Throws `rate-limited` when the line is full, `draining` when it is closed. `readmit`:
   * the run stood in line before a restart and is not refused now.
   */
  enter(request: RunRequest, options: { readonly readmit?: boolean } = {}): Place {
    if (this.#closed) throw draining();
    // The limits may have grown since somebody last came or went.
    this.#admit();
    const limits = this.#limits();
    const waitsFor = this.#waitReason(request, limits);
    if (waitsFor === undefined) {
      this.#take(request.agentId);
      return { taken: Promise.resolve(true), leave: once(() => this.#free(request.agentId)) };
    }
    if (!options.readmit) this.#assertRoom(request.sessionKey, limits);
    return this.#stand(request, waitsFor);
  }

  /** Nobody is let in any more: who waits is told so. */
  close(): void {
    this.#closed = true;
    for (const waiting of [...this.#lines.values()].flat()) waiting.reject(draining());
    this.#lines.clear();
    this.#waiting = 0;
  }

  /** Whoever waits in the same conversation goes first, even when a place is free for this one (another agent's limit). */
  #waitReason({ agentId, sessionKey }: RunRequest, limits: RunLimits): WaitReason | undefined {
    if (this.#runningTotal >= limits.total) return "gateway-busy";
    if ((this.#running.get(agentId) ?? 0) >= limits.perAgent) return "agent-busy";
    return this.#lines.has(sessionKey) ? "agent-busy" : undefined;
  }

  /**
   * One conversation gets at most as many places in line as are still free, so half of them when it is alone: there is
   * always one left for the next (dynamic thresholds, Choudhury and Hahne 1998).
   */
  #assertRoom(sessionKey: string, limits: RunLimits): void {
    const free = limits.queued - this.#waiting;
    if (free <= 0) {
      throw new ExecError("rate-limited", phrase("error.line.full", { running: limits.total, waiting: this.#waiting }));
    }
    const own = this.#lines.get(sessionKey)?.length ?? 0;
    if (own < free) return;
    throw new ExecError("rate-limited", phrase("error.line.own", { own, limit: limits.queued }));
  }

  #stand(request: RunRequest, waitsFor: WaitReason): Place {
    let leave = (): void => {};
    const taken = new Promise<boolean>((resolve, reject) => {
      const { agentId, sessionKey } = request;
      const waiting: Waiting = { agentId, sessionKey, resolve, reject, hasPlace: false };
      const line = this.#lines.get(sessionKey);
      if (line) line.push(waiting);
      else this.#lines.set(sessionKey, [waiting]);
      this.#waiting++;
      leave = once(() => {
        if (waiting.hasPlace) this.#free(agentId);
        else if (this.#remove(waiting)) resolve(false);
      });
    });
    // A line that is closed while nobody looks yet is no unhandled rejection.
    taken.catch(() => {});
    return { waitsFor, taken, leave };
  }

  #remove(waiting: Waiting): boolean {
    const line = this.#lines.get(waiting.sessionKey);
    const at = line?.indexOf(waiting) ?? -1;
    if (!line || at < 0) return false;
    line.splice(at, 1);
    if (line.length === 0) this.#lines.delete(waiting.sessionKey);
    this.#waiting--;
    return true;
  }

  #take(agentId: string): void {
    this.#runningTotal++;
    this.#running.set(agentId, (this.#running.get(agentId) ?? 0) + 1);
  }

  #free(agentId: string): void {
    this.#runningTotal--;
    const left = (this.#running.get(agentId) ?? 1) - 1;
    if (left > 0) this.#running.set(agentId, left);
    else this.#running.delete(agentId);
    this.#admit();
  }

  /** Lets in one of each conversation in turn, as many as there are places. */
  #admit(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const line = this.#lines.get(next.sessionKey) ?? [];
      this.#remove(next);
      if (line.length > 0) {
        // Its turn is over: it goes to the end of the map's order.
        this.#lines.delete(next.sessionKey);
        this.#lines.set(next.sessionKey, line);
      }
      this.#take(next.agentId);
      next.hasPlace = true;
      next.resolve(true);
    }
  }

  #next(): Waiting | undefined {
    const limits = this.#limits();
    if (this.#closed || this.#runningTotal >= limits.total) return undefined;
    for (const [first] of this.#lines.values()) {
      if (first && (this.#running.get(first.agentId) ?? 0) < limits.perAgent) return first;
    }
    return undefined;
  }
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}

function draining(): ExecError {
  return new ExecError("draining", phrase("error.draining"));
}
