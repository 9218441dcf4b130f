/**
 * Keeps a listed program from doing more than its name says: running another program, loading code, writing a file
 * (decisions.md D10). Programs with a table are held to it; for all others there is one general rule.
 */

import { TABLES } from "./guard/tables.ts";
import { spellings } from "./program-kinds.ts";

/** Words that, as an option of whatever program, mean "run this", "load this" or "obey this file". */
const SUSPICIOUS_OPTION =
  /^--?(?:exec(?:ute|-batch|-path|utable)?|eval(?:uate)?|expr(?:ession)?|command|cmd|run|shell|script|pager|editor|viewer|browser|pre|pre-?process(?:or)?|post-?process(?:or)?|preload|hooks?|plugins?|programs?|prog|downloader|launcher|passwordeval|load(?:-module|-extension)?|module|require|import|include|init(?:-file|-command)?|rcfile|startup|config(?:-file|-dir|-env)?|settings|options-file|filter|rsh|transport|proxy-?command|checkpoint-action|to-command|use-compress-program|compress-prog(?:ram)?|info-script|new-volume-script|wrapper|engine|loader|interpreter|agentlib|agentpath|javaagent|on-[a-z-]+|notify|callback|delegate)(?:=|$)/i;
/** The same as one part of a longer option: `--exec-before-download`, `--renderer-cmd-prefix`, `--workspace_status_command`. */
const SUSPICIOUS_PART =
  /^(?:exec(?:utable)?s?|cmds?|cmdserver|commands?|programs?|prog|eval|passwordeval|expr|shell|hooks?|scripts?|plugins?|preload|pager|editor|launcher|wrapper|loader|interpreter|downloader|rsh|ssh|sshcmd|engine|runner|bin|binary|pipe)$/;
/** What follows `--no-` or `--skip-` switches something off. */
const SWITCHED_OFF = /^--(?:no|skip|disable|without|ignore|exclude)[-_]/;

/** The same as a subcommand: `pyenv exec`, `op run`, `rails console`, `gcloud compute ssh`. */
const SUSPICIOUS_VERB =
  /^(?:exec|execute|run|eval|shell|sh|ssh|rsh|console|repl|runner|spawn|invoke|dlx|debug|start-session|run-command|execute-command|[a-z]+:(?:exec|run|shell|ssh))$/i;
/** Also names of programs, and yet what many programs call their own subcommands. */
const COMMON_VERBS = new Set(
  `test install link unlink env split id kill top ls who info sync view file date users groups host sleep clear join sum
  login last look size strip dir stat sort watch time script`.split(/\s+/),
);
/** An argument list that is longer names something that nobody reads. */
const MAX_OPERANDS = 64;

/** Subcommands stand at the front: `compute ssh`, `ecs execute-command`. */
const VERB_POSITIONS = 3;

/** The argument that is not harmless, or undefined. `names` are all names the program goes by. */
export function guardArguments(names: readonly string[], args: readonly string[]): string | undefined {
  let known = false;
  // git's inner programs take options that git itself would not.
  const inner = names.find((name) => /^(?:git-.|gitk$)/.test(name));
  if (inner !== undefined) return inner;
  for (const name of names) {
    for (const candidate of spellings(name)) {
      if (!Object.hasOwn(TABLES, candidate)) continue;
      known = true;
      const problem = TABLES[candidate]?.(args);
      if (problem !== undefined) return problem;
    }
  }
  return known ? undefined : generalRule(args);
}

/** Whether the program has a table of its own. */
export function hasTable(names: readonly string[]): boolean {
  return names.flatMap(spellings).some((name) => Object.hasOwn(TABLES, name));
}

/**
 * Programs that start others are more than anybody can list, but they all take the name of what they start. For a
 * program without a table: the argument that is itself a program which no rule covers.
 */
export function programAmong(
  args: readonly string[],
  isUnlistedProgram: (word: string) => boolean,
): string | undefined {
  const operands = args
    .map((arg) => (arg.startsWith("-") ? arg.slice(arg.indexOf("=") + 1 || arg.length) : arg))
    .filter((word) => word !== "");
  if (operands.length > MAX_OPERANDS) return operands[MAX_OPERANDS];
  return operands.find((word) => !COMMON_VERBS.has(word) && isUnlistedProgram(word));
}

function hasSuspiciousPart(arg: string): boolean {
  if (!/^--?[a-z]{2}/i.test(arg) || SWITCHED_OFF.test(arg)) return false;
  const name = arg.split("=", 1)[0] as string;
  const parts = name.replace(/^--?/, "").split(/[-_.:]|(?<=[a-z])(?=[A-Z])/);
  return parts.length > 1 && parts.some((part) => SUSPICIOUS_PART.test(part.toLowerCase()));
}

function generalRule(args: readonly string[]): string | undefined {
  const option = args.find((arg) => arg.startsWith("-") && (SUSPICIOUS_OPTION.test(arg) || hasSuspiciousPart(arg)));
  if (option !== undefined) return option;
  const words = args.filter((arg) => !arg.startsWith("-")).slice(0, VERB_POSITIONS);
  return words.find((word) => SUSPICIOUS_VERB.test(word));
}
