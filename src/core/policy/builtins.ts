/** Words that bash itself runs (spec: policy.md section 5, shell-analysis.md 4.6). */

/** Need no rule: they change nothing but the directory of later parts and the exit code. */
const SAFE = new Set([":", "cd", "false", "pwd", "test", "true", "["]);

/** Also programs on disk; judged and run as those. */
const WITH_PROGRAM = new Set(["echo", "printf", "kill"]);

/** All other words that bash would run itself, whatever is on PATH. */
const BUILTINS = new Set(
  `. alias bg bind break builtin caller command compgen complete compopt continue declare dirs disown enable eval exec exit
  export fc fg getopts hash help history jobs let local logout mapfile popd pushd read readarray readonly return set shift
  shopt source suspend times trap type typeset ulimit umask unalias unset wait`.split(/\s+/),
);

/** Reserved words that are no command; met only when quoted or in an odd place. */
const RESERVED = new Set(
  "if then elif else fi for while until do done case esac in function select coproc time [[ ]] { } !".split(" "),
);

export type BuiltinVerdict = "safe" | "cd" | "refused" | "not-a-builtin";

export function judgeBuiltin(name: string, args: readonly string[]): BuiltinVerdict {
  // `command -v name` and `type name` only say where a program is.
  if (name === "command" && args.length === 2 && args[0] === "-v" && /^[\w.+-]+$/.test(args[1] as string))
    return "safe";
  if (name === "type" && args.every((arg) => /^-[afptP]+$|^[\w.][\w.+-]*$/.test(arg))) return "safe";
  if (BUILTINS.has(name)) return "refused";
  // `time` behind a pipe is the program, everything else here is bash grammar that was quoted away.
  if (RESERVED.has(name)) return name === "time" ? "not-a-builtin" : "refused";
  if (WITH_PROGRAM.has(name) || !SAFE.has(name)) return "not-a-builtin";
  switch (name) {
    case "cd":
      // `-` is wherever the shell was before, `-P` and friends are not needed.
      return args.length <= 1 && !args[0]?.startsWith("-") && args[0] !== "" ? "cd" : "refused";
    case "pwd":
      return args.every((arg) => arg === "-L" || arg === "-P") ? "safe" : "refused";
    case "test":
      return isPlainTest(args) ? "safe" : "refused";
    case "[":
      return args.at(-1) === "]" && isPlainTest(args.slice(0, -1)) ? "safe" : "refused";
    default:
      return "safe";
  }
}

/** `-v` and `-R` evaluate a subscript, which can hold a command substitution; unknown operators are not guessed. */
const TEST_OPERATORS = new Set(
  `-a -b -c -d -e -f -g -G -h -k -L -N -n -o -O -p -r -s -S -t -u -w -x -z -eq -ne -lt -le -gt -ge -nt -ot -ef
  = == != < > ! ( )`.split(/\s+/),
);

function isPlainTest(args: readonly string[]): boolean {
  return args.every((arg) => {
    if (arg.startsWith("-") && !/^-\d+$/.test(arg)) return TEST_OPERATORS.has(arg);
    return !arg.includes("[");
  });
}
