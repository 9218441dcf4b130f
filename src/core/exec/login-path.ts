/**
 * The search path of the operator's login shell, so that a gateway started as a service finds what the operator finds
 * (exec.md section 7). Asked once; failing is a warning, never an error.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { isAbsolute, normalize } from "node:path";
import { guardGroup } from "../process/group-guard.ts";
import { inheritedEnv, type ProcessEnv } from "./env.ts";
import { splitPath } from "./shell.ts";

/** Start-up files may be slow, or wait for input that never comes. `OPENCLAW_SHELL_ENV_TIMEOUT_MS` changes it. */
const LOGIN_SHELL_TIMEOUT_MS = 15_000;
const MAX_BYTES = 2 * 1024 * 1024;
/** Once the shell is gone: how long something it started may still hold the pipe. */
const LAST_OUTPUT_MS = 200;

/** Everything that start-up files print stands before the NUL; everything after it is `NAME=value` with NUL between. */
const PROBE = "printf '\\0'; env -0";

export interface LoginPathOptions {
  readonly env: ProcessEnv;
  readonly onWarning: (message: string) => void;
  /** Default: `OPENCLAW_SHELL_ENV_TIMEOUT_MS`, else 15 s. 0 switches the question off. */
  readonly timeoutMs?: number;
  /** Default: the account's home, whatever `HOME` says. */
  readonly home?: string;
  /** Default: `SHELL` if /etc/shells lists it, else /bin/sh. */
  readonly shell?: string;
}

/** The folders in order, or undefined when the shell did not tell. */
export async function loginPath(options: LoginPathOptions): Promise<readonly string[] | undefined> {
  const timeoutMs = options.timeoutMs ?? timeoutOf(options.env);
  if (process.platform === "win32" || timeoutMs === 0) return undefined;
  const shell = options.shell ?? loginShell(options.env.SHELL);
  const outcome = await probe(shell, options, timeoutMs);
  if (typeof outcome !== "string") {
    const folders = pathOf(outcome);
    if (folders.length > 0) return folders;
  }
  const why = typeof outcome === "string" ? outcome : "its start-up files replaced the shell or cleared PATH";
  options.onWarning(`The PATH of the login shell ${shell} is not known (${why}); commands use the gateway's own PATH.`);
  return undefined;
}

/** The output, or why there is none. */
function probe(shell: string, options: LoginPathOptions, timeoutMs: number): Promise<Buffer | string> {
  const { ZDOTDIR: _, ...env } = inheritedEnv(options.env);
  const child = spawn(shell, ["-l", "-c", PROBE], {
    env: { ...env, HOME: options.home ?? userInfo().homedir },
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const group = guardGroup(child);
    const settle = (outcome: Buffer | string): void => {
      clearTimeout(timer);
      clearTimeout(last);
      group.end();
      child.stdout.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(() => settle(`no answer within ${timeoutMs} ms`), timeoutMs);
    let last: NodeJS.Timeout | undefined;
    child.on("error", (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
    child.on("exit", () => {
      last = setTimeout(() => settle(Buffer.concat(chunks)), LAST_OUTPUT_MS);
    });
    child.on("close", () => settle(Buffer.concat(chunks)));
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) settle("its start-up files print without end");
      else chunks.push(chunk);
    });
  });
}

function pathOf(output: Buffer): string[] {
  const marker = output.indexOf(0);
  if (marker < 0) return [];
  const entries = output
    .subarray(marker + 1)
    .toString("utf8")
    .split("\0");
  const path = entries.find((entry) => entry.startsWith("PATH="));
  return splitPath(path?.slice("PATH=".length)).filter((folder) => isAbsolute(folder));
}

function loginShell(wanted: string | undefined): string {
  const shell = wanted?.trim() ?? "";
  if (!isAbsolute(shell) || normalize(shell) !== shell) return "/bin/sh";
  try {
    const listed = readFileSync("/etc/shells", "utf8").split("\n");
    return listed.some((line) => line.trim() === shell) ? shell : "/bin/sh";
  } catch {
    return "/bin/sh";
  }
}

function timeoutOf(env: ProcessEnv): number {
  const text = env.OPENCLAW_SHELL_ENV_TIMEOUT_MS?.trim() ?? "";
  return /^\d+$/.test(text) ? Math.min(Number(text), 2_147_483_647) : LOGIN_SHELL_TIMEOUT_MS;
}
