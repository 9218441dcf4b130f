/**
 * The environment of a command on this machine: what is inherited, what a call may set, what is always added
 * (exec.md section 6, decisions.md D17). Pure.
 */
import { ExecError } from "../errors.ts";
import type { EffectiveHost } from "../policy/types.ts";
import { inEnglish, phrase, type Wording } from "../words/phrase.ts";
import {
  BLOCKED_EVERYWHERE,
  BLOCKED_PREFIXES,
  GIT_SAFE_PROTOCOLS,
  OVERRIDE_ONLY,
  OVERRIDE_ONLY_PATTERN,
  OVERRIDE_ONLY_PREFIXES,
  OWN_INHERITED,
  OWN_PREFIX,
  OWN_SECRET_PREFIXES,
  OWN_SECRETS,
  PAGER_OFF_VALUES,
  PAGERS,
  PLAIN_FORCED,
  PLAIN_INHERITED,
  REFUSED_AND_STRIPPED,
  WRAPPER_OVERRIDES,
} from "./env-policy.ts";

export type Env = Readonly<Record<string, string>>;
export type ProcessEnv = Readonly<Record<string, string | undefined>>;

/** Letters, digits and underscores; brackets as in `ProgramFiles(x86)`. */
const PORTABLE_NAME = /^[A-Za-z_][A-Za-z0-9_()]*$/;
/** Longest value the system takes in one string. */
const MAX_VALUE_BYTES = 128 * 1024 - 1;

/** Marks every child carries. `OPENCLAW_SHELL` lets start-up files see that a tool is asking (seed 000). */
const ALWAYS: Env = { OPENCLAW_SHELL: "exec", OPENCLAW_CLI: "1" };

/** A pager nobody can leave and an editor nobody sees would hang the command; the operator's own choice wins over these. */
const UNATTENDED: Env = { PAGER: "cat", GIT_PAGER: "cat" };

export interface HostEnvInput {
  /** What of the gateway's own environment may pass on (`inheritedEnv`): the same for every command. */
  readonly inherited: Env;
  /** Merged search path, in order. */
  readonly path: readonly string[];
  /** Safe variables of the user's start-up files, under what the call sets. */
  readonly startup?: Env;
  /** Overrides of the call, accepted by `checkEnvOverrides`. */
  readonly overrides: Env;
  /** Never overridable. */
  readonly marks: Env;
  /** A person at a terminal can leave an editor; without one it is switched off. */
  readonly pty: boolean;
}

/** For text in the user's shell: everything inherited but the blocked. */
export function hostEnv(input: HostEnvInput): Record<string, string> {
  const env: Record<string, string> = {
    ...UNATTENDED,
    ...(input.pty ? {} : { GIT_EDITOR: "true" }),
    ...input.inherited,
    ...input.startup,
  };
  return finish(env, input);
}

/** For a command that was allowed without a person: an allow list, and nothing that lets a program call another. */
export function plainEnv(input: HostEnvInput): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(input.inherited)) {
    const upper = name.toUpperCase();
    if (PLAIN_INHERITED.has(upper) || OVERRIDE_ONLY.has(upper) || upper.startsWith("LC_")) env[name] = value;
  }
  Object.assign(env, PLAIN_FORCED);
  return finish(env, input);
}

function finish(env: Record<string, string>, input: HostEnvInput): Record<string, string> {
  for (const [name, value] of Object.entries(input.overrides)) {
    // "No pager" is what both accepted values mean.
    env[name] = PAGERS.has(name.toUpperCase()) ? "" : value;
  }
  // Windows knows it in any case; one of the usual name is written over.
  for (const name of Object.keys(env)) if (name !== "PATH" && name.toUpperCase() === "PATH") delete env[name];
  env.PATH = input.path.join(process.platform === "win32" ? ";" : ":");
  return Object.assign(env, ALWAYS, input.marks);
}

/**
 * The gateway's environment without what must not pass on. `secretNames`: further variables that hold secrets of the
 * gateway, for example those that the config refers to.
 */
export function inheritedEnv(env: ProcessEnv, secretNames: readonly string[] = []): Record<string, string> {
  const secrets = new Set(secretNames.map((name) => name.toUpperCase()));
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const upper = name.trim().toUpperCase();
    if (upper === "GIT_ALLOW_PROTOCOL") {
      kept[name] = value
        .split(":")
        .filter((protocol) => GIT_SAFE_PROTOCOLS.has(protocol.trim().toLowerCase()))
        .join(":");
    } else if (upper === "GIT_PROTOCOL_FROM_USER") kept[name] = "0";
    else if (!isStripped(upper) && !secrets.has(upper)) kept[name] = value;
  }
  return kept;
}

function isStripped(upper: string): boolean {
  if (upper.startsWith(OWN_PREFIX)) return !OWN_INHERITED.has(upper);
  return (
    BLOCKED_EVERYWHERE.has(upper) ||
    REFUSED_AND_STRIPPED.has(upper) ||
    OWN_SECRETS.has(upper) ||
    BLOCKED_PREFIXES.some((prefix) => upper.startsWith(prefix)) ||
    OWN_SECRET_PREFIXES.some((prefix) => upper.startsWith(prefix))
  );
}

/**
 * Refuses a whole call when one of its variables is not acceptable. Throws `env-invalid` for a name or value that no
 * program could be given, `env-forbidden` for one that could change what runs; the message lists all of them.
 *
 * A sandbox has its own environment and its own loader, so only names are checked there, and our own marks.
 */
export function checkEnvOverrides(overrides: Env, host: EffectiveHost): void {
  const bad: Wording[] = [];
  const forbidden: string[] = [];
  for (const [name, value] of Object.entries(overrides)) {
    if (!PORTABLE_NAME.test(name)) bad.push(JSON.stringify(name));
    else if (value.includes("\0")) bad.push(phrase("error.env.nul", { name }));
    else if (Buffer.byteLength(value) + name.length + 1 > MAX_VALUE_BYTES) bad.push(phrase("error.env.long", { name }));
    else if (isForbidden(name.toUpperCase(), value, host)) forbidden.push(name);
  }
  if (bad.length > 0) {
    bad.sort((a, b) => (inEnglish(a) < inEnglish(b) ? -1 : 1));
    throw new ExecError("env-invalid", phrase("error.env.invalid", { names: bad }), {
      keys: bad.map(inEnglish),
    });
  }
  if (forbidden.length === 0) return;
  const keys = forbidden.sort();
  const advice = keys.some((key) => key.toUpperCase() === "PATH") ? phrase("error.env.path") : "";
  throw new ExecError(
    "env-forbidden",
    phrase("error.env.forbidden", { count: keys.length, names: keys, host, advice }),
    { keys },
  );
}

function isForbidden(upper: string, value: string, host: EffectiveHost): boolean {
  if (upper.startsWith(OWN_PREFIX)) return true;
  if (host === "sandbox") return false;
  if (PAGERS.has(upper)) return !PAGER_OFF_VALUES.includes(value);
  return (
    upper === "PATH" ||
    isStripped(upper) ||
    OVERRIDE_ONLY.has(upper) ||
    OVERRIDE_ONLY_PREFIXES.some((prefix) => upper.startsWith(prefix)) ||
    OVERRIDE_ONLY_PATTERN.test(upper)
  );
}

/** What of `overrides` may reach a shell wrapper (`sh -c …`) on a node. */
export function wrapperOverrides(overrides: Env): Record<string, string> {
  return Object.fromEntries(
    Object.entries(overrides).filter(([name]) => {
      const upper = name.toUpperCase();
      return WRAPPER_OVERRIDES.has(upper) || upper.startsWith("LC_");
    }),
  );
}

/**
 * `OPENCLAW_CHANNEL_CONTEXT`: who asked and where, as one line of JSON with exactly these members; an absent id leaves
 * its member out, two absent ids leave the variable out.
 */
export function channelMarks(context: {
  readonly senderId?: string | undefined;
  readonly chatId?: string | undefined;
}): Record<string, string> {
  const sender = context.senderId?.trim() ?? "";
  const chat = context.chatId?.trim() ?? "";
  if (sender === "" && chat === "") return {};
  return {
    OPENCLAW_CHANNEL_CONTEXT: JSON.stringify({
      ...(sender === "" ? {} : { sender: { id: sender } }),
      ...(chat === "" ? {} : { chat: { id: chat } }),
    }),
  };
}
