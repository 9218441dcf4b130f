/** Which keys a running gateway takes up at once. Everything else is read when the gateway starts. */

import { isDeepStrictEqual } from "node:util";
import { formatKeyPath, valueAt } from "./key-path.ts";

/** `*` stands for one name. Whoever uses such a key reads it anew for each request. */
const LIVE: readonly (readonly string[])[] = [
  ["tools"],
  ["agents"],
  ["bindings"],
  ["approvals"],
  ["commands"],
  ["accessGroups"],
  ["session"],
  ["messages"],
  ["$schema"],
  ...[
    "dmPolicy",
    "allowFrom",
    "groupPolicy",
    "groupAllowFrom",
    "requireMention",
    "allowBots",
    "dm",
    "replyToMode",
    "batching",
    "capabilities",
    "execApprovals",
  ].flatMap((key) => [
    ["channels", "*", key],
    ["channels", "*", "accounts", "*", key],
  ]),
  ...["channels.slack.channels", "channels.discord.guilds", "channels.telegram.groups"].flatMap((key) => {
    const [root = "", channel = "", rooms = ""] = key.split(".");
    return [
      [root, channel, rooms],
      [root, channel, "accounts", "*", rooms],
    ];
  }),
];

/** Native command registration is part of connecting, so it is the exception under `commands`. */
const RESTART: readonly (readonly string[])[] = [["commands", "native"]];

export function needsRestart(path: readonly PropertyKey[]): boolean {
  if (RESTART.some((rule) => covers(rule, path))) return true;
  return !LIVE.some((rule) => covers(rule, path));
}

/** A change above a rule (the whole of `channels`) is not covered by it: more than the live part may have changed. */
function covers(rule: readonly string[], path: readonly PropertyKey[]): boolean {
  return rule.length <= path.length && rule.every((part, index) => part === "*" || part === String(path[index]));
}

/** The smallest differing keys of two documents; lists are compared as a whole. */
function changedKeys(before: unknown, after: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (isTable(before) && isTable(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => changedKeys(before[key], after[key], [...at, key]));
  }
  const filled = [before, after].find((side) => isTable(side) && Object.keys(side).length > 0);
  if (before === undefined && after === filled && filled !== undefined) return changedKeys({}, after, at);
  if (after === undefined && before === filled && filled !== undefined) return changedKeys(before, {}, at);
  return isDeepStrictEqual(before, after) ? [] : [at];
}

/**
 * The running document with those changes of the new one that can be taken up at once.
 *
 * A bot account that was not there, or is no longer, is not half applied: it needs a restart with all its keys.
 */
export function mergeLive(running: unknown, wanted: unknown): { document: unknown; live: string[]; restart: string[] } {
  const document = structuredClone(running);
  const live: string[] = [];
  const restart: string[] = [];
  for (const path of changedKeys(running, wanted)) {
    const account = accountOf(path);
    const sameAccounts = account === undefined || (valueAt(running, account) && valueAt(wanted, account));
    if (needsRestart(path) || !sameAccounts) {
      restart.push(formatKeyPath(path));
      continue;
    }
    put(document, path, valueAt(wanted, path));
    live.push(formatKeyPath(path));
  }
  return { document, live, restart };
}

function accountOf(path: readonly string[]): readonly string[] | undefined {
  if (path[0] !== "channels") return undefined;
  return path[2] === "accounts" ? path.slice(0, 4) : path.slice(0, 2);
}

function put(document: unknown, path: readonly string[], value: unknown): void {
  let holder = document as Record<string, unknown>;
  for (const part of path.slice(0, -1)) {
    const next = holder[part];
    holder[part] = isTable(next) ? next : {};
    holder = holder[part] as Record<string, unknown>;
  }
  const last = path.at(-1) ?? "";
  if (value === undefined) delete holder[last];
  else holder[last] = value;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
