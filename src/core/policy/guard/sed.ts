/**
 * Reads a sed script and says whether it can only edit its output. Accept list of commands; `e` (runs a program), `w`
 * and `W` (write a file), `r` and `R` (read one), the `e` and `w` flags of `s` and whatever is not known are refused
 * (GNU sed manual, sections 3 and 6).
 */

const SIMPLE_ADDRESS = /^(?:\d+(?:~\d+)?|\$|\+\d+|~\d+)/;

/** Commands without argument. `q`, `Q`, `l` and `L` may carry a number. */
const PLAIN = /^(?:[dDgGhHnNpPxzF=]|[qQlL]\s*\d*)/;
const LABEL = /^(?::\s*[A-Za-z0-9_]+|[btT]\s*[A-Za-z0-9_]*)(?=\s*(?:[;}\n]|$))/;

/** Characters between the parts of `s` and `y` that mean nothing else to any sed. */
const DELIMITERS = "/|#,:!@%~_=";

/** A bracket expression as POSIX reads it: a backslash is literal, `[:class:]` holds a `]`. */
const BRACKET = /^\[\^?\]?(?:\[([:.=])[^\n]*?\1\]|[^\]\n])*\]/;

/**
 * Length of a regular expression with its closing delimiter. GNU sed does not end it inside a bracket expression, other
 * seds do: where the two readings differ, nobody can say what is a command.
 */
function regexLength(text: string, delimiter: string): number | undefined {
  for (let at = 0; at < text.length; ) {
    const c = text[at] as string;
    if (c === "\n") return undefined;
    if (c === delimiter) return at + 1;
    if (c === "[") {
      const bracket = BRACKET.exec(text.slice(at))?.[0];
      if (bracket === undefined || bracket.replace(/\\[\s\S]/g, "").includes(delimiter)) return undefined;
      at += bracket.length;
    } else at += c === "\\" ? 2 : 1;
  }
  return undefined;
}

/** Length of one address, 0 when there is none, undefined when it is not understood. */
function addressLength(text: string): number | undefined {
  const simple = SIMPLE_ADDRESS.exec(text)?.[0].length;
  if (simple !== undefined) return simple;
  if (!text.startsWith("/")) return 0;
  const regex = regexLength(text.slice(1), "/");
  if (regex === undefined) return undefined;
  return 1 + regex + (/^[IM]*/.exec(text.slice(1 + regex))?.[0].length ?? 0);
}

/** Up to two addresses and `!`. */
function addressesLength(text: string): number | undefined {
  let at = addressLength(text);
  if (at === undefined) return undefined;
  const comma = at > 0 ? /^\s*,\s*/.exec(text.slice(at))?.[0].length : undefined;
  if (comma !== undefined) {
    const second = addressLength(text.slice(at + comma));
    if (!second) return undefined;
    at += comma + second;
  }
  return at + (/^\s*!*\s*/.exec(text.slice(at))?.[0].length ?? 0);
}

/** The part that is not harmless, or undefined. */
export function sedProblem(script: string): string | undefined {
  let rest = script;
  while (rest !== "") {
    const skipped = /^[\s;}]*(?:#[^\n]*)?/.exec(rest)?.[0] ?? "";
    rest = rest.slice(skipped.length);
    if (skipped.includes("#") || (rest === "" && skipped !== "")) continue;
    if (rest === "") break;
    const addresses = addressesLength(rest);
    if (addresses === undefined) return rest.slice(0, 24);
    rest = rest.slice(addresses);
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
  if (delimiter === undefined || !DELIMITERS.includes(delimiter)) return undefined;
  const pattern = verb === "s" ? regexLength(text.slice(2), delimiter) : plainLength(text.slice(2), delimiter);
  if (pattern === undefined) return undefined;
  const replacement = plainLength(text.slice(2 + pattern), delimiter);
  if (replacement === undefined) return undefined;
  const at = 2 + pattern + replacement;
  return at + (verb === "s" ? (/^[gpiI0-9mM]*/.exec(text.slice(at))?.[0].length ?? 0) : 0);
}

/** Length of a part that is no regular expression, with its closing delimiter. */
function plainLength(text: string, delimiter: string): number | undefined {
  for (let at = 0; at < text.length; at += text[at] === "\\" ? 2 : 1) {
    if (text[at] === "\n") return undefined;
    if (text[at] === delimiter) return at + 1;
  }
  return undefined;
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
