/** One life of a gateway: its parts are started in order, and stopped so that nothing which was taken is lost. */
import type { Logger } from "pino";
import type { Channel } from "../channels/channel.ts";
import type { Approvals } from "../core/approvals/approvals.ts";
import type { Audit } from "../core/audit/audit.ts";
import type { Clock } from "../core/clock.ts";
import type { Announcements } from "../core/events/announcements.ts";
import type { Deliveries } from "../core/events/deliveries.ts";
import type { Queue } from "../core/events/queue.ts";
import type { Runs } from "../core/exec/runs.ts";
import type { Recordings } from "../core/process/recording.ts";
import type { ProcessSessions } from "../core/process/registry.ts";
import type { Supervisor } from "../core/process/supervisor.ts";
import type { State } from "../core/store/open-state.ts";
import { phrase } from "../core/words/phrase.ts";
import { startChannel } from "./channels.ts";
import type { Cluster } from "./cluster.ts";
import type { Ingress } from "./ingress.ts";
import type { GatewayMetrics } from "./metrics.ts";
import type { GatewayNodes } from "./nodes.ts";
import type { Readiness } from "./readiness.ts";
import type { RunningServer } from "./server-deps.ts";
import type { Settlement } from "./settlement.ts";

/** Queue and channels get this much of the drain time; the rest is for children. */
const QUEUE_DRAIN_SHARE = 0.3;
/** What runs on nodes is stopped there within this: their own escalation takes 9 s. */
const NODES_STOP_MS = 9_500;

export interface Lifecycle {
  /** Sweeps what an earlier life left, starts queue, channels and, unless told otherwise, the server. */
  start(options?: { readonly listen?: boolean }): Promise<RunningServer | undefined>;
  /** Stops within `drainMs`: no new work, clients told, children ended, messages handed on, state closed. */
  stop(options: { readonly drainMs: number; readonly reason: string }): Promise<void>;
}

interface Startable {
  start(): Promise<unknown>;
}

export interface LifecycleParts {
  readonly gatewayId: string;
  readonly version: string;
  readonly clock: Clock;
  readonly state: Pick<State, "close">;
  readonly queue: Queue;
  readonly metrics: GatewayMetrics;
  readonly audit: Audit;
  readonly logger: Logger;
  readonly readiness: Readiness;
  readonly processSessions: ProcessSessions;
  readonly recordings: Recordings;
  readonly runs: Runs;
  readonly supervisor: Supervisor;
  readonly sandboxes: { sweep(): void; settled(): Promise<unknown> };
  readonly nodes: Pick<GatewayNodes, "shutdown">;
  readonly approvals: Approvals;
  readonly approvalsFile: { close(): Promise<unknown> };
  readonly announcements: Announcements;
  readonly settlement: Settlement;
  readonly deliveries: Deliveries;
  readonly policyChanges: Startable & { stop(): void };
  readonly pairingDesk: Startable;
  readonly agents: Startable & { drain(): void };
  readonly wakes: Startable;
  readonly cron: Startable;
  readonly heartbeats: Startable;
  readonly requestSigns: Startable & { stop(): Promise<unknown> };
  readonly migrations: { catchUp(): Promise<unknown> };
  readonly ingress: Ingress;
  readonly channels: readonly Channel[];
  /** Makes this gateway known to the others; absent: it is alone. */
  readonly join?: () => Promise<unknown>;
  readonly cluster: Pick<Cluster, "leave"> | undefined;
  readonly warmUp: () => Promise<unknown>;
  readonly listen: () => Promise<RunningServer>;
  readonly onError: (error: unknown, what: string) => void;
}

export function createLifecycle(parts: LifecycleParts): Lifecycle {
  const { gatewayId, version, clock, state, queue, metrics, audit, logger, readiness, channels, onError } = parts;
  const { processSessions, recordings, runs, sandboxes, approvals, announcements, deliveries } = parts;
  let server: RunningServer | undefined;

  return {
    async start({ listen = true } = {}) {
      parts.warmUp().catch((error) => onError(error, "reading the shell's start-up files"));
      await processSessions.start();
      await recordings.start(clock.now());
      await parts.join?.();
      await runs.sweep();
      sandboxes.sweep();
      await approvals.start(parts.settlement.onSettled);
      for (const record of await approvals.pending()) {
        if (record.gatewayId !== gatewayId || !listen) continue;
        await approvals.annotate(record.id, { statusLine: phrase("request.restarted") });
        await announcements.showApproval(record.id);
      }
      await deliveries.start();
      await parts.policyChanges.start();
      await parts.pairingDesk.start();
      await parts.agents.start();
      await parts.wakes.start();
      await parts.cron.start();
      await parts.heartbeats.start();
      await parts.migrations.catchUp();
      await parts.ingress.start();
      await Promise.all(channels.map((channel) => startChannel(channel, parts.ingress.accept, logger)));
      await parts.requestSigns.start();
      metrics.watchQueue(() => queue.counts());
      metrics.watchNow({
        running: () => runs.active().length,
        queued: () => runs.queued().length,
        pendingApprovals: async () => (await approvals.pending()).length,
      });
      readiness.phase = "ready";
      if (!listen) return undefined;
      server = await parts.listen();
      await audit.record({ type: "gateway-started", version, pid: process.pid, url: server.url });
      return server;
    },

    async stop({ drainMs, reason }) {
      readiness.phase = "draining";
      parts.agents.drain();
      runs.drain();
      announcements.stop();
      parts.policyChanges.stop();
      // Calls that wait for a command end with it, so both at once. The queue stays open: ends are recorded and handed on.
      await Promise.all([
        server?.close({ drainMs: drainMs * QUEUE_DRAIN_SHARE, reason }),
        parts.supervisor.shutdown(),
        parts.nodes.shutdown(NODES_STOP_MS),
      ]);
      await runs.settled();
      await sandboxes.settled();
      await parts.requestSigns.stop();
      for (const channel of channels) await channel.stop();
      deliveries.stop();
      await audit.record({ type: "gateway-stopped", reason });
      await audit.settle();
      await parts.cluster?.leave();
      await parts.approvalsFile.close();
      await state.close({ drainMs: drainMs * QUEUE_DRAIN_SHARE });
      await processSessions.close();
    },
  };
}
