/**
 * Keeps a listed program from doing more than its name says: running another program, loading code, writing a file
 * (decisions.md D10). Programs with a table are held to it; for all others there is one general rule.
 */

import { TABLES } from "./guard/tables.ts";
import { spellings } from "./program-kinds.ts";

/** Words that, as an option of whatever program, mean "run this", "load this" or "obey this file". */
const SUSPICIOUS_OPTION =
  /^--?(?:exec(?:ute|-batch|-path|utable)?|eval(?:uate)?|expr(?:ession)?|command|cmd|run|shell|script|pager|editor|viewer|browser|pre|pre-?process(?:or)?|post-?process(?:or)?|preload|hook|plugin|load(?:-module|-extension)?|module|require|import|include|init(?:-file|-command)?|rcfile|startup|config(?:-file|-dir|-env)?|settings|options-file|filter|rsh|transport|proxy-?command|checkpoint-action|to-command|use-compress-program|compress-prog(?:ram)?|info-script|new-volume-script|wrapper|engine|loader|interpreter|agentlib|agentpath|javaagent|on-[a-z-]+|notify|callback|delegate)(?:=|$)/i;
const SUSPICIOUS_SUFFIX =
  /^--(?!no-)[a-z0-9-]+-(?:command|cmd|program|prog|exec|executable|hook|script|plugin|pager|editor|shell|engine|wrapper|loader|bin)(?:=|$)/i;

/** The same as a subcommand: `pyenv exec`, `op run`, `rails console`, `gcloud compute ssh`. */
const SUSPICIOUS_VERB =
  /^(?:exec|execute|run|eval|shell|sh|ssh|rsh|console|repl|runner|spawn|invoke|dlx|debug|start-session|run-command|execute-command|[a-z]+:(?:exec|run|shell|ssh))$/i;
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

function generalRule(args: readonly string[]): string | undefined {
  const option = args.find((arg) => SUSPICIOUS_OPTION.test(arg) || SUSPICIOUS_SUFFIX.test(arg));
  if (option !== undefined) return option;
  const words = args.filter((arg) => !arg.startsWith("-")).slice(0, VERB_POSITIONS);
  return words.find((word) => SUSPICIOUS_VERB.test(word));
}
