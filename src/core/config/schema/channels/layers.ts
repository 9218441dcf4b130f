/** A channel's own keys are what its accounts start from: how the layers become accounts, and what is checked in each. */
import * as z from "zod";
import { accountId } from "../values.ts";
import { type AccountKeys, dmDefaults, type Visibility, visibilityDefaults } from "./account-keys.ts";

export const accountsOf = <T extends z.ZodType>(keys: T) =>
  z.exactOptional(z.record(accountId, keys).describe("Further bot accounts; each starts from the keys above."));

/** Field by field: the account, then the channel, then the default. A channel switched off switches its accounts off. */
export function mergedKeys(base: Visibility, root: AccountKeys, own: AccountKeys) {
  return {
    enabled: root.enabled !== false && own.enabled !== false,
    dm: { ...dmDefaults, ...root.dm, ...own.dm },
    heartbeat: { ...visibilityDefaults, ...base, ...root.heartbeat, ...own.heartbeat },
    commands: { ...root.commands, ...own.commands },
  };
}

interface WithAccounts<K> {
  readonly accounts?: Readonly<Record<string, K>>;
}

/** The `default` account is the channel's own keys; it is left out when only named accounts hold a token. */
export function resolveAccounts<K extends { token?: string; botToken?: string }, A>(
  channel: K & WithAccounts<K>,
  merge: (root: K, own: K) => A,
): { readonly accounts: Readonly<Record<string, A>> } {
  const { accounts = {}, ...rest } = channel;
  const root = rest as unknown as K;
  const named = Object.entries(accounts).map(([id, own]) => [id, merge(root, own)] as const);
  const hasOwnToken = root.token !== undefined || root.botToken !== undefined;
  if (accounts.default === undefined && (named.length === 0 || hasOwnToken)) {
    named.unshift(["default", merge(root, {} as K)]);
  }
  return { accounts: Object.fromEntries(named) };
}

/** Each account with the channel's keys under its own, and where a key of it was written. */
export function* layered<K extends object>(
  channel: K & WithAccounts<K>,
): Generator<{ keys: K; at(key: keyof K): PropertyKey[] }> {
  const { accounts = {}, ...root } = channel;
  yield { keys: root as K, at: (key) => [key] };
  for (const [id, own] of Object.entries(accounts)) {
    yield { keys: { ...(root as K), ...own }, at: (key) => (key in own ? ["accounts", id, key] : [key]) };
  }
}

type Issues = z.core.ParsePayload["issues"];

export function complain(issues: Issues, path: PropertyKey[], input: unknown, message: string): void {
  issues.push({ code: "custom", path, input, message });
}

export function checkDms(
  keys: AccountKeys,
  at: (key: "allowFrom" | "dmPolicy") => PropertyKey[],
  issues: Issues,
): void {
  if (keys.dmPolicy === "allowlist" && (keys.allowFrom ?? []).length === 0) {
    complain(
      issues,
      at("dmPolicy"),
      keys.dmPolicy,
      "`allowlist` needs at least one id in `allowFrom`, or nobody could write",
    );
  }
  if (keys.dmPolicy === "open" && !(keys.allowFrom ?? []).includes("*")) {
    complain(
      issues,
      at("dmPolicy"),
      keys.dmPolicy,
      '`open` takes effect only with `allowFrom: ["*"]`; add it, or use `pairing`',
    );
  }
}
