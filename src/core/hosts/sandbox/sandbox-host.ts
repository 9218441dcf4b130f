/** Runs commands in a sandbox made by bubblewrap (hosts.md section 2.3): one for each command, gone with it. */
import { accessSync, constants } from "node:fs";
import { ExecError } from "../../errors.ts";
import { foreignShebang } from "../../exec/shebang.ts";
import { mergePaths, shellArgs, splitPath } from "../../exec/shell.ts";
import { PTY_COLS, PTY_ROWS } from "../../process/pty.ts";
import { RUN_MARK } from "../../process/run-mark.ts";
import type { SpawnedHandle, Supervisor } from "../../process/supervisor.ts";
import { phrase } from "../../words/phrase.ts";
import type { Host, HostRun } from "../host.ts";
import { bwrapOptions } from "./bwrap-options.ts";
import { type Launch, prepareLaunch } from "./launcher.ts";
import { toInside } from "./mounts.ts";
import { type Place, prlimitOf, type Sandboxes } from "./sandboxes.ts";
import { SANDBOX_MARK } from "./users.ts";

export interface SandboxHostOptions {
  readonly supervisor: Supervisor;
  readonly sandboxes: Sandboxes;
}

/** What bubblewrap takes, with room for its own (9000). */
const MAX_OPTIONS = 8_500;
const PATH = "/usr/local/bin:/usr/bin:/bin";
/** `/etc/profile` sets PATH: what goes before it comes in a variable and is put there behind it (hosts.md 1.6). */
const PREPEND_VARIABLE = "OPENCLAW_PREPEND_PATH";
const PREPEND_LINE = `export PATH="\${${PREPEND_VARIABLE}}\${PATH:+:$PATH}"; unset ${PREPEND_VARIABLE}`;

export function createSandboxHost({ supervisor, sandboxes }: SandboxHostOptions): Host {
  return {
    kind: "sandbox",
    async run(run) {
      if (run.plan.kind !== "verbatim") throw new ExecError("internal", "A sandbox runs text as it stands.");
      const { text } = run.plan;
      const script = foreignShebang(text);
      if (script !== undefined) throw new ExecError("invalid-argument", script);
      const place = sandboxes.place(run.agentId, run.sessionKey);
      const engine = await sandboxes.engine(place);
      const chdir = toInside(run.cwd, place.mounts);
      if (chdir === undefined)
        throw new ExecError("workdir-unavailable", phrase("error.workdir.gone", { folder: run.cwd }));
      const { env, lines } = environment(run, place);
      const layout = sandboxes.layout(place);
      const options = bwrapOptions(layout, engine.features, { chdir, env, terminal: run.pty });
      if (options.length > MAX_OPTIONS) {
        throw new ExecError("env-invalid", phrase("error.sandbox.variables", { count: Object.keys(env).length }));
      }
      const { settings, limits } = place;
      if (limits.prlimit.length > 0) requirePrlimit(place);
      const groups = sandboxes.groups.create(groupName(run), limits.groups);
      if ("field" in groups) {
        const why = phrase("sandbox.why.limit", { key: settings.keyOf(`docker.${groups.field}`), why: groups.why });
        throw new ExecError("host-unavailable", phrase("error.sandbox", { why }));
      }
      let launch: Launch | undefined;
      let handle: SpawnedHandle;
      const cleanUp = (): void => {
        launch?.close();
        void groups.remove();
      };
      try {
        launch = prepareLaunch({
          folder: sandboxes.launchFolder(place),
          bash: engine.bash,
          setpriv: engine.setpriv,
          bwrap: engine.bwrap,
          options,
          filter: layout.filter,
          groups: groups.procs,
          command: [...prlimitOf(limits), ...shellCommand([...lines, text].join("\n"))],
          graceful: engine.graceful,
        });
        handle = supervisor.start({
          file: launch.file,
          args: launch.args,
          cwd: "/",
          // Of bubblewrap, which runs outside: marks to find it by, and nothing a caller gave.
          env: { ...mark(run), [SANDBOX_MARK]: place.name },
          stdin: run.stdin,
          ...(run.timeoutMs === undefined ? {} : { timeoutMs: run.timeoutMs }),
          ...(run.pty ? { pty: { cols: PTY_COLS, rows: PTY_ROWS } } : {}),
        });
      } catch (error) {
        cleanUp();
        throw error;
      }
      void handle.ended.then(cleanUp);
      await handle.spawned;
      sandboxes.pruneSoon();
      return handle;
    },
  };
}

function shellCommand(text: string): string[] {
  return ["/bin/sh", ...shellArgs({ kind: "sh", file: "/bin/sh", args: ["-lc"] }, text)];
}

function environment(run: HostRun, { settings }: Place): { env: Record<string, string>; lines: string[] } {
  const { PATH: wanted, ...overrides } = run.env;
  const env: Record<string, string> = {
    PATH,
    HOME: settings.docker.workdir,
    USER: "sandbox",
    LOGNAME: "sandbox",
    SHELL: "/bin/sh",
    ...(run.pty ? { TERM: "xterm-256color" } : {}),
    ...settings.docker.env,
    ...overrides,
    OPENCLAW_SHELL: "exec",
    OPENCLAW_CLI: "1",
    ...run.marks,
  };
  const first = mergePaths(run.pathPrepend, splitPath(wanted ?? settings.docker.env.PATH));
  if (first.length === 0) return { env, lines: [] };
  return { env: { ...env, [PREPEND_VARIABLE]: first.join(":") }, lines: [PREPEND_LINE] };
}

function mark({ marks }: HostRun): Record<string, string> {
  const value = marks[RUN_MARK];
  return value === undefined ? {} : { [RUN_MARK]: value };
}

/** One per run, told apart by its mark. */
function groupName({ marks }: HostRun): string {
  return (marks[RUN_MARK] ?? crypto.randomUUID()).replaceAll(/[^A-Za-z0-9-]/g, "-").slice(-60);
}

function requirePrlimit({ limits, settings }: Place): void {
  const [program = ""] = prlimitOf(limits);
  try {
    accessSync(program, constants.X_OK);
  } catch {
    const why = phrase("sandbox.why.limit", {
      key: settings.keyOf("docker.ulimits"),
      why: phrase("sandbox.limit.program", { program }),
    });
    throw new ExecError("host-unavailable", phrase("error.sandbox", { why }));
  }
}
