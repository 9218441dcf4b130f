/** What `node` does. */

import { join } from "node:path";
import { readEnvironment } from "../core/config/environment.ts";
import { ensureStateDir, statePaths } from "../core/config/paths.ts";
import { ExecError } from "../core/errors.ts";
import { NODE_COMMANDS } from "../core/hosts/node/types.ts";
import { readTokenFile, TOKEN_FILE } from "../gateway/token.ts";
import { endpointOf } from "../node-host/endpoint.ts";
import { defaultName } from "../node-host/gateway-socket.ts";
import { loadIdentity } from "../node-host/identity.ts";
import { createNodeHost, DEFAULT_GRACE_SEC } from "../node-host/node-host.ts";
import { type Cli, EXIT, readStdin } from "./io.ts";
import type { NodeRunFlags } from "./node.ts";
import { version } from "./version.ts";

const PAIR_CODE_ENV = "OPENCLAW_NODE_PAIR_CODE";
const TOKEN_ENV = "OPENCLAW_GATEWAY_TOKEN";
/** Commands get 9 s to end. */
const EXIT_GRACE_MS = 12_000;

/** Resolves with the exit code once it was stopped by a signal. */
export async function run(cli: Cli, flags: NodeRunFlags): Promise<number> {
  const { stateDir: wanted, home } = statePaths(cli.env);
  const stateDir = ensureStateDir(wanted);
  const environment = readEnvironment(cli.env, stateDir, cli.cwd);
  const endpoint = endpointOf(
    {
      ...flags,
      ...(flags.port === undefined ? {} : { port: flags.port }),
    },
    environment.vars,
  );
  const commands = commandsOf(flags.commands);
  const pairCode = flags.pair ? (await readStdin(cli)).trim() : environment.get(PAIR_CODE_ENV);
  // A node beside its gateway shares its state directory, and with it the token.
  const gatewayToken =
    environment.get(TOKEN_ENV) ?? (endpoint.loopback ? await readTokenFile(join(stateDir, TOKEN_FILE)) : undefined);
  const node = await createNodeHost({
    ...{ stateDir, home, endpoint, commands },
    env: cli.env,
    displayName: flags.displayName ?? defaultName(),
    version: version(),
    graceMs: (flags.graceSec ?? DEFAULT_GRACE_SEC) * 1000,
    say: (line) => cli.err(line),
    ...(pairCode ? { pairCode } : {}),
    ...(gatewayToken === undefined ? {} : { gatewayToken }),
  });
  const stop = () => {
    void node.stop();
    setTimeout(() => process.exit(EXIT.failed), EXIT_GRACE_MS).unref();
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  cli.err(`Node ${node.deviceId.slice(0, 12)} connects to ${endpoint.url}.`);
  try {
    await node.run();
    return EXIT.ok;
  } finally {
    process.off("SIGTERM", stop);
    process.off("SIGINT", stop);
    await node.stop();
    cli.leave?.(EXIT_GRACE_MS);
  }
}

export async function identity(cli: Cli, flags: { readonly json?: boolean }): Promise<number> {
  const stateDir = ensureStateDir(statePaths(cli.env).stateDir);
  const { deviceId, publicKey } = loadIdentity(stateDir, crypto.randomUUID());
  cli.out(flags.json ? JSON.stringify({ deviceId, publicKey }, null, 2) : deviceId);
  return EXIT.ok;
}

function commandsOf(list: string | undefined): readonly string[] {
  if (list === undefined) return NODE_COMMANDS;
  const known: readonly string[] = NODE_COMMANDS;
  const wanted = list.split(",").map((name) => name.trim());
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new ExecError(
      "invalid-argument",
      `A node has no command ${unknown.map((name) => JSON.stringify(name)).join(", ")}. It has: ${known.join(", ")}.`,
    );
  }
  return [...new Set(wanted)];
}
