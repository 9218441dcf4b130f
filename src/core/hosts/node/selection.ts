/** Which node a call means (hosts.md 4.4). Pure. */
import { ExecError } from "../../errors.ts";
import { phrase } from "../../words/phrase.ts";

export interface Candidate {
  readonly id: string;
  readonly name: string;
  readonly address?: string;
  readonly connected: boolean;
  /** It has `system.run` and `system.run.prepare`, here and now. */
  readonly canRun: boolean;
}

/** Shorter starts of an id are too likely to be something else. */
export const MIN_ID_PREFIX = 6;
/** Names shown in an error. */
const MAX_NAMED = 8;

/**
 * @param wanted id, address, display name or start of an id; undefined: the only one there is.
 * @throws ExecError `host-unavailable` with the candidates; nothing has been asked or run by then.
 */
export function selectNode<C extends Candidate>(wanted: string | undefined, nodes: readonly C[]): C {
  if (wanted === undefined) return theOnlyOne(nodes);
  const found = matches(wanted.trim(), nodes);
  if (found.length === 0)
    throw unavailable(phrase("error.node.unknown", { node: wanted, nodes: listOf(nodes) }), nodes);
  const [node, ...others] = connectedFirst(found);
  if (node === undefined || others.length > 0) {
    throw unavailable(phrase("error.node.ambiguous", { node: wanted, nodes: listOf(found) }), found);
  }
  return usable(node);
}

/** Of the first class that has any: exact id or address, exact name, start of an id. */
function matches<C extends Candidate>(wanted: string, nodes: readonly C[]): readonly C[] {
  const classes: readonly ((node: C) => boolean)[] = [
    (node) => node.id === wanted || (node.connected && node.address === wanted),
    (node) => node.name === wanted,
    (node) => wanted.length >= MIN_ID_PREFIX && node.id.startsWith(wanted.toLowerCase()),
  ];
  for (const fits of classes) {
    const found = nodes.filter(fits);
    if (found.length > 0) return found;
  }
  return [];
}

function connectedFirst<C extends Candidate>(found: readonly C[]): readonly C[] {
  const connected = found.filter((node) => node.connected);
  return connected.length > 0 ? connected : found;
}

function theOnlyOne<C extends Candidate>(nodes: readonly C[]): C {
  const able = nodes.filter((node) => node.connected && node.canRun);
  const [node, ...others] = able;
  if (node !== undefined && others.length === 0) return node;
  if (node !== undefined) throw unavailable(phrase("error.node.several", { nodes: listOf(able) }), able);
  if (nodes.length === 0) throw unavailable(phrase("error.node.none"), nodes);
  const connected = nodes.filter((one) => one.connected);
  if (connected.length > 0) {
    throw unavailable(phrase("error.node.noneCanRun", { nodes: listOf(connected) }), connected);
  }
  throw unavailable(phrase("error.node.noneConnected", { nodes: listOf(nodes) }), nodes);
}

function usable<C extends Candidate>(node: C): C {
  if (!node.connected) throw unavailable(phrase("error.node.offline", { node: node.name }), [node]);
  if (!node.canRun) throw unavailable(phrase("error.node.cannotRun", { node: node.name }), [node]);
  return node;
}

function listOf(nodes: readonly Candidate[]): readonly string[] | string {
  if (nodes.length === 0) return "-";
  const named = nodes.slice(0, MAX_NAMED).map((node) => `${node.name} (${node.id.slice(0, 8)})`);
  return nodes.length > MAX_NAMED ? [...named, "…"] : named;
}

function unavailable(wording: ReturnType<typeof phrase>, nodes: readonly Candidate[]): ExecError {
  return new ExecError("host-unavailable", wording, {
    nodes: nodes.slice(0, MAX_NAMED).map(({ id, name }) => ({ id, name })),
  });
}
