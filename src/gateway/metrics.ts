/**
 * The numbers of one gateway in a registry of its own (never prom-client's global one), so that two gateways in one
 * process, as in tests, do not mix. Names follow the Prometheus conventions; durations are seconds.
 */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { RunOutcome } from "../core/cards.ts";
import type { QueueCounts } from "../core/events/queue.ts";

const PREFIX = "openclaw_exec";
const HTTP_SECONDS = [0.005, 0.025, 0.1, 0.5, 2, 10, 60];
const RUN_SECONDS = [0.1, 1, 10, 60, 600, 3600];
const DELIVERY_SECONDS = [0.01, 0.05, 0.25, 1, 5, 30, 120];

export interface GatewayMetrics {
  readonly registry: Registry;
  readonly http: {
    readonly requests: Counter<"method" | "route" | "status">;
    readonly seconds: Histogram<"method" | "route">;
  };
  readonly ws: {
    readonly clients: Gauge<"kind">;
    readonly requests: Counter<"method" | "outcome">;
    readonly closedSlow: Counter;
  };
  readonly refused: Counter<"surface" | "reason">;
  readonly runs: {
    readonly started: Counter<"host">;
    readonly ended: Counter<"outcome">;
    readonly seconds: Histogram;
  };
  readonly approvals: {
    readonly requested: Counter;
    readonly resolved: Counter<"state">;
  };
  readonly deliveries: {
    readonly delivered: Counter<"channel" | "kind">;
    readonly seconds: Histogram<"channel">;
  };
  readonly wakes: Counter<"reason" | "outcome">;
  readonly turns: Counter<"trigger" | "outcome">;
  readonly tokens: Counter<"agent" | "kind">;
  runEnded(outcome: RunOutcome, durationMs: number): void;
  /** Asked at each scrape. */
  watchQueue(counts: () => Promise<QueueCounts>): void;
  /** Asked at each scrape: commands running now, waiting in line now, approvals waiting now. */
  watchNow(now: {
    readonly running: () => number;
    readonly queued: () => number;
    readonly pendingApprovals: () => number | Promise<number>;
  }): void;
}

export function createMetrics(): GatewayMetrics {
  const registry = new Registry();
  const registers = [registry];
  const name = (suffix: string) => `${PREFIX}_${suffix}`;
  processMetrics(registry);

  const metrics: GatewayMetrics = {
    registry,
    http: {
      requests: new Counter({
        name: name("http_requests_total"),
        help: "HTTP requests answered",
        labelNames: ["method", "route", "status"],
        registers,
      }),
      seconds: new Histogram({
        name: name("http_request_seconds"),
        help: "Time to answer an HTTP request",
        labelNames: ["method", "route"],
        buckets: HTTP_SECONDS,
        registers,
      }),
    },
    ws: {
      clients: new Gauge({
        name: name("ws_clients"),
        help: "WebSocket clients connected now",
        labelNames: ["kind"],
        registers,
      }),
      requests: new Counter({
        name: name("ws_requests_total"),
        help: "WebSocket requests answered; outcome is ok or the error code",
        labelNames: ["method", "outcome"],
        registers,
      }),
      closedSlow: new Counter({
        name: name("ws_closed_slow_total"),
        help: "WebSocket clients closed because they did not read fast enough",
        registers,
      }),
    },
    refused: new Counter({
      name: name("access_refused_total"),
      help: "Requests refused before they reached anything",
      labelNames: ["surface", "reason"],
      registers,
    }),
    runs: {
      started: new Counter({
        name: name("runs_started_total"),
        help: "Commands started",
        labelNames: ["host"],
        registers,
      }),
      ended: new Counter({
        name: name("runs_ended_total"),
        help: "Commands ended",
        labelNames: ["outcome"],
        registers,
      }),
      seconds: new Histogram({
        name: name("run_seconds"),
        help: "How long commands ran",
        buckets: RUN_SECONDS,
        registers,
      }),
    },
    approvals: {
      requested: new Counter({ name: name("approvals_requested_total"), help: "Approvals asked for", registers }),
      resolved: new Counter({
        name: name("approvals_resolved_total"),
        help: "Approvals that got an end",
        labelNames: ["state"],
        registers,
      }),
    },
    deliveries: {
      delivered: new Counter({
        name: name("deliveries_total"),
        help: "Messages delivered to a channel",
        labelNames: ["channel", "kind"],
        registers,
      }),
      seconds: new Histogram({
        name: name("delivery_wait_seconds"),
        help: "Time from queueing a message to its delivery",
        labelNames: ["channel"],
        buckets: DELIVERY_SECONDS,
        registers,
      }),
    },
    wakes: new Counter({
      name: name("wakes_total"),
      help: "Wakes of sessions, by what asked for them and what came of it",
      labelNames: ["reason", "outcome"],
      registers,
    }),
    turns: new Counter({
      name: name("agent_turns_total"),
      help: "Turns of agents that are over, by what asked for them and how they ended",
      labelNames: ["trigger", "outcome"],
      registers,
    }),
    tokens: new Counter({
      name: name("model_tokens_total"),
      help: "Tokens that providers counted for turns of agents",
      labelNames: ["agent", "kind"],
      registers,
    }),
    runEnded(outcome, durationMs) {
      metrics.runs.ended.inc({ outcome });
      metrics.runs.seconds.observe(durationMs / 1000);
    },
    watchQueue(counts) {
      new Gauge({
        name: name("queue_jobs"),
        help: "Jobs in the queue by state",
        labelNames: ["state"],
        registers,
        async collect() {
          for (const [state, value] of Object.entries(await counts())) this.set({ state }, value);
        },
      });
    },
    watchNow(now) {
      new Gauge({
        name: name("runs_running"),
        help: "Commands running now",
        registers,
        collect() {
          this.set(now.running());
        },
      });
      new Gauge({
        name: name("runs_queued"),
        help: "Commands waiting for a place among those that run",
        registers,
        collect() {
          this.set(now.queued());
        },
      });
      new Gauge({
        name: name("approvals_pending"),
        help: "Approvals waiting for an answer now",
        registers,
        async collect() {
          this.set(await now.pendingApprovals());
        },
      });
    },
  };
  return metrics;
}

/** prom-client's default set starts observers that nothing stops; these are read at scrape time only. */
function processMetrics(registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: "process_start_time_seconds",
    help: "Start time of the process since the epoch",
    registers,
    collect() {
      this.set(performance.timeOrigin / 1000);
    },
  });
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: "process_cpu_seconds_total",
    help: "User and system CPU time",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.set((user + system) / 1e6);
    },
  });
}
