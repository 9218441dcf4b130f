/**
 * bubblewrap on this machine: where it is, what it can do, and whether it really makes the sandbox that is wanted. Asked
 * once, by running it; a failure is asked again after a while. Every question has a deadline, and nobody but the sessions
 * that need a sandbox waits for it.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Clock } from "../../clock.ts";
import { findOnPath, isExecutableFile } from "../../exec/shell.ts";
import { guardGroup } from "../../process/group-guard.ts";
import { phrase, type Wording } from "../../words/phrase.ts";
import type { Features } from "./bwrap-options.ts";

const ANSWER_MS = 5_000;
const MAX_OUTPUT_BYTES = 64 * 1024;
/** A failure is believed this long; each further one twice as long, up to the last. */
const RETRY_FIRST_MS = 2_000;
const RETRY_MOST_MS = 60_000;
/** Somebody may take away what it needs: a sandbox that worked is tried again after this long. */
const WORKED_MS = 10 * 60_000;
const SETPRIV = "/usr/bin/setpriv";
/** Before anything on PATH. */
const SYSTEM_FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin"];

export interface Engine {
  /** Starts it. */
  readonly bash: string;
  /** Where it can tell the kernel to end what it starts with its parent (util-linux 2.33). */
  readonly setpriv?: string;
  readonly bwrap: string;
  readonly features: Features;
  /** `env` in the sandbox can give signals their own reaction back. */
  readonly graceful: boolean;
}

export type Found = { readonly engine: Engine } | { readonly problem: Wording };

export interface EngineProbeOptions {
  readonly clock: Clock;
  /** Folders searched after the system's own. */
  readonly path: readonly string[];
  readonly answerMs?: number;
  /** Instead of a search: for a test. */
  readonly bwrap?: string;
}

/** What one trial starts; `close` is called when it has ended. */
export interface Trial {
  readonly file: string;
  readonly args: readonly string[];
  readonly close: () => void;
}

interface Known<T> {
  readonly answer: Promise<T>;
  good: boolean | undefined;
  until: number;
  failures: number;
}

export class EngineProbe {
  readonly #options: EngineProbeOptions;
  readonly #known = new Map<string, Known<unknown>>();

  constructor(options: EngineProbeOptions) {
    this.#options = options;
  }

  /** The program and what it can do. Never rejects. */
  find(): Promise<Found> {
    return this.#remember(
      "",
      (found) => "engine" in found,
      () => this.#find(),
    );
  }

  /**
   * Does a sandbox of this kind come up? `key` tells kinds apart. Resolves to what is wrong, or to nothing; never rejects.
   */
  async works(key: string, trial: (engine: Engine) => Trial): Promise<Wording | undefined> {
    const found = await this.find();
    if ("problem" in found) return found.problem;
    return this.#remember(
      `works:${key}`,
      (problem) => problem === undefined,
      async () => {
        const { file, args, close } = trial(found.engine);
        try {
          const said = await run(file, args, this.#answerMs);
          return said.kind === "ended" && said.code === 0 ? undefined : problemOf(said, this.#answerMs);
        } finally {
          close();
        }
      },
    );
  }

  get #answerMs(): number {
    return this.#options.answerMs ?? ANSWER_MS;
  }

  async #find(): Promise<Found> {
    if (process.platform !== "linux") return { problem: phrase("sandbox.why.platform") };
    const { path, bwrap: given } = this.#options;
    const bwrap = given ?? findOnPath("bwrap", [...SYSTEM_FOLDERS, ...path], isExecutableFile);
    if (bwrap === undefined) return { problem: phrase("sandbox.why.missing") };
    // Inside as well, where only the system's own folders are.
    const bash = findOnPath("bash", SYSTEM_FOLDERS, isExecutableFile);
    if (bash === undefined) return { problem: phrase("sandbox.why.bash") };
    const [help, signals, death] = await Promise.all([
      run(bwrap, ["--help"], this.#answerMs),
      run("/usr/bin/env", ["--default-signal=TERM", "/bin/true"], this.#answerMs),
      run(SETPRIV, ["--pdeathsig", "KILL", "/bin/true"], this.#answerMs),
    ]);
    if (help.kind !== "ended") return { problem: problemOf(help, this.#answerMs) };
    const offers = (option: string): boolean => new RegExp(`^\\s*${option}\\s`, "m").test(help.output);
    if (!["--args", "--die-with-parent", "--perms"].every(offers))
      return { problem: phrase("sandbox.why.old", { bwrap }) };
    return {
      engine: {
        bash,
        bwrap,
        features: { disableUserns: offers("--disable-userns"), sizes: offers("--size") },
        ...(death.kind === "ended" && death.code === 0 ? { setpriv: SETPRIV } : {}),
        graceful: signals.kind === "ended" && signals.code === 0,
      },
    };
  }

  #remember<T>(key: string, isGood: (answer: T) => boolean, ask: () => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const known = this.#known.get(key) as Known<T> | undefined;
    if (known !== undefined && (known.good === undefined || clock.monotonic() < known.until)) return known.answer;
    const entry: Known<T> = { answer: ask(), good: undefined, until: 0, failures: known?.failures ?? 0 };
    this.#known.set(key, entry);
    entry.answer.then(
      (answer) => {
        entry.good = isGood(answer);
        entry.failures = entry.good ? 0 : entry.failures + 1;
        const believed = entry.good ? WORKED_MS : Math.min(RETRY_MOST_MS, RETRY_FIRST_MS * 2 ** (entry.failures - 1));
        entry.until = clock.monotonic() + believed;
      },
      () => this.#known.delete(key),
    );
    return entry.answer;
  }
}

type Said =
  | { readonly kind: "ended"; readonly code: number | null; readonly output: string }
  | { readonly kind: "silent" }
  | { readonly kind: "not-started"; readonly why: string };

/** In a group of its own, which does not outlive the deadline: a wedged program is left to the kernel. */
function run(file: string, args: readonly string[], answerMs: number): Promise<Said> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { cwd: "/", env: {}, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const group = guardGroup(child);
    let output = "";
    const settle = (said: Said): void => {
      clearTimeout(timer);
      group.end();
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(said);
    };
    const timer = setTimeout(() => settle({ kind: "silent" }), answerMs);
    const take = (chunk: Buffer): void => {
      if (output.length < MAX_OUTPUT_BYTES) output += chunk.toString("utf8");
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", (error: NodeJS.ErrnoException) =>
      settle({ kind: "not-started", why: error.code ?? error.message }),
    );
    child.on("close", (code) => settle({ kind: "ended", code, output }));
  });
}

const NAMESPACES = /namespace|uid map|gid map|Operation not permitted|CLONE_NEW/i;

function problemOf(said: Said, answerMs: number): Wording {
  if (said.kind === "silent") return phrase("sandbox.why.silent", { seconds: answerMs / 1000 });
  if (said.kind === "not-started") return phrase("sandbox.why.said", { line: said.why });
  const lines = said.output.split("\n").filter((line) => line.trim() !== "");
  const line = (lines.find((one) => one.startsWith("bwrap:")) ?? lines[0] ?? `exit code ${said.code}`).slice(0, 300);
  // The trial has the configured limits: prlimit says which one is above what this account may have.
  if (line.startsWith("prlimit:")) return phrase("sandbox.why.limit", { key: "docker.ulimits", why: `${line}.` });
  if (!line.startsWith("bwrap:") || !NAMESPACES.test(line)) return phrase("sandbox.why.said", { line });
  return phrase("sandbox.why.userns", { line, setting: closedBy() });
}

/** The switch that forbids namespaces to ordinary accounts, where one is set. */
function closedBy(): string {
  const value = (name: string): string => {
    try {
      return readFileSync(`/proc/sys/${name.replaceAll(".", "/")}`, "utf8").trim();
    } catch {
      return "";
    }
  };
  if (value("kernel.unprivileged_userns_clone") === "0") return "sysctl kernel.unprivileged_userns_clone=1";
  if (value("user.max_user_namespaces") === "0") return "sysctl user.max_user_namespaces=15000";
  if (value("kernel.apparmor_restrict_unprivileged_userns") === "1") {
    return "an AppArmor profile for bwrap with `userns,` (or sysctl kernel.apparmor_restrict_unprivileged_userns=0)";
  }
  return "sysctl user.max_user_namespaces; in a container, a seccomp profile that allows them";
}
