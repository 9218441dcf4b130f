/** What in the configuration and the rules is risky, as data (spec: policy.md section 17). Pure. */
import { posix } from "node:path";
import {
  type ApprovalsDocument,
  isGrant,
  ruleProblem,
  rulesOf,
  scopesOf,
} from "../core/approvals/approvals-document.ts";
import type { Config } from "../core/config/schema.ts";
import type { SandboxSettings } from "../core/exec/sandbox-settings.ts";
import { findAgent } from "../core/exec/settings.ts";
import { INTERPRETERS, nameIn, SHELLS } from "../core/policy/program-kinds.ts";
import { hasBuiltinProfile, isNeverSafe } from "../core/policy/safe-bins.ts";
import type { EffectivePolicy } from "../core/policy/types.ts";

export type FindingLevel = "info" | "warn" | "critical";

export interface SecurityFinding {
  readonly id: string;
  readonly level: FindingLevel;
  readonly message: string;
  /** What to do about it. */
  readonly remedy: string;
}

export interface SecurityInput {
  readonly config: Config;
  /** Undefined when the file is damaged. */
  readonly approvals: ApprovalsDocument | undefined;
  readonly agents: readonly { readonly id: string; readonly policy: EffectivePolicy }[];
  readonly home: string;
  /** The sandbox of each agent. */
  readonly sandboxes: readonly SandboxSettings[];
  /** Whoever runs this is root. */
  readonly root: boolean;
}

const MANY_PEOPLE = 25;

export function securityFindings(input: SecurityInput): SecurityFinding[] {
  return [
    ...policyFindings(input),
    ...channelFindings(input),
    ...ruleFindings(input),
    ...safeBinFindings(input),
    ...elevatedFindings(input),
    ...sandboxFindings(input),
    ...toolFindings(input),
    ...modelFindings(input),
  ];
}

/** Chats in which anybody may speak, as `channels.slack.accounts.default: direct messages`. */
function openPlaces(config: Config): string[] {
  const places: string[] = [];
  for (const [name, channel] of Object.entries(config.channels)) {
    const candidates: [string, unknown][] = [[`channels.${name}`, channel]];
    const accounts = (channel as { accounts?: Record<string, unknown> } | undefined)?.accounts ?? {};
    for (const [account, value] of Object.entries(accounts))
      candidates.push([`channels.${name}.accounts.${account}`, value]);
    for (const [where, value] of candidates) {
      if (typeof value !== "object" || value === null) continue;
      const { enabled, dmPolicy, allowFrom, groupPolicy } = value as Record<string, unknown>;
      if (enabled === false) continue;
      if (dmPolicy === "open" || (Array.isArray(allowFrom) && allowFrom.includes("*")))
        places.push(`${where}: direct messages`);
      if (groupPolicy === "open") places.push(`${where}: groups`);
    }
  }
  return places;
}

function policyFindings({ agents, config, approvals }: SecurityInput): SecurityFinding[] {
  const found: SecurityFinding[] = [];
  const open = openPlaces(config);
  const wide = agents.filter(({ policy }) => policy.security.value === "full");
  if (wide.length > 0) {
    found.push({
      id: "tools.exec.security_full_configured",
      level: open.length > 0 ? "critical" : "warn",
      message: `Every command runs without a rule for ${wide.map(({ id }) => id).join(", ")}.`,
      remedy: "openclaw-exec exec-policy preset cautious",
    });
  }
  const unguarded = agents.filter(({ policy }) => policy.security.value === "allowlist" && !policy.argumentGuard);
  if (unguarded.length > 0) {
    found.push({
      id: "tools.exec.argument_guard_off",
      level: "warn",
      message: `Options that make a listed program run another one count for nothing for ${unguarded.map(({ id }) => id).join(", ")}.`,
      remedy: "openclaw-exec config set tools.exec.argumentGuard true",
    });
  }
  if (approvals === undefined) {
    found.push({
      id: "approvals.file_damaged",
      level: "critical",
      message: "exec-approvals.json is damaged; the host is closed.",
      remedy: "openclaw-exec doctor --fix",
    });
  }
  return found;
}

function channelFindings({ config, agents }: SecurityInput): SecurityFinding[] {
  const open = openPlaces(config);
  if (open.length === 0 || agents.every(({ policy }) => policy.security.value === "deny")) return [];
  const full = agents.some(({ policy }) => policy.security.value === "full");
  return [
    {
      id: "security.exposure.open_channels_with_exec",
      level: full ? "critical" : "warn",
      message: `Anybody can reach command execution through ${open.join(", ")}.`,
      remedy: "Set dmPolicy to pairing or allowlist and groupPolicy to allowlist.",
    },
  ];
}

function ruleFindings({ approvals, agents, config }: SecurityInput): SecurityFinding[] {
  if (!approvals) return [];
  const found: SecurityFinding[] = [];
  const strict = agents.every(({ policy }) => policy.strictInlineEval);
  const interpreters = new Set<string>();
  const wildcards = new Set<string>();
  const inactive: string[] = [];
  const broken: string[] = [];
  let skills = (approvals.raw.defaults as { autoAllowSkills?: unknown } | undefined)?.autoAllowSkills === true;
  for (const scope of scopesOf(approvals)) {
    const agent = (approvals.raw.agents as Record<string, { autoAllowSkills?: unknown }>)[scope];
    skills ||= agent?.autoAllowSkills === true;
    for (const rule of rulesOf(approvals, scope)) {
      if (rule.source === "allow-always" && !isGrant(rule)) inactive.push(rule.pattern);
      if (ruleProblem(rule) !== undefined) broken.push(rule.pattern);
      if (rule.argPattern !== undefined) continue;
      const name = posix.basename(rule.pattern.trim());
      if (nameIn([name], INTERPRETERS) || nameIn([name], SHELLS)) interpreters.add(rule.pattern);
      if (/^(?:\*+|\/?\*\*(?:\/\*+)?)$/.test(rule.pattern.trim())) wildcards.add(rule.pattern);
    }
  }
  if (interpreters.size > 0 && !strict) {
    found.push({
      id: "tools.exec.allowlist_interpreter_without_strict_inline_eval",
      level: "warn",
      message: `Listed programs that run whatever code they are given: ${[...interpreters].join(", ")}.`,
      remedy: "openclaw-exec config set tools.exec.strictInlineEval true",
    });
  }
  if (wildcards.size > 0) {
    found.push({
      id: "tools.exec.allowlist_covers_everything",
      level: "warn",
      message: `The rule ${[...wildcards].join(", ")} covers every program in a trusted directory.`,
      remedy: "Name the programs instead.",
    });
  }
  if (inactive.length > 0) {
    found.push({
      id: "tools.exec.allowlist_inactive_grants",
      level: "info",
      message: `Stored by an older version without their arguments, and therefore not used: ${inactive.join(", ")}.`,
      remedy: "openclaw-exec doctor --fix removes them",
    });
  }
  if (broken.length > 0) {
    found.push({
      id: "tools.exec.allowlist_rule_never_matches",
      level: "warn",
      message: `These rules can never match: ${broken.join(", ")}.`,
      remedy: "openclaw-exec approvals allowlist remove, then add them again; add says what is wrong",
    });
  }
  if (skills) {
    found.push({
      id: "tools.exec.auto_allow_skills_enabled",
      level: "warn",
      message:
        "autoAllowSkills is on. This gateway runs no skills, so it allows nothing here; whoever else reads the file may let their programs run without a rule.",
      remedy: "Remove autoAllowSkills from exec-approvals.json.",
    });
  }
  const sandboxed = config.tools.exec.host === "sandbox" && config.agents.defaults.sandbox.mode === "off";
  if (sandboxed) {
    found.push({
      id: "tools.exec.host_sandbox_no_sandbox_defaults",
      level: "warn",
      message: "tools.exec.host is sandbox, but agents.defaults.sandbox.mode is off: every command is refused.",
      remedy: "openclaw-exec config set agents.defaults.sandbox.mode all",
    });
  }
  for (const agent of config.agents.list) {
    if (agent.tools?.exec?.host !== "sandbox") continue;
    if ((agent.sandbox?.mode ?? config.agents.defaults.sandbox.mode) !== "off") continue;
    found.push({
      id: "tools.exec.host_sandbox_no_sandbox_agents",
      level: "warn",
      message: `Agent ${agent.id} runs commands in a sandbox only, but has none: every command is refused.`,
      remedy: `Set sandbox.mode of agent ${agent.id}.`,
    });
  }
  return found;
}

function safeBinFindings({ config, home }: SecurityInput): SecurityFinding[] {
  const { safeBins = [], safeBinProfiles, safeBinTrustedDirs } = config.tools.exec;
  const found: SecurityFinding[] = [];
  const broad = safeBins.filter((bin) => isNeverSafe(bin.toLowerCase()));
  if (broad.length > 0) {
    found.push({
      id: "tools.exec.safe_bins_broad_behavior",
      level: "warn",
      message: `${broad.join(", ")} can do more than filter and is never run as a safe bin.`,
      remedy: "Remove it from tools.exec.safeBins; list it as a rule if you want it.",
    });
  }
  const interpreters = safeBins.filter(
    (bin) => !isNeverSafe(bin) && (nameIn([bin], INTERPRETERS) || nameIn([bin], SHELLS)),
  );
  if (interpreters.length > 0) {
    found.push({
      id: "tools.exec.safe_bins_interpreter_unprofiled",
      level: "warn",
      message: `${interpreters.join(", ")} runs code and is no filter.`,
      remedy: "Remove it from tools.exec.safeBins.",
    });
  }
  const wide = safeBins.filter((bin) => {
    const profile = Object.hasOwn(safeBinProfiles, bin) ? safeBinProfiles[bin] : undefined;
    return profile !== undefined && !hasBuiltinProfile(bin) && profile.maxPositional === undefined;
  });
  if (wide.length > 0) {
    found.push({
      id: "tools.exec.safe_bins_profile_open",
      level: "warn",
      message: `The profile of ${wide.join(", ")} lets it read any file named by a bare word.`,
      remedy: "Set maxPositional: 0 in tools.exec.safeBinProfiles.",
    });
  }
  const risky = safeBinTrustedDirs.filter(
    (dir) =>
      !dir.startsWith("/") ||
      /^\/(?:tmp|var\/tmp|dev\/shm|usr\/local\/bin|opt\/homebrew)(?:\/|$)/.test(dir) ||
      dir.startsWith(home),
  );
  if (risky.length > 0) {
    found.push({
      id: "tools.exec.safe_bin_trusted_dirs_risky",
      level: "warn",
      message: `Trusted for programs although users can often write there: ${risky.join(", ")}.`,
      remedy: "Remove it from tools.exec.safeBinTrustedDirs, or make sure that only root can write there.",
    });
  }
  return found;
}

function elevatedFindings({ config }: SecurityInput): SecurityFinding[] {
  const { elevated } = config.tools;
  if (!elevated.enabled) return [];
  const found: SecurityFinding[] = [];
  for (const [channel, people] of Object.entries(elevated.allowFrom)) {
    if (!Array.isArray(people)) continue;
    if (people.includes("*")) {
      found.push({
        id: `tools.elevated.allowFrom.${channel}.wildcard`,
        level: "critical",
        message: `Everybody on ${channel} may leave the sandbox.`,
        remedy: `Name the people in tools.elevated.allowFrom.${channel}.`,
      });
    } else if (people.length > MANY_PEOPLE) {
      found.push({
        id: `tools.elevated.allowFrom.${channel}.large`,
        level: "warn",
        message: `${people.length} people on ${channel} may leave the sandbox.`,
        remedy: `Shorten tools.elevated.allowFrom.${channel}.`,
      });
    }
  }
  return found;
}

function sandboxFindings({ config, sandboxes, root }: SecurityInput): SecurityFinding[] {
  const found: SecurityFinding[] = [];
  const hostOf = (id: string) => findAgent(config, id)?.tools?.exec?.host ?? config.tools.exec.host ?? "auto";
  const on = sandboxes.filter(({ mode }) => mode !== "off");
  const names = (agents: readonly SandboxSettings[]) => agents.map(({ agentId }) => agentId).join(", ");
  const left = on.filter(({ agentId }) => ["gateway", "node"].includes(hostOf(agentId)));
  if (left.length > 0) {
    found.push({
      id: "tools.exec.host_leaves_sandbox",
      level: "warn",
      message: `Sessions of ${names(left)} are sandboxed, but tools.exec.host sends their commands elsewhere.`,
      remedy: "openclaw-exec config set tools.exec.host auto",
    });
  }
  const { docker, mode } = config.agents.defaults.sandbox;
  const limited = docker.binds.length > 0 || docker.memory !== undefined || docker.pidsLimit !== undefined;
  if (on.length === 0 && mode === "off" && limited) {
    found.push({
      id: "sandbox.docker_config_mode_off",
      level: "info",
      message: "agents.defaults.sandbox.docker is set, but no session is sandboxed.",
      remedy: "openclaw-exec config set agents.defaults.sandbox.mode all",
    });
  }
  const binds = on.flatMap((one) => one.docker.binds);
  const external = on.filter((one) => one.docker.dangerouslyAllowExternalBindSources && one.docker.binds.length > 0);
  if (external.length > 0) {
    found.push({
      id: "sandbox.dangerous_bind_mount",
      level: external.some((one) => one.docker.binds.some((bind) => !bind.endsWith(":ro"))) ? "critical" : "warn",
      message: `Directories outside the workspaces may be handed into sandboxes: ${[...new Set(binds)].join(", ")}.`,
      remedy: "Bind them :ro, or take away dangerouslyAllowExternalBindSources.",
    });
  }
  const relative = binds.filter((bind) => !bind.startsWith("/"));
  if (relative.length > 0) {
    found.push({
      id: "sandbox.bind_mount_non_absolute",
      level: "warn",
      message: `Not absolute, so every command of these sandboxes is refused: ${relative.join(", ")}.`,
      remedy: "Write the whole path in agents.defaults.sandbox.docker.binds.",
    });
  }
  if (on.length > 0 && root) {
    found.push({
      id: "sandbox.made_by_root",
      level: "warn",
      message: "To the kernel, what runs in a sandbox made by root is root without capabilities.",
      remedy: "Run the gateway as an account of its own.",
    });
  }
  return found;
}

/** Words of a chat, a web page or a file can make a model ask for anything: what it asks for must meet a rule or a person. */
function modelFindings({ config, agents }: SecurityInput): SecurityFinding[] {
  const found: SecurityFinding[] = [];
  const defaultModel = config.agents.defaults.model;
  const thinking = (id: string) => {
    const own = config.agents.list.find((agent) => agent.id.toLowerCase() === id.toLowerCase());
    return (
      (own?.model ?? defaultModel ?? own?.heartbeat?.model ?? config.agents.defaults.heartbeat.model) !== undefined
    );
  };
  const unchecked = agents.filter(({ id, policy }) => policy.security.value === "full" && thinking(id));
  if (unchecked.length > 0) {
    found.push({
      id: "agents.model_runs_unchecked",
      level: "critical",
      message: `A model runs whatever it likes for ${unchecked.map(({ id }) => id).join(", ")}: text it reads can make it do so.`,
      remedy: "openclaw-exec exec-policy preset cautious",
    });
  }
  const open = Object.entries(config.models.providers).flatMap(([name, { baseUrl, apiKey }]) =>
    apiKey !== undefined && baseUrl !== undefined && isPlainAndAway(baseUrl) ? [name] : [],
  );
  if (open.length > 0) {
    found.push({
      id: "models.key_over_plain_http",
      level: "critical",
      message: `The key of ${open.join(", ")} and every conversation cross the network unencrypted.`,
      remedy: "Use an https address in models.providers.<name>.baseUrl.",
    });
  }
  return found;
}

function isPlainAndAway(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === "http:" && !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function toolFindings({ config }: SecurityInput): SecurityFinding[] {
  const denied = config.tools.deny ?? [];
  const writers = ["write", "edit", "apply_patch", "group:fs"].filter((tool) => denied.includes(tool));
  if (writers.length === 0 || denied.includes("exec") || denied.includes("group:runtime") || denied.includes("*"))
    return [];
  return [
    {
      id: "tools.exec.fs_tools_disabled_but_exec_enabled",
      level: "warn",
      message: `${writers.join(", ")} is denied, but exec can still change files.`,
      remedy: "Deny exec as well, or accept it.",
    },
  ];
}
