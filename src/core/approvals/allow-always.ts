/** What "Allow always" stores, in words, and what an operator's rule becomes (decisions.md D11, policy.md 7 and 9). */
import { FILE_GRANT } from "../policy/allowlist.ts";
import { findExecutable, type SearchContext } from "../policy/executables.ts";
import type { AllowlistEntry } from "../policy/types.ts";
import { type Phrase, phrase, type Wording } from "../words/phrase.ts";
import { isGrant } from "./approvals-document.ts";

/** One sentence per rule that would be stored; the card shows them before anybody clicks. */
export function describeGrants(rules: readonly AllowlistEntry[], agentId: string, cwd: string): Phrase[] {
  return rules.map((rule) => {
    const key = rule.argPattern?.startsWith(FILE_GRANT) ? "always.grant.unchanged" : "always.grant";
    return phrase(key, { pattern: rule.pattern, folder: cwd, agent: agentId });
  });
}

/** One line per rule, for lists. */
export function describeRule(rule: AllowlistEntry): Wording {
  const { pattern, argPattern } = rule;
  if (isGrant(rule)) return phrase("rule.grant", { pattern });
  return argPattern === undefined ? pattern : phrase("rule.arguments", { pattern, arguments: argPattern });
}

/** What the pattern a person typed is stored as, and a sentence when that is not the same. */
export interface PreparedPattern {
  readonly pattern: string;
  readonly note?: Phrase;
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
  if (real === undefined) return { pattern, note: phrase("rule.notYet", { path }) };
  if (real === path) return { pattern: real };
  return { pattern: real, note: phrase("rule.link", { path, real }) };
}

function bareName(name: string, context: SearchContext): PreparedPattern {
  const found = findExecutable(name, context);
  if (!("real" in found)) return { pattern: name, note: phrase("rule.notOnPath", { name }) };
  if (!found.trusted) {
    return {
      pattern: name,
      note: phrase("rule.untrusted", { name, path: found.path, real: found.real }),
    };
  }
  return { pattern: name, note: phrase("rule.covers", { path: found.path }) };
}
