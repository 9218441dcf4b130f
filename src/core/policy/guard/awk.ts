/**
 * Reads an awk program and says whether it can only compute and print. Accept list: statements, operators, built-in
 * functions and plain variables. `system`, pipes, `getline`, output redirection, `@load` and calls of unknown functions
 * are what it exists to find (POSIX awk; gawk manual, "I/O functions" and "Dynamic extensions").
 */

const KEYWORDS = new Set(
  "BEGIN END if else while for do break continue in delete next exit print printf return".split(" "),
);
const FUNCTIONS = new Set(
  `length substr index split sub gsub gensub match sprintf tolower toupper int sqrt exp log sin cos atan2 rand srand
  strftime systime mktime and or xor compl lshift rshift strtonum asort asorti typeof isarray`.split(/\s+/),
);
/** Variables through which a program learns or changes more than its input. */
const FORBIDDEN_NAMES = new Set(
  "ENVIRON PROCINFO SYMTAB FUNCTAB system getline close fflush nextfile function func".split(" "),
);

/** After these a `/` begins a regular expression in every awk. */
const BEFORE_REGEX = /^(?:|[(,;{}!&|?:~=+\-*%<>^\n]|&&|\|\||[=!<>]=|!~|[-+*%^]=|print|printf|return)$/;
/** After these it divides in every awk. After anything else (`if (x)`, `++`, other keywords) it depends: refused. */
const BEFORE_DIVISION = /^(?:\]|\)|\d.*|\..*|".*"|[A-Za-z_][A-Za-z0-9_]*)$/s;
/** A statement, which may be a regular expression, can follow their parenthesis. */
const CONTROL = new Set(["if", "while", "for"]);
/** A newline after these does not end a statement. */
const CONTINUES = new Set([",", "{", "&&", "||", "do", "else"]);

/** The part that is not harmless, or undefined. */
export function awkProblem(program: string): string | undefined {
  let at = 0;
  let previous = "";
  let printing = false;
  let printDepth = 0;
  let depth = 0;
  /** For each open parenthesis, whether a control keyword stands before it. */
  const controls: boolean[] = [];
  while (at < program.length) {
    const rest = program.slice(at);
    const blank = /^(?:[ \t\r]+|#[^\n]*)/.exec(rest);
    if (blank) {
      at += blank[0].length;
      continue;
    }
    const token = nextToken(rest, previous);
    if (token === undefined) return rest.slice(0, 16);
    at += token.length;
    if (/^[A-Za-z_]/.test(token)) {
      const called = /^\(/.test(program.slice(at));
      if (FORBIDDEN_NAMES.has(token)) return token;
      if (called && !FUNCTIONS.has(token) && !KEYWORDS.has(token)) return token;
      // gawk calls a function named by a variable only through `@`, which is no token here.
      if (token === "print" || token === "printf") {
        printing = true;
        printDepth = depth;
      }
    } else if (token === "(" || token === "[") depth += 1;
    else if (token === ")" || token === "]") depth -= 1;
    else if (token === ";" || token === "{" || token === "}" || (token === "\n" && !CONTINUES.has(previous)))
      printing = false;
    else if (token === "|" || token === "|&") return token;
    // Inside parentheses `>` compares; bare in a print statement it opens a file.
    else if ((token === ">" || token === ">>") && printing && depth <= printDepth) return token;
    else if (token === ">>") return token;
    if (token === "(") controls.push(CONTROL.has(previous));
    previous = token === ")" && controls.pop() !== false ? "if()" : token;
  }
  return undefined;
}

function nextToken(rest: string, previous: string): string | undefined {
  const simple =
    /^(?:"(?:[^"\\\n]|\\[^\n])*"|[A-Za-z_][A-Za-z0-9_]*|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|&&|\|\||\|&|>>|[-+*%^=!<>]=|!~|\+\+|--|[-+*%^=!<>~?:,;{}()[\]$&|\n])/.exec(
      rest,
    )?.[0];
  if (rest.startsWith("/")) {
    // A slash inside a bracket ends the expression in some awks and not in others: the pattern knows no such bracket.
    if (BEFORE_REGEX.test(previous)) {
      return /^\/(?:[^/\\\n[]|\\[^\n]|\[\^?\]?(?:\[:[a-z]+:\]|[^[\]\\\n/]|\\[^\n/])*\])*\//.exec(rest)?.[0];
    }
    // `length` needs no parentheses: mawk then reads a regular expression where gawk divides.
    if (!BEFORE_DIVISION.test(previous) || KEYWORDS.has(previous) || FUNCTIONS.has(previous)) return undefined;
    return rest.startsWith("/=") ? "/=" : "/";
  }
  return simple === "&" ? undefined : simple;
}

/** Arguments of awk, mawk and gawk: `-F`, `-v` and a harmless program; files to read. */
export function awkGuard(args: readonly string[]): string | undefined {
  let i = 0;
  for (; i < args.length; i += 1) {
    const arg = args[i] as string;
    if (arg === "--") {
      i += 1;
      break;
    }
    if (!arg.startsWith("-") || arg === "-") break;
    if (arg === "-F" || arg === "-v") {
      i += 1;
      if (arg === "-v" && !isPlainAssignment(args[i] ?? "")) return args[i] ?? arg;
    } else if (arg.startsWith("-F")) {
    } else if (arg.startsWith("-v")) {
      if (!isPlainAssignment(arg.slice(2))) return arg;
    } else if (/^--?version$/.test(arg) && args.length === 1) {
      return undefined;
    } else return arg;
  }
  const program = args[i];
  if (program === undefined) return args[0] ?? "no program";
  const problem = awkProblem(program);
  if (problem !== undefined) return problem;
  // gawk opens these as network connections or as its own open files.
  return args.slice(i + 1).find((file) => /^\/(?:inet|dev\/(?:fd|tcp|udp)|proc)/.test(file));
}

const isPlainAssignment = (text: string): boolean => {
  const name = /^([A-Za-z_][A-Za-z0-9_]*)=/.exec(text)?.[1];
  return name !== undefined && !FORBIDDEN_NAMES.has(name);
};
