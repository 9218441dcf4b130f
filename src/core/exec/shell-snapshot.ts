/**
 * What the operator's start-up files give an interactive shell (aliases, functions, a few safe variables), captured
 * once and sourced before a command, so that commands behave as the operator is used to without running those files
 * each time (exec.md section 7.1). bash and zsh only. Anything that goes wrong means: no snapshot, never a failed command.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, type Stats, statSync } from "node:fs";
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../clock.ts";
import { guardGroup } from "../process/group-guard.ts";
import { type Env, inheritedEnv, type ProcessEnv } from "./env.ts";
import { type Shell, splitPath } from "./shell.ts";

const VERSION = 2;
const CAPTURE_TIMEOUT_MS = 5000;
const VALIDATE_TIMEOUT_MS = 2000;
/** A snapshot older than this is taken again, in the background while the old one serves. */
const FRESH_MS = 5 * 60_000;
/** Files of snapshots nobody used any more. */
const MAX_FILE_AGE_MS = 3 * 24 * 3_600_000;
const MAX_SNAPSHOT_BYTES = 512 * 1024;

/** Variables that start-up files set to make tools findable. */
const SAFE_NAMES = new Set(
  "ASDF_DIR BUN_INSTALL CARGO_HOME CDPATH GOPATH GOROOT GOENV_ROOT HOMEBREW_CELLAR HOMEBREW_PREFIX HOMEBREW_REPOSITORY INFOPATH MANPATH NVM_DIR PATH PNPM_HOME PYENV_ROOT RBENV_ROOT RUSTUP_HOME VOLTA_HOME".split(
    " ",
  ),
);
/** What the capturing shell itself is given. */
const CAPTURE_NAMES = new Set(["USERPROFILE", "ZDOTDIR", "USER", "LOGNAME", "LANG", "TERM"]);

/** Text that looks as if an alias or function held a secret: then none of it is kept. */
const SECRET_SHAPES = [
  /authorization\s*:/i,
  /\b(api[_-]?key|access[_-]?key|secret|passwd|password|token)\s*[=:]\s*["']?[^\s"'$)]{6,}/i,
  /\b[A-Z0-9_]*(TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|API_?KEY)=["']?[^\s"'$)]+/,
  /\b(ghp_|gho_|github_pat_|glpat-|xox[baprs]-|xapp-|ya29\.|AIza|AKIA|sk-[A-Za-z0-9])/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
];

/**
 * Functions come before aliases: their listed bodies have been expanded already, and a shell refuses to define a
 * function whose name is an alias by then.
 */
const CAPTURE: Readonly<Record<"bash" | "zsh", string>> = {
  bash: 'exec >"$1/out" 2>/dev/null; builtin declare -f; builtin alias -p; command env -0 >"$1/env"',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell fills it in
  zsh: '. "${ZDOTDIR:-$HOME}/.zshrc" >/dev/null 2>&1; exec >"$1/out" 2>/dev/null; builtin functions; builtin alias -L; command env -0 >"$1/env"',
};

export interface Snapshot {
  readonly file: string;
  readonly env: Env;
  /** Search path of the interactive shell, in order. */
  readonly path: readonly string[];
}

export interface ShellSnapshotsOptions {
  readonly stateDir: string;
  readonly env: ProcessEnv;
  readonly home: string;
  readonly clock: Clock;
}

interface Kept {
  readonly key: string;
  readonly takenAt: number;
  readonly snapshot: Snapshot | undefined;
}

/** A key and what it was made from, less what does not change while the gateway lives. */
interface KeyOf {
  readonly shell: string;
  readonly path: readonly string[];
  readonly startup: string;
  readonly mtimeMs: number | undefined;
  readonly size: number | undefined;
  readonly key: string;
}

/** `OPENCLAW_EXEC_SHELL_SNAPSHOT` of the gateway switches it off. */
export function snapshotsEnabled(env: ProcessEnv): boolean {
  const value = env.OPENCLAW_EXEC_SHELL_SNAPSHOT?.trim().toLowerCase() ?? "";
  return process.platform !== "win32" && !["0", "false", "no", "off"].includes(value);
}

export class ShellSnapshots {
  readonly #options: ShellSnapshotsOptions;
  readonly #folder: string;
  /** By shell; one entry each, also for "there is none", so that a slow start-up file is waited for once. */
  readonly #kept = new Map<string, Kept>();
  readonly #taking = new Map<string, Promise<Snapshot | undefined>>();
  #swept = false;
  #lastKey: KeyOf | undefined;
  /** The gateway's own environment does not change while it lives. */
  readonly #safe: readonly (readonly [string, string | undefined])[];

  constructor(options: ShellSnapshotsOptions) {
    this.#options = options;
    this.#folder = join(options.stateDir, "cache", "shell-snapshots");
    this.#safe = Object.entries(options.env)
      .filter(([name]) => SAFE_NAMES.has(name))
      .sort();
  }

  /** The snapshot for this shell with `path` as the search path to start from; undefined when there is none. */
  async for(shell: Shell, path: readonly string[]): Promise<Snapshot | undefined> {
    if (!snapshotsEnabled(this.#options.env) || (shell.kind !== "bash" && shell.kind !== "zsh")) return undefined;
    const key = this.#key(shell, path);
    const kept = this.#kept.get(shell.file);
    if (kept?.key === key && this.#isIntact(kept.snapshot)) {
      if (this.#options.clock.monotonic() - kept.takenAt > FRESH_MS) void this.#take(shell, shell.kind, key, path);
      return kept.snapshot;
    }
    return this.#take(shell, shell.kind, key, path);
  }

  #take(shell: Shell, kind: "bash" | "zsh", key: string, path: readonly string[]): Promise<Snapshot | undefined> {
    const running = this.#taking.get(key);
    if (running !== undefined) return running;
    const taking = this.#capture(shell, kind, key, path)
      .catch(() => undefined)
      .then((snapshot) => {
        this.#kept.set(shell.file, { key, takenAt: this.#options.clock.monotonic(), snapshot });
        this.#taking.delete(key);
        return snapshot;
      });
    this.#taking.set(key, taking);
    return taking;
  }

  /** Changes when the start-up file does, or anything that decides what it gives. */
  #key(shell: Shell, path: readonly string[]): string {
    const { env, home, stateDir } = this.#options;
    const startup = join(
      shell.kind === "zsh" ? env.ZDOTDIR || home : home,
      shell.kind === "zsh" ? ".zshrc" : ".bashrc",
    );
    // Before every command: one call on a local file, cheaper than handing it to a thread.
    const found = ifThere(() => statSync(startup));
    const last = this.#lastKey;
    // The same before nearly every command: then nothing is put together anew.
    if (
      last?.shell === shell.file &&
      last.path === path &&
      last.startup === startup &&
      last.mtimeMs === found?.mtimeMs &&
      last.size === found?.size
    ) {
      return last.key;
    }
    const facts = found ? [found.mtimeMs, found.size] : [];
    const parts = [VERSION, shell.file, shell.args, home, stateDir, this.#safe, startup, facts, path];
    const key = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
    this.#lastKey = { shell: shell.file, path, startup, mtimeMs: found?.mtimeMs, size: found?.size, key };
    return key;
  }

  async #capture(
    shell: Shell,
    kind: "bash" | "zsh",
    key: string,
    path: readonly string[],
  ): Promise<Snapshot | undefined> {
    const { home, env: own } = this.#options;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await chmod(this.#folder, 0o700);
    await this.#sweep();
    const work = await mkdtemp(join(tmpdir(), "openclaw-snapshot-"));
    try {
      const env: Record<string, string> = { HOME: home, SHELL: shell.file, OPENCLAW_SHELL: "exec" };
      for (const [name, value] of Object.entries(inheritedEnv(own))) {
        if (SAFE_NAMES.has(name) || CAPTURE_NAMES.has(name)) env[name] = value;
      }
      env.PATH = path.join(":");
      const args = kind === "bash" ? ["-i", "-c"] : ["-f", "-i", "-c"];
      const captured = await runQuietly(
        shell.file,
        [...args, CAPTURE[kind], shell.file, work],
        env,
        home,
        CAPTURE_TIMEOUT_MS,
      );
      if (!captured) return undefined;
      const text = await readFile(join(work, "out"), "utf8");
      if (Buffer.byteLength(text) > MAX_SNAPSHOT_BYTES || SECRET_SHAPES.some((shape) => shape.test(text)))
        return undefined;
      const startup = safeEnv(await readFile(join(work, "env"), "utf8"));
      const head = kind === "bash" ? "shopt -s expand_aliases\nunalias -a\n" : "setopt aliases\nunalias -a\n";
      const temporary = join(this.#folder, `${key}.${process.pid}.${Math.trunc(this.#options.clock.now())}.tmp`);
      await writeFile(temporary, head + text, { mode: 0o600, flag: "wx" });
      const file = join(this.#folder, `${key}.sh`);
      try {
        const check = [...shell.args, '. "$1"', shell.file, temporary];
        if (!(await runQuietly(shell.file, check, env, home, VALIDATE_TIMEOUT_MS))) return undefined;
        await rename(temporary, file);
      } finally {
        await rm(temporary, { force: true });
      }
      const { PATH, ...rest } = startup;
      return { file, env: rest, path: PATH === undefined ? path : splitPath(PATH) };
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }

  /** A file that somebody else could have written is not sourced. */
  #isIntact(snapshot: Snapshot | undefined): boolean {
    if (snapshot === undefined) return true;
    const found = ifThere(() => lstatSync(snapshot.file));
    const mine = process.getuid === undefined || found?.uid === process.getuid();
    return found?.isFile() === true && mine && (found.mode & 0o077) === 0;
  }

  async #sweep(): Promise<void> {
    if (this.#swept) return;
    this.#swept = true;
    const now = this.#options.clock.now();
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      const found = await lstat(path).catch(() => undefined);
      if (found !== undefined && now - found.mtimeMs > MAX_FILE_AGE_MS) await rm(path, { force: true });
    }
  }
}

function ifThere(look: () => Stats): Stats | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

function safeEnv(text: string): Record<string, string> {
  const env: Record<string, string> = {};
  for (const entry of text.split("\0")) {
    const cut = entry.indexOf("=");
    const name = entry.slice(0, Math.max(0, cut));
    if (SAFE_NAMES.has(name)) env[name] = entry.slice(cut + 1);
  }
  return env;
}

/** True when it ended with 0 in time. Its own process group is gone afterwards in any case. */
function runQuietly(file: string, args: string[], env: Env, cwd: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { env, cwd, stdio: "ignore", detached: true });
    const group = guardGroup(child);
    const settle = (good: boolean): void => {
      clearTimeout(timer);
      group.end();
      resolve(good);
    };
    const timer = setTimeout(() => settle(false), timeoutMs);
    child.on("error", () => settle(false));
    child.on("exit", (code) => settle(code === 0));
  });
}
