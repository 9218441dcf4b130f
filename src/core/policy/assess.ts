/**
 * One segment: which program it is, what its arguments make of it, which rule covers it, and what would run. Every
 * step can only add a reason; a segment without reasons and with a rule is satisfied.
 */
import { posix } from "node:path";
import { ARGV_GRANT, calledAs, FILE_GRANT, grantHash, type MatchTarget, matchAllowlist } from "./allowlist.ts";
import { judgeBuiltin } from "./builtins.ts";
import type { DecideInput, Reason, ReasonCode, Segment } from "./decision.ts";
import { type Executable, findExecutable, isTrustedDirectory, runPath, type SearchContext } from "./executables.ts";
import { inlineCode } from "./inline-eval.ts";
import { INTERPRETERS, nameIn, SHELLS, WRITES_WHERE_IT_STANDS } from "./program-kinds.ts";
import { isBareEnv, readProgram } from "./program-reading.ts";
import { judgeSafeBin, SYSTEM_BIN_DIRS } from "./safe-bins.ts";
import type { ParsedCommand } from "./shell/parse.ts";
import type { AllowlistEntry } from "./types.ts";
import { isHarmlessVariable, isWrapper, MAX_WRAPPER_DEPTH, unwrap } from "./wrappers.ts";

/** Larger files are told apart by device, inode, size and time alone. */
export const MAX_HASHED_BYTES = 16 * 1024 * 1024;

/** Where a segment stands in the command. */
export interface Place {
  /** Undefined when a `cd` made it uncertain. */
  readonly cwd: string | undefined;
  readonly afterCd: boolean;
  /** A `cd` may have led out of the working directory, or into one that programs obey. */
  readonly outside: boolean;
}

export interface BoundFile {
  readonly role: "executable" | "script";
  readonly path: string;
  /** The content counts, not only the identity. */
  readonly hashed: boolean;
}

export interface Assessed {
  readonly segment: Omit<Segment, "next">;
  /** What runs: absolute program and arguments, or a builtin and its arguments. */
  readonly words: readonly string[];
  readonly builtin: boolean;
  readonly argv0: string;
  readonly files: readonly BoundFile[];
  /** Code on the command line, under strictInlineEval. */
  readonly inlineEval: boolean;
  /** What "Allow always" would store; undefined when this segment can only be allowed once. */
  readonly grant: AllowlistEntry | undefined;
}

/** Reasons that a rule which fixes the whole argument list answers (decisions.md D10). */
const ANSWERED_BY_PINNED_ARGUMENTS: ReadonlySet<ReasonCode> = new Set(["argument-guard", "carrier", "package-runner"]);
/** Reasons that an exact grant may be stored for; everything else is one-shot. */
const GRANTABLE: ReadonlySet<ReasonCode> = new Set([
  "allowlist-miss",
  "argument-guard",
  "safe-bin-argument",
  "untrusted-directory",
  "relative-path",
]);

export function assess(command: ParsedCommand, place: Place, input: DecideInput): Assessed {
  return new Assessment(command, place, input).run();
}

class Assessment {
  private readonly reasons: Reason[] = [];
  private readonly files: BoundFile[] = [];
  private readonly rendered: string[] = [];
  private readonly command: ParsedCommand;
  private readonly place: Place;
  private readonly input: DecideInput;
  private readonly argv: readonly string[];
  private readonly search: SearchContext;

  constructor(command: ParsedCommand, place: Place, input: DecideInput) {
    this.command = command;
    this.place = place;
    this.input = input;
    this.argv = command.words.map((word) => word.value);
    this.search = {
      cwd: input.cwd,
      path: input.path,
      facts: input.facts,
      trustedDirs: input.policy.safeBinTrustedDirs,
    };
  }

  run(): Assessed {
    const name = this.argv[0] ?? "";
    const builtin = judgeBuiltin(name, this.argv.slice(1));
    if (builtin !== "not-a-builtin") {
      if (builtin === "refused") this.because("builtin", name);
      for (const { name: variable } of this.command.assignments) this.because("env-prefix", variable);
      return this.result({
        builtin: true,
        words: this.argv,
        satisfiedBy: this.reasons.length === 0 ? "builtin" : "none",
      });
    }
    this.takeAssignments();
    const at = this.lookThroughWrappers();
    if (at === undefined) return this.unresolved();
    const typed = this.argv[at] as string;
    const found = findExecutable(typed, this.search);
    if (!("real" in found)) {
      this.because(found.code, found.subject);
      this.readProgram([posix.basename(typed)], this.argv.slice(at + 1), false);
      return this.unresolved();
    }
    return this.program(found, this.argv.slice(at + 1));
  }

  private because(code: ReasonCode, subject?: string): void {
    const span = this.command.words[0];
    this.reasons.push({
      code,
      ...(subject === undefined ? {} : { subject }),
      ...(span ? { span: { start: span.start, end: span.end } } : {}),
    });
  }

  /** Harmless variables are set by `env`, so that no shell is needed for them. */
  private takeAssignments(): void {
    const { assignments } = this.command;
    if (assignments.length === 0) return;
    for (const { name, value } of assignments) {
      if (!isHarmlessVariable(name, value)) this.because("env-prefix", `${name}=${value}`);
    }
    const env = findExecutable("env", this.search);
    if ("real" in env && this.inSystemDirs(env)) {
      this.rendered.push(env.path, ...assignments.map(({ name, value }) => `${name}=${value}`));
      this.files.push({ role: "executable", path: env.path, hashed: false });
    } else this.because("env-prefix", assignments[0]?.name);
  }

  private inSystemDirs(executable: Executable): boolean {
    const dirs = [...SYSTEM_BIN_DIRS, ...this.input.policy.safeBinTrustedDirs];
    return dirs.includes(posix.dirname(executable.path)) && dirs.includes(posix.dirname(executable.real));
  }

  /** Index of the inner program's word; undefined when a wrapper could not be looked through. */
  private lookThroughWrappers(): number | undefined {
    let at = 0;
    for (let depth = 0; ; depth += 1) {
      const typed = this.argv[at] as string;
      const name = posix.basename(typed);
      if (!isWrapper(name) || isBareEnv([name], this.argv.slice(at + 1))) return at;
      if (depth === MAX_WRAPPER_DEPTH) {
        this.because("wrapper-depth", typed);
        return undefined;
      }
      const wrapper = findExecutable(typed, this.search);
      if (!("real" in wrapper)) {
        this.because(wrapper.code, wrapper.subject);
        return undefined;
      }
      if (!this.inSystemDirs(wrapper)) {
        this.because("untrusted-directory", wrapper.path);
        return undefined;
      }
      const verdict = unwrap(name, this.argv.slice(at));
      if (verdict === "not-a-wrapper") return at;
      if (!("skip" in verdict)) {
        this.because(verdict.code, verdict.subject);
        return undefined;
      }
      this.rendered.push(wrapper.path, ...this.argv.slice(at + 1, at + verdict.skip));
      this.files.push({ role: "executable", path: wrapper.path, hashed: false });
      at += verdict.skip;
    }
  }

  private unresolved(): Assessed {
    return this.result({ builtin: false, words: this.argv, satisfiedBy: "none" });
  }

  /** Notes what speaks against the program by what it is. The script that a shell or interpreter would run. */
  private readProgram(names: readonly string[], args: readonly string[], resolved: boolean): string | undefined {
    const { problems, script } = readProgram(names, args, {
      resolved,
      argumentGuard: this.input.policy.argumentGuard,
      isUnlistedProgram: (word) => this.isUnlistedProgram(word),
    });
    for (const { code, subject } of problems) this.because(code, subject);
    return script;
  }

  private isUnlistedProgram(word: string): boolean {
    const found = findExecutable(word, this.search);
    if (!("real" in found)) return false;
    const { policy, home, cwd } = this.input;
    const target: MatchTarget = { executable: found, args: [], cwd, fileHash: () => undefined, home };
    return typeof matchAllowlist(target, policy.allowlist) === "string";
  }

  private program(executable: Executable, args: readonly string[]): Assessed {
    const { policy } = this.input;
    const isShell = nameIn(executable.names, SHELLS) !== undefined;
    const script = this.readProgram(executable.names, args, true);
    const inline = policy.strictInlineEval ? inlineCode(executable.names, args) : undefined;
    if (inline !== undefined) this.because("inline-eval", `${executable.typed} ${inline}`.slice(0, 200));
    if (executable.relative && this.place.afterCd) this.because("after-cd", executable.typed);
    if (this.place.outside && policy.argumentGuard && nameIn(executable.names, WRITES_WHERE_IT_STANDS) !== undefined) {
      this.because("after-cd", executable.typed);
    }

    this.files.push({ role: "executable", path: runPath(executable, this.search), hashed: !executable.trusted });
    const scriptFile = script === undefined ? undefined : this.scriptFile(script, isShell);

    const target = isShell && scriptFile ? scriptFile : executable;
    const targetArgs = isShell && scriptFile ? args.slice(1) : args;
    const hashedPath = scriptFile?.real ?? executable.real;
    const match: MatchTarget = {
      executable: target,
      args: targetArgs,
      cwd: this.place.afterCd ? undefined : this.input.cwd,
      fileHash: () => this.input.facts.sha256(hashedPath, MAX_HASHED_BYTES),
      home: this.input.home,
      ...(this.input.facts.windowsNames ? { windowsNames: true } : {}),
    };
    const outcome = isShell && script !== undefined && !scriptFile ? "miss" : matchAllowlist(match, policy.allowlist);
    const rule = typeof outcome === "string" ? undefined : outcome;
    if (rule?.pinsArguments) this.drop(ANSWERED_BY_PINNED_ARGUMENTS);

    let satisfiedBy: Segment["satisfiedBy"] = rule ? "allowlist" : "none";
    if (!rule) {
      const safe = judgeSafeBin(executable, args, {
        safeBins: policy.safeBins,
        trustedDirs: policy.safeBinTrustedDirs,
        profiles: policy.safeBinProfiles,
      });
      if (safe !== "no" && safe.badArgument === undefined) {
        this.drop(new Set(["argument-guard"]));
        satisfiedBy = "safe-bin";
      } else {
        if (outcome === "untrusted-directory") this.because(outcome, target.real);
        else if (outcome === "relative-path") this.because(outcome, target.typed);
        else this.because("allowlist-miss", target.typed);
        if (safe !== "no") this.because("safe-bin-argument", safe.badArgument);
      }
    }
    const grant = this.reasons.length === 0 ? undefined : this.grantFor(match, scriptFile !== undefined);
    return this.result({
      builtin: false,
      words: [...this.rendered, runPath(executable, this.search), ...args],
      satisfiedBy: this.reasons.length === 0 ? satisfiedBy : "none",
      executable,
      ...(rule ? { entry: rule.entry } : {}),
      ...(grant ? { grant } : {}),
      inlineEval: inline !== undefined,
    });
  }

  private drop(codes: ReadonlySet<ReasonCode>): void {
    const kept = this.reasons.filter((reason) => !codes.has(reason.code));
    this.reasons.splice(0, this.reasons.length, ...kept);
  }

  /** Finds the script and binds it. A shell's script is what a rule is about; an interpreter's only has to stay the same. */
  private scriptFile(script: string, isShell: boolean): Executable | undefined {
    const { facts, policy } = this.input;
    if (this.place.afterCd) {
      if (isShell || policy.strictBinding) this.because("after-cd", script);
      if (this.place.cwd === undefined || isShell) return undefined;
    }
    const path = posix.resolve(this.place.cwd ?? this.input.cwd, script);
    const real = facts.realpath(path);
    const stat = real === undefined ? undefined : facts.stat(real);
    if (real === undefined || stat === undefined) {
      if (isShell || policy.strictBinding) this.because("script-missing", script);
      this.files.push({ role: "script", path, hashed: true });
      return undefined;
    }
    if (stat.kind !== "file") {
      this.because("script-not-bindable", script);
      return undefined;
    }
    this.files.push({ role: "script", path, hashed: true });
    return {
      typed: script,
      path,
      real,
      byName: false,
      relative: !script.startsWith("/"),
      trusted: isTrustedDirectory(posix.dirname(real), this.search),
      names: [posix.basename(real)],
    };
  }

  private grantFor(match: MatchTarget, hasScript: boolean): AllowlistEntry | undefined {
    if (match.cwd === undefined || this.reasons.some((reason) => !GRANTABLE.has(reason.code))) return undefined;
    const { executable, args, cwd } = match;
    // A language can do anything; only strict mode makes sure that what is stored is not code (policy.md section 9).
    if (nameIn(executable.names, INTERPRETERS) && !this.input.policy.strictInlineEval) return undefined;
    const base = { pattern: executable.real, source: "allow-always" as const };
    if (executable.trusted && !hasScript)
      return { ...base, argPattern: ARGV_GRANT + grantHash(cwd, calledAs(executable), args) };
    const hash = match.fileHash();
    return hash === undefined
      ? undefined
      : { ...base, argPattern: FILE_GRANT + grantHash(cwd, calledAs(executable), args, hash) };
  }

  private result(parts: {
    builtin: boolean;
    words: readonly string[];
    satisfiedBy: Segment["satisfiedBy"];
    executable?: Executable;
    entry?: AllowlistEntry;
    grant?: AllowlistEntry;
    inlineEval?: boolean;
  }): Assessed {
    const first = this.command.words[0];
    return {
      segment: {
        text: this.command.text,
        argv: this.argv,
        ...(first ? { executableSpan: { start: first.start, end: first.end } } : {}),
        ...(parts.executable ? { resolvedPath: parts.executable.path, realPath: parts.executable.real } : {}),
        satisfiedBy: parts.satisfiedBy,
        ...(parts.entry ? { entry: parts.entry } : {}),
        reasons: this.reasons,
      },
      words: parts.words,
      builtin: parts.builtin,
      argv0: this.rendered.length > 0 ? (this.rendered[0] as string) : (this.argv[0] ?? ""),
      files: this.files,
      inlineEval: parts.inlineEval ?? false,
      grant: parts.grant,
    };
  }
}
