import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach } from "vitest";
import type { Inbound } from "../../src/channels/channel.ts";
import { WebChannel } from "../../src/channels/web/adapter.ts";
import { createAudit } from "../../src/core/audit/audit.ts";
import { systemClock } from "../../src/core/clock.ts";
import { ExecError } from "../../src/core/errors.ts";
import { openSqliteStore } from "../../src/core/store/sqlite-store.ts";
import type { Store } from "../../src/core/store/store.ts";
import type { ServerLimits } from "../../src/gateway/limits.ts";
import { createMetrics } from "../../src/gateway/metrics.ts";
import { startServer } from "../../src/gateway/server.ts";
import type { RunningServer, ServerDeps } from "../../src/gateway/server-deps.ts";

export const TOKEN = "a-token-nobody-can-guess-0123456789abcdef";

export interface TestServer {
  readonly server: RunningServer;
  readonly deps: ServerDeps;
  readonly store: Store;
  readonly channel: WebChannel;
  readonly taken: Inbound[];
  /** What was logged, as JSON text. */
  readonly logged: string[];
  stop(): Promise<void>;
}

export interface TestServerOptions {
  readonly limits?: Partial<ServerLimits>;
  readonly auth?: Partial<ServerDeps["auth"]>;
  readonly deps?: Partial<ServerDeps>;
  readonly host?: string;
}

/** A server on a free port over a real store and the real web channel. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), "gateway-server-"));
  const store = openSqliteStore({ file: join(directory, "state.db"), clock: systemClock });
  const channel = new WebChannel({ store, clock: systemClock, instanceId: "test" });
  const taken: Inbound[] = [];
  await channel.start(async (event) => {
    taken.push(event);
  });
  const logged: string[] = [];
  const deps: ServerDeps = {
    version: "0.0.0-test",
    gatewayId: "gw-test",
    startedAtMs: systemClock.now(),
    clock: systemClock,
    newId: () => crypto.randomUUID(),
    logger: pino({ level: "debug" }, { write: (line: string) => void logged.push(line) }),
    auth: { token: TOKEN, allowedOrigins: [], allowedHosts: [], ...options.auth },
    metrics: createMetrics(),
    audit: createAudit({ store, clock: systemClock, gatewayId: "gw-test" }),
    webChats: channel,
    staticDir: join(directory, "no-page"),
    complete: async (text) => [{ insert: `${text}!`, label: text, detail: "" }],
    runLog: async () => ({ text: "", offset: 0, lines: 0, totalLines: 0, lost: false, running: false }),
    recordings: {
      list: async () => ({ recordings: [] }),
      read: async () => {
        throw new ExecError("not-found", "There is no such recording.");
      },
    },
    invokeTool: async ({ tool, args, actor }) => ({
      content: [{ type: "text", text: `${tool} by ${actor.channel}` }],
      details: { args },
    }),
    listTools: async (agentId) => [{ name: "exec", description: `for ${agentId}`, schema: { type: "object" } }],
    listApprovals: async () => [],
    resolveApproval: async ({ id, decision }) => ({ id, state: "allowed", decision }),
    deadLetters: {
      list: async () => ({ letters: [], total: 0 }),
      retry: async () => [],
      drop: async () => [],
    },
    cron: {
      list: async () => [],
      add: async () => {
        throw new ExecError("invalid-argument", "No jobs here.");
      },
      remove: async (job) => {
        throw new ExecError("not-found", `There is no job "${job}".`);
      },
      run: async (job) => {
        throw new ExecError("not-found", `There is no job "${job}".`);
      },
    },
    pairing: {
      list: async () => [],
      approve: async () => {
        throw new ExecError("not-found", "No pairing request has this code.");
      },
      dismiss: async () => {
        throw new ExecError("not-found", "No pairing request has this code.");
      },
    },
    nodes: {
      accept: (socket) => socket.terminate(),
      sockets: 0,
      list: async () => ({ nodes: [], pending: [] }),
      code: () => Promise.reject(new ExecError("not-found", "No nodes here.")),
      approve: () => Promise.reject(new ExecError("not-found", "No nodes here.")),
      reject: () => Promise.reject(new ExecError("not-found", "No nodes here.")),
      remove: () => Promise.reject(new ExecError("not-found", "No nodes here.")),
      rename: () => Promise.reject(new ExecError("not-found", "No nodes here.")),
      invoke: () => Promise.reject(new ExecError("not-found", "No nodes here.")),
    },
    channelReports: () => [],
    readiness: async () => ({ ready: true, checks: [{ name: "store", ok: true, detail: "state.db" }] }),
    ...options.deps,
  };
  const server = await startServer(deps, {
    host: options.host ?? "127.0.0.1",
    port: 0,
    ...(options.limits ? { limits: options.limits } : {}),
  });
  return {
    server,
    deps,
    store,
    channel,
    taken,
    logged,
    async stop() {
      await server.close({ drainMs: 0 });
      await channel.stop();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Servers that are stopped after each test of the file. */
export function testServers(): (options?: TestServerOptions) => Promise<TestServer> {
  const running: TestServer[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.stop()));
  });
  return async (options) => {
    const started = await startTestServer(options);
    running.push(started);
    return started;
  };
}
