/**
 * Which tools an agent may use at all (hosts.md section 5). Layers only narrow: global, then agent. A deny always
 * wins; a non-empty allow list blocks everything else. Names are case-insensitive, `*` matches any run.
 */

export interface ToolLists {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "group:runtime": ["exec", "process"],
  "group:fs": ["read", "write", "edit", "apply_patch"],
};

const ALIASES: Readonly<Record<string, string>> = { bash: "exec", shell: "exec", "apply-patch": "apply_patch" };

/** `allow: ["write"]` implies apply_patch; `deny: ["write"]` does not deny it (seed 000). */
const ALLOW_IMPLIES: Readonly<Record<string, readonly string[]>> = { write: ["apply_patch"] };

export function isToolAllowed(tool: string, layers: readonly ToolLists[]): boolean {
  const name = canonical(tool);
  return layers.every((layer) => {
    if (expand(layer.deny).some((pattern) => matches(pattern, name))) return false;
    const allow = expand(layer.allow);
    if (allow.length === 0) return true;
    const implied = allow.flatMap((pattern) => ALLOW_IMPLIES[pattern] ?? []);
    return [...allow, ...implied].some((pattern) => matches(pattern, name));
  });
}

function canonical(name: string): string {
  const lower = name.trim().toLowerCase();
  return ALIASES[lower] ?? lower;
}

function expand(patterns: readonly string[] | undefined): string[] {
  return (patterns ?? []).flatMap((pattern) => GROUPS[pattern.trim().toLowerCase()] ?? [canonical(pattern)]);
}

function matches(pattern: string, name: string): boolean {
  if (!pattern.includes("*")) return pattern === name;
  const source = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${source.join(".*")}$`).test(name);
}
