/**
 * `/allowlist`: what runs without asking on this host, and, where `commands.allowlist` says so, changing it. Never wider
 * than the command line allows, and never before the owner has been shown exactly what a rule permits.
 */
import { createHash } from "node:crypto";
import { describeRule } from "../core/approvals/allow-always.ts";
import { EVERY_AGENT, ruleProblem } from "../core/approvals/approvals-document.ts";
import { nearestOf } from "../core/nearest.ts";
import type { AllowlistEntry } from "../core/policy/types.ts";
import { inEnglish, type Phrase, phrase, type Wording } from "../core/words/phrase.ts";
import type { CommandContext, CommandDefinition } from "./command.ts";
import type { ListedRule } from "./services.ts";

const ACTIONS = ["list", "add", "remove"] as const;
const SHOWN = 30;
const ID_CHARS = 8;

export const allowlist: CommandDefinition = {
  name: "allowlist",
  summary: phrase("command.allowlist"),
  usage: [
    "/allowlist",
    "/allowlist add git",
    '/allowlist add args="^(status|diff)$" git',
    "/allowlist add agent=main /usr/local/bin/deploy",
    "/allowlist remove <id>",
  ],
  options: [
    { name: "action", description: phrase("option.action"), choices: ACTIONS },
    { name: "pattern", description: phrase("option.allowlist.pattern") },
    { name: "args", description: phrase("option.allowlist.args") },
    { name: "agent", description: phrase("option.allowlist.agent") },
  ],
  rank: "owner",
  async run(context) {
    const [, typed = "", rest = ""] = /^(\S*)\s*([\s\S]*)$/.exec(context.args.trim()) ?? [];
    const action = ACTIONS.find((one) => one === (typed.toLowerCase() || "list"));
    switch (action) {
      case "list":
        return list(context);
      case "add":
      case "remove": {
        if (!context.services.allowlist.mayChange()) return warn(context, phrase("allowlist.closed"));
        const parsed = parseRule(rest);
        if ("error" in parsed) return warn(context, parsed.error);
        return action === "add" ? add(context, parsed, rest) : remove(context, parsed);
      }
      case undefined: {
        const near = nearestOf(typed, ACTIONS);
        const given = typed.slice(0, 32);
        const text = near
          ? phrase("cron.action.near", { action: given, near })
          : phrase("cron.action", { action: given });
        return warn(context, text, phrase("cron.actions", { actions: ACTIONS }));
      }
    }
  },
};

function warn({ reply }: CommandContext, text: Wording, hint?: Wording): Promise<void> {
  return reply({ kind: "text", tone: "warning", text, ...(hint ? { hint } : {}) }, { private: true });
}

async function list({ services, reply }: CommandContext): Promise<void> {
  const rules = services.allowlist.list();
  const more = rules.length - SHOWN;
  await reply(
    rules.length === 0
      ? { kind: "text", tone: "info", text: phrase("allowlist.none"), hint: phrase("allowlist.hint") }
      : {
          kind: "text",
          tone: "info",
          title: phrase("allowlist.title"),
          fields: rules.slice(0, SHOWN).map(fieldOf),
          ...(more > 0 ? { text: phrase("allowlist.more", { count: more }) } : {}),
          hint: phrase("allowlist.hint"),
        },
    { private: true },
  );
}

/** What was run with it is nobody's business here. */
function fieldOf({ scope, rule }: ListedRule) {
  const used = rule.lastUsedAt;
  return {
    label: idOf(rule),
    value: describeRule(rule),
    note:
      used === undefined
        ? scopeName(scope)
        : phrase("allowlist.used", { scope: scopeName(scope), time: new Date(used).toISOString().slice(0, 10) }),
  };
}

function idOf(rule: AllowlistEntry): string {
  return rule.id?.slice(0, ID_CHARS) ?? "—";
}

function scopeName(scope: string): Phrase {
  return scope === EVERY_AGENT ? phrase("allowlist.everyAgent") : phrase("policy.agent", { agent: scope });
}

interface Typed {
  readonly pattern: string;
  readonly args?: string;
  readonly agent?: string;
  /** What the question showed, answered with yes. */
  readonly sure?: string;
}

async function add(context: CommandContext, { pattern: typed, args, agent, sure }: Typed, rest: string): Promise<void> {
  const { actor, eventId, services, reply, offer } = context;
  if (typed === "") return warn(context, phrase("allowlist.which.add"));
  const { pattern, note } = await services.allowlist.prepare(typed);
  const rule: AllowlistEntry = { pattern, ...(args === undefined ? {} : { argPattern: args }) };
  const problem = ruleProblem(rule);
  if (problem) return warn(context, problem);
  if (/^[*?/]*$/.test(pattern)) return warn(context, phrase("allowlist.tooWide"));
  const agents = services.allowlist.agents();
  if (agent !== undefined && !agents.includes(agent)) {
    return warn(context, phrase("allowlist.noAgent", { agent: agent.slice(0, 64), agents }));
  }
  const scope = agent ?? EVERY_AGENT;
  const shown = digest(scope, rule);
  if (sure !== shown) {
    await offer({
      title: phrase("allowlist.ask"),
      text: {
        lines: [
          args === undefined
            ? phrase("allowlist.permits", { pattern, scope: scopeName(scope) })
            : phrase("allowlist.permits.args", { pattern, scope: scopeName(scope), arguments: args }),
          phrase(args === undefined ? "allowlist.guarded" : "allowlist.unguarded"),
          ...(note === undefined ? [] : [note]),
        ],
      },
      form: "/allowlist add [agent=…] [args=…] <program>",
      choices: [{ label: phrase("allowlist.choice.add"), style: "primary", args: `add sure=${shown} ${rest}` }],
    });
    return;
  }
  const id = await services.allowlist.add(scope, rule);
  if (id !== undefined) {
    const change = {
      key: `${inEnglish(scopeName(scope))}: rule ${id.slice(0, ID_CHARS)}`,
      after: inEnglish(describeRule(rule)),
    };
    await services.policyChanged({ id: eventId, actor, source: "/allowlist", changes: [change] });
  }
  await reply(
    {
      kind: "text",
      tone: id === undefined ? "info" : "success",
      text: phrase(id === undefined ? "allowlist.already" : "allowlist.added", {
        rule: describeRule(rule),
        scope: scopeName(scope),
      }),
      ...(id === undefined
        ? {}
        : { hint: phrase("allowlist.undo", { form: `/allowlist remove ${id.slice(0, ID_CHARS)}` }) }),
    },
    { private: true },
  );
}

async function remove(context: CommandContext, { pattern: typed, agent }: Typed): Promise<void> {
  const { actor, eventId, services, reply, offer } = context;
  const rules = services.allowlist.list().filter(({ scope }) => agent === undefined || scope === agent);
  if (typed === "") {
    if (rules.length === 0) return list(context);
    await offer({
      title: phrase("allowlist.which.remove"),
      form: "/allowlist remove <id>",
      choices: rules
        .filter(({ rule }) => rule.id !== undefined)
        .map(({ scope, rule }) => ({
          label: idOf(rule),
          detail: { lines: [describeRule(rule)] },
          args: `remove ${scope === EVERY_AGENT ? "" : `agent=${scope} `}${rule.id}`,
        })),
    });
    return;
  }
  const removed = await services.allowlist.remove(typed, agent);
  if (removed.length === 0) {
    return warn(context, phrase("allowlist.unknown", { rule: typed.slice(0, 64) }), phrase("allowlist.hint"));
  }
  await services.policyChanged({
    id: eventId,
    actor,
    source: "/allowlist",
    changes: removed.map(({ scope, rule }) => ({
      key: `${inEnglish(scopeName(scope))}: rule ${idOf(rule)}`,
      before: inEnglish(describeRule(rule)),
    })),
  });
  await reply(
    { kind: "text", tone: "success", title: phrase("allowlist.removed"), fields: removed.map(fieldOf) },
    { private: true },
  );
}

/** What was shown is what is added: a link that leads elsewhere by then is asked about anew. */
function digest(scope: string, rule: AllowlistEntry): string {
  return createHash("sha256")
    .update(JSON.stringify([scope, rule.pattern, rule.argPattern ?? null]))
    .digest("hex")
    .slice(0, 16);
}

const OPTIONS = ["args", "agent", "sure"] as const;

/** `agent=main args="^status$" -- git`: options first, then the program as the raw rest. */
export function parseRule(text: string): Typed | { readonly error: Phrase } {
  const given: Partial<Record<(typeof OPTIONS)[number], string>> = {};
  let rest = text;
  for (;;) {
    const match = /^([a-z]+)=(?:"([^"\n]*)"|'([^'\n]*)'|(\S*))(?:\s+|$)/.exec(rest);
    const [whole = "", name = "", double, single, bare] = match ?? [];
    if (!match) break;
    const option = OPTIONS.find((one) => one === name);
    if (option === undefined) return { error: phrase("allowlist.option", { option: name }) };
    if (given[option] !== undefined) return { error: phrase("exec.option.twice", { option }) };
    given[option] = double ?? single ?? bare ?? "";
    rest = rest.slice(whole.length);
  }
  const pattern = rest.replace(/^--(?:\s+|$)/, "").trim();
  if (/[\n\r]/.test(pattern)) return { error: phrase("allowlist.oneLine") };
  return { pattern, ...given };
}
