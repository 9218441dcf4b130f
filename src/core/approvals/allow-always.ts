/** What "Allow always" stores, in words, and what an operator's rule becomes (decisions.md D11, policy.md 7 and 9). */
import { FILE_GRANT } from "../policy/allowlist.ts";
import { findExecutable, type SearchContext } from "../policy/executables.ts";
import type { AllowlistEntry } from "../policy/types.ts";
import { type Phrase, phrase } from "../words/phrase.ts";
import { isGrant } from "./approvals-document.ts";

/** One sentence per rule that would be stored; the card shows them before anybody clicks. */
export function describeGrants(rules: readonly AllowlistEntry[], agentId: string, cwd: string): Phrase[] {
  return rules.map((rule) => {
    const key = rule.argPattern?.startsWith(FILE_GRANT) ? "always.grant.unchanged" : "always.grant";
    return phrase(key, { pattern: rule.pattern, folder: cwd, agent: agentId });
  });
}

/** One line per rule, for lists. */
export function describeRule(rule: AllowlistEntry): string {
  if (isGrant(rule)) {
    return `${rule.pattern} (allowed always: one exact argument list in one directory)`;
  }
  return rule.argPattern === undefined ? rule.pattern : `${rule.pattern} with arguments matching ${rule.argPattern}`;
}

/** What the pattern a person typed is stored as, and a sentence when that is not the same. */
export interface PreparedPattern {
  readonly pattern: string;
  readonly note?: string;
}

/**
 * Rules are compared with real paths, so a path that leads through a symlink would never match: `/bin/ls` is stored as
 * `/usr/bin/ls` where that is what it is. Bare names and patterns with wildcards stay as they are.
 */
export function preparePattern(typed: string, context: SearchContext & { readonly home: string }): PreparedPattern {
  const pattern = typed.trim();
  if (!/[/~]/.test(pattern) || /[*?]/.test(pattern)) {
    return /[*?/~]/.test(pattern) ? { pattern } : bareName(pattern, context);
  }
  const path = pattern.startsWith("~/") ? context.home + pattern.slice(1) : pattern;
  const real = context.facts.realpath(path);
  if (real === undefined) return { pattern, note: `${path} does not exist yet; the rule counts once it does.` };
  if (real === path) return { pattern: real };
  return { pattern: real, note: `${path} is a link to ${real}; the rule is stored for that file.` };
}

function bareName(name: string, context: SearchContext): PreparedPattern {
  const found = findExecutable(name, context);
  if (!("real" in found)) return { pattern: name, note: `${name} was not found on PATH; the rule counts once it is.` };
  if (!found.trusted) {
    return {
      pattern: name,
      note: `${name} is ${found.path}, in a directory that others or the agent can write to: a name alone does not cover it. Add ${found.real} instead.`,
    };
  }
  return { pattern: name, note: `Covers ${found.path} when it is called by this name.` };
}
