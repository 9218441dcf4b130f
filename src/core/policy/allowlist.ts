/** Does a rule cover a command (spec: policy.md section 7, decisions.md D11). */
import { createHash } from "node:crypto";
import type { Executable } from "./executables.ts";
import type { AllowlistEntry } from "./types.ts";

/** `allow-always` on a command: this exact argv in this exact directory. */
export const ARGV_GRANT = "sha256:cwd-argv:v1:";
/** The same, and the file it runs (a script, a program the agent can rewrite) still has the same bytes. */
export const FILE_GRANT = "sha256:cwd-argv-file:v1:";

/** Characters of a rule's regex and of the arguments it is tried on: the rule is the operator's, the text is the agent's. */
const MAX_ARG_PATTERN_LENGTH = 512;
const MAX_ARG_TEXT_LENGTH = 4096;
/** Steps a regex may need in the worst case: characters to the power of its unbounded repetitions. */
const MAX_REGEX_STEPS = 20_000_000;

export interface MatchTarget {
  readonly executable: Executable;
  /** Without the program name. */
  readonly args: readonly string[];
  /** Real path of the directory the command runs in; undefined after `cd`, when grants no longer hold. */
  readonly cwd: string | undefined;
  /** Hash of the script, or of an executable that could be rewritten. */
  readonly fileHash: () => string | undefined;
  readonly home: string;
  /** From `FileFacts.windowsNames`. */
  readonly windowsNames?: boolean;
}

export interface RuleMatch {
  readonly entry: AllowlistEntry;
  /** The rule fixes the whole argument list, so what the arguments may do has been looked at by a person. */
  readonly pinsArguments: boolean;
}

export type MatchOutcome = RuleMatch | "untrusted-directory" | "relative-path" | "miss";

export function matchAllowlist(target: MatchTarget, entries: readonly AllowlistEntry[]): MatchOutcome {
  let outcome: MatchOutcome = "miss";
  for (const entry of entries) {
    const result = matchEntry(target, entry);
    if (typeof result === "string") {
      if (outcome === "miss") outcome = result;
    } else if (result.pinsArguments || entry.argPattern !== undefined) {
      return result;
    } else if (typeof outcome === "string") {
      outcome = result;
    }
  }
  return outcome;
}

function matchEntry(target: MatchTarget, entry: AllowlistEntry): MatchOutcome {
  const { argPattern } = entry;
  if (argPattern?.startsWith(ARGV_GRANT) || argPattern?.startsWith(FILE_GRANT)) {
    return grantMatches(target, entry, argPattern) ? { entry, pinsArguments: true } : "miss";
  }
  // A generated rule without its binding would cover any arguments: inactive (doctor removes it).
  if (entry.source === "allow-always") return "miss";
  const how = patternMatches(entry.pattern, target);
  if (how === "no") return "miss";
  if (argPattern !== undefined) {
    // `*` with an argPattern would cover every program on disk that takes these arguments.
    if (entry.pattern === "*" || !argumentsMatch(argPattern, target.args)) return "miss";
  }
  if (how === "wildcard") {
    if (target.executable.relative) return "relative-path";
    if (!target.executable.trusted) return "untrusted-directory";
  }
  return { entry, pinsArguments: argPattern !== undefined && isAnchored(argPattern) };
}

function grantMatches(target: MatchTarget, entry: AllowlistEntry, argPattern: string): boolean {
  const { executable, cwd, args } = target;
  const name = calledAs(executable);
  if (cwd === undefined || entry.pattern !== executable.real) return false;
  if (argPattern.startsWith(ARGV_GRANT)) {
    return executable.trusted && argPattern === ARGV_GRANT + grantHash(cwd, name, args);
  }
  const file = target.fileHash();
  return file !== undefined && argPattern === FILE_GRANT + grantHash(cwd, name, args, file);
}

/** `ls` and `/usr/bin/ls` alike. */
export function calledAs(executable: Executable): string {
  return executable.path.slice(executable.path.lastIndexOf("/") + 1);
}

/**
 * SHA-256 over length-prefixed parts, so that no two argument lists can read the same. `name` is what the program is
 * called: some act by it.
 */
export function grantHash(cwd: string, name: string, args: readonly string[], fileHash?: string): string {
  const hash = createHash("sha256");
  const part = (text: string): void => {
    hash.update(`${Buffer.byteLength(text)}:`).update(text);
  };
  part(cwd);
  part(name);
  hash.update(`${args.length};`);
  for (const arg of args) part(arg);
  if (fileHash !== undefined) part(fileHash);
  return hash.digest("hex");
}

const HAS_PATH = /[/\\~]/;
const HAS_WILDCARD = /[*?]/;

/** `~` at the start of a rule stands for the home directory of the gateway's user, nowhere else. */
function expandHome(pattern: string, home: string): string {
  return pattern === "~" || pattern.startsWith("~/") ? home + pattern.slice(1) : pattern;
}

/** `"exact"` when the operator named this very file. */
function patternMatches(rawPattern: string, target: MatchTarget): "exact" | "wildcard" | "no" {
  const { executable, home, windowsNames } = target;
  const pattern = rawPattern.trim();
  if (pattern === "*") return "wildcard";
  const plain = (text: string): string => (windowsNames ? text.replaceAll("\\", "/").toLowerCase() : text);
  if (HAS_PATH.test(pattern)) {
    const path = plain(expandHome(pattern, home));
    const real = plain(executable.real);
    if (!HAS_WILDCARD.test(path)) return path === real ? "exact" : "no";
    return globMatches(path, real) ? "wildcard" : "no";
  }
  if (!executable.byName) return "no";
  return globMatches(plain(pattern), plain(calledAs(executable))) ? "wildcard" : "no";
}

/**
 * `*` any run without `/`, `**` any run, `?` one character but `/`; everything else is itself. Anchored at both ends.
 * Walks a table instead of building a regex: linear in pattern times text, whatever the pattern.
 */
export function globMatches(pattern: string, text: string): boolean {
  const firstWildcard = pattern.search(HAS_WILDCARD);
  if (firstWildcard < 0) return pattern === text;
  if (!text.startsWith(pattern.slice(0, firstWildcard))) return false;
  // reach[i]: the pattern read so far can match the first i characters.
  let reach = new Uint8Array(text.length + 1);
  reach[0] = 1;
  for (let p = 0; p < pattern.length; p += 1) {
    const next = new Uint8Array(text.length + 1);
    const c = pattern[p] as string;
    if (c === "*") {
      const deep = pattern[p + 1] === "*";
      if (deep) p += 1;
      let open = 0;
      for (let i = 0; i <= text.length; i += 1) {
        if (i > 0 && !deep && text[i - 1] === "/") open = 0;
        if (reach[i]) open = 1;
        next[i] = open;
      }
    } else {
      for (let i = 0; i < text.length; i += 1) {
        if (reach[i] && (c === "?" ? text[i] !== "/" : text[i] === c)) next[i + 1] = 1;
      }
    }
    reach = next;
  }
  return reach[text.length] === 1;
}

/** The arguments as one text: joined by NUL when the pattern speaks of NUL (no argument can hold one), else by a blank. */
function argumentText(argPattern: string, args: readonly string[]): string {
  return args.join(/\\x00|\\0|\\u0000/.test(argPattern) || argPattern.includes("\u0000") ? "\u0000" : " ");
}

function argumentsMatch(argPattern: string, args: readonly string[]): boolean {
  if (argPatternProblem(argPattern) !== undefined) return false;
  const text = argumentText(argPattern, args);
  if (text.length > MAX_ARG_TEXT_LENGTH) return false;
  if (text.length ** countRepetitions(argPattern) > MAX_REGEX_STEPS) return false;
  return new RegExp(argPattern).test(text);
}

/** `^…$` with nothing but the whole list in between. */
function isAnchored(argPattern: string): boolean {
  return (
    argPattern.startsWith("^") && argPattern.endsWith("$") && !argPattern.endsWith("\\$") && !hasTopLevelBar(argPattern)
  );
}

function hasTopLevelBar(pattern: string): boolean {
  let depth = 0;
  for (const token of regexTokens(pattern)) {
    if (token === "(") depth += 1;
    else if (token === ")") depth -= 1;
    else if (token === "|" && depth === 0) return true;
  }
  return false;
}

/** Escapes and classes as one token each, so that `\(` and `[(]` are not taken for groups. */
function regexTokens(pattern: string): string[] {
  return pattern.match(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[\s\S]/g) ?? [];
}

const isUnbounded = (token: string): boolean => token === "*" || token === "+" || /^\{\d+,\}$/.test(token);
const isQuantifier = (token: string | undefined): boolean =>
  token !== undefined && (isUnbounded(token) || token === "?" || /^\{\d/.test(token));

function countRepetitions(pattern: string): number {
  return regexTokens(pattern).filter(isUnbounded).length;
}

/** Why a regex is refused when a rule is written (and never matches when it is found in a file). */
export function argPatternProblem(argPattern: string): string | undefined {
  if (argPattern.length > MAX_ARG_PATTERN_LENGTH) return `is longer than ${MAX_ARG_PATTERN_LENGTH} characters`;
  try {
    new RegExp(argPattern);
  } catch {
    return "is not a valid JavaScript regular expression";
  }
  const tokens = regexTokens(argPattern);
  const groups: { branches: boolean; repeats: boolean }[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token === "(") groups.push({ branches: false, repeats: false });
    if (/^\\[1-9k]/.test(token)) return "uses a back reference";
    const inner = groups.at(-1);
    if (token === "|" && inner) inner.branches = true;
    if (isQuantifier(token) && tokens[index - 1] !== "(" && inner) inner.repeats = true;
    if (token === ")") {
      const group = groups.pop();
      const next = tokens[index + 1];
      const repeated = next !== undefined && isQuantifier(next) && next !== "?";
      if (group && repeated && (group.branches || group.repeats))
        return "repeats a group that itself repeats or branches";
      const outer = groups.at(-1);
      if (group && outer) {
        outer.branches ||= group.branches;
        outer.repeats ||= group.repeats;
      }
    }
  }
  return undefined;
}
