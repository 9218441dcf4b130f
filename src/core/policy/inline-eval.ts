/** Code given on a command line (`tools.exec.strictInlineEval`, spec: policy.md section 15). */
import { posix } from "node:path";
import type { Reason } from "./decision.ts";
import { awkGuard } from "./guard/awk.ts";
import { sedGuard } from "./guard/sed.ts";
import { interpreterName, readInterpreter } from "./interpreters.ts";
import { nameIn, SHELLS, spellings } from "./program-kinds.ts";
import { mentionedCommands } from "./shell/parse.ts";
import { Payloads } from "./shell/payloads.ts";

const AWKS = new Set(["awk", "gawk", "mawk", "nawk", "original-awk"]);
const SEDS = new Set(["sed", "gsed", "ssed"]);

/** Languages without a table of their own: any of these options counts. */
const OTHER_CODE_OPTIONS: Readonly<Record<string, RegExp>> = {
  deno: /^(?:eval|-e|-p|--eval|--print)(?:=|$)/,
  bun: /^(?:-e|-p|--eval|--print)/,
  elixir: /^(?:-e|--eval|--rpc-eval)/,
  iex: /^(?:-e|--eval|--rpc-eval)/,
  guile: /^-c/,
  groovy: /^-e/,
  scala: /^-e/,
  clojure: /^(?:-e|--eval)/,
  clj: /^(?:-e|--eval)/,
  ghc: /^-e/,
  erl: /^-(?:eval|run|s)$/,
  gdb: /^-{1,2}(?:ex|eval-command|iex|init-eval-command)/,
  expect: /^-c/,
  make: /^(?:-f|-E|--eval|--file|--makefile)/,
  gmake: /^(?:-f|-E|--eval|--file|--makefile)/,
  find: /^-(?:exec|execdir|ok|okdir)$/,
  xargs: /^[^-]/,
};

/** The option or program text that is code, or undefined. */
export function inlineCode(names: readonly string[], args: readonly string[]): string | undefined {
  const language = interpreterName(names);
  if (language !== undefined) {
    const use = readInterpreter(language, args);
    if (use.kind === "code") return use.option;
    return use.kind === "refused" ? use.code : undefined;
  }
  for (const plain of names.flatMap(spellings)) {
    // An awk or sed program that can only print or edit is a filter, not code.
    if (AWKS.has(plain)) return awkGuard(args);
    if (SEDS.has(plain)) return sedGuard(args);
    const option = Object.hasOwn(OTHER_CODE_OPTIONS, plain) ? OTHER_CODE_OPTIONS[plain] : undefined;
    const found = option && args.find((arg) => option.test(arg));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A name that has anything to do with code; everything else needs no look at its arguments. */
function mayCarryCode(name: string): boolean {
  return spellings(name).some(
    (plain) =>
      interpreterName([plain]) !== undefined ||
      SHELLS.has(plain) ||
      AWKS.has(plain) ||
      SEDS.has(plain) ||
      Object.hasOwn(OTHER_CODE_OPTIONS, plain),
  );
}

/** Commands that name an interpreter again and again are not looked at word by word. */
const MAX_CODE_WORDS = 64;

/** How deep `bash -c 'bash -c …'` is read before it counts as inline code by itself. */
const MAX_NESTING = 4;

/**
 * For security=full: looks at every command the text mentions, also inside substitutions, functions and `bash -c`.
 * What can not be read counts as inline code, since nobody could say that it is not.
 */
export function inlineCodeAnywhere(command: string): Reason | undefined {
  return search(command, 0, new Payloads());
}

function search(command: string, depth: number, payloads: Payloads): Reason | undefined {
  const look = payloads.take(command);
  if (look === "seen") return undefined;
  if (look === "too-much") return { code: "inline-eval" };
  const { commands, complete } = mentionedCommands(command);
  if (!complete || depth > MAX_NESTING) return { code: "inline-eval" };
  for (const { words, textInput, piped } of commands) {
    const [program] = words;
    if (words.length === 0) continue;
    if (words.filter((word) => word !== undefined && mayCarryCode(posix.basename(word))).length > MAX_CODE_WORDS) {
      return { code: "inline-eval" };
    }
    if (program === undefined) return { code: "inline-eval" };
    // Any position: `sudo -u x env A=1 python3 -c …` hides the interpreter behind options that differ per wrapper.
    for (let at = 0; at < words.length; at += 1) {
      const word = words[at];
      if (word === undefined) continue;
      const names = [posix.basename(word)];
      if (!mayCarryCode(names[0] as string) && at > 0) continue;
      const rest = words.slice(at + 1);
      const args = rest.map((arg) => arg ?? "");
      const code = inlineCode(names, args);
      if (code !== undefined) return { code: "inline-eval", subject: `${word} ${code}`.slice(0, 200) };
      const language = interpreterName(names);
      if (language !== undefined && (textInput || (piped && readInterpreter(language, args).kind === "stdin"))) {
        return { code: "inline-eval", subject: word };
      }
      if (nameIn(names, SHELLS)) {
        const option = args.findIndex((arg) => /^-[a-zA-Z]*c$/.test(arg));
        const payload = option < 0 ? undefined : rest[option + 1];
        if (option >= 0 && payload === undefined) return { code: "inline-eval", subject: word };
        const inner = payload === undefined ? undefined : search(payload, depth + 1, payloads);
        if (inner) return inner;
      }
      if (at === 0 && (word === "eval" || word === "source" || word === ".")) {
        const inner = rest.includes(undefined)
          ? { code: "inline-eval" as const }
          : search(args.join(" "), depth + 1, payloads);
        if (word === "eval" && inner) return inner;
      }
    }
  }
  return undefined;
}
