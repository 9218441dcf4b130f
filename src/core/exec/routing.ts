/**
 * Where a command runs (hosts.md section 1.2). Pure: never a silent downgrade, an impossible wish is an error that
 * names the key to change.
 */
import { ExecError } from "../errors.ts";
import type { EffectiveHost, ExecHost } from "../policy/types.ts";
import { phrase } from "../words/phrase.ts";

export interface RoutingInput {
  /** First set of session, agent, global; `auto` when none is. */
  readonly configured: ExecHost;
  readonly requested?: ExecHost;
  readonly sandboxActive: boolean;
  readonly elevated: boolean;
  /** hosts.md 1.2, row "auto, node, sandbox": the seed allows it. */
  readonly nodeFromSandbox: boolean;
}

export function resolveHost(input: RoutingInput): EffectiveHost {
  const { configured, sandboxActive } = input;
  const requested = input.requested === "auto" ? undefined : input.requested;
  if (input.elevated) return (requested ?? configured) === "node" ? "node" : "gateway";
  if (configured === "auto") {
    switch (requested) {
      case undefined:
        return sandboxActive ? "sandbox" : "gateway";
      case "sandbox":
        return requireSandbox(sandboxActive);
      case "gateway":
        if (!sandboxActive) return "gateway";
        throw notAllowed("gateway", "auto with an active sandbox", "gateway");
      case "node":
        if (!sandboxActive || input.nodeFromSandbox) return "node";
        throw notAllowed("node", "auto with an active sandbox", "node");
    }
  }
  if (requested !== undefined && requested !== configured) throw notAllowed(requested, configured, requested);
  return configured === "sandbox" ? requireSandbox(sandboxActive) : configured;
}

function requireSandbox(active: boolean): EffectiveHost {
  if (active) return "sandbox";
  throw new ExecError("host-unavailable", phrase("error.host.sandbox"));
}

function notAllowed(requested: string, configured: string, fix: string): ExecError {
  return new ExecError("host-not-allowed", phrase("error.host.notAllowed", { requested, configured, fix }));
}
