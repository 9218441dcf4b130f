/** The work behind `openclaw-exec exec-policy` (spec: policy.md section 17). */
import { type ScopePolicy, setPolicy } from "../core/approvals/approvals-document.ts";
import { editConfig } from "../core/config/edit.ts";
import { valueAt } from "../core/config/key-path.ts";
import { ExecError } from "../core/errors.ts";
import { explainLayer } from "../core/policy/reasons.ts";
import { displayMode, type HostPolicyLayer, strictestAsk, strictestSecurity } from "../core/policy/resolve.ts";
import {
  ASK_LEVELS,
  type Ask,
  EXEC_HOSTS,
  type ExecHost,
  SECURITY_LEVELS,
  type Security,
  type Sourced,
} from "../core/policy/types.ts";
import { type Cli, EXIT } from "./io.ts";
import { knownAgents, openPolicy, type PolicyContext, policyFor } from "./policy-context.ts";

export async function show(cli: Cli, options: { json?: boolean }): Promise<number> {
  const context = await openPolicy(cli);
  const { config } = context.loaded;
  const agents = knownAgents(context).map((agent) => ({ agent, policy: policyFor(context, agent) }));
  const damage = context.file.damage();
  if (damage !== undefined) cli.err(damage);
  if (options.json) {
    cli.out(
      JSON.stringify(
        {
          host: config.tools.exec.host,
          agents: agents.map(({ agent, policy }) => ({
            agent,
            mode: displayMode(policy.security.value, policy.ask.value, policy.autoReview),
            security: policy.security,
            ask: policy.ask,
            askFallback: policy.askFallback,
            rules: policy.allowlist.length,
          })),
        },
        null,
        2,
      ),
    );
    return EXIT.ok;
  }
  cli.out(`host         ${config.tools.exec.host ?? "auto"}`);
  for (const { agent, policy } of agents) {
    cli.out(
      [
        `agent ${agent}: ${displayMode(policy.security.value, policy.ask.value, policy.autoReview)}, ${policy.allowlist.length} ${policy.allowlist.length === 1 ? "rule" : "rules"}`,
        ...(["security", "ask", "askFallback"] as const).map(
          (key) => `  ${key.padEnd(12)} ${policy[key].value.padEnd(10)} from ${explainLayer(policy[key].from)}`,
        ),
      ].join("\n"),
    );
  }
  return EXIT.ok;
}

interface Wanted {
  readonly host?: ExecHost;
  readonly security?: Security;
  readonly ask?: Ask;
  readonly askFallback?: Security;
}

const PRESETS: Readonly<Record<string, Wanted>> = {
  yolo: { host: "gateway", security: "full", ask: "off", askFallback: "full" },
  cautious: { host: "gateway", security: "allowlist", ask: "on-miss", askFallback: "deny" },
  "deny-all": { host: "gateway", security: "deny", ask: "off", askFallback: "deny" },
};

export async function preset(cli: Cli, name: string): Promise<number> {
  const wanted = Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined;
  if (!wanted) {
    cli.err(`There is no preset ${JSON.stringify(name)}. Use one of: ${Object.keys(PRESETS).join(", ")}.`);
    return EXIT.usage;
  }
  return apply(cli, wanted);
}

export async function set(cli: Cli, options: Readonly<Record<string, string>>): Promise<number> {
  const word = <T extends string>(flag: string, key: string, allowed: readonly T[]): T | undefined => {
    const typed = options[key];
    if (typed === undefined) return undefined;
    const value = allowed.find((item) => item === typed.trim().toLowerCase());
    if (value === undefined) {
      throw new ExecError(
        "invalid-argument",
        `--${flag} ${JSON.stringify(typed)} is not known. Use one of: ${allowed.join(", ")}.`,
      );
    }
    return value;
  };
  const host = word("host", "host", EXEC_HOSTS);
  const security = word("security", "security", SECURITY_LEVELS);
  const ask = word("ask", "ask", ASK_LEVELS);
  const askFallback = word("ask-fallback", "askFallback", SECURITY_LEVELS);
  if (host === "node") {
    cli.err(
      "exec-policy is about this machine; a node has its own exec-approvals.json. Use openclaw-exec config set tools.exec.host node.",
    );
    return EXIT.usage;
  }
  if (host === undefined && security === undefined && ask === undefined && askFallback === undefined) {
    cli.err("Give at least one of --host, --security, --ask and --ask-fallback.");
    return EXIT.usage;
  }
  return apply(cli, {
    ...(host === undefined ? {} : { host }),
    ...(security === undefined ? {} : { security }),
    ...(ask === undefined ? {} : { ask }),
    ...(askFallback === undefined ? {} : { askFallback }),
  });
}

/** The approvals file first: if the second write fails, what is left is never looser than what is there now. */
async function apply(cli: Cli, wanted: Wanted): Promise<number> {
  const context = await openPolicy(cli);
  const before = defaultsOf(context);
  const words: ScopePolicy = {
    ...(wanted.security === undefined ? {} : { security: wanted.security }),
    ...(wanted.ask === undefined ? {} : { ask: wanted.ask }),
    ...(wanted.askFallback === undefined ? {} : { askFallback: wanted.askFallback }),
  };
  if (Object.keys(words).length > 0) await context.file.update((document) => setPolicy(document, "defaults", words));
  try {
    await writeConfig(context, wanted);
  } catch (error) {
    await context.file.update((document) => setPolicy(document, "defaults", stricter(before, words)));
    throw error;
  }
  cli.out("Written to openclaw.json and exec-approvals.json; a running gateway uses it at the next command.");
  await show(cli, {});
  return EXIT.ok;
}

function defaultsOf({ file }: PolicyContext): ScopePolicy {
  file.snapshot();
  // No agent has this name, so only `*` and the defaults answer.
  const layer: HostPolicyLayer | string = file.policyFor("\u0000");
  if (typeof layer === "string") return {};
  const own = <T>(value: Sourced<T> | undefined): T | undefined =>
    value?.from === "host-file:defaults" ? value.value : undefined;
  return { security: own(layer.security), ask: own(layer.ask), askFallback: own(layer.askFallback) };
}

/** Per word the stricter of what was there and what was just written; a word that was absent said nothing, so the new one stays. */
function stricter(before: ScopePolicy, written: ScopePolicy): ScopePolicy {
  const source = "host-file:defaults" as const;
  const security = (a: Security | undefined, b: Security | undefined): Security | undefined =>
    a === undefined || b === undefined
      ? (b ?? a)
      : strictestSecurity({ value: a, from: source }, { value: b, from: source }).value;
  const ask =
    before.ask === undefined || written.ask === undefined
      ? (written.ask ?? before.ask)
      : strictestAsk({ value: before.ask, from: source }, { value: written.ask, from: source }).value;
  return {
    security: security(before.security, written.security),
    ask,
    askFallback: security(before.askFallback, written.askFallback),
  };
}

/** One edit of `tools.exec` as a whole: a moment without `mode` and without the pair would be a moment wide open. */
async function writeConfig({ loaded }: PolicyContext, wanted: Wanted): Promise<void> {
  const current = valueAt(loaded.document, ["tools", "exec"]);
  const exec = typeof current === "object" && current !== null ? (current as Record<string, unknown>) : {};
  const { mode: _, security, ask, ...others } = exec;
  const effective = policyWords(loaded.config.tools.exec);
  const pair =
    wanted.security === undefined && wanted.ask === undefined
      ? {
          ...("mode" in exec ? { mode: exec.mode } : {}),
          ...(security === undefined ? {} : { security }),
          ...(ask === undefined ? {} : { ask }),
        }
      : { security: wanted.security ?? effective.security, ask: wanted.ask ?? effective.ask };
  const value = { ...others, ...pair, ...(wanted.host === undefined ? {} : { host: wanted.host }) };
  await editConfig(loaded, { kind: "set", path: ["tools", "exec"], value });
}

const MODE_WORDS: Readonly<Record<string, { security: Security; ask: Ask }>> = {
  deny: { security: "deny", ask: "off" },
  allowlist: { security: "allowlist", ask: "off" },
  ask: { security: "allowlist", ask: "on-miss" },
  auto: { security: "allowlist", ask: "on-miss" },
  full: { security: "full", ask: "off" },
};

function policyWords(exec: PolicyContext["loaded"]["config"]["tools"]["exec"]): { security: Security; ask: Ask } {
  const byMode = exec.mode === undefined ? undefined : MODE_WORDS[exec.mode];
  return byMode ?? { security: exec.security ?? "full", ask: exec.ask ?? "off" };
}
