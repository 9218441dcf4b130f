/** The one place where a reason becomes a sentence; chat, CLI, web and audit say the same words. */
import { type Phrase, type PhraseKey, phrase } from "../words/phrase.ts";
import type { Reason, ReasonCode } from "./decision.ts";
import type { PolicyLayer } from "./types.ts";

type Sentence = (subject: string | undefined) => Phrase;

/** The caller escapes for its medium. */
const quoted = (text: string): Phrase => phrase("subject.quoted", { text });

const named = (subject: string | undefined, fallback: Noun): Phrase => (subject ? quoted(subject) : phrase(fallback));

type Noun = Exclude<Extract<PhraseKey, `subject.${string}`>, "subject.quoted">;

const SENTENCES: Readonly<Record<ReasonCode, Sentence>> = {
  "security-deny": () => phrase("reason.security-deny"),
  "allowlist-miss": (s) => phrase("reason.allowlist-miss", { subject: named(s, "subject.command") }),
  "ask-always": () => phrase("reason.ask-always"),
  "approvals-file-damaged": () => phrase("reason.approvals-file-damaged"),
  "cannot-pin": (s) => (s ? phrase("reason.cannot-pin.about", { subject: quoted(s) }) : phrase("reason.cannot-pin")),
  "inline-eval": (s) => phrase("reason.inline-eval", { subject: named(s, "subject.interpreter") }),
  "control-command": (s) => phrase("reason.control-command", { subject: named(s, "subject.thisCommand") }),
  "audit-suppression": () => phrase("reason.audit-suppression"),
  "too-long": () => phrase("reason.too-long"),
  "control-character": (s) =>
    s ? phrase("reason.control-character.about", { character: s }) : phrase("reason.control-character"),
  "invisible-character": (s) =>
    s ? phrase("reason.invisible-character.about", { character: s }) : phrase("reason.invisible-character"),
  "line-continuation": () => phrase("reason.line-continuation"),
  empty: () => phrase("reason.empty"),
  "syntax-error": (s) => (s ? phrase("reason.syntax-error.about", { problem: s }) : phrase("reason.syntax-error")),
  "too-many-segments": () => phrase("reason.too-many-segments"),
  redirect: (s) => phrase("reason.redirect", { subject: named(s, "subject.redirection") }),
  heredoc: () => phrase("reason.heredoc"),
  "here-string": () => phrase("reason.here-string"),
  "command-substitution": (s) =>
    phrase("reason.command-substitution", { subject: named(s, "subject.commandSubstitution") }),
  "process-substitution": (s) =>
    phrase("reason.process-substitution", { subject: named(s, "subject.processSubstitution") }),
  "dynamic-argument": (s) => phrase("reason.dynamic-argument", { subject: named(s, "subject.argument") }),
  "dynamic-executable": (s) => phrase("reason.dynamic-executable", { subject: named(s, "subject.program") }),
  assignment: (s) => phrase("reason.assignment", { subject: named(s, "subject.assignment") }),
  "env-prefix": (s) => phrase("reason.env-prefix", { subject: named(s, "subject.variable") }),
  glob: (s) => phrase("reason.glob", { subject: named(s, "subject.pattern") }),
  "brace-expansion": (s) => phrase("reason.brace-expansion", { subject: named(s, "subject.brace") }),
  tilde: (s) => phrase("reason.tilde", { subject: named(s, "subject.tilde") }),
  subshell: () => phrase("reason.subshell"),
  group: () => phrase("reason.group", { braces: "{ … }" }),
  function: () => phrase("reason.function"),
  loop: () => phrase("reason.loop"),
  conditional: () => phrase("reason.conditional"),
  case: () => phrase("reason.case"),
  arithmetic: () => phrase("reason.arithmetic"),
  background: () => phrase("reason.background"),
  coproc: () => phrase("reason.coproc"),
  "unsupported-syntax": (s) => phrase("reason.unsupported-syntax", { subject: named(s, "subject.syntax") }),
  "not-found": (s) => phrase("reason.not-found", { subject: named(s, "subject.program") }),
  "relative-path": (s) => phrase("reason.relative-path", { subject: named(s, "subject.program") }),
  "untrusted-directory": (s) => phrase("reason.untrusted-directory", { subject: named(s, "subject.program") }),
  "non-ascii-name": (s) => phrase("reason.non-ascii-name", { subject: named(s, "subject.programName") }),
  builtin: (s) => phrase("reason.builtin", { subject: named(s, "subject.builtin") }),
  wrapper: (s) => phrase("reason.wrapper", { subject: named(s, "subject.program") }),
  "wrapper-option": (s) => phrase("reason.wrapper-option", { subject: named(s, "subject.wrapperOption") }),
  "wrapper-depth": () => phrase("reason.wrapper-depth"),
  carrier: (s) => phrase("reason.carrier", { subject: named(s, "subject.program") }),
  "package-runner": (s) => phrase("reason.package-runner", { subject: named(s, "subject.packageRunner") }),
  "shell-wrapper": (s) => phrase("reason.shell-wrapper", { subject: named(s, "subject.shell") }),
  "login-shell": (s) => phrase("reason.login-shell", { subject: named(s, "subject.shell") }),
  multiplexer: (s) => phrase("reason.multiplexer", { subject: named(s, "subject.program") }),
  "stdin-program": (s) => phrase("reason.stdin-program", { subject: named(s, "subject.interpreter") }),
  "argument-guard": (s) => phrase("reason.argument-guard", { subject: named(s, "subject.argument") }),
  "safe-bin-argument": (s) => phrase("reason.safe-bin-argument", { subject: named(s, "subject.argument") }),
  "after-cd": (s) => phrase("reason.after-cd", { subject: named(s, "subject.rule") }),
  "script-missing": (s) => phrase("reason.script-missing", { subject: named(s, "subject.script") }),
  "script-not-bindable": (s) => phrase("reason.script-not-bindable", { subject: named(s, "subject.script") }),
  "changed-request": () => phrase("reason.changed-request"),
  "changed-directory": (s) => phrase("reason.changed-directory", { subject: s ? quoted(s) : "" }),
  "changed-executable": (s) => phrase("reason.changed-executable", { subject: named(s, "subject.program") }),
  "changed-script": (s) => phrase("reason.changed-script", { subject: named(s, "subject.script") }),
};

/** For codes that come from outside. */
export function isReasonCode(code: string): code is ReasonCode {
  return Object.hasOwn(SENTENCES, code);
}

/** One short sentence without a final stop. The subject is verbatim: escape it for the medium. */
export function reasonPhrase(reason: Reason): Phrase {
  return SENTENCES[reason.code](reason.subject);
}

/** The same in English: for the CLI, the audit trail and agents. */
export function explainReason(reason: Reason): string {
  return reasonPhrase(reason).text;
}

/** Where a value comes from, for people. */
export function layerPhrase(layer: PolicyLayer): Phrase {
  return phrase(`layer.${layer}`);
}

export function explainLayer(layer: PolicyLayer): string {
  return layerPhrase(layer).text;
}
