/** What may run and who may decide about it, as flat texts by name, so that two readings can be compared. Pure. */
import { describeRule } from "../core/approvals/allow-always.ts";
import {
  type ApprovalsDocument,
  EVERY_AGENT,
  policyWords,
  rulesOf,
  scopesOf,
} from "../core/approvals/approvals-document.ts";
import type { Config } from "../core/config/schema.ts";
import { inEnglish } from "../core/words/phrase.ts";

export type Reading = Readonly<Record<string, string>>;

const ID_CHARS = 8;

/** exec-approvals.json: the host's words, and each rule under its id. When a rule was used last is no change. */
export function readingOfFile(document: ApprovalsDocument): Reading {
  const found: Record<string, string> = {};
  for (const [scope, words] of policyWords(document)) {
    for (const [key, value] of Object.entries(words)) found[`${scopeName(scope)}: ${key}`] = value;
  }
  for (const scope of scopesOf(document)) {
    for (const [index, rule] of rulesOf(document, scope).entries()) {
      const name = rule.id?.slice(0, ID_CHARS) ?? `#${index + 1}`;
      found[`${scopeName(scope)}: rule ${name}`] = inEnglish(describeRule(rule));
    }
  }
  return found;
}

function scopeName(scope: string): string {
  return scope === EVERY_AGENT ? "every agent" : scope === "defaults" ? "defaults" : `agent ${scope}`;
}

/** The keys of openclaw.json that say what may run and who decides; no other value is written down. */
export function readingOfConfig(config: Config): Reading {
  const found: Record<string, string> = {};
  const add = (at: string, value: unknown): void => {
    if (value === undefined || value === null) return;
    if (Array.isArray(value)) found[at] = value.length === 0 ? "[]" : value.map(plain).join(", ");
    else if (typeof value === "object") for (const [key, inner] of Object.entries(value)) add(`${at}.${key}`, inner);
    else found[at] = String(value);
  };
  const { exec, elevated, allow, deny } = config.tools;
  add("tools", { exec, elevated, allow, deny });
  for (const agent of config.agents.list) add(`agents.${agent.id}.tools`, agent.tools);
  const { selfApproval, exec: forwarded } = config.approvals;
  add("approvals", { selfApproval, exec: forwarded });
  const { allowFrom, ownerAllowFrom, allowlist, useAccessGroups } = config.commands;
  add("commands", { allowFrom, ownerAllowFrom, allowlist, useAccessGroups });
  for (const channel of ["slack", "discord", "telegram"] as const) {
    for (const [id, account] of Object.entries(config.channels[channel]?.accounts ?? {})) {
      add(`channels.${channel}.${id}.execApprovals`, account.execApprovals);
    }
  }
  return found;
}

function plain(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
