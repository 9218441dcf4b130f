/**
 * A Telegram group that became a supergroup has a new id (core.telegram.org/bots/api#message, `migrate_to_chat_id`). The
 * changes that make a configuration document speak of the new one wherever it named the old. Pure.
 */
import type { KeyPath } from "./key-path.ts";
import type { Edit } from "./text-edit.ts";

type Tree = Readonly<Record<string, unknown>>;

/** In the order to apply them. Empty when the document does not name the chat. What already names the new id stays. */
export function chatMigrationEdits(document: unknown, from: string, to: string): readonly Edit[] {
  const root = tree(document);
  const telegram = tree(tree(root.channels).telegram);
  const accounts = Object.keys(tree(telegram.accounts)).map((id) => ["channels", "telegram", "accounts", id] as const);
  return [
    ...[["channels", "telegram"], ...accounts].flatMap((path) => roomEdits(document, [...path, "groups"], from, to)),
    ...list(root.bindings).flatMap((binding, index) => {
      const match = tree(tree(binding).match);
      const isIt = match.channel === "telegram" && tree(match.peer).id === from;
      return isIt ? [set(["bindings", index, "match", "peer", "id"], to)] : [];
    }),
    ...list(tree(tree(root.approvals).exec).targets).flatMap((target, index) => {
      const moved = tree(target).channel === "telegram" ? movedAddress(tree(target).to, from, to) : undefined;
      return moved === undefined ? [] : [set(["approvals", "exec", "targets", index, "to"], moved)];
    }),
    ...heartbeatEdits(root.agents, ["agents"], from, to),
  ];
}

function roomEdits(document: unknown, path: KeyPath, from: string, to: string): Edit[] {
  const rooms = tree(path.reduce<unknown>((at, key) => tree(at)[key], document));
  if (!Object.hasOwn(rooms, from)) return [];
  const added = Object.hasOwn(rooms, to) ? [] : [set([...path, to], rooms[from])];
  return [...added, { kind: "unset", path: [...path, from] }];
}

/** `heartbeat` stands in the defaults and in each agent, in either spelling of the list. */
function heartbeatEdits(value: unknown, path: KeyPath, from: string, to: string): Edit[] {
  const children = Array.isArray(value) ? [...value.entries()] : Object.entries(tree(value));
  return children.flatMap(([key, child]) => {
    if (key !== "heartbeat") return heartbeatEdits(child, [...path, key], from, to);
    const moved = tree(child).target === "telegram" ? movedAddress(tree(child).to, from, to) : undefined;
    return moved === undefined ? [] : [set([...path, key, "to"], moved)];
  });
}

/** `<chat>` or `<chat>:topic:<id>` */
function movedAddress(address: unknown, from: string, to: string): string | undefined {
  if (typeof address !== "string") return undefined;
  if (address === from) return to;
  return address.startsWith(`${from}:`) ? `${to}${address.slice(from.length)}` : undefined;
}

const set = (path: KeyPath, value: unknown): Edit => ({ kind: "set", path, value });

function tree(value: unknown): Tree {
  return typeof value === "object" && value !== null ? (value as Tree) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
