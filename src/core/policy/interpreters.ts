/**
 * What a language interpreter was told to run: a script file, code on the command line, its own input, or only to show
 * its version. Options are an accept list per language; one that is not on it may preload code or write a file.
 */

import { isStreamPath } from "./guard/options.ts";
import { spellings } from "./program-kinds.ts";

export type InterpreterUse =
  | { readonly kind: "info" }
  /** `index` is the position of the script among the arguments. */
  | { readonly kind: "script"; readonly index: number }
  /** Runs what the project defines (`node --test`), names no file. */
  | { readonly kind: "project" }
  /** A module known by its name runs; `args[index]` is the first of its own arguments. */
  | { readonly kind: "module"; readonly name: string; readonly index: number }
  | { readonly kind: "code"; readonly option: string }
  | { readonly kind: "stdin"; readonly option: string }
  /** `code` is an option that may carry code as well: the table does not know for certain. */
  | { readonly kind: "refused"; readonly option: string; readonly code?: string };

interface Language {
  readonly info: string;
  /** Letters whose option carries code, wherever they stand in a cluster. */
  readonly codeLetters: string;
  readonly codeLong?: string;
  readonly flags: string;
  readonly long?: string;
  readonly values?: Readonly<Record<string, RegExp>>;
  readonly longValues?: Readonly<Record<string, RegExp>>;
  readonly projectOptions?: string;
  /** What may stand behind `-m`: programs that have an argument table of their own. */
  readonly modules?: string;
  /** First operands that are a mode of the interpreter, not a file. */
  readonly modes?: string;
  /** Options may be clustered behind one dash. */
  readonly clusters: boolean;
}

const NUMBER = /^\d+$/;
const COMMON_INFO = "--version --help -h -V";

const PYTHON: Language = {
  info: "--version -V -VV --help -h -? --help-env --help-xoptions --help-all",
  codeLetters: "c",
  flags: "BEIOPRSbdhqsuv",
  values: {
    // `-W` imports the module of a category, `-X` can name files to write.
    W: /^(?:ignore|error|default|always|once|module)$/,
    X: /^(?:utf8(?:=[01])?|dev|importtime|faulthandler|no_debug_ranges|tracemalloc(?:=\d+)?|frozen_modules=\w+)$/,
  },
  modules: "pytest unittest json.tool",
  clusters: true,
};

const NODE: Language = {
  info: "--version -v --help -h --v8-options --completion-bash",
  codeLetters: "ep",
  codeLong: "--eval --print -pe -ep",
  flags: "",
  long: `--check -c --no-warnings --no-deprecation --trace-warnings --trace-deprecation --trace-uncaught --enable-source-maps
    --pending-deprecation --throw-deprecation --experimental-strip-types --no-experimental-strip-types
    --experimental-transform-types --expose-gc --use-strict --preserve-symlinks --abort-on-uncaught-exception`,
  longValues: {
    "--max-old-space-size": NUMBER,
    "--max-semi-space-size": NUMBER,
    "--stack-trace-limit": NUMBER,
    "--stack-size": NUMBER,
    "--unhandled-rejections": /^(?:strict|warn|none|throw|warn-with-error-codes)$/,
    "--test-name-pattern": /./,
    "--test-reporter": /^(?:spec|tap|dot|junit|lcov)$/,
    "--test-timeout": NUMBER,
    "--test-concurrency": NUMBER,
  },
  projectOptions: "--test --test-only",
  modes: "inspect debug",
  clusters: false,
};

const LANGUAGES: Readonly<Record<string, Language>> = {
  python: PYTHON,
  python2: PYTHON,
  python3: PYTHON,
  pypy: PYTHON,
  pypy3: PYTHON,
  node: NODE,
  nodejs: NODE,
  ruby: {
    info: "--version -v --help -h --copyright",
    codeLetters: "e",
    flags: "wW",
    long: "--disable-gems",
    clusters: true,
  },
  perl: { info: "--version -v -h -V", codeLetters: "eE", flags: "wWcTtX", clusters: true },
  php: {
    info: "--version -v --help -h -m -i --ini",
    codeLetters: "rBRE",
    codeLong: "--run --process-begin --process-code --process-end",
    flags: "nqlf",
    clusters: false,
  },
  lua: { info: "-v", codeLetters: "e", flags: "WE", clusters: false },
  lua5: { info: "-v", codeLetters: "e", flags: "WE", clusters: false },
  luajit: { info: "-v", codeLetters: "e", flags: "", clusters: false },
  Rscript: {
    info: "--version --help",
    codeLetters: "e",
    flags: "",
    long: "--vanilla --no-save --no-restore --no-environ --no-site-file --no-init-file --verbose",
    clusters: false,
  },
  R: { info: "--version --help", codeLetters: "ef", flags: "", clusters: false, modes: "CMD" },
  julia: { info: COMMON_INFO, codeLetters: "eE", codeLong: "--eval --print", flags: "", clusters: false },
  raku: { info: "--version -v --help", codeLetters: "e", flags: "", clusters: true },
  perl6: { info: "--version -v --help", codeLetters: "e", flags: "", clusters: true },
  osascript: { info: "", codeLetters: "e", flags: "", clusters: false },
  qjs: { info: "-h --help", codeLetters: "e", codeLong: "--eval", flags: "", clusters: false },
  quickjs: { info: "-h --help", codeLetters: "e", codeLong: "--eval", flags: "", clusters: false },
  gjs: { info: "--version --help", codeLetters: "c", codeLong: "--command", flags: "", clusters: false },
  d8: { info: "--version --help", codeLetters: "e", flags: "", clusters: false },
  njs: { info: "-v -h", codeLetters: "c", flags: "", clusters: false },
  java: { info: "-version --version -help --help", codeLetters: "", flags: "", long: "-jar -ea", clusters: false },
  kotlin: { info: "-version", codeLetters: "e", flags: "", clusters: false },
  dart: { info: "--version --help", codeLetters: "", flags: "", clusters: false, modes: "run pub compile create" },
};

const has = (list: string | undefined, word: string): boolean => list?.split(/\s+/).includes(word) ?? false;

export function interpreterName(names: readonly string[]): string | undefined {
  return names.flatMap(spellings).find((name) => Object.hasOwn(LANGUAGES, name));
}

/** `name` comes from `interpreterName`. */
export function readInterpreter(name: string, args: readonly string[]): InterpreterUse {
  const language = LANGUAGES[name];
  if (!language) return { kind: "refused", option: name };
  let project = false;
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i] as string;
    if (arg === "--") return operand(language, args, i + 1, project);
    if (!arg.startsWith("-") || arg === "-") return operand(language, args, i, project);
    if (arg === "-m" && has(language.modules, args[i + 1] ?? "")) {
      return { kind: "module", name: args[i + 1] as string, index: i + 2 };
    }
    const kind = optionKind(language, arg);
    if (kind === "code") return { kind: "code", option: arg };
    if (has(language.info, arg)) return args.length === 1 ? { kind: "info" } : refusal(language, args, i);
    if (has(language.projectOptions, arg)) {
      project = true;
      continue;
    }
    const used = kind === "known" ? 1 : valueOption(language, arg, args[i + 1]);
    if (used === 0) return refusal(language, args, i);
    i += used - 1;
  }
  return project ? { kind: "project" } : { kind: "stdin", option: name };
}

function operand(language: Language, args: readonly string[], index: number, project: boolean): InterpreterUse {
  const script = args[index];
  if (project) return { kind: "project" };
  if (script === undefined || isStreamPath(script)) return { kind: "stdin", option: script ?? "--" };
  if (has(language.modes, script) || script.startsWith("@") || /^[a-z][a-z0-9+.-]*:/i.test(script))
    return { kind: "refused", option: script };
  return { kind: "script", index };
}

function refusal(language: Language, args: readonly string[], from: number): InterpreterUse {
  const code = args
    .slice(from)
    .find((arg) => optionKind(language, arg) === "code" || looksLikeCodeCluster(language, arg));
  const option = args[from] as string;
  return code === undefined ? { kind: "refused", option } : { kind: "refused", option, code };
}

function looksLikeCodeCluster(language: Language, arg: string): boolean {
  return language.clusters && /^-[^-]/.test(arg) && [...language.codeLetters].some((letter) => arg.includes(letter));
}

function optionKind(language: Language, arg: string): "code" | "known" | "other" {
  const name = arg.split("=", 1)[0] as string;
  if (has(language.codeLong, name)) return "code";
  if (has(language.long, arg)) return "known";
  if (!/^-[^-]/.test(arg)) return "other";
  const first = arg[1] as string;
  if (!language.clusters) {
    // `-ecode` counts like `-e code`.
    if (language.codeLetters.includes(first)) return "code";
    return arg.length === 2 && language.flags.includes(first) ? "known" : "other";
  }
  for (const letter of arg.slice(1)) {
    if (language.codeLetters.includes(letter)) return "code";
    if (!language.flags.includes(letter)) return "other";
  }
  return "known";
}

function valueOption(language: Language, arg: string, next: string | undefined): 0 | 1 | 2 {
  const equals = arg.indexOf("=");
  const long = language.longValues?.[equals < 0 ? arg : arg.slice(0, equals)];
  if (long) {
    if (equals >= 0) return long.test(arg.slice(equals + 1)) ? 1 : 0;
    return next !== undefined && long.test(next) ? 2 : 0;
  }
  const short = /^-[^-]/.test(arg) ? language.values?.[arg[1] as string] : undefined;
  if (!short) return 0;
  if (arg.length > 2) return short.test(arg.slice(2)) ? 1 : 0;
  return next !== undefined && short.test(next) ? 2 : 0;
}
