/**
 * Paired nodes of this gateway, put together: who is paired, who is connected, what runs there. The protocol and its
 * checks are loaded when the first node connects.
 */
import { BlockList, isIPv6 } from "node:net";
import type { Logger } from "pino";
import { RateLimiterMemory } from "rate-limiter-flexible";
import type { WebSocket } from "ws";
import type { Audit } from "../core/audit/audit.ts";
import type { Clock, NewId } from "../core/clock.ts";
import type { Config } from "../core/config/schema.ts";
import { ExecError } from "../core/errors.ts";
import type { Runs } from "../core/exec/runs.ts";
import type { Host } from "../core/hosts/host.ts";
import { createNodeHost } from "../core/hosts/node/node-host.ts";
import { chooseNode, type ExecNodes } from "../core/hosts/node/nodes.ts";
import { createNodePairing, type NodePairing, type NodeRecord, type PendingNode } from "../core/hosts/node/pairing.ts";
import { judgeOnNode } from "../core/hosts/node/prepare.ts";
import { NodeRegistry } from "../core/hosts/node/registry.ts";
import { type Candidate, selectNode } from "../core/hosts/node/selection.ts";
import type { NodeTarget } from "../core/policy/node-target.ts";
import type { AllowlistEntry } from "../core/policy/types.ts";
import { createOwnTextCheck, type OwnText } from "../core/process/plain-ascii.ts";
import type { Actor } from "../core/route.ts";
import type { Store } from "../core/store/store.ts";
import { phrase } from "../core/words/phrase.ts";
import { NODE_CLOSE_CODES, type NodeEntry, type PendingNodeEntry } from "../protocol/frames.ts";
import type { NodeConnection, NodeTrust } from "./node-connection.ts";
import { limiterKey, type Peer } from "./peer.ts";
import type { NodeDesk, NodeDoor } from "./server-deps.ts";

/** Connects of one address within a minute; a node that waits for approval tries about every ten seconds. */
const CONNECTS_PER_MINUTE = 60;
const TAKE_BACK_TIMEOUT_MS = 15_000;
/** Commands that need a decision; `nodes invoke` never sends them. */
const EXEC_ONLY: ReadonlySet<string> = new Set(["system.run", "system.run.prepare"]);

export interface GatewayNodesOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly audit: Audit;
  readonly logger: Logger;
  readonly config: () => Config;
  readonly version: string;
  readonly gatewayId: string;
  readonly hasToken: boolean;
  readonly runs: () => Runs;
  readonly onError: (error: unknown, what: string) => void;
}

export interface GatewayNodes {
  readonly exec: ExecNodes;
  readonly host: Host;
  readonly desk: NodeDesk;
  /** Names that `node=` may be completed with: of those that are connected. */
  names(): readonly { readonly id: string; readonly name: string }[];
  /** Has a node forget what "Allow always" stored there; resolves to what it had. Rejects while it is not connected. */
  takeBack(
    node: Pick<NodeTarget, "id" | "name">,
    agentId: string,
    rules: readonly AllowlistEntry[],
  ): Promise<readonly AllowlistEntry[]>;
  /** Stops what runs on nodes, then hangs up. */
  shutdown(withinMs: number): Promise<void>;
}

interface Known extends Candidate {
  readonly record: NodeRecord;
}

export function createGatewayNodes(options: GatewayNodesOptions): GatewayNodes {
  const { store, clock, newId, audit, logger, config, version, gatewayId, hasToken, onError } = options;
  const pairing: NodePairing = createNodePairing({ store, clock, newId });
  const connections = new Set<NodeConnection>();
  const connects = new RateLimiterMemory({ points: CONNECTS_PER_MINUTE, duration: 60 });
  let ownText: OwnText | undefined;
  const registry = new NodeRegistry({
    clock,
    ownText: () => {
      ownText ??= createOwnTextCheck();
      return ownText;
    },
    reconnectMs: () => config().gateway.nodes.reconnectGraceSec * 1000,
    onLateEnd: (nodeId, runId, end) => options.runs().correct(runId, nodeId, end),
    onTrouble: onError,
  });
  let sockets = 0;

  const protocol = async () => {
    const [frames, tickets, auth] = await Promise.all([
      import("../protocol/node-frames.ts"),
      import("../protocol/run-ticket.ts"),
      import("../protocol/device-auth.ts"),
    ]);
    return { frames, tickets, auth };
  };

  function usable({ declared, approved }: Pick<NodeRecord, "declared" | "approved">): ReadonlySet<string> {
    const { allow, deny = [] } = config().gateway.nodes.commands;
    return new Set(
      declared.filter(
        (command) => approved.includes(command) && (!allow || allow.includes(command)) && !deny.includes(command),
      ),
    );
  }

  function canRun(record: NodeRecord): boolean {
    const commands = usable(record);
    return commands.has("system.run") && commands.has("system.run.prepare");
  }

  async function known(): Promise<readonly Known[]> {
    const records = [...(await pairing.list())].sort((a, b) => (a.name < b.name ? -1 : 1));
    return records.map((record) => {
      const link = registry.link(record.id);
      return {
        id: record.id,
        name: record.name,
        connected: link !== undefined,
        canRun: canRun(record),
        record,
        ...(link ? { address: link.address } : {}),
      };
    });
  }

  /** Any paired node, connected or not. */
  async function find(wanted: string): Promise<NodeRecord> {
    const nodes = (await known()).map((node) => ({ ...node, connected: true, canRun: true }));
    return selectNode(wanted, nodes).record;
  }

  function trusts(peer: Peer, hasGatewayToken: boolean): NodeTrust | undefined {
    const { autoApproveLocal, autoApproveCidrs } = config().gateway.nodes;
    // The token shows that it is the operator's: others on this machine can connect too.
    if (autoApproveLocal && peer.local && hasGatewayToken) return { by: "this machine", withCommands: true };
    if (peer.forwarded || autoApproveCidrs.length === 0) return undefined;
    const listed = new BlockList();
    for (const cidr of autoApproveCidrs) {
      const [network = "", bits = ""] = cidr.split("/");
      listed.addSubnet(network, Number(bits), isIPv6(network) ? "ipv6" : "ipv4");
    }
    return listed.check(peer.address, isIPv6(peer.address) ? "ipv6" : "ipv4")
      ? { by: `network of ${peer.address}`, withCommands: false }
      : undefined;
  }

  async function admit(peer: Peer): Promise<void> {
    try {
      await connects.consume(limiterKey(peer.address));
    } catch {
      throw new ExecError("rate-limited", "Too many connects from this address. Try again in a minute.");
    }
  }

  function note(change: "paired" | "widened" | "rejected" | "removed" | "renamed", node: About, by: Actor | string) {
    return audit.record({
      type: "node-changed",
      change,
      nodeId: node.id,
      name: node.name,
      commands: node.commands,
      ...(typeof by === "string" ? { why: by } : { by }),
    });
  }

  async function open(socket: WebSocket, peer: Peer, door: NodeDoor): Promise<void> {
    const { NodeConnection } = await import("./node-connection.ts");
    const connection = new NodeConnection(socket, peer, {
      ...{ door, clock, newId, logger, version, gatewayId, hasToken, pairing, registry, trusts, usable, admit },
      async onWelcome(welcome) {
        if (welcome.kind === "pending" && welcome.isNew) {
          const { requestId, nodeId, name, address } = welcome.request;
          logger.warn({ request: requestId, node: nodeId, name, address }, "a node asks to be paired");
        }
        if (welcome.kind === "paired" && welcome.pairedNow !== undefined) {
          const { id, name, approved } = welcome.record;
          await note("paired", { id, name, commands: approved }, welcome.pairedNow);
        }
      },
    });
    connections.add(connection);
    socket.once("close", () => connections.delete(connection));
  }

  function entry(record: NodeRecord): NodeEntry {
    const link = registry.link(record.id);
    return {
      id: record.id,
      name: record.name,
      platform: record.platform,
      version: record.version,
      connected: link !== undefined,
      declared: record.declared,
      approved: record.approved,
      usable: [...usable(record)],
      pairedAtMs: record.pairedAtMs,
      pairedBy: record.pairedBy,
      running: registry.runningOn(record.id),
      ...(link ? { connectedAtMs: link.connectedAtMs } : {}),
      ...(record.lastSeenAtMs === undefined ? {} : { lastSeenAtMs: record.lastSeenAtMs }),
      ...(record.lastAddress === undefined ? {} : { address: record.lastAddress }),
    };
  }

  const ofNode = (nodeId: string) => [...connections].filter((connection) => connection.nodeId === nodeId);

  const desk: NodeDesk = {
    accept(socket, peer, door) {
      sockets += 1;
      socket.once("close", () => {
        sockets -= 1;
      });
      open(socket, peer, door).catch((error) => {
        onError(error, "accepting a node");
        socket.terminate();
      });
    },
    get sockets() {
      return sockets;
    },
    async list() {
      const [records, pending] = await Promise.all([pairing.list(), pairing.pending()]);
      return { nodes: records.map(entry), pending: pending.map(pendingEntry) };
    },
    async code(by) {
      const made = await pairing.newSetupCode();
      logger.info({ by: by.id }, "a setup code for a node was made");
      return made;
    },
    async approve(wanted, by) {
      const { record, request } = await pairing.approve(wanted);
      await note(
        request.kind === "device" ? "paired" : "widened",
        { id: record.id, name: record.name, commands: record.approved },
        by,
      );
      for (const connection of ofNode(record.id)) connection.refresh(record);
      return entry(record);
    },
    async reject(wanted, by) {
      const request = await pairing.reject(wanted);
      await note("rejected", { id: request.nodeId, name: request.name, commands: request.commands }, by);
      return pendingEntry(request);
    },
    async remove(wanted, by) {
      const record = await find(wanted);
      const before = entry(record);
      await pairing.remove(record.id);
      await registry.stopOn(record.id);
      for (const connection of ofNode(record.id)) {
        connection.close(NODE_CLOSE_CODES.removed, "An owner has removed this node.");
      }
      await note("removed", { id: record.id, name: record.name, commands: record.approved }, by);
      return before;
    },
    async rename(wanted, name, by) {
      const record = await pairing.rename((await find(wanted)).id, name);
      for (const connection of ofNode(record.id)) connection.refresh(record);
      await note("renamed", { id: record.id, name: record.name, commands: record.approved }, by);
      return entry(record);
    },
    async invoke({ node, command, params, timeoutMs }) {
      if (EXEC_ONLY.has(command)) {
        throw new ExecError(
          "not-authorized",
          `${command} is not for invoke: it would run past the policy. Use the exec tool with host=node.`,
        );
      }
      const chosen = selectNode(
        node,
        (await known()).map((one) => ({ ...one, canRun: true })),
      );
      const link = registry.link(chosen.id);
      if (!link) throw new ExecError("host-unavailable", phrase("error.node.offline", { node: chosen.name }));
      if (!link.commands.has(command)) {
        const usableNow = [...link.commands].filter((one) => !EXEC_ONLY.has(one)).join(", ") || "none";
        throw new ExecError(
          "not-found",
          `Node ${chosen.name} has no command ${command} to invoke. It has: ${usableNow}.`,
        );
      }
      try {
        return await link.invoke(command, params, timeoutMs);
      } catch (error) {
        if (error instanceof ExecError) throw error;
        throw new ExecError("host-unavailable", `Node ${chosen.name} did not answer in ${timeoutMs} ms.`);
      }
    },
  };

  return {
    desk,
    exec: {
      async judge(wish, query) {
        const chosen = chooseNode(wish, await known());
        const link = registry.link(chosen.id);
        if (!link) throw new ExecError("host-unavailable", phrase("error.node.offline", { node: chosen.name }));
        const { frames, tickets, auth } = await protocol();
        return judgeOnNode(link, query, {
          parsePrepared: frames.parsePrepared,
          isTicketFor(ticket, { nodeId, publicKey }, { runId, agentId, sessionKey }, bindings) {
            const key = auth.publicKeyOf(publicKey);
            const claims = key && tickets.readTicket(ticket, key);
            return (
              claims !== undefined &&
              claims.device === nodeId &&
              claims.gateway === gatewayId &&
              claims.run === runId &&
              claims.agent === agentId &&
              claims.session === sessionKey &&
              bindings.every((binding) => claims.bindings.includes(binding))
            );
          },
        });
      },
    },
    host: createNodeHost({
      registry,
      parseStarted: async (payload) => (await protocol()).frames.parseStarted(payload),
    }),
    async takeBack(node, agentId, rules) {
      const link = registry.link(node.id);
      if (!link) throw new ExecError("host-unavailable", phrase("error.node.offline", { node: node.name }));
      try {
        const payload = await link.invoke("system.run.revoke", { agentId, rules }, TAKE_BACK_TIMEOUT_MS);
        return (await protocol()).frames.parseRevoked(payload).rules;
      } catch (error) {
        if (error instanceof ExecError) throw error;
        throw new ExecError("host-unavailable", phrase("error.node.offline", { node: node.name }));
      }
    },
    names: () => registry.links().map(({ nodeId, name }) => ({ id: nodeId, name })),
    shutdown: (withinMs) => registry.shutdown(withinMs),
  };
}

interface About {
  readonly id: string;
  readonly name: string;
  readonly commands: readonly string[];
}

function pendingEntry(request: PendingNode): PendingNodeEntry {
  const { requestId, nodeId, name, platform, address, commands, kind, createdAtMs, expiresAtMs } = request;
  return {
    ...{ requestId, nodeId, name, platform, address, commands, kind, createdAtMs },
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  };
}
