/**
 * One policy out of all layers (spec: policy.md section 2). The only place that combines them, so that a command from
 * a chat, a wake, a cron job and the API are judged alike; every value remembers the layer that gave it.
 */
import {
  type AllowlistEntry,
  ASK_LEVELS,
  type Ask,
  type EffectiveHost,
  type EffectivePolicy,
  type ExecMode,
  type PolicyLayer,
  type SafeBinProfile,
  SECURITY_LEVELS,
  type Security,
  type Sourced,
} from "./types.ts";

/** policy.md section 8: what runs as a stdin-only filter when nobody configured anything. */
export const DEFAULT_SAFE_BINS: readonly string[] = ["cut", "uniq", "head", "tail", "tr", "wc"];

/** The knobs of `tools.exec` and of an agent's `tools.exec`. A layer names either `mode` or the pair, never both. */
export interface ConfigPolicyLayer {
  readonly mode?: ExecMode;
  readonly security?: Security;
  readonly ask?: Ask;
  readonly strictInlineEval?: boolean;
  readonly argumentGuard?: boolean;
  readonly strictBinding?: boolean;
  /** Replaces the default list; `[]` switches safe bins off. */
  readonly safeBins?: readonly string[];
  readonly safeBinTrustedDirs?: readonly string[];
  readonly safeBinProfiles?: Readonly<Record<string, SafeBinProfile>>;
}

/** What `/exec` stored for the session. */
export interface SessionPolicyLayer {
  readonly mode?: ExecMode;
  readonly security?: Security;
  readonly ask?: Ask;
}

/** What exec-approvals.json says for one agent (`hostPolicyFor` in core/approvals/approvals-file.ts). */
export interface HostPolicyLayer {
  readonly security?: Sourced<Security>;
  readonly ask?: Sourced<Ask>;
  readonly askFallback?: Sourced<Security>;
  readonly allowlist: readonly AllowlistEntry[];
}

export interface CallPolicyLayer {
  readonly ask?: Ask;
  /** A chat message, or an agent turn that a chat message started. Internal callers and the API are not. */
  readonly fromChannel: boolean;
}

export interface PolicyLayers {
  readonly host: EffectiveHost;
  readonly config?: ConfigPolicyLayer;
  readonly agent?: ConfigPolicyLayer;
  readonly session?: SessionPolicyLayer;
  /** `"missing"`: no file, nothing is tightened. `"damaged"`: the host is closed until a person repairs it. */
  readonly hostFile: HostPolicyLayer | "missing" | "damaged";
  readonly call?: CallPolicyLayer;
  /** The elevated level was granted and resolved to `full`. */
  readonly elevatedFull?: boolean;
}

const MODES: Readonly<Record<ExecMode, { security: Security; ask: Ask; autoReview: boolean }>> = {
  deny: { security: "deny", ask: "off", autoReview: false },
  allowlist: { security: "allowlist", ask: "off", autoReview: false },
  ask: { security: "allowlist", ask: "on-miss", autoReview: false },
  auto: { security: "allowlist", ask: "on-miss", autoReview: true },
  full: { security: "full", ask: "off", autoReview: false },
};

export function strictestSecurity(a: Sourced<Security>, b: Sourced<Security>): Sourced<Security> {
  return SECURITY_LEVELS.indexOf(b.value) < SECURITY_LEVELS.indexOf(a.value) ? b : a;
}

export function strictestAsk(a: Sourced<Ask>, b: Sourced<Ask>): Sourced<Ask> {
  return ASK_LEVELS.indexOf(b.value) > ASK_LEVELS.indexOf(a.value) ? b : a;
}

type Pair = Pick<EffectivePolicy, "security" | "ask">;

/** `after` lets something happen without a person that `before` does not, or with one what `before` refuses for good. */
export function isLooser(after: Pair, before: Pair): boolean {
  if (after.security.value === "deny") return false;
  if (before.security.value === "deny") return true;
  if (after.ask.value === "always") return false;
  if (SECURITY_LEVELS.indexOf(after.security.value) > SECURITY_LEVELS.indexOf(before.security.value)) return true;
  // Under an allowlist "off" refuses what "on-miss" asks about; only "always" asks about what is listed or open.
  return before.ask.value === "always";
}

/** The `mode` that a pair is shown as; several pairs share one (policy.md 1.1). */
export function displayMode(security: Security, ask: Ask, autoReview: boolean): ExecMode {
  if (security === "deny") return "deny";
  if (security === "full") return ask === "always" ? "ask" : "full";
  if (ask === "off") return "allowlist";
  return autoReview && ask === "on-miss" ? "auto" : "ask";
}

interface Requested {
  readonly security: Sourced<Security>;
  readonly ask: Sourced<Ask>;
  readonly autoReview: boolean;
}

function applyLayer(below: Requested, layer: SessionPolicyLayer | undefined, from: PolicyLayer): Requested {
  if (!layer) return below;
  if (layer.mode !== undefined) {
    const mode = MODES[layer.mode];
    return { security: { value: mode.security, from }, ask: { value: mode.ask, from }, autoReview: mode.autoReview };
  }
  if (layer.security === undefined && layer.ask === undefined) return below;
  // Naming one half of the pair drops a wider layer's mode, and with it the reviewer.
  return {
    security: layer.security === undefined ? below.security : { value: layer.security, from },
    ask: layer.ask === undefined ? below.ask : { value: layer.ask, from },
    autoReview: false,
  };
}

/** What config and session ask for, before the host file and the call have their say. */
export function requestedPolicy(layers: PolicyLayers): Requested {
  let requested: Requested = {
    security: { value: "full", from: "default" },
    ask: { value: "off", from: "default" },
    autoReview: false,
  };
  requested = applyLayer(requested, layers.config, "config:tools.exec");
  requested = applyLayer(requested, layers.agent, "config:agent");
  return applyLayer(requested, layers.session, "session:/exec");
}

const OPEN_HOST: HostPolicyLayer = { allowlist: [] };

export function resolvePolicy(layers: PolicyLayers): EffectivePolicy {
  const requested = requestedPolicy(layers);
  const { config, agent } = layers;
  const shared = {
    strictInlineEval: agent?.strictInlineEval ?? config?.strictInlineEval ?? false,
    argumentGuard: agent?.argumentGuard ?? config?.argumentGuard ?? true,
    strictBinding: agent?.strictBinding ?? config?.strictBinding ?? false,
    safeBins: agent?.safeBins ?? config?.safeBins ?? DEFAULT_SAFE_BINS,
    safeBinTrustedDirs: agent?.safeBinTrustedDirs ?? config?.safeBinTrustedDirs ?? [],
    safeBinProfiles: { ...config?.safeBinProfiles, ...agent?.safeBinProfiles },
  };

  if (layers.host === "sandbox") {
    // The sandbox is the boundary: host approvals do not reach inside, only an explicit `deny` does (hosts.md 1.5).
    const denied = requested.security.value === "deny";
    return {
      ...shared,
      security: denied ? requested.security : { value: "full", from: "sandbox" },
      ask: { value: "off", from: "sandbox" },
      askFallback: { value: "deny", from: "default" },
      autoReview: false,
      bypass: false,
      strictInlineEval: false,
      allowlist: [],
    };
  }

  if (layers.hostFile === "damaged") {
    const from: PolicyLayer = "host-file:damaged";
    return {
      ...shared,
      security: { value: "deny", from },
      ask: { value: "off", from },
      askFallback: { value: "deny", from },
      autoReview: false,
      bypass: false,
      allowlist: [],
    };
  }

  const hostFile = layers.hostFile === "missing" ? OPEN_HOST : layers.hostFile;
  const security = strictestSecurity(requested.security, hostFile.security ?? requested.security);
  const hostAsk = strictestAsk(requested.ask, hostFile.ask ?? requested.ask);
  const callAsk = layers.call?.ask;
  // A chat can not switch prompts on where the host has none: it would only stall the agent (seed 000).
  const callCounts = callAsk !== undefined && !(layers.call?.fromChannel === true && hostAsk.value === "off");
  const ask = callCounts ? strictestAsk(hostAsk, { value: callAsk, from: "call" }) : hostAsk;
  const askFallback = strictestSecurity(hostFile.askFallback ?? { value: "deny", from: "default" }, security);
  const wideOpen = (s: Security | undefined, a: Ask | undefined): boolean =>
    (s ?? "full") === "full" && (a ?? "off") === "off";
  const bypass =
    layers.elevatedFull === true &&
    wideOpen(requested.security.value, requested.ask.value) &&
    wideOpen(hostFile.security?.value, hostFile.ask?.value);
  return {
    ...shared,
    security,
    ask,
    askFallback,
    autoReview: requested.autoReview && ask.value === requested.ask.value && security.value === "allowlist" && !bypass,
    bypass,
    allowlist: hostFile.allowlist,
  };
}
