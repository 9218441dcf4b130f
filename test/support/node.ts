/** A node in this process, on its own state directory, connected to a gateway over a real WebSocket. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NODE_COMMANDS } from "../../src/core/hosts/node/types.ts";
import { endpointOf } from "../../src/node-host/endpoint.ts";
import { createNodeHost, type NodeHost, type NodeHostOptions } from "../../src/node-host/node-host.ts";
import { type TestGateway, TOKEN } from "./gateway.ts";
import { eventually } from "./state.ts";

export interface TestNode {
  readonly stateDir: string;
  readonly deviceId: string;
  readonly lines: readonly string[];
  /** Settles when the node has ended by itself. */
  readonly over: Promise<unknown>;
  stop(): Promise<void>;
  /** Stops this life and starts another on the same state. */
  restart(options?: Partial<NodeHostOptions>): Promise<void>;
}

export interface TestNodeOptions extends Partial<NodeHostOptions> {
  /** exec-approvals.json of the node. */
  readonly approvals?: object;
  /** Where it connects, when that is not the gateway itself. */
  readonly url?: string;
}

/** Paired by itself, as a node beside its gateway is, unless `gatewayToken` is given as the empty string. */
export async function startTestNode(
  gateway: Pick<TestGateway, "url">,
  options: TestNodeOptions = {},
): Promise<TestNode> {
  const { approvals, url, ...more } = options;
  const stateDir = more.stateDir ?? (await mkdtemp(join(tmpdir(), "openclaw-exec-node-")));
  if (approvals) await writeFile(join(stateDir, "exec-approvals.json"), JSON.stringify(approvals), { mode: 0o600 });
  const lines: string[] = [];
  let host: NodeHost;
  let over: Promise<unknown>;

  async function up(changed: Partial<NodeHostOptions> = {}): Promise<void> {
    const address = new URL(url ?? gateway.url);
    const { gatewayToken = TOKEN, ...rest } = { ...more, ...changed };
    host = await createNodeHost({
      stateDir,
      home: stateDir,
      env: { PATH: process.env.PATH, HOME: stateDir, OPENCLAW_SHELL_ENV_TIMEOUT_MS: "0", SHELL: "/bin/sh" },
      endpoint: endpointOf({ host: address.hostname, port: Number(address.port) }, {}),
      displayName: "mac-1",
      commands: NODE_COMMANDS,
      version: "0.0.0-test",
      graceMs: 60_000,
      say: (line) => lines.push(line),
      retry: { firstMs: 50, pairingMs: 100 },
      ...rest,
      ...(gatewayToken === "" ? {} : { gatewayToken }),
    });
    over = host.run().catch((error: unknown) => error);
  }
  await up();
  return {
    stateDir,
    lines,
    get deviceId() {
      return host.deviceId;
    },
    get over() {
      return over;
    },
    async restart(changed) {
      await host.stop();
      await over;
      await up(changed);
    },
    async stop() {
      await host.stop();
      await over;
      await rm(stateDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

/** Resolves when it is connected, and so often that it has been told of. */
export function connected(node: Pick<TestNode, "lines">, times = 1): Promise<unknown> {
  return eventually(
    () => node.lines.filter((line) => line.startsWith("Connected to gateway")).length >= times,
    20_000,
  ).catch(() => {
    throw new Error(`The node has not connected:\n${node.lines.join("\n")}`);
  });
}
