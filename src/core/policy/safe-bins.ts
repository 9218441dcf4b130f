/**
 * Filters that run without a rule because they can only read their input (spec: policy.md section 8). What an option
 * may be is an accept list; shape only, no look at the file system.
 */
import { posix } from "node:path";
import type { Executable } from "./executables.ts";
import type { SafeBinProfile } from "./types.ts";

const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== "");

interface Profile {
  readonly valueFlags: readonly string[];
  /** Those of them whose value is a count: a letter behind it is a second option in disguise (`tail -n1F`). */
  readonly countFlags: readonly string[];
  readonly booleanFlags: readonly string[];
  readonly deniedFlags: readonly string[];
  readonly minPositional: number;
  readonly maxPositional: number;
}

const profile = (value: string, boolean: string, denied = "", min = 0, max = 0): Profile => ({
  valueFlags: words(value),
  countFlags: [],
  booleanFlags: words(boolean),
  deniedFlags: words(denied),
  minPositional: min,
  maxPositional: max,
});

const HEAD_TAIL_FLAGS = "-q -v -z --quiet --silent --verbose --zero-terminated";

const HEAD_TAIL_COUNTS = words("-n -c --lines --bytes");

const PROFILES: Readonly<Record<string, Profile>> = {
  cut: profile(
    "-b -c -f -d --bytes --characters --fields --delimiter --output-delimiter",
    "-n -s -z --complement --only-delimited --zero-terminated",
  ),
  uniq: profile(
    "-f -s -w --skip-fields --skip-chars --check-chars --group",
    "-c -d -D -u -i -z --count --repeated --unique --ignore-case --zero-terminated",
  ),
  head: { ...profile("-n -c --lines --bytes", HEAD_TAIL_FLAGS), countFlags: HEAD_TAIL_COUNTS },
  tail: {
    ...profile(
      "-n -c --lines --bytes --sleep-interval --max-unchanged-stats --pid",
      HEAD_TAIL_FLAGS,
      "-f -F --follow --retry",
    ),
    countFlags: HEAD_TAIL_COUNTS,
  },
  tr: profile("", "-C -c -d -s -t --complement --delete --squeeze-repeats --truncate-set1", "", 1, 2),
  wc: profile("", "-L -c -l -m -w --max-line-length --bytes --lines --chars --words", "--files0-from"),
  grep: profile(
    "-e -m -A -B -C --regexp --max-count --after-context --before-context --context --label",
    "-i -v -c -o -n -w -x -E -F -G -h -q -s -z --ignore-case --invert-match --count --only-matching --line-number --word-regexp --line-regexp --extended-regexp --fixed-strings --basic-regexp --no-filename --quiet --silent --no-messages --null-data",
    "-f -d -D -r -R --file --exclude-from --recursive --dereference-recursive --directories --devices",
  ),
  sort: profile(
    "-k -t -S --key --field-separator --buffer-size --parallel --batch-size",
    "-b -d -f -g -i -M -h -n -R -r -V -c -C -s -u -z --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse --version-sort --stable --unique --zero-terminated --check",
    "-o -T -m --output --temporary-directory --compress-program --files0-from --random-source --merge",
  ),
};

/** Run programs of their own or read files whatever the options: no profile makes them safe. */
const NEVER_SAFE: ReadonlySet<string> = new Set(["jq", "awk", "gawk", "mawk", "nawk", "sed", "gsed"]);

export const hasBuiltinProfile = (name: string): boolean => Object.hasOwn(PROFILES, name);
export const isNeverSafe = (name: string): boolean => NEVER_SAFE.has(name);

/** Where system filters live; PATH never counts. */
export const SYSTEM_BIN_DIRS: readonly string[] = ["/bin", "/usr/bin"];

export interface SafeBinContext {
  readonly safeBins: readonly string[];
  readonly trustedDirs: readonly string[];
  readonly profiles: Readonly<Record<string, SafeBinProfile>>;
}

/** `"no"`: not a safe bin. Otherwise the argument that is not safe, or undefined when all are. */
export function judgeSafeBin(
  executable: Executable,
  args: readonly string[],
  context: SafeBinContext,
): "no" | { readonly badArgument: string | undefined } {
  const name = posix.basename(executable.path);
  if (!context.safeBins.some((bin) => bin.toLowerCase() === name)) return "no";
  if (NEVER_SAFE.has(name) || executable.relative) return "no";
  const dirs = [...SYSTEM_BIN_DIRS, ...context.trustedDirs];
  if (!dirs.includes(posix.dirname(executable.path)) || !dirs.includes(posix.dirname(executable.real))) return "no";
  const shape = profileOf(name, context.profiles);
  return shape ? { badArgument: firstBadArgument(shape, args) } : "no";
}

function profileOf(name: string, custom: Readonly<Record<string, SafeBinProfile>>): Profile | undefined {
  const own = Object.hasOwn(custom, name) ? custom[name] : undefined;
  const known = Object.hasOwn(PROFILES, name) ? PROFILES[name] : undefined;
  if (!own) return known;
  return {
    valueFlags: own.allowedValueFlags ?? known?.valueFlags ?? [],
    countFlags: known?.countFlags ?? [],
    booleanFlags: known?.booleanFlags ?? [],
    // A custom profile can deny more, never less: what writes a file stays denied.
    deniedFlags: [...(known?.deniedFlags ?? []), ...(own.deniedFlags ?? [])],
    minPositional: own.minPositional ?? 0,
    maxPositional: own.maxPositional ?? (known ? known.maxPositional : Number.POSITIVE_INFINITY),
  };
}

/** Cannot be taken for a path, a pattern or an expansion by anything that looks at it later. */
function isLiteralToken(text: string): boolean {
  if (/^(?:\/|\.\/|\.\.\/|~|[A-Za-z]:\\)/.test(text) || text === "..") return false;
  return !/[*?[\]]/.test(text) && !/\$(?:[A-Za-z0-9_{([@*#?$!-])/.test(text);
}

function firstBadArgument(shape: Profile, args: readonly string[]): string | undefined {
  let positionals = 0;
  let optionsEnded = false;
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i] as string;
    if (!optionsEnded && arg === "--") {
      optionsEnded = true;
      continue;
    }
    if (arg === "-") {
      if (optionsEnded) return arg;
      continue;
    }
    if (optionsEnded || !arg.startsWith("-")) {
      positionals += 1;
      if (arg === "" || !isLiteralToken(arg) || positionals > shape.maxPositional) return arg;
      continue;
    }
    const used = arg.startsWith("--") ? longOption(shape, arg, args[i + 1]) : shortCluster(shape, arg, args[i + 1]);
    if (used === 0) return arg;
    i += used - 1;
  }
  return positionals < shape.minPositional ? (args.at(-1) ?? "") : undefined;
}

const COUNT = /^[-+]?\d+(?:b|[kKMGTPEZY](?:i?B)?)?$/;

function isValue(shape: Profile, flag: string, value: string | undefined): boolean {
  if (value === undefined || value === "" || !isLiteralToken(value)) return false;
  return !shape.countFlags.includes(flag) || COUNT.test(value);
}

function longOption(shape: Profile, arg: string, next: string | undefined): 0 | 1 | 2 {
  const equals = arg.indexOf("=");
  const name = equals < 0 ? arg : arg.slice(0, equals);
  // GNU takes any prefix; one that could mean a denied option is that option.
  if (shape.deniedFlags.some((flag) => flag.startsWith(name))) return 0;
  const known = [...shape.valueFlags, ...shape.booleanFlags].filter((flag) => flag.startsWith("--"));
  const candidates = known.includes(name) ? [name] : known.filter((flag) => flag.startsWith(name));
  const flag = candidates.length === 1 ? candidates[0] : undefined;
  if (flag === undefined) return 0;
  if (!shape.valueFlags.includes(flag)) return equals < 0 ? 1 : 0;
  if (equals >= 0) return isValue(shape, flag, arg.slice(equals + 1)) ? 1 : 0;
  return isValue(shape, flag, next) ? 2 : 0;
}

function shortCluster(shape: Profile, arg: string, next: string | undefined): 0 | 1 | 2 {
  for (let at = 1; at < arg.length; at += 1) {
    const flag = `-${arg[at]}`;
    if (shape.deniedFlags.includes(flag)) return 0;
    if (shape.valueFlags.includes(flag)) {
      const rest = arg.slice(at + 1);
      if (rest !== "") return isValue(shape, flag, rest) ? 1 : 0;
      return isValue(shape, flag, next) ? 2 : 0;
    }
    if (!shape.booleanFlags.includes(flag)) return 0;
  }
  return 1;
}
