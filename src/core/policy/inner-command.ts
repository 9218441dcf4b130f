/** What a shell inside a command would run, without the quotes around it, for whoever reads the request. Pure. */
import type { ReasonCode, Segment } from "./decision.ts";
import { nameIn, SHELLS } from "./program-kinds.ts";

/** More than these are not shown: the whole command stands above them. */
const MAX_INNER = 3;

const OPEN_WORDS: ReadonlySet<ReasonCode> = new Set([
  "dynamic-argument",
  "dynamic-executable",
  "command-substitution",
  "process-substitution",
  "brace-expansion",
]);

/**
 * The texts that shells are given by `-c`, where quoting hides how they read: `sh -c "echo \"$HOME\""` runs
 * `echo "$HOME"`. One that stands in the command as it runs is not repeated.
 */
export function innerCommands(segments: readonly Pick<Segment, "text" | "argv" | "reasons">[]): readonly string[] {
  const found = segments.flatMap(({ text, argv, reasons }) => {
    // What the shell around it fills in is not known: it must not look as if the inner one did.
    if (reasons.some(({ code }) => OPEN_WORDS.has(code))) return [];
    const shell = argv.findIndex((word) => nameIn([baseName(word)], SHELLS) !== undefined);
    if (shell < 0) return [];
    const option = argv.findIndex((word, at) => at > shell && /^-[A-Za-z]*c[A-Za-z]*$/.test(word));
    const inner = option < 0 ? undefined : argv[option + 1];
    return inner === undefined || inner.trim() === "" || text.includes(inner) ? [] : [inner];
  });
  return [...new Set(found)].slice(0, MAX_INNER);
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
