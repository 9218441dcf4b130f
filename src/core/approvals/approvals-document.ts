/**
 * The content of exec-approvals.json as values (spec: policy.md section 4). Reading never repairs and never guesses;
 * edits keep every key they do not know. Pure.
 */
import { ARGV_GRANT, argPatternProblem, FILE_GRANT } from "../policy/allowlist.ts";
import type { HostPolicyLayer } from "../policy/resolve.ts";
import {
  type AllowlistEntry,
  ASK_LEVELS,
  type Ask,
  type PolicyLayer,
  SECURITY_LEVELS,
  type Security,
  type Sourced,
} from "../policy/types.ts";
import { type Phrase, phrase } from "../words/phrase.ts";

/** Rules of every agent. */
export const EVERY_AGENT = "*";

type Json = Record<string, unknown>;

export interface ApprovalsDocument {
  /** The parsed JSON, unknown keys and all. Never changed in place. */
  readonly raw: Json;
}

export type ReadResult =
  | { readonly ok: true; readonly document: ApprovalsDocument }
  /** Where it is wrong, never what was written there. */
  | { readonly ok: false; readonly problem: string };

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const EMPTY_DOCUMENT: ApprovalsDocument = { raw: { version: 1 } };

export function readDocument(text: string): ReadResult {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (error) {
    const at = /position (\d+)/.exec((error as Error).message)?.[1];
    return {
      ok: false,
      problem: at === undefined ? "not valid JSON" : `not valid JSON at ${lineAndColumn(text, Number(at))}`,
    };
  }
  const problem = documentProblem(raw);
  return problem === undefined ? { ok: true, document: { raw: raw as Json } } : { ok: false, problem };
}

function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

function documentProblem(raw: unknown): string | undefined {
  if (!isObject(raw)) return "expected an object";
  if (raw.version !== 1) return "version: expected 1";
  if (raw.defaults !== undefined && !isObject(raw.defaults)) return "defaults: expected an object";
  if (raw.agents === undefined) return undefined;
  if (!isObject(raw.agents)) return "agents: expected an object";
  for (const [index, [id, agent]] of Object.entries(raw.agents).entries()) {
    const where = `agents entry #${index + 1}`;
    if (id === "__proto__" || id.trim() === "") return `${where}: this is not a name for an agent`;
    if (!isObject(agent)) return `${where}: expected an object`;
    if (agent.allowlist === undefined) continue;
    if (!Array.isArray(agent.allowlist)) return `${where}.allowlist: expected a list`;
    for (const [at, entry] of agent.allowlist.entries()) {
      const problem = entryProblem(entry);
      if (problem !== undefined) return `${where}.allowlist[${at}]${problem}`;
    }
  }
  return undefined;
}

function entryProblem(entry: unknown): string | undefined {
  if (typeof entry === "string") return undefined;
  if (!isObject(entry)) return ": expected a pattern or an object";
  if (typeof entry.pattern !== "string") return ".pattern: expected text";
  for (const key of ["argPattern", "id", "lastUsedCommand", "lastResolvedPath"]) {
    if (entry[key] !== undefined && typeof entry[key] !== "string") return `.${key}: expected text`;
  }
  const { lastUsedAt } = entry;
  if (lastUsedAt !== undefined && !(typeof lastUsedAt === "number" && Number.isFinite(lastUsedAt))) {
    return ".lastUsedAt: expected a finite number";
  }
  return undefined;
}

/** Undefined for blank patterns, which cover nothing. */
function toEntry(entry: unknown): AllowlistEntry | undefined {
  if (typeof entry === "string") return entry.trim() === "" ? undefined : { pattern: entry };
  const { pattern, argPattern, id, source, lastUsedAt, lastUsedCommand, lastResolvedPath } =
    entry as Partial<AllowlistEntry>;
  if (pattern === undefined || pattern.trim() === "") return undefined;
  return {
    pattern,
    ...(argPattern === undefined ? {} : { argPattern }),
    ...(id === undefined ? {} : { id }),
    // Any other word is somebody's note: the rule counts as written by hand.
    ...(source === "allow-always" ? { source } : {}),
    ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
    ...(lastUsedCommand === undefined ? {} : { lastUsedCommand }),
    ...(lastResolvedPath === undefined ? {} : { lastResolvedPath }),
  };
}

function agentOf(document: ApprovalsDocument, id: string): Json | undefined {
  const { agents } = document.raw;
  if (!isObject(agents)) return undefined;
  const own = Object.hasOwn(agents, id) && isObject(agents[id]) ? (agents[id] as Json) : undefined;
  // `agents.default` is the old name of `agents.main`.
  const legacy = id === "main" && Object.hasOwn(agents, "default") ? (agents.default as Json) : undefined;
  if (!legacy) return own;
  const lists = [own?.allowlist, legacy.allowlist].flatMap((list) => (Array.isArray(list) ? list : []));
  return { ...legacy, ...own, allowlist: lists };
}

/** Rules of one scope, as they stand in the file. */
export function rulesOf(document: ApprovalsDocument, scope: string): AllowlistEntry[] {
  const list = agentOf(document, scope)?.allowlist;
  if (!Array.isArray(list)) return [];
  return list.map(toEntry).filter((entry) => entry !== undefined);
}

/** Every scope that is named in the file. */
export function scopesOf(document: ApprovalsDocument): string[] {
  return isObject(document.raw.agents) ? Object.keys(document.raw.agents) : [];
}

const WORD_KEYS = ["security", "ask", "askFallback"] as const;

/** The policy words as they are written, of `defaults` and of each scope that names one. */
export function policyWords(
  document: ApprovalsDocument,
): readonly (readonly [string, Readonly<Record<string, string>>])[] {
  const wordsOf = (object: unknown): Record<string, string> =>
    isObject(object)
      ? Object.fromEntries(
          WORD_KEYS.filter((key) => object[key] !== undefined).map((key) => [key, String(object[key]).slice(0, 64)]),
        )
      : {};
  return [
    ["defaults", wordsOf(document.raw.defaults)],
    ...scopesOf(document).map((scope) => [scope, wordsOf(agentOf(document, scope))] as const),
  ];
}

function word<T extends string>(value: unknown, allowed: readonly T[]): T | undefined {
  const text = typeof value === "string" ? value.trim().toLowerCase() : undefined;
  return allowed.find((item) => item === text);
}

/** First match wins: agent, every agent, defaults. A value that is there but not known falls to the defaults (2.2). */
function field<T extends string>(
  document: ApprovalsDocument,
  agentId: string,
  key: "security" | "ask" | "askFallback",
  allowed: readonly T[],
): Sourced<T> | undefined {
  const scopes: readonly [Json | undefined, PolicyLayer][] = [
    [agentOf(document, agentId), "host-file:agent"],
    [agentOf(document, EVERY_AGENT), "host-file:*"],
  ];
  for (const [scope, from] of scopes) {
    if (scope?.[key] === undefined) continue;
    const value = word(scope[key], allowed);
    if (value !== undefined) return { value, from };
    break;
  }
  const defaults = isObject(document.raw.defaults) ? document.raw.defaults : undefined;
  const value = word(defaults?.[key], allowed);
  return value === undefined ? undefined : { value, from: "host-file:defaults" };
}

export function hostPolicyFor(document: ApprovalsDocument, agentId: string): HostPolicyLayer {
  const security = field<Security>(document, agentId, "security", SECURITY_LEVELS);
  const ask = field<Ask>(document, agentId, "ask", ASK_LEVELS);
  const askFallback = field<Security>(document, agentId, "askFallback", SECURITY_LEVELS);
  const shared = agentId === EVERY_AGENT ? [] : rulesOf(document, EVERY_AGENT);
  return {
    ...(security ? { security } : {}),
    ...(ask ? { ask } : {}),
    ...(askFallback ? { askFallback } : {}),
    allowlist: [...shared, ...rulesOf(document, agentId)],
  };
}

const sameRule = (a: AllowlistEntry, b: AllowlistEntry): boolean =>
  a.pattern === b.pattern && a.argPattern === b.argPattern;

/** Replaces one scope's list; a scope that holds nothing else and becomes empty goes away. */
function withList(
  document: ApprovalsDocument,
  scope: string,
  change: (list: readonly unknown[]) => readonly unknown[],
): ApprovalsDocument {
  const agents = isObject(document.raw.agents) ? document.raw.agents : {};
  const agent = Object.hasOwn(agents, scope) && isObject(agents[scope]) ? (agents[scope] as Json) : {};
  const before = Array.isArray(agent.allowlist) ? agent.allowlist : [];
  const list = change(before);
  const { allowlist: _, ...others } = agent;
  const next = list.length > 0 ? { ...others, allowlist: list } : others;
  const { [scope]: __, ...otherAgents } = agents;
  const kept = Object.keys(next).length > 0 ? { ...agents, [scope]: next } : otherAgents;
  return { raw: { ...document.raw, agents: kept } };
}

/** Adds rules that are not there yet. The same document when there is nothing to add. */
export function addRules(
  document: ApprovalsDocument,
  scope: string,
  rules: readonly AllowlistEntry[],
  newId: () => string,
): ApprovalsDocument {
  const present = rulesOf(document, scope);
  const fresh = rules.filter(
    (rule, index) =>
      !present.some((old) => sameRule(old, rule)) && rules.findIndex((other) => sameRule(other, rule)) === index,
  );
  if (fresh.length === 0) return document;
  return withList(document, scope, (list) => [...list, ...fresh.map((rule) => ({ ...rule, id: rule.id ?? newId() }))]);
}

/** Removes what `matches` says. `removed` tells which. */
export function removeRules(
  document: ApprovalsDocument,
  scope: string,
  matches: (rule: AllowlistEntry) => boolean,
): { readonly document: ApprovalsDocument; readonly removed: readonly AllowlistEntry[] } {
  const removed = rulesOf(document, scope).filter(matches);
  if (removed.length === 0) return { document, removed };
  const scopes = scope === "main" ? ["main", "default"] : [scope];
  const next = scopes.reduce(
    (current, name) =>
      scopesOf(current).includes(name)
        ? withList(current, name, (list) =>
            list.filter((item) => {
              const entry = toEntry(item);
              return entry === undefined || !matches(entry);
            }),
          )
        : current,
    document,
  );
  return { document: next, removed };
}

/** When and for what a rule was last used, in the agent's own rules and in everybody's. */
export interface RuleUse {
  readonly agentId: string;
  readonly rule: AllowlistEntry;
  readonly at: number;
  readonly command: string;
  readonly resolvedPath?: string;
}

export function recordUses(document: ApprovalsDocument, uses: readonly RuleUse[]): ApprovalsDocument {
  let next = document;
  for (const use of uses) {
    for (const scope of new Set([EVERY_AGENT, use.agentId])) {
      if (!scopesOf(next).includes(scope)) continue;
      next = withList(next, scope, (list) =>
        list.map((item) => {
          const entry = toEntry(item);
          if (!entry || !sameRule(entry, use.rule) || (entry.lastUsedAt ?? 0) > use.at) return item;
          const base = typeof item === "string" ? { pattern: item } : (item as Json);
          // A grant is a hash so that the file does not tell what was run.
          const hashed = isGrant(entry);
          return {
            ...base,
            lastUsedAt: use.at,
            ...(hashed ? {} : { lastUsedCommand: use.command }),
            ...(use.resolvedPath === undefined ? {} : { lastResolvedPath: use.resolvedPath }),
          };
        }),
      );
    }
  }
  return next;
}

export const isGrant = (rule: AllowlistEntry): boolean =>
  rule.argPattern?.startsWith(ARGV_GRANT) === true || rule.argPattern?.startsWith(FILE_GRANT) === true;

/** The policy words of one scope; `undefined` removes one. */
export interface ScopePolicy {
  readonly security?: Security | undefined;
  readonly ask?: Ask | undefined;
  readonly askFallback?: Security | undefined;
}

/** Sets words of `defaults`, or of an agent. */
export function setPolicy(
  document: ApprovalsDocument,
  scope: "defaults" | { readonly agent: string },
  words: ScopePolicy,
): ApprovalsDocument {
  const { raw } = document;
  const drop = (object: Json): Json =>
    Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
  if (scope === "defaults") {
    const defaults = isObject(raw.defaults) ? raw.defaults : {};
    return { raw: { ...raw, defaults: drop({ ...defaults, ...words }) } };
  }
  const agents = isObject(raw.agents) ? raw.agents : {};
  const agent = isObject(agents[scope.agent]) ? (agents[scope.agent] as Json) : {};
  return { raw: { ...raw, agents: { ...agents, [scope.agent]: drop({ ...agent, ...words }) } } };
}

/** Why a rule is not accepted when a person writes it; a file may hold it, it then covers nothing. */
export function ruleProblem(rule: AllowlistEntry): Phrase | undefined {
  if (rule.pattern.trim() === "") return phrase("rule.empty");
  if (rule.pattern.includes("\u0000")) return phrase("rule.nul");
  if (rule.argPattern === undefined) return undefined;
  if (rule.pattern.trim() === "*") return phrase("rule.everyProgram");
  const problem = argPatternProblem(rule.argPattern);
  return problem === undefined ? undefined : phrase("rule.argPattern", { problem });
}

/** The token of the companion socket is nobody's business. */
export function redacted(document: ApprovalsDocument): Json {
  const { socket } = document.raw;
  if (!isObject(socket) || socket.token === undefined) return document.raw;
  return { ...document.raw, socket: { ...socket, token: "[redacted]" } };
}

export function printDocument(document: ApprovalsDocument): string {
  const cleaned = JSON.parse(JSON.stringify(document.raw), (key, value: unknown) => {
    // Old files kept the command in plain text beside its hash.
    return key === "commandText" ? undefined : value;
  }) as Json;
  return `${JSON.stringify(cleaned, null, 2)}\n`;
}
