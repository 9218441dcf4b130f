/** A decision that was made together with a node: what it was told of the policy, and its word on the outcome. */
import type { ConfigPolicyLayer } from "./resolve.ts";
import type { Ask, Security } from "./types.ts";

/** What of the gateway's policy counts on the node too: settings, never rules, which name files of the gateway. */
export interface GatewayPolicy
  extends Pick<
    ConfigPolicyLayer,
    "strictInlineEval" | "argumentGuard" | "strictBinding" | "safeBins" | "safeBinTrustedDirs" | "safeBinProfiles"
  > {
  readonly security: Security;
  readonly ask: Ask;
  readonly askFallback: Security;
  readonly autoReview: boolean;
}

/** A node, and its word of what was decided for one run. */
export interface NodeTarget {
  readonly id: string;
  /** As it was called then. */
  readonly name: string;
  /** Signed by the node: worth one run of exactly this. */
  readonly ticket: string;
  readonly policy: GatewayPolicy;
}

/** Who said yes to what the policy asks about. */
export interface RunConsent {
  readonly approvalId?: string;
  /** `fallback`: nobody answered in time. `reviewed`: the automatic reviewer. */
  readonly decision: "allow-once" | "allow-always" | "fallback" | "reviewed";
}
