/** A real sandbox host on a state directory of its own, with bubblewrap as it is installed here. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";
import { systemClock } from "../../../../src/core/clock.ts";
import { type Config, configSchema } from "../../../../src/core/config/schema.ts";
import { sandboxSettings } from "../../../../src/core/exec/sandbox-settings.ts";
import type { Host, HostRun } from "../../../../src/core/hosts/host.ts";
import { createSandboxHost } from "../../../../src/core/hosts/sandbox/sandbox-host.ts";
import { Sandboxes, type SandboxesOptions } from "../../../../src/core/hosts/sandbox/sandboxes.ts";
import type { Supervisor } from "../../../../src/core/process/supervisor.ts";
import type { EndInfo, ProcessHandle } from "../../../../src/core/process/types.ts";
import { requireOrSkip } from "../../../support/require.ts";
import { quickSupervisor } from "../../process/support.ts";

const BWRAP = "/usr/bin/bwrap";
const OF_THE_KERNEL = ["--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"];
const installed = existsSync(BWRAP);

/** The kernel, or what this machine itself runs in, may forbid namespaces: no package mends that. */
export const bwrapWorks = installed && spawnSync(BWRAP, [...OF_THE_KERNEL, "true"]).status === 0;

export const describeWithBwrap =
  installed && !bwrapWorks ? forbidden() : requireOrSkip("bubblewrap (package bubblewrap)", installed);

function forbidden(): typeof describe.skip {
  process.stderr.write(
    "SKIPPED: this machine forbids the namespaces of bubblewrap, the tests of sandboxes did not run.\n",
  );
  return describe.skip;
}

export interface World {
  readonly dir: string;
  readonly stateDir: string;
  readonly workspace: string;
  readonly sandboxes: Sandboxes;
  readonly supervisor: Supervisor;
  readonly host: Host;
  start(command: string, extra?: Partial<HostRun>): Promise<ProcessHandle>;
  run(command: string, extra?: Partial<HostRun>): Promise<{ output: string; end: EndInfo }>;
  dispose(): Promise<void>;
}

export interface WorldOptions {
  readonly sandbox?: object;
  readonly agents?: object[];
  readonly with?: Partial<SandboxesOptions>;
}

export function openWorld({ sandbox = {}, agents = [], with: more = {} }: WorldOptions = {}): World {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-sandbox-")));
  const stateDir = join(dir, "state");
  const workspace = join(stateDir, "workspace");
  mkdirSync(workspace, { recursive: true, mode: 0o700 });
  const config = configSchema.parse({
    agents: { defaults: { sandbox: { mode: "all", ...sandbox } }, list: agents },
  }) as Config;
  const sandboxes = new Sandboxes({
    settings: (agentId) => sandboxSettings(config, agentId, stateDir),
    roots: () => [sandboxSettings(config, "main", stateDir).workspaceRoot],
    stateDir,
    homes: [homedir()],
    clock: systemClock,
    path: [],
    onError: (error, what) => {
      throw new Error(what, { cause: error });
    },
    ...more,
  });
  const supervisor = quickSupervisor();
  const host = createSandboxHost({ supervisor, sandboxes });
  const start = (command: string, extra: Partial<HostRun> = {}): Promise<ProcessHandle> => {
    const agentId = extra.agentId ?? "main";
    const sessionKey = extra.sessionKey ?? "agent:main:main";
    return host.run({
      plan: { kind: "verbatim", text: command },
      cwd: sandboxes.workdir(undefined, agentId, sessionKey),
      env: {},
      marks: { OPENCLAW_RUN_ID: `gateway:${crypto.randomUUID()}` },
      pathPrepend: [],
      pty: false,
      stdin: "closed",
      agentId,
      sessionKey,
      ...extra,
    });
  };
  return {
    dir,
    stateDir,
    workspace,
    sandboxes,
    supervisor,
    host,
    start,
    async run(command, extra) {
      const handle = await start(command, extra);
      let output = "";
      handle.onOutput((_, text) => {
        output += text;
      });
      const end = await handle.ended;
      return { output, end };
    },
    async dispose() {
      await supervisor.shutdown();
      await sandboxes.settled();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** What a call is refused with: `code: message`. */
export async function refusal(attempt: () => unknown): Promise<string> {
  try {
    await attempt();
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return `${code}: ${message}`;
  }
  return "accepted";
}
