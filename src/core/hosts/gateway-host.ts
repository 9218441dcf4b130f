/** Runs plans on this machine (decisions.md D8). */
import { ExecError } from "../errors.ts";
import { type Env, type HostEnvInput, hostEnv, inheritedEnv, type ProcessEnv, plainEnv } from "../exec/env.ts";
import { foreignShebang } from "../exec/shebang.ts";
import { chooseShell, findOnPath, mergePaths, shellArgs } from "../exec/shell.ts";
import type { ShellSnapshots, Snapshot } from "../exec/shell-snapshot.ts";
import { PTY_COLS, PTY_ROWS } from "../process/pty.ts";
import type { Supervisor } from "../process/supervisor.ts";
import type { SpawnPlan } from "../process/types.ts";
import type { Host, HostRun } from "./host.ts";

export interface GatewayHostOptions {
  readonly supervisor: Supervisor;
  /** The gateway's own environment, which does not change while it lives. */
  readonly env: ProcessEnv;
  /** The gateway's search path, login shell merged in; the same that the policy resolves names with. */
  readonly path: readonly string[];
  /** Variables the config takes secrets from; they never reach a child. */
  readonly secretNames?: readonly string[];
  /** Absent: no snapshot of start-up files is used. */
  readonly snapshots?: ShellSnapshots;
}

/**
 * Values reach the shell in variables, never in its text. The first line undoes what start-up code did to PATH; the
 * command follows on its own lines, byte for byte.
 */
const PREPEND_VARIABLE = "OPENCLAW_PREPEND_PATH";
const PREPEND_LINE = `export PATH="\${${PREPEND_VARIABLE}}\${PATH:+:$PATH}"; unset ${PREPEND_VARIABLE}`;
const SNAPSHOT_VARIABLE = "OPENCLAW_SHELL_SNAPSHOT_FILE";
const SNAPSHOT_LINE = `if [ -r "$${SNAPSHOT_VARIABLE}" ]; then . "$${SNAPSHOT_VARIABLE}"; fi; unset ${SNAPSHOT_VARIABLE}`;

export function createGatewayHost(options: GatewayHostOptions): Host {
  const inherited = inheritedEnv(options.env, options.secretNames);
  return {
    kind: "gateway",
    async run(run) {
      const handle = options.supervisor.start(await spawnPlan(run, inherited, options));
      await handle.spawned;
      return handle;
    },
  };
}

async function spawnPlan(run: HostRun, inherited: Env, options: GatewayHostOptions): Promise<SpawnPlan> {
  const base = {
    cwd: run.cwd,
    stdin: run.stdin,
    ...(run.timeoutMs === undefined ? {} : { timeoutMs: run.timeoutMs }),
    ...(run.pty ? { pty: { cols: PTY_COLS, rows: PTY_ROWS } } : {}),
  };
  const prepended = mergePaths(run.pathPrepend, options.path);
  const env: HostEnvInput = {
    inherited,
    path: prepended,
    overrides: run.env,
    marks: run.marks,
    pty: run.pty,
  };
  const { plan } = run;
  switch (plan.kind) {
    case "argv":
      return { ...base, file: plan.file, argv0: plan.argv0, args: plan.args, env: plainEnv(env) };
    case "rebuilt":
      return {
        ...base,
        file: findOnPath("bash", ["/bin", "/usr/bin", ...options.path]) ?? "/bin/bash",
        args: ["--noprofile", "--norc", "-c", "--", plan.text],
        env: plainEnv(env),
      };
    case "verbatim":
      return { ...base, ...(await verbatim(plan.text, run, env, options)) };
  }
}

async function verbatim(
  text: string,
  run: HostRun,
  input: HostEnvInput,
  options: GatewayHostOptions,
): Promise<Pick<SpawnPlan, "file" | "args" | "env">> {
  const script = foreignShebang(text);
  if (script !== undefined) throw new ExecError("invalid-argument", script);
  const shell = chooseShell(options.env, options.path);
  const snapshot: Snapshot | undefined = await options.snapshots?.for(shell, options.path);
  // Start-up files may have put their folders first; the configured ones go before them, each folder once.
  const path = mergePaths(run.pathPrepend, snapshot?.path ?? options.path);
  const env = hostEnv({ ...input, path, ...(snapshot === undefined ? {} : { startup: snapshot.env }) });
  const lines: string[] = [];
  if (snapshot !== undefined) {
    lines.push(SNAPSHOT_LINE);
    env[SNAPSHOT_VARIABLE] = snapshot.file;
  }
  if (run.pathPrepend.length > 0 && shell.kind !== "fish" && shell.kind !== "powershell") {
    const first = mergePaths(run.pathPrepend, []);
    lines.push(PREPEND_LINE);
    env[PREPEND_VARIABLE] = first.join(":");
    env.PATH = path.filter((folder) => !first.includes(folder)).join(":");
  }
  if (lines.length === 0) return { file: shell.file, args: shellArgs(shell, text), env };
  const before = lines.join("; ");
  // bash and sh read one line after the other, so aliases of the first count in the next. zsh reads all at once.
  const whole = shell.kind === "zsh" ? `${before}; ${zshEval(text)}` : `${before}\n${text}`;
  return { file: shell.file, args: shellArgs(shell, whole), env };
}

/**
 * zsh puts `(eval):3:` before its errors here, with the line of the text. For one line it is told to write `zsh:1:`, as
 * without the lines before.
 */
function zshEval(text: string): string {
  return `${text.includes("\n") ? "" : "unsetopt evallineno; "}eval ${quote(text)}`;
}

/** One word for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
