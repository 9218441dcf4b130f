/** What shares one sandbox, and the name of its directory (hosts.md section 2.2). Pure. */
import { createHash } from "node:crypto";
import type { SandboxScope } from "../../exec/sandbox-settings.ts";

const READABLE_CHARS = 40;
const HASH_CHARS = 12;

export interface ScopeOf {
  readonly scope: SandboxScope;
  readonly agentId: string;
  readonly sessionKey: string;
}

/** `agent:<id>`, the whole session key, or `shared`. */
export function scopeKey({ scope, agentId, sessionKey }: ScopeOf): string {
  switch (scope) {
    case "agent":
      return `agent:${agentId}`;
    case "session":
      return sessionKey;
    case "shared":
      return "shared";
  }
}

/**
 * One directory name: what it is for in a readable form, and a hash that keeps apart what reads alike. The workspace
 * counts, because an agent that was given another one must not find the files of before; `shared` has no workspace.
 */
export function scopeName(of: ScopeOf, workspace: string): string {
  const key = scopeKey(of);
  const readable = key
    .replace(/^agent:/, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, READABLE_CHARS)
    .replace(/-$/, "");
  const hash = createHash("sha256")
    .update(JSON.stringify([of.scope, key, of.scope === "shared" ? "" : workspace]))
    .digest("hex")
    .slice(0, HASH_CHARS);
  return [of.scope, ...(of.scope === "shared" || readable === "" ? [] : [readable]), hash].join("-");
}
