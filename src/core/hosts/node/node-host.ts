/** Runs plans on paired nodes, as prepared there and, where asked, approved here. */
import { ExecError } from "../../errors.ts";
import { phrase } from "../../words/phrase.ts";
import type { Host, HostRun } from "../host.ts";
import type { NodeRegistry } from "./registry.ts";
import type { NodeRunRequest, NodeRunStarted } from "./types.ts";

/** From the order to run to the word that it runs. */
export const START_TIMEOUT_MS = 15_000;

/** No answer came in time. Whether anything was started is unknown, until the node says so. */
export class NodeTimeout extends Error {}

export interface NodeHostOptions {
  readonly registry: NodeRegistry;
  readonly parseStarted: (payload: unknown) => Promise<NodeRunStarted>;
  readonly startTimeoutMs?: number;
}

export function createNodeHost({ registry, parseStarted, startTimeoutMs }: NodeHostOptions): Host {
  return {
    kind: "node",
    async run(run) {
      const { node } = run;
      if (node === undefined)
        throw new ExecError("host-unavailable", phrase("error.host.unavailable", { host: "node" }));
      const link = registry.link(node.id);
      if (!link) throw new ExecError("host-unavailable", phrase("error.node.offline", { node: node.name }));
      if (!link.commands.has("system.run")) {
        throw new ExecError("host-unavailable", phrase("error.node.cannotRun", { node: node.name }));
      }
      const process = registry.open(link, { runId: node.runId, pty: run.pty, stdin: run.stdin });
      try {
        const payload = await link.invoke("system.run", requestOf(run), startTimeoutMs ?? START_TIMEOUT_MS);
        process.started(await parseStarted(payload));
      } catch (error) {
        // The node refused, so nothing runs there.
        if (error instanceof ExecError && error.code !== "host-unavailable") {
          registry.forget(node.id, node.runId);
          throw error;
        }
        if (error instanceof NodeTimeout) {
          process.stop("manual-cancel");
          process.lost(phrase("run.lost.nodeSilent", { node: node.name }));
        }
        // Else the connection went in between: it may come back and say what became of it.
      }
      return process;
    },
  };
}

function requestOf(run: HostRun): NodeRunRequest {
  const { node } = run;
  if (node === undefined) throw new ExecError("internal", "A run on a node without a node.");
  const context = run.marks.OPENCLAW_CHANNEL_CONTEXT;
  return {
    runId: node.runId,
    command: node.command,
    plan: run.plan,
    binding: node.binding,
    cwd: run.cwd,
    env: run.env,
    agentId: run.agentId,
    sessionKey: run.sessionKey,
    policy: node.policy,
    ticket: node.ticket,
    pty: run.pty,
    stdin: run.stdin,
    ...(node.consent ? { consent: node.consent } : {}),
    ...(context === undefined ? {} : { channelContext: context }),
    ...(run.timeoutMs === undefined ? {} : { timeoutMs: run.timeoutMs }),
  };
}
