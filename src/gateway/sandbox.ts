/** The sandboxes of this gateway, by its configuration as it is at each command. */
import { userInfo } from "node:os";
import type { Clock } from "../core/clock.ts";
import type { Config } from "../core/config/schema.ts";
import { sandboxSettings } from "../core/exec/sandbox-settings.ts";
import { defaultAgentId } from "../core/exec/settings.ts";
import { splitPath } from "../core/exec/shell.ts";
import { Sandboxes } from "../core/hosts/sandbox/sandboxes.ts";

export interface GatewaySandboxesOptions {
  readonly config: () => Config;
  readonly stateDir: string;
  readonly home: string;
  readonly clock: Clock;
  readonly path: string | undefined;
  readonly onError: (error: unknown, what: string) => void;
}

export function createGatewaySandboxes(options: GatewaySandboxesOptions): Sandboxes {
  const { config, stateDir, home, clock, path, onError } = options;
  return new Sandboxes({
    settings: (agentId) => sandboxSettings(config(), agentId, stateDir),
    roots: () => sandboxRoots(config(), stateDir),
    stateDir,
    homes: [...new Set([home, userInfo().homedir])],
    clock,
    path: splitPath(path),
    onError,
  });
}

/** Every directory that holds private directories of sandboxes. */
export function sandboxRoots(config: Config, stateDir: string): readonly string[] {
  const agents = [defaultAgentId(config), ...config.agents.list.map(({ id }) => id)];
  return [...new Set(agents.map((id) => sandboxSettings(config, id, stateDir).workspaceRoot))];
}
