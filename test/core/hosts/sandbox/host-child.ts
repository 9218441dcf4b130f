/** A gateway of one command, in a process of its own: `host-child.ts <state directory> <command> [mark]`. */
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../../src/core/clock.ts";
import { type Config, configSchema } from "../../../../src/core/config/schema.ts";
import { sandboxSettings } from "../../../../src/core/exec/sandbox-settings.ts";
import { createSandboxHost } from "../../../../src/core/hosts/sandbox/sandbox-host.ts";
import { Sandboxes } from "../../../../src/core/hosts/sandbox/sandboxes.ts";
import { createSupervisor } from "../../../../src/core/process/supervisor.ts";

const [stateDir = "", command = "", mark = "gateway:child"] = process.argv.slice(2);
mkdirSync(join(stateDir, "workspace"), { recursive: true });
const config = configSchema.parse({ agents: { defaults: { sandbox: { mode: "all" } } } }) as Config;
const sandboxes = new Sandboxes({
  settings: (agentId) => sandboxSettings(config, agentId, stateDir),
  roots: () => [],
  stateDir,
  homes: [homedir()],
  clock: systemClock,
  path: [],
  onError: (error) => process.stderr.write(`${error}\n`),
});
const host = createSandboxHost({ supervisor: createSupervisor(), sandboxes });
const handle = await host.run({
  plan: { kind: "verbatim", text: command },
  cwd: sandboxes.workdir(undefined, "main", "agent:main:main"),
  env: {},
  marks: { OPENCLAW_RUN_ID: mark },
  pathPrepend: [],
  pty: false,
  stdin: "closed",
  agentId: "main",
  sessionKey: "agent:main:main",
});
handle.onOutput((_, text) => process.stdout.write(text));
await handle.ended;
