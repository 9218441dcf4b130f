/** Commands as this gateway runs them: on which host, with whose leave, how many at once, and what of them is recorded. */
import type { Audit } from "../core/audit/audit.ts";
import type { Clock } from "../core/clock.ts";
import type { LoadedConfig } from "../core/config/load.ts";
import type { Config } from "../core/config/schema.ts";
import { channelMarks } from "../core/exec/env.ts";
import { freshFileFacts } from "../core/exec/file-facts.ts";
import { createRunRecorder, type RunRecorder } from "../core/exec/run-recorder.ts";
import { Runs } from "../core/exec/runs.ts";
import { agentSettings } from "../core/exec/settings.ts";
import { chooseShell } from "../core/exec/shell.ts";
import { ShellSnapshots } from "../core/exec/shell-snapshot.ts";
import { createGatewayHost } from "../core/hosts/gateway-host.ts";
import type { Host } from "../core/hosts/host.ts";
import { createSandboxHost } from "../core/hosts/sandbox/sandbox-host.ts";
import type { Sandboxes } from "../core/hosts/sandbox/sandboxes.ts";
import { isBindingOf, recheckBinding } from "../core/policy/binding.ts";
import { layerPhrase } from "../core/policy/reasons.ts";
import type { EffectiveHost } from "../core/policy/types.ts";
import { createLeftovers } from "../core/process/leftovers.ts";
import type { Recordings } from "../core/process/recording.ts";
import type { ProcessSessions } from "../core/process/registry.ts";
import type { Supervisor } from "../core/process/supervisor.ts";
import type { Store } from "../core/store/store.ts";
import type { Cluster } from "./cluster.ts";
import type { PolicyService } from "./policy-service.ts";
import type { SearchPath } from "./search-path.ts";

export interface GatewayRunsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly config: () => Config;
  readonly stateDir: string;
  readonly loaded: Pick<LoadedConfig, "home" | "secrets">;
  readonly gatewayId: string;
  readonly instanceId: string;
  /** Absent: this gateway is alone. */
  readonly cluster: Cluster | undefined;
  readonly policy: PolicyService;
  readonly recordings: Recordings;
  readonly searchPath: SearchPath;
  readonly sessions: ProcessSessions;
  readonly supervisor: Supervisor;
  readonly sandboxes: Sandboxes;
  /** Runs on paired nodes. */
  readonly nodeHost: Host;
  readonly onError: (error: unknown, what: string) => void;
}

export interface GatewayRuns {
  readonly runs: Runs;
  readonly recorder: RunRecorder;
  /** Start-up files can be slow: they are read beside the start, so that the first command does not wait for them. */
  warmUp(): Promise<void>;
}

export function createGatewayRuns(options: GatewayRunsOptions): GatewayRuns {
  const { store, clock, audit, config, stateDir, gatewayId, instanceId, cluster, onError } = options;
  const { policy, recordings, searchPath, sessions, supervisor } = options;
  const { home, secrets } = options.loaded;
  const snapshots = new ShellSnapshots({ stateDir, env: process.env, home, clock });
  const gatewayHost = createGatewayHost({
    supervisor,
    env: process.env,
    get path() {
      return searchPath.folders();
    },
    secretNames: namesOf(secrets.values, process.env),
    snapshots,
  });
  const recorder = createRunRecorder({
    recordings,
    clock,
    mode: (agentId) => agentSettings(config(), agentId, stateDir).exec.record,
    onError,
  });
  const runs: Runs = new Runs({
    store,
    clock,
    audit,
    sessions,
    leftovers: createLeftovers(),
    gatewayId,
    instanceId,
    hosts: new Map<EffectiveHost, Host>([
      ["gateway", gatewayHost],
      ["sandbox", createSandboxHost({ supervisor, sandboxes: options.sandboxes })],
      ["node", options.nodeHost],
    ]),
    // What lies on a node is looked at there, right before it starts.
    recheck: (spec) =>
      spec.host !== "node"
        ? recheckBinding(spec.binding, spec, freshFileFacts())
        : isBindingOf(spec.binding, spec)
          ? undefined
          : { code: "changed-request" },
    revokedBy: async ({ agentId, sessionKey, host }) => {
      const { security } = await policy.resolve({ agentId, sessionKey, host, fromChannel: false });
      return security.value === "deny" ? layerPhrase(security.from) : undefined;
    },
    limits: () => {
      const { maxConcurrentRuns, maxConcurrentRunsPerAgent, maxQueuedRuns } = config().limits;
      return { total: maxConcurrentRuns, perAgent: maxConcurrentRunsPerAgent, queued: maxQueuedRuns };
    },
    mayStart: () => cluster?.isMember ?? true,
    mayStartAgain: async () => cluster?.regain() ?? true,
    recorder,
    channelContext: (spec) =>
      spec.route ? channelMarks({ senderId: spec.requester.id, chatId: spec.route.chatId }) : {},
    onError,
  });

  async function warmUp(): Promise<void> {
    await searchPath.ready();
    await snapshots.for(chooseShell(process.env, searchPath.folders()), searchPath.folders());
  }

  return { runs, recorder, warmUp };
}

/** Variables of the gateway that hold a secret of the configuration, under whatever name: they never reach a child. */
function namesOf(secrets: readonly string[], env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env).flatMap(([name, value]) => (value && secrets.includes(value) ? [name] : []));
}
