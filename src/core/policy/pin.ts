/** What will really run (decisions.md D8). Nothing here looks at the file system: the words come in resolved. */
import type { Assessed } from "./assess.ts";
import type { Plan } from "./decision.ts";
import { type ParsedList, parseCommand } from "./shell/parse.ts";
import { quoteWord } from "./shell/word.ts";

/** `assessed[p][c]` belongs to command c of pipeline p. Undefined when the rebuilt text would not read the same. */
export function pinPlan(list: ParsedList, assessed: readonly (readonly Assessed[])[]): Plan | undefined {
  const [onlyPipeline] = list.pipelines;
  const [only] = assessed[0] ?? [];
  if (
    list.pipelines.length === 1 &&
    onlyPipeline?.commands.length === 1 &&
    onlyPipeline.prefixes.length === 0 &&
    onlyPipeline.commands[0]?.redirects.length === 0 &&
    only &&
    !only.builtin
  ) {
    const [file, ...args] = only.words;
    return file === undefined ? undefined : { kind: "argv", file, argv0: only.argv0, args };
  }
  const text = rebuild(list, assessed);
  return readsTheSame(text, list, assessed) ? { kind: "rebuilt", text } : undefined;
}

function rebuild(list: ParsedList, assessed: readonly (readonly Assessed[])[]): string {
  let text = "";
  for (const [p, pipeline] of list.pipelines.entries()) {
    if (p > 0) {
      const join = list.joins[p - 1] ?? ";";
      text += join === ";" ? "; " : ` ${join} `;
    }
    for (const prefix of pipeline.prefixes) text += `${prefix} `;
    for (const [c, command] of pipeline.commands.entries()) {
      if (c > 0) text += ` ${pipeline.operators[c - 1] ?? "|"} `;
      const one = assessed[p]?.[c];
      const words = one?.words ?? [];
      // A builtin is named bare; quoting would not change it, but the re-parse compares spellings.
      text += words.map((word, index) => (index === 0 && one?.builtin ? word : quoteWord(word))).join(" ");
      for (const redirect of command.redirects) text += ` ${redirect}`;
    }
  }
  return text;
}

/** The rebuilt text goes through the parser again and must give exactly the words, operators and redirections meant. */
function readsTheSame(text: string, list: ParsedList, assessed: readonly (readonly Assessed[])[]): boolean {
  const again = parseCommand(text);
  if (!again.ok || again.list.pipelines.length !== list.pipelines.length) return false;
  if (!equal(again.list.joins, list.joins)) return false;
  return list.pipelines.every((pipeline, p) => {
    const other = again.list.pipelines[p];
    return (
      other !== undefined &&
      equal(other.prefixes, pipeline.prefixes) &&
      equal(other.operators, pipeline.operators) &&
      other.commands.length === pipeline.commands.length &&
      pipeline.commands.every((command, c) => {
        const twin = other.commands[c];
        return (
          twin !== undefined &&
          twin.assignments.length === 0 &&
          equal(twin.redirects, command.redirects) &&
          equal(
            twin.words.map((word) => word.value),
            assessed[p]?.[c]?.words ?? [],
          )
        );
      })
    );
  });
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
