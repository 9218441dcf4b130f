/** Whether this gateway can take work, and how it is: what load balancers ask, and what `/status` shows. */
import type { Channel } from "../channels/channel.ts";
import type { StatusReport } from "../commands/services.ts";
import type { ApprovalsFile } from "../core/approvals/approvals-file.ts";
import type { Clock } from "../core/clock.ts";
import type { Queue } from "../core/events/queue.ts";
import type { Store } from "../core/store/store.ts";
import type { Cluster } from "./cluster.ts";
import type { ReadinessCheck } from "./server-deps.ts";

export interface ReadinessOptions {
  readonly store: Store;
  readonly queue: Queue;
  /** Absent: this gateway is alone. */
  readonly cluster: Cluster | undefined;
  readonly approvalsFile: ApprovalsFile;
  readonly channels: readonly Channel[];
  readonly clock: Clock;
  readonly version: string;
  readonly gatewayId: string;
  readonly startedAtMs: number;
}

export class Readiness {
  readonly #options: ReadinessOptions;
  phase: "starting" | "ready" | "draining" = "starting";

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  async now(): Promise<{ readonly ready: boolean; readonly checks: readonly ReadinessCheck[] }> {
    const { store, queue, cluster, approvalsFile } = this.#options;
    const checks = await Promise.all([
      check("store", () => store.health()),
      check("queue", () => queue.health()),
      ...(cluster ? [check("cluster", () => cluster.health())] : []),
      check("approvals-file", async () => {
        const damage = approvalsFile.damage();
        if (damage) throw new Error(damage);
      }),
    ]);
    return { ready: this.phase === "ready" && checks.every((one) => one.ok), checks };
  }

  async status(): Promise<StatusReport> {
    const { queue, clock, version, gatewayId, startedAtMs } = this.#options;
    const [{ ready, checks }, queueCounts] = await Promise.all([this.now(), queue.counts()]);
    return {
      version,
      gatewayId,
      upMs: clock.now() - startedAtMs,
      state: this.phase === "draining" ? "draining" : ready ? "ready" : "not-ready",
      problems: checks.filter((one) => !one.ok).map((one) => `${one.name}: ${one.detail ?? "not available"}`),
      channels: this.#options.channels.map((channel) => {
        const { state, detail, accountId } = channel.status();
        return {
          name: accountId === "default" ? channel.id : `${channel.id}/${accountId}`,
          state,
          ...(detail ? { detail } : {}),
        };
      }),
      queue: queueCounts,
    };
  }
}

async function check(name: string, probe: () => Promise<void>): Promise<ReadinessCheck> {
  try {
    await probe();
    return { name, ok: true };
  } catch (error) {
    return { name, ok: false, detail: (error as Error).message };
  }
}
