/**
 * Looks into the script a command is about to run, for the slip that is made most: shell syntax inside Python or Node
 * code (exec.md section 9.2). Only files inside the working directory are read; whatever can not be read is left to
 * the interpreter. Not for calls under security=full with ask=off: there the policy is followed without a second guess.
 */
import { open, realpath } from "node:fs/promises";
import { basename, relative, resolve, sep } from "node:path";
import { ExecError } from "../errors.ts";
import { programName } from "../policy/program-kinds.ts";
import { mentionedCommands } from "../policy/shell/parse.ts";
import { phrase } from "../words/phrase.ts";
import { type Finding, nodeFinding, pythonFinding } from "./script-findings.ts";
import { foreignShebang } from "./shebang.ts";

/** Larger scripts are not read. */
export const MAX_SCRIPT_BYTES = 524_288;

interface ScriptTarget {
  readonly language: "python" | "node";
  readonly path: string;
}

/** Throws `invalid-argument` with the file, the line and what to write instead. */
export async function preflight(command: string, cwd: string): Promise<void> {
  const script = foreignShebang(command);
  if (script !== undefined) throw new ExecError("invalid-argument", phrase("error.preflight", { problem: script }));
  for (const { words } of mentionedCommands(command).commands) {
    const target = scriptTarget(words);
    if (target === undefined) continue;
    const text = await readInside(cwd, target.path);
    if (text === undefined) continue;
    const finding = target.language === "python" ? pythonFinding(text) : nodeFinding(text);
    if (finding !== undefined) throw refusal(target, finding);
  }
}

function refusal(target: ScriptTarget, finding: Finding): ExecError {
  const place = `${target.path}:${finding.line}`;
  if (finding.kind === "shell-syntax") {
    return new ExecError("invalid-argument", phrase("error.preflight.shellSyntax", { place }));
  }
  const name = finding.variable.slice(1);
  const instead = target.language === "python" ? `os.environ.get("${name}")` : `process.env["${name}"]`;
  return new ExecError(
    "invalid-argument",
    phrase("error.preflight.variable", {
      place,
      variable: finding.variable,
      language: target.language === "python" ? "Python" : "Node",
      instead,
    }),
    { variable: finding.variable, line: finding.line },
  );
}

/** The script file of `python [options] file.py` or `node [options] file.js`; assignments and `env …` before it are stepped over. */
export function scriptTarget(words: readonly (string | undefined)[]): ScriptTarget | undefined {
  const rest = withoutEnv(words);
  const name = rest[0] === undefined ? "" : programName(basename(rest[0]));
  if (/^python[\d.]*$/.test(name)) return operand(rest.slice(1), "python", /\.py$/i);
  if (name === "node" || name === "nodejs") return operand(rest.slice(1), "node", /\.[cm]?js$/i);
  return undefined;
}

/** Options that take code, a module or standard input instead of a file, or only print something. */
const NOT_A_FILE: Readonly<Record<ScriptTarget["language"], RegExp>> = {
  python: /^(-|-[a-zA-Z]*[cmVh].*|--version|--help.*)$/,
  node: /^(-|-[a-z]*[epvhci].*|--eval.*|--print.*|--version|--help|--check|--test.*|--interactive)$/,
};
const TAKES_VALUE: Readonly<Record<ScriptTarget["language"], RegExp>> = {
  python: /^-[WX]$/,
  node: /^(-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--env-file|--inspect-port)$/,
};

function operand(
  words: readonly (string | undefined)[],
  language: ScriptTarget["language"],
  extension: RegExp,
): ScriptTarget | undefined {
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) return undefined;
    if (!word.startsWith("-")) return extension.test(word) ? { language, path: word } : undefined;
    if (NOT_A_FILE[language].test(word)) return undefined;
    if (TAKES_VALUE[language].test(word)) at++;
  }
  return undefined;
}

function withoutEnv(words: readonly (string | undefined)[]): readonly (string | undefined)[] {
  if (words[0] === undefined || programName(basename(words[0])) !== "env") return words;
  let at = 1;
  while (at < words.length && /^(-|[A-Za-z_][A-Za-z0-9_]*=)/.test(words[at] ?? "")) {
    at += words[at] === "-u" || words[at] === "--unset" ? 2 : 1;
  }
  return words.slice(at);
}

async function readInside(cwd: string, path: string): Promise<string | undefined> {
  try {
    const [root, file] = await Promise.all([realpath(cwd), realpath(resolve(cwd, path))]);
    const inside = relative(root, file);
    if (inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || resolve(root, inside) !== file)
      return undefined;
    const handle = await open(file, "r");
    try {
      const stat = await handle.stat();
      if (!stat.isFile() || stat.size > MAX_SCRIPT_BYTES) return undefined;
      return (await handle.readFile()).toString("utf8");
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}
