/**
 * What the policy answers. `decide.ts` is the only producer; the exec pipeline, cards, `explain` and the audit
 * only read it.
 */
import type {
  AllowlistEntry,
  ApprovalDecision,
  EffectiveHost,
  EffectivePolicy,
  FileFacts,
  PolicyLayer,
} from "./types.ts";

/** Why a command is not simply allowed. A closed set: the sentence a person reads is made from it in `reasons.ts`. */
export type Reason = {
  readonly code: ReasonCode;
  /** The word, option, path or construct it is about, verbatim (never rendered as markup). */
  readonly subject?: string;
  /** UTF-16 span in the command. */
  readonly span?: Span;
};

export interface Span {
  readonly start: number;
  readonly end: number;
}

export type ReasonCode =
  // policy
  | "security-deny"
  | "allowlist-miss"
  | "ask-always"
  | "approvals-file-damaged"
  | "cannot-pin"
  | "inline-eval"
  // guard
  | "control-command"
  | "audit-suppression"
  // raw gate
  | "too-long"
  | "control-character"
  | "invisible-character"
  | "line-continuation"
  // grammar
  | "empty"
  | "syntax-error"
  | "too-many-segments"
  | "redirect"
  | "heredoc"
  | "here-string"
  | "command-substitution"
  | "process-substitution"
  | "dynamic-argument"
  | "dynamic-executable"
  | "assignment"
  | "env-prefix"
  | "glob"
  | "brace-expansion"
  | "tilde"
  | "subshell"
  | "group"
  | "function"
  | "loop"
  | "conditional"
  | "case"
  | "arithmetic"
  | "background"
  | "coproc"
  | "unsupported-syntax"
  // segments
  | "not-found"
  | "relative-path"
  | "untrusted-directory"
  | "non-ascii-name"
  | "builtin"
  | "wrapper"
  | "wrapper-option"
  | "wrapper-depth"
  | "carrier"
  | "package-runner"
  | "shell-wrapper"
  | "login-shell"
  | "multiplexer"
  | "stdin-program"
  | "argument-guard"
  | "safe-bin-argument"
  | "after-cd"
  // binding
  | "script-missing"
  | "script-not-bindable"
  // re-check right before spawn
  | "changed-request"
  | "changed-directory"
  | "changed-executable"
  | "changed-script";

export interface Segment {
  /** As written. */
  readonly text: string;
  readonly argv: readonly string[];
  /** How this segment is joined to the next one. */
  readonly next?: "|" | "|&" | "&&" | "||" | ";";
  readonly executableSpan?: Span;
  readonly resolvedPath?: string;
  readonly realPath?: string;
  readonly satisfiedBy: "allowlist" | "safe-bin" | "builtin" | "none";
  /** The rule that matched. */
  readonly entry?: AllowlistEntry;
  readonly reasons: readonly Reason[];
}

/** What will really run (decisions.md D8). */
export type Plan =
  /** One command, no shell. `argv0` keeps the typed name for multi-call binaries. */
  | { readonly kind: "argv"; readonly file: string; readonly argv0: string; readonly args: readonly string[] }
  /** Rebuilt from the syntax tree: absolute paths, every word single-quoted; run by bash without start-up files. */
  | { readonly kind: "rebuilt"; readonly text: string }
  /** Byte for byte as shown, in the user's shell. */
  | { readonly kind: "verbatim"; readonly text: string };

/** Facts taken when the plan was made, compared again right before spawn (policy.md section 11). */
export interface Binding {
  /** SHA-256 over the canonical JSON of all below plus plan, host, env override names and values. */
  readonly hash: string;
  readonly cwd: { readonly path: string; readonly dev: number; readonly ino: number };
  readonly files: readonly {
    readonly role: "executable" | "script";
    readonly path: string;
    readonly dev: number;
    readonly ino: number;
    readonly size: number;
    readonly mtimeMs: number;
    /** Only for files the agent or others could rewrite, and for scripts. */
    readonly sha256?: string;
    /** The file did not exist; it must still not exist when the plan runs. All numbers are 0 then. */
    readonly absent?: true;
  }[];
}

export interface DecisionBase {
  readonly segments: readonly Segment[];
  readonly reasons: readonly Reason[];
}

export type Decision =
  | (DecisionBase & { readonly kind: "allow"; readonly plan: Plan; readonly binding: Binding })
  | (DecisionBase & {
      readonly kind: "ask";
      readonly plan: Plan;
      readonly binding: Binding;
      /** What a person may choose; `allow-always` is absent for one-shot requests. */
      readonly offered: readonly ApprovalDecision[];
      /** Exactly what "Allow always" would store, for the requesting agent. Empty when not offered. */
      readonly alwaysStores: readonly AllowlistEntry[];
      /** The automatic reviewer may answer first. */
      readonly reviewable: boolean;
      /** Only an explicit answer may let it run; `askFallback` never can (policy.md 2.4). */
      readonly explicitOnly: boolean;
      /** Every segment is satisfied and pinned: what `askFallback=allowlist` would run. */
      readonly pinned?: { readonly plan: Plan; readonly binding: Binding };
    })
  | (DecisionBase & { readonly kind: "deny"; readonly layer: PolicyLayer });

export interface DecideInput {
  readonly command: string;
  /** Real path of an existing directory. */
  readonly cwd: string;
  readonly host: EffectiveHost;
  readonly agentId: string;
  /** Overrides asked for by the call, already validated. */
  readonly env: Readonly<Record<string, string>>;
  readonly policy: EffectivePolicy;
  /** The gateway's PATH, frozen at start. */
  readonly path: readonly string[];
  readonly home: string;
  readonly facts: FileFacts;
}
