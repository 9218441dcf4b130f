/**
 * Reads a sed script and says whether it can only edit its output. Accept list of commands; `e` (runs a program), `w`
 * and `W` (write a file), `r` and `R` (read one), the `e` and `w` flags of `s` and whatever is not known are refused
 * (GNU sed manual, sections 3 and 6).
 */

const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\[^\n])*/[IM]*|\+\d+|~\d+)`;
const ADDRESSES = new RegExp(`^(?:${ADDRESS}(?:\\s*,\\s*${ADDRESS})?)?\\s*!*\\s*`);

/** Commands without argument. `q`, `Q`, `l` and `L` may carry a number. */
const PLAIN = /^(?:[dDgGhHnNpPxz=]|[qQlL]\s*\d*)/;
const LABEL = /^(?::\s*[A-Za-z0-9_]+|[btT]\s*[A-Za-z0-9_]*)(?=\s*(?:[;}\n]|$))/;

/** The part that is not harmless, or undefined. */
export function sedProblem(script: string): string | undefined {
  let rest = script;
  while (rest !== "") {
    const skipped = /^[\s;}]*(?:#[^\n]*)?/.exec(rest)?.[0] ?? "";
    rest = rest.slice(skipped.length);
    if (skipped.includes("#") || (rest === "" && skipped !== "")) continue;
    if (rest === "") break;
    rest = rest.slice(ADDRESSES.exec(rest)?.[0].length ?? 0);
    if (rest.startsWith("{")) {
      rest = rest.slice(1);
      continue;
    }
    const length = commandLength(rest);
    if (length === undefined) return rest.slice(0, 24) || script.slice(-24);
    rest = rest.slice(length);
    // Something must end a command: `dw file` is not `d` and then a file.
    if (rest !== "" && !/^[\s;}]/.test(rest)) return rest.slice(0, 24);
    if (/^[ \t]+[^\s;}#]/.test(rest)) return rest.trimStart().slice(0, 24);
  }
  return undefined;
}

function commandLength(text: string): number | undefined {
  const simple = PLAIN.exec(text) ?? LABEL.exec(text);
  if (simple) return simple[0].length;
  const verb = text[0];
  if (verb === "a" || verb === "i" || verb === "c") {
    // One line of text. GNU joins a line that ends in a backslash; that form is left to people.
    const line = /^[aic][ \t]*(?:\\\n)?[^\n]*/.exec(text)?.[0];
    return line === undefined || line.endsWith("\\") ? undefined : line.length;
  }
  if (verb === "s" || verb === "y") return substitutionLength(text, verb);
  return undefined;
}

function substitutionLength(text: string, verb: "s" | "y"): number | undefined {
  const delimiter = text[1];
  if (delimiter === undefined || /[\\\n\s;]/.test(delimiter)) return undefined;
  let at = 2;
  for (let part = 0; part < 2; part += 1) {
    for (;;) {
      const c = text[at];
      if (c === undefined || (c === "\n" && part === 0)) return undefined;
      if (c === "\\") {
        if (text[at + 1] === undefined) return undefined;
        at += 2;
        continue;
      }
      // A bracket may hold the delimiter in some seds and not in others.
      if (c === "[" && part === 0 && verb === "s") {
        const bracket = /^\[\^?\]?[^\]\n]*\]/.exec(text.slice(at))?.[0];
        if (bracket?.includes(delimiter)) return undefined;
      }
      at += 1;
      if (c === delimiter) break;
    }
  }
  const flags = verb === "s" ? (/^[gpiI0-9mM]*/.exec(text.slice(at))?.[0].length ?? 0) : 0;
  return at + flags;
}

/** Arguments of sed: no in-place editing, no script file, a harmless script; files to read. */
export function sedGuard(args: readonly string[]): string | undefined {
  const scripts: string[] = [];
  const operands: string[] = [];
  let ended = false;
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i] as string;
    if (ended || !arg.startsWith("-") || arg === "-") operands.push(arg);
    else if (arg === "--") ended = true;
    else if (
      /^(?:--quiet|--silent|--regexp-extended|--null-data|--separate|--unbuffered|--posix|--sandbox|--debug)$/.test(arg)
    )
      continue;
    else if (/^--(?:version|help)$/.test(arg) && args.length === 1) return undefined;
    else if (arg === "--expression") scripts.push(args[++i] ?? "");
    else if (arg.startsWith("--expression=")) scripts.push(arg.slice("--expression=".length));
    else if (arg.startsWith("--")) return arg;
    else {
      const cluster = /^-[nErzsu]*(e?)([\s\S]*)$/.exec(arg);
      if (!cluster || (cluster[1] === "" && cluster[2] !== "")) return arg;
      if (cluster[1] === "e") scripts.push(cluster[2] || (args[++i] ?? ""));
    }
  }
  if (scripts.length === 0) {
    const script = operands.shift();
    if (script === undefined) return args[0] ?? "no script";
    scripts.push(script);
  }
  // Fragments are joined by newlines, so an `a\` of one swallows the next.
  return sedProblem(scripts.join("\n"));
}
