/** The host port: one way to run a plan, three places to run it (gateway, sandbox, node). */
import type { Binding, Plan } from "../policy/decision.ts";
import type { NodeTarget, RunConsent } from "../policy/node-target.ts";
import type { EffectiveHost } from "../policy/types.ts";
import type { ProcessHandle } from "../process/types.ts";

export interface HostRun {
  readonly plan: Plan;
  readonly cwd: string;
  /** Overrides of the call, already validated. */
  readonly env: Readonly<Record<string, string>>;
  /** Added last and never overridable: `OPENCLAW_SHELL`, `OPENCLAW_CHANNEL_CONTEXT` … */
  readonly marks: Readonly<Record<string, string>>;
  readonly pathPrepend: readonly string[];
  readonly pty: boolean;
  readonly stdin: "closed" | "open";
  readonly timeoutMs?: number;
  readonly agentId: string;
  readonly sessionKey: string;
  /** With host=node: which one, and what it needs to know that this was decided. */
  readonly node?: NodeRun;
}

/** A run that a node has prepared. */
export interface NodeRun extends NodeTarget {
  readonly runId: string;
  readonly command: string;
  readonly binding: Binding;
  readonly consent?: RunConsent;
}

export interface Host {
  readonly kind: EffectiveHost;
  /** Rejects with an `ExecError` when nothing was started. */
  run(run: HostRun): Promise<ProcessHandle>;
}
