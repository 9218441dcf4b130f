/**
 * Other spellings of keys, accepted and turned into the one this product uses (decisions.md D1). Runs on the raw
 * document before validation; remembers what was moved, so that a problem still names the key as it was written.
 */
import { formatKeyPath, valueAt } from "./key-path.ts";

export interface Move {
  /** Where the value is now. */
  readonly to: readonly (string | number)[];
  /** Where the file has it. */
  readonly from: readonly (string | number)[];
}

export interface Normalised {
  readonly value: unknown;
  readonly moves: readonly Move[];
  readonly conflicts: readonly { readonly path: readonly (string | number)[]; readonly message: string }[];
}

type Table = Record<string, unknown>;

export function normaliseAliases(document: unknown): Normalised {
  const root = structuredClone(document);
  const moves: Move[] = [];
  const conflicts: Normalised["conflicts"][number][] = [];

  const rename = (
    table: Table | undefined,
    at: readonly (string | number)[],
    from: readonly string[],
    to: string,
    convert: (value: unknown) => unknown = (value) => value,
  ): void => {
    const last = from.at(-1);
    const holder = valueAt(table, from.slice(0, -1));
    if (!table || last === undefined || !isTable(holder) || !Object.hasOwn(holder, last)) return;
    if (Object.hasOwn(table, to)) {
      conflicts.push({
        path: [...at, ...from],
        message: `the same as ${formatKeyPath([...at, to])}, which is also set; keep that one`,
      });
      return;
    }
    table[to] = convert(holder[last]);
    delete holder[last];
    moves.push({ from: [...at, ...from], to: [...at, to] });
  };

  const agents = tableAt(root, ["agents"]);
  if (agents && isTable(agents.entries)) {
    const names = Object.keys(agents.entries);
    const entries = agents.entries;
    if (Array.isArray(agents.list)) {
      conflicts.push({
        path: ["agents", "entries"],
        message: "the same as agents.list, which is also set; keep that one",
      });
    } else {
      agents.list = names.map((id) => (isTable(entries[id]) ? { id, ...entries[id] } : entries[id]));
      for (const [index, id] of names.entries()) {
        moves.push({ from: ["agents", "entries", id], to: ["agents", "list", index] });
      }
    }
    delete agents.entries;
  }

  const execTables: (readonly (string | number)[])[] = [["tools", "exec"]];
  const agentList = valueAt(root, ["agents", "list"]);
  if (Array.isArray(agentList)) {
    for (const index of agentList.keys()) execTables.push(["agents", "list", index, "tools", "exec"]);
  }
  for (const at of execTables) rename(tableAt(root, at), at, ["timeoutSeconds"], "timeoutSec");

  for (const channel of ["slack", "discord", "telegram"]) {
    const accounts = Object.keys(tableAt(root, ["channels", channel, "accounts"]) ?? {});
    for (const at of [["channels", channel], ...accounts.map((id) => ["channels", channel, "accounts", id])]) {
      const table = tableAt(root, at);
      rename(table, at, ["dm", "policy"], "dmPolicy");
      rename(table, at, ["dm", "allowFrom"], "allowFrom");
      rename(table, at, ["heartbeatVisibility"], "heartbeat");
      if (channel === "telegram") rename(table, at, ["tokenFile"], "botToken", (value) => `file:${String(value)}`);
    }
  }
  rename(tableAt(root, ["approvals"]), ["approvals"], ["notifyAgentOnDeny"], "wakeOnDenial");

  return { value: root, moves, conflicts };
}

/** A path of the normalised document, as the file spells it. Moves are undone in reverse, as one may lie within another. */
export function asWritten(path: readonly PropertyKey[], moves: readonly Move[]): readonly PropertyKey[] {
  return moves.reduceRight((current, { from, to }) => {
    const within = to.length <= current.length && to.every((part, index) => part === current[index]);
    return within ? [...from, ...current.slice(to.length)] : current;
  }, path);
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function tableAt(root: unknown, path: readonly (string | number)[]): Table | undefined {
  const value = valueAt(root, path);
  return isTable(value) ? value : undefined;
}
