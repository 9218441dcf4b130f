/** The one place where a reason becomes a sentence; chat, CLI, web and audit say the same words. */
import type { Reason, ReasonCode } from "./decision.ts";
import type { PolicyLayer } from "./types.ts";

type Sentence = (subject: string | undefined) => string;

/** `‹subject›` when there is one; the caller escapes for its medium. */
const named = (subject: string | undefined, fallback: string): string => (subject ? `“${subject}”` : fallback);

const SENTENCES: Readonly<Record<ReasonCode, Sentence>> = {
  "security-deny": () => "exec is switched off here (security=deny)",
  "allowlist-miss": (s) => `${named(s, "the command")} is not on the allowlist`,
  "ask-always": () => "every command needs an approval here (ask=always)",
  "approvals-file-damaged": () =>
    "exec-approvals.json is damaged, so nothing may run; repair it (openclaw-exec doctor tells where)",
  "cannot-pin": (s) => `what would run can not be pinned down${s ? `: “${s}”` : ""}`,
  "inline-eval": (s) => `${named(s, "the interpreter")} would run code given on its command line`,
  "control-command": (s) => `${named(s, "this command")} controls approvals or accounts and is never run through exec`,
  "audit-suppression": () => "the command touches security.audit.suppressions",
  "too-long": () => "the command is too long to be analysed",
  "control-character": (s) => `the command holds a control character${s ? ` (${s})` : ""}`,
  "invisible-character": (s) => `the command holds an invisible or look-alike character${s ? ` (${s})` : ""}`,
  "line-continuation": () => "a backslash at the end of a line joins lines; write the command on one line",
  empty: () => "there is no command",
  "syntax-error": (s) => `the shell syntax is not valid${s ? `: ${s}` : ""}`,
  "too-many-segments": () => "the command has too many parts to be analysed",
  redirect: (s) => `${named(s, "a redirection")} reads or writes a file`,
  heredoc: () => "a here-document is never run without an approval",
  "here-string": () => "a here-string is never run without an approval",
  "command-substitution": (s) =>
    `${named(s, "a command substitution")} runs another command; use single quotes if the text is meant literally`,
  "process-substitution": (s) => `${named(s, "a process substitution")} runs another command`,
  "dynamic-argument": (s) =>
    `${named(s, "an argument")} is only known when it runs; use single quotes if the text is meant literally`,
  "dynamic-executable": (s) => `${named(s, "the program")} is only known when it runs`,
  assignment: (s) => `${named(s, "an assignment")} changes a variable of the shell`,
  "env-prefix": (s) => `${named(s, "a variable")} is set in front of the command`,
  glob: (s) => `${named(s, "a pattern")} expands to whatever files are there; quote it or name the files`,
  "brace-expansion": (s) => `${named(s, "a brace expression")} expands to several words`,
  tilde: (s) => `${named(s, "a tilde")} expands to a home directory; write the path out`,
  subshell: () => "a subshell ( … ) is not analysed",
  group: () => "a group { … } is not analysed",
  function: () => "a function definition is not analysed",
  loop: () => "a loop is not analysed",
  conditional: () => "an if or [[ … ]] is not analysed",
  case: () => "a case statement is not analysed",
  arithmetic: () => "shell arithmetic is not analysed",
  background: () => "the & operator is not analysed; use background=true instead",
  coproc: () => "a coprocess is not analysed",
  "unsupported-syntax": (s) => `${named(s, "this syntax")} is not analysed`,
  "not-found": (s) => `${named(s, "the program")} was not found on PATH`,
  "relative-path": (s) => `${named(s, "the program")} is not named by a plain absolute path`,
  "untrusted-directory": (s) => `${named(s, "the program")} lies in a directory that others or the agent can write to`,
  "non-ascii-name": (s) => `${named(s, "the program name")} holds unusual characters`,
  builtin: (s) => `${named(s, "a shell builtin")} changes the shell or runs code and is never trusted`,
  wrapper: (s) => `${named(s, "the program")} starts another program in a way that is not analysed`,
  "wrapper-option": (s) => `${named(s, "an option of the wrapper")} is not analysed`,
  "wrapper-depth": () => "too many programs are wrapped into each other",
  carrier: (s) => `${named(s, "the program")} exists to run other programs`,
  "package-runner": (s) => `${named(s, "the package runner")} may download and run a package`,
  "shell-wrapper": (s) => `${named(s, "the shell")} runs text that is not analysed`,
  "login-shell": (s) => `${named(s, "the shell")} would run start-up files (login or interactive shell)`,
  multiplexer: (s) => `${named(s, "the program")} is many programs in one`,
  "stdin-program": (s) => `${named(s, "the interpreter")} would run whatever it reads from its input`,
  "argument-guard": (s) => `${named(s, "an argument")} can run another program, load code or write a file`,
  "safe-bin-argument": (s) => `${named(s, "an argument")} is not one of the safe options of a stdin filter`,
  "after-cd": (s) => `${named(s, "the rule")} does not hold after cd`,
  "script-missing": (s) => `${named(s, "the script")} does not exist`,
  "script-not-bindable": (s) => `${named(s, "the script")} can not be checked for changes`,
  "changed-request": () => "the command, its environment or its target is not the one that was decided on",
  "changed-directory": (s) => `the working directory ${named(s, "")} was replaced after the decision`,
  "changed-executable": (s) => `${named(s, "the program")} changed after the decision`,
  "changed-script": (s) => `approval script operand changed before execution: ${named(s, "the script")}`,
};

/** One short sentence without a final stop. The subject is verbatim: escape it for the medium. */
export function explainReason(reason: Reason): string {
  return SENTENCES[reason.code](reason.subject);
}

const LAYERS: Readonly<Record<PolicyLayer, string>> = {
  default: "the default",
  "config:tools.exec": "tools.exec in openclaw.json",
  "config:agent": "the agent's tools.exec in openclaw.json",
  "session:/exec": "/exec in this session",
  "host-file:defaults": "defaults in exec-approvals.json",
  "host-file:*": 'agents["*"] in exec-approvals.json',
  "host-file:agent": "the agent's entry in exec-approvals.json",
  "host-file:damaged": "the damaged exec-approvals.json",
  call: "this call",
  elevated: "elevated mode",
};

/** Where a value comes from, for people. */
export function explainLayer(layer: PolicyLayer): string {
  return LAYERS[layer];
}
