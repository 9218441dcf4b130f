/** What `nodes` does, through the running gateway. */
import { formatDuration } from "../core/duration.ts";
import { ExecError } from "../core/errors.ts";
import type { NodeEntry, PendingNodeEntry } from "../protocol/frames.ts";
import { type Cli, EXIT } from "./io.ts";
import { withGateway } from "./with-gateway.ts";

interface JsonFlag {
  readonly json?: boolean;
}

const HOW_TO_START = "Start one on the other machine with: openclaw-exec node run --host <this machine>";

export async function list(cli: Cli, flags: JsonFlag): Promise<number> {
  const { nodes } = await all(cli);
  if (flags.json) cli.out(JSON.stringify(nodes, null, 2));
  else if (nodes.length === 0) cli.out(`No node is paired. ${HOW_TO_START}`);
  else for (const node of nodes) cli.out(`${node.id.slice(0, 12)}  ${node.name}  ${where(node)}`);
  return EXIT.ok;
}

export async function status(cli: Cli, flags: JsonFlag): Promise<number> {
  const { nodes, pending } = await all(cli);
  if (flags.json) {
    cli.out(JSON.stringify({ nodes, pending }, null, 2));
    return EXIT.ok;
  }
  if (nodes.length === 0) cli.out(`No node is paired. ${HOW_TO_START}`);
  for (const node of nodes) {
    cli.out(`${node.name.padEnd(20)} ${where(node)}, ${node.running} running`);
    cli.out(`${"".padEnd(20)} ${node.id.slice(0, 12)}, usable: ${node.usable.join(", ") || "nothing"}`);
  }
  if (pending.length > 0) cli.out(`${pending.length} waiting to be approved: openclaw-exec nodes pending`);
  return EXIT.ok;
}

export async function pending(cli: Cli, flags: JsonFlag): Promise<number> {
  const { pending } = await all(cli);
  if (flags.json) cli.out(JSON.stringify(pending, null, 2));
  else if (pending.length === 0) cli.out("No node waits to be approved.");
  else for (const one of pending) for (const line of waiting(one)) cli.out(line);
  return EXIT.ok;
}

export async function code(cli: Cli): Promise<number> {
  const made = await withGateway(cli, {}, (client) => client.request("nodes.code", {}));
  cli.out(made.code);
  cli.err(
    `Good for one node until ${new Date(made.expiresAtMs).toISOString()}. On the other machine: openclaw-exec node run --host <this machine> --pair, and type it in.`,
  );
  return EXIT.ok;
}

export async function approve(cli: Cli, request: string): Promise<number> {
  const node = await withGateway(cli, {}, (client) => client.request("nodes.approve", { request }));
  cli.out(`${node.name} (${node.id.slice(0, 12)}) may now be used for: ${node.approved.join(", ") || "nothing"}.`);
  return EXIT.ok;
}

export async function reject(cli: Cli, request: string): Promise<number> {
  const node = await withGateway(cli, {}, (client) => client.request("nodes.reject", { request }));
  cli.out(
    node.kind === "device"
      ? `${node.name} (${node.nodeId.slice(0, 12)}) was turned away.`
      : `${node.name} (${node.nodeId.slice(0, 12)}) stays at what was approved.`,
  );
  return EXIT.ok;
}

export async function describe(cli: Cli, wanted: string, flags: JsonFlag): Promise<number> {
  const { nodes } = await all(cli);
  const exact = nodes.filter((node) => node.id === wanted || node.name === wanted);
  const found = exact.length > 0 ? exact : nodes.filter((node) => node.id.startsWith(wanted));
  const [node, ...others] = found;
  if (!node || others.length > 0) {
    const names = (node ? found : nodes).map((one) => `${one.name} (${one.id.slice(0, 12)})`).join(", ") || "none";
    throw new ExecError(
      "not-found",
      `${node ? "Several nodes match" : "There is no node"} "${wanted}". Nodes: ${names}.`,
    );
  }
  if (flags.json) {
    cli.out(JSON.stringify(node, null, 2));
    return EXIT.ok;
  }
  const lines: readonly (readonly [string, string])[] = [
    ["Name", node.name],
    ["Device", node.id],
    ["State", where(node)],
    ["Running", String(node.running)],
    ["Platform", `${node.platform}, version ${node.version}`],
    ["Paired", `${new Date(node.pairedAtMs).toISOString()} by ${node.pairedBy}`],
    ["Offers", node.declared.join(", ") || "nothing"],
    ["Approved", node.approved.join(", ") || "nothing"],
    ["Usable", node.usable.join(", ") || "nothing"],
  ];
  for (const [label, value] of lines) cli.out(`${label.padEnd(10)} ${value}`);
  return EXIT.ok;
}

export async function remove(cli: Cli, node: string): Promise<number> {
  const gone = await withGateway(cli, {}, (client) => client.request("nodes.remove", { node }));
  cli.out(`Removed ${gone.name} (${gone.id.slice(0, 12)}). It has to be paired again to be used.`);
  return EXIT.ok;
}

export async function rename(cli: Cli, node: string, name: string): Promise<number> {
  const now = await withGateway(cli, {}, (client) => client.request("nodes.rename", { node, name }));
  cli.out(`${now.id.slice(0, 12)} is called ${now.name} now.`);
  return EXIT.ok;
}

export async function invoke(
  cli: Cli,
  node: string,
  command: string,
  flags: { readonly params: Record<string, unknown>; readonly timeoutMs: number },
): Promise<number> {
  const { payload } = await withGateway(cli, {}, (client) =>
    client.request("nodes.invoke", { node, command, params: flags.params, timeoutMs: flags.timeoutMs }),
  );
  cli.out(JSON.stringify(payload, null, 2));
  return EXIT.ok;
}

function all(cli: Cli) {
  return withGateway(cli, {}, (client) => client.request("nodes.list", {}));
}

function where(node: NodeEntry): string {
  if (node.connected) {
    const since = node.connectedAtMs === undefined ? "" : ` for ${formatDuration(Date.now() - node.connectedAtMs)}`;
    return `connected${since}${node.address === undefined ? "" : ` from ${node.address}`}`;
  }
  if (node.lastSeenAtMs === undefined) return "not connected, never seen";
  return `not connected, last seen ${new Date(node.lastSeenAtMs).toISOString()}`;
}

function waiting(one: PendingNodeEntry): readonly string[] {
  const what = one.kind === "device" ? "wants to be paired" : "offers more than was approved";
  return [
    `${one.requestId.slice(0, 8)}  ${one.name} ${what}: ${one.commands.join(", ") || "nothing"}`,
    `          device ${one.nodeId}, ${one.platform}, from ${one.address}`,
    `          openclaw-exec nodes approve ${one.requestId.slice(0, 8)}`,
  ];
}
