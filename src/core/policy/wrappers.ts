/**
 * Programs that run the rest of their arguments unchanged. Looking through one needs its whole option grammar: an
 * option that is not in the table ends the analysis (spec: policy.md 6.1, shell-analysis.md 4.7).
 */
import type { Reason } from "./decision.ts";

/** A fifth wrapper around a program is not looked into (policy.md 6.1). */
export const MAX_WRAPPER_DEPTH = 4;

export interface Unwrapped {
  /** Number of words, the wrapper's own name included, that stand before the inner command. */
  readonly skip: number;
}

export type WrapperVerdict = Unwrapped | Reason | "not-a-wrapper";

const DURATION = /^\d+(?:\.\d+)?[smhd]?$/;
const SIGNAL = /^(?:\d{1,2}|(?:SIG)?[A-Z0-9+-]{2,10})$/;
const BUFFERING = /^(?:L|0|\d+[KMG]?)$/;
const NICENESS = /^[-+]?\d{1,3}$/;

interface WrapperGrammar {
  /** Options without a value, spelled out. */
  readonly flags: readonly string[];
  /** Options with a value: short ones take it joined or as the next word, long ones with `=` or as the next word. */
  readonly values: Readonly<Record<string, RegExp>>;
  /** A bare number option such as `nice -5`. */
  readonly number?: RegExp;
  /** Operands before the inner command. */
  readonly operands: readonly RegExp[];
}

const GRAMMARS: Readonly<Record<string, WrapperGrammar>> = {
  env: { flags: [], values: {}, operands: [] },
  nice: {
    flags: [],
    values: { "-n": NICENESS, "--adjustment": NICENESS },
    number: /^-[-+]?\d{1,3}$/,
    operands: [],
  },
  nohup: { flags: [], values: {}, operands: [] },
  timeout: {
    flags: ["--foreground", "--preserve-status", "-v", "--verbose", "-p", "-f"],
    values: { "-k": DURATION, "--kill-after": DURATION, "-s": SIGNAL, "--signal": SIGNAL },
    operands: [DURATION],
  },
  stdbuf: {
    flags: [],
    values: {
      "-i": BUFFERING,
      "-o": BUFFERING,
      "-e": BUFFERING,
      "--input": BUFFERING,
      "--output": BUFFERING,
      "--error": BUFFERING,
    },
    operands: [],
  },
  time: { flags: ["-p", "-v", "--portability", "--verbose"], values: {}, operands: [] },
};

export const isWrapper = (name: string): boolean => Object.hasOwn(GRAMMARS, name);

/** `words[0]` is the wrapper's name as the caller classified it. */
export function unwrap(name: string, words: readonly string[]): WrapperVerdict {
  const grammar = GRAMMARS[name];
  if (!grammar) return "not-a-wrapper";
  let at = 1;
  while (at < words.length) {
    const word = words[at] as string;
    if (word === "--") {
      at += 1;
      break;
    }
    if (!word.startsWith("-") || word === "-") break;
    const length = optionLength(grammar, word, words[at + 1]);
    if (length === 0) return { code: "wrapper-option", subject: `${name} ${word}` };
    at += length;
  }
  if (name === "env") {
    while (at < words.length && /^[A-Za-z_][A-Za-z0-9_]*=/.test(words[at] as string)) {
      const assignment = words[at] as string;
      const equals = assignment.indexOf("=");
      if (!isHarmlessVariable(assignment.slice(0, equals), assignment.slice(equals + 1))) {
        return { code: "wrapper-option", subject: `env ${assignment}` };
      }
      at += 1;
    }
    // Anything else with `=` or a dash in front is an assignment or option that env knows and this table does not.
    if (words[at]?.includes("=") || words[at]?.startsWith("-")) {
      return { code: "wrapper-option", subject: `env ${words[at]}` };
    }
  }
  for (const operand of grammar.operands) {
    const word = words[at];
    if (word === undefined || !operand.test(word))
      return { code: "wrapper-option", subject: `${name} ${word ?? ""}`.trim() };
    at += 1;
  }
  if (at >= words.length) return { code: "wrapper", subject: name };
  return { skip: at };
}

/** Words that the option takes, 0 when it is not in the table. */
function optionLength(grammar: WrapperGrammar, word: string, next: string | undefined): 0 | 1 | 2 {
  if (grammar.flags.includes(word)) return 1;
  if (grammar.number?.test(word)) return 1;
  const exact = grammar.values[word];
  if (exact) return next !== undefined && exact.test(next) ? 2 : 0;
  if (word.startsWith("--")) {
    const equals = word.indexOf("=");
    const long = equals < 0 ? undefined : grammar.values[word.slice(0, equals)];
    return long?.test(word.slice(equals + 1)) ? 1 : 0;
  }
  return grammar.values[word.slice(0, 2)]?.test(word.slice(2)) ? 1 : 0;
}

/** Variables that change how a program talks, never what it runs. */
const HARMLESS_VARIABLES =
  /^(?:NODE_ENV|RAILS_ENV|RACK_ENV|CI|LANG|LC_[A-Z]+|TZ|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|PORT|DEBUG|VERBOSE|LOG_LEVEL|LOGLEVEL|RUST_LOG|RUST_BACKTRACE|GOOS|GOARCH|CGO_ENABLED|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|NODE_NO_WARNINGS|APP_ENV|FLASK_ENV|HEADLESS)$/;
/** No path, no list, nothing a loader or locale would look up as a file. `Europe/Berlin` is a time zone. */
const HARMLESS_VALUE = /^(?:[A-Za-z0-9][A-Za-z0-9_.,+@-]*(?:\/[A-Za-z0-9][A-Za-z0-9_+-]*)?)?$/;

export function isHarmlessVariable(name: string, value: string): boolean {
  if (!HARMLESS_VARIABLES.test(name) || !HARMLESS_VALUE.test(value)) return false;
  return name === "TZ" || !value.includes("/");
}
