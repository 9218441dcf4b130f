/**
 * Tools to write down what the arguments of a program may be. An accept list names every option that is known to be
 * harmless and refuses the rest, so an option of a newer release, an abbreviation or a typo ends in a question.
 */

/** The argument that can make the program do more than its job, or undefined when all are harmless. */
export type Guard = (args: readonly string[]) => string | undefined;

export interface OptionTable {
  /** Short options without a value; may be clustered. */
  readonly flags?: string;
  /** Short options that take the rest of the cluster or the next word. */
  readonly values?: string;
  /** Long options without a value (also single-dash words such as `-version`), blank separated. */
  readonly long?: string;
  /** Long options with a value, joined by `=` or as the next word, blank separated. */
  readonly longValues?: string;
  /** Long options that may have a value joined by `=`, never as the next word. */
  readonly longOptional?: string;
  /** `-20` and the like. */
  readonly number?: boolean;
  /** Is this operand harmless? Absent: every operand is. */
  readonly operand?: (value: string, index: number) => boolean;
  /** Is the value of this option harmless? Absent: every value is. */
  readonly value?: (option: string, value: string) => boolean;
  readonly maxOperands?: number;
  /** Options end at the first operand; what follows is left to `operand`. */
  readonly stopAtOperand?: boolean;
}

const listed = (list: string | undefined): ReadonlySet<string> =>
  new Set(list?.split(/\s+/).filter((item) => item !== ""));

/** Accepts only what the table names. */
export function accept(table: OptionTable): Guard {
  const long = listed(table.long);
  const longValues = listed(table.longValues);
  const longOptional = listed(table.longOptional);
  const flags = table.flags ?? "";
  const values = table.values ?? "";
  const valueOk = (option: string, value: string): boolean => table.value?.(option, value) ?? true;

  const option = (arg: string, next: string | undefined): 0 | 1 | 2 => {
    if (table.number && /^-\d+$/.test(arg)) return 1;
    const equals = arg.indexOf("=");
    const name = equals < 0 ? arg : arg.slice(0, equals);
    if (long.has(arg) || longOptional.has(arg)) return 1;
    if (longValues.has(name) || (equals >= 0 && longOptional.has(name))) {
      if (equals >= 0) return valueOk(name, arg.slice(equals + 1)) ? 1 : 0;
      return next !== undefined && valueOk(name, next) ? 2 : 0;
    }
    if (arg.startsWith("--")) return 0;
    for (let at = 1; at < arg.length; at += 1) {
      const letter = arg[at] as string;
      if (values.includes(letter)) {
        const rest = arg.slice(at + 1);
        if (rest !== "") return valueOk(`-${letter}`, rest) ? 1 : 0;
        return next !== undefined && valueOk(`-${letter}`, next) ? 2 : 0;
      }
      if (!flags.includes(letter)) return 0;
    }
    return 1;
  };

  return (args) => {
    let operands = 0;
    let ended = false;
    for (let i = 0; i < args.length; i += 1) {
      const arg = args[i] as string;
      if (!ended && arg === "--") {
        ended = true;
        continue;
      }
      if (!ended && arg.startsWith("-") && arg !== "-") {
        const used = option(arg, args[i + 1]);
        if (used === 0) return arg;
        i += used - 1;
        continue;
      }
      if (operands >= (table.maxOperands ?? Number.POSITIVE_INFINITY)) return arg;
      if (table.operand && !table.operand(arg, operands)) return arg;
      operands += 1;
      if (table.stopAtOperand) ended = true;
    }
    return undefined;
  };
}

/**
 * Refuses what it names, for programs whose many other options are harmless. A long option counts from any of its
 * prefixes on (GNU abbreviations). A letter counts anywhere in a cluster up to the first of `valueLetters`, whose value
 * is the rest of the word.
 */
export function refuse(letters: string, longOptions: string, valueLetters = ""): Guard {
  const denied = [...listed(longOptions)];
  const values = new RegExp(valueLetters === "" ? "$^" : `[${valueLetters}].*$`, "s");
  return (args) =>
    args.find((arg) => {
      if (!arg.startsWith("-") || arg === "-" || arg === "--") return false;
      const name = arg.split("=", 1)[0] as string;
      if (
        denied.some(
          (option) => option.startsWith(name) && name.length > 1 && (name.startsWith("--") || option === name),
        )
      ) {
        return true;
      }
      const cluster = arg.startsWith("--") ? "" : arg.slice(1).replace(values, (rest) => rest.slice(0, 1));
      return [...letters].some((letter) => cluster.includes(letter));
    });
}

export const anything: Guard = () => undefined;

/** Options only; an operand changes something. */
export const noOperands = (flags: string, long = ""): Guard => accept({ flags, long, maxOperands: 0 });

/** For programs whose very job is to put content into a file that the caller names. */
export const refuseAll: Guard = (args) => args[0] ?? "no arguments";

/** Only `--version`, `--help` and their like. */
export const infoOnly: Guard = (args) =>
  args.length === 1 && /^(?:--version|--help|-V|-version|version)$/.test(args[0] ?? "")
    ? undefined
    : (args[0] ?? "no arguments");

/** The first word picks the table; options in front of it are refused. */
export function subcommands(tables: Readonly<Record<string, Guard>>): Guard {
  return (args) => {
    const name = args[0];
    if (name === undefined) return "no subcommand";
    const guard = Object.hasOwn(tables, name) ? tables[name] : undefined;
    return guard ? guard(args.slice(1)) : name;
  };
}

/** Inside the working directory, and no file that tools obey (`.git`, `.bashrc`, `.npmrc` …). */
export function isPlainLocalPath(path: string): boolean {
  return (
    path !== "" &&
    !path.startsWith("/") &&
    !path.startsWith("-") &&
    !path.startsWith("~") &&
    path.split("/").every((part) => !part.startsWith(".") || part === ".")
  );
}

/** What no program needs to be told to read: the process's own input or somebody's open files. */
export function isStreamPath(path: string): boolean {
  return path === "-" || /^\/(?:dev\/(?:stdin|fd|tcp|udp)|proc)(?:\/|$)/.test(path) || path === "/dev/stdin";
}
