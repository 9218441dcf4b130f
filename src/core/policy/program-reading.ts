/** What a program is, by all its names, and what its arguments make of it: reasons to ask, and the script it would run. */
import { guardArguments, hasTable, programAmong } from "./argument-guard.ts";
import type { ReasonCode } from "./decision.ts";
import { isStreamPath } from "./guard/options.ts";
import { interpreterName, readInterpreter } from "./interpreters.ts";
import { carrierName, MULTIPLEXERS, nameIn, PACKAGE_RUNNERS, SHELLS } from "./program-kinds.ts";
import { isWrapper } from "./wrappers.ts";

export interface Problem {
  readonly code: ReasonCode;
  readonly subject?: string | undefined;
}

export interface ProgramReading {
  readonly problems: readonly Problem[];
  /** The word that names the script a shell or interpreter would run. */
  readonly script?: string | undefined;
}

export interface ReadingOptions {
  /** False when no file was found: then only the name speaks, and arguments are not looked at. */
  readonly resolved: boolean;
  /** `policy.argumentGuard`. */
  readonly argumentGuard: boolean;
  /** Is this word a program that no rule lists? */
  readonly isUnlistedProgram: (word: string) => boolean;
}

export function readProgram(
  names: readonly string[],
  args: readonly string[],
  options: ReadingOptions,
): ProgramReading {
  if (names.some(isWrapper) && !isBareEnv(names, args)) {
    // Reached through a symlink or another name: the grammar was not applied.
    return { problems: [{ code: "wrapper", subject: names[0] }] };
  }
  const problems: Problem[] = [];
  const kinds: readonly [string | undefined, ReasonCode][] = [
    [nameIn(names, MULTIPLEXERS), "multiplexer"],
    [nameIn(names, PACKAGE_RUNNERS), "package-runner"],
    // Whatever it carries, this carries nothing.
    [isVersionAlone(args) ? undefined : carrierName(names), "carrier"],
  ];
  for (const [subject, code] of kinds) {
    if (subject !== undefined) problems.push({ code, subject });
  }
  const shell = nameIn(names, SHELLS);
  if (shell === undefined && !options.resolved) return { problems };
  const use = shell === undefined ? readUse(names, args, options) : readShell(shell, args);
  return { problems: [...problems, ...use.problems], script: use.script };
}

/** `env` alone wraps nothing: it prints the environment that a child gets. */
export function isBareEnv(names: readonly string[], args: readonly string[]): boolean {
  return names.includes("env") && args.length === 0;
}

const NOTHING: ProgramReading = { problems: [] };

function only(code: ReasonCode, subject: string | undefined): ProgramReading {
  return { problems: [{ code, subject }] };
}

function readShell(name: string, args: readonly string[]): ProgramReading {
  if (isVersionAlone(args)) return NOTHING;
  const [first] = args;
  if (first === undefined) return only("stdin-program", name);
  if (isStreamPath(first)) return only("stdin-program", first);
  if (!first.startsWith("-") && !first.startsWith("+")) return { problems: [], script: first };
  if (args.some((arg) => /^(?:-[a-zA-Z]*[li][a-zA-Z]*|--login|--interactive|--rcfile|--init-file)/.test(arg))) {
    return only("login-shell", name);
  }
  return only("shell-wrapper", name);
}

function readUse(names: readonly string[], args: readonly string[], options: ReadingOptions): ProgramReading {
  const guarded = (problem: string | undefined) =>
    options.argumentGuard && problem !== undefined ? only("argument-guard", problem) : NOTHING;
  const language = interpreterName(names);
  if (language === undefined) return guarded(argumentProblem(names, args, options));
  const use = readInterpreter(language, args);
  switch (use.kind) {
    case "script":
      return { problems: [], script: args[use.index] };
    case "stdin":
      return only("stdin-program", names[0]);
    case "refused":
      return guarded(use.option);
    case "module":
      return guarded(guardArguments([use.name], args.slice(use.index)));
    case "code":
    case "project":
    case "info":
      return NOTHING;
  }
}

function argumentProblem(
  names: readonly string[],
  args: readonly string[],
  { argumentGuard, isUnlistedProgram }: ReadingOptions,
): string | undefined {
  if (!argumentGuard) return undefined;
  const problem = guardArguments(names, args);
  if (problem !== undefined || hasTable(names)) return problem;
  return programAmong(args, isUnlistedProgram);
}

function isVersionAlone(args: readonly string[]): boolean {
  return args.length === 1 && args[0] === "--version";
}
