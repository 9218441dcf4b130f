/**
 * The vocabulary of the exec policy (spec: policy.md section 1). Pure: nothing here or beside it does I/O; what
 * the file system says is handed in as `FileFacts`.
 */

/** Strict to loose. */
export const SECURITY_LEVELS = ["deny", "allowlist", "full"] as const;
export type Security = (typeof SECURITY_LEVELS)[number];

/** Loose to strict. */
export const ASK_LEVELS = ["off", "on-miss", "always"] as const;
export type Ask = (typeof ASK_LEVELS)[number];

export const EXEC_MODES = ["deny", "allowlist", "ask", "auto", "full"] as const;
export type ExecMode = (typeof EXEC_MODES)[number];

export const EXEC_HOSTS = ["auto", "sandbox", "gateway", "node"] as const;
export type ExecHost = (typeof EXEC_HOSTS)[number];
/** Where a command really runs: `auto` is resolved before the policy looks. */
export type EffectiveHost = Exclude<ExecHost, "auto">;

export const APPROVAL_DECISIONS = ["allow-once", "allow-always", "deny"] as const;
export type ApprovalDecision = (typeof APPROVAL_DECISIONS)[number];

/** Which layer gave a value; shown by `/exec`, `approvals get` and every denial. */
export type PolicyLayer =
  | "default"
  | "config:tools.exec"
  | "config:agent"
  | "session:/exec"
  | "host-file:defaults"
  | "host-file:*"
  | "host-file:agent"
  | "host-file:damaged"
  | "call"
  | "sandbox"
  | "elevated";

export interface Sourced<T> {
  readonly value: T;
  readonly from: PolicyLayer;
}

/** One rule of the allowlist (exec-approvals.json, policy.md section 4). */
export interface AllowlistEntry {
  readonly pattern: string;
  /** JavaScript regex on the NUL-joined or space-joined arguments, or a `sha256:cwd-argv:v1:` binding. */
  readonly argPattern?: string;
  readonly id?: string;
  /** Only ever `allow-always`; absent means an operator wrote it. */
  readonly source?: "allow-always";
  readonly lastUsedAt?: number;
  readonly lastUsedCommand?: string;
  readonly lastResolvedPath?: string;
}

export interface SafeBinProfile {
  readonly minPositional?: number;
  readonly maxPositional?: number;
  readonly allowedValueFlags?: readonly string[];
  readonly deniedFlags?: readonly string[];
}

/** All that a decision depends on, already resolved from every layer. */
export interface EffectivePolicy {
  readonly security: Sourced<Security>;
  readonly ask: Sourced<Ask>;
  readonly askFallback: Sourced<Security>;
  /** The automatic reviewer is asked before a person (mode `auto`). */
  readonly autoReview: boolean;
  /** Elevated `full`: no analysis at all. */
  readonly bypass: boolean;
  readonly strictInlineEval: boolean;
  /** decisions.md D10. */
  readonly argumentGuard: boolean;
  /** Refuse, instead of ask about, what can not be pinned (policy.md 11.3). */
  readonly strictBinding: boolean;
  readonly allowlist: readonly AllowlistEntry[];
  readonly safeBins: readonly string[];
  readonly safeBinTrustedDirs: readonly string[];
  readonly safeBinProfiles: Readonly<Record<string, SafeBinProfile>>;
}

export interface FileStat {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly kind: "file" | "directory" | "other";
}

/** What the policy may ask of the file system. The product's driver is `core/exec/file-facts.ts`; tests pass tables. */
export interface FileFacts {
  /** The user this process runs as; undefined where the system has no such number. */
  readonly uid: number | undefined;
  /** Windows: names that differ in case alone are one file, and `\\` separates directories. */
  readonly windowsNames?: boolean;
  /** Symlinks followed; undefined when it does not exist. */
  stat(path: string): FileStat | undefined;
  realpath(path: string): string | undefined;
  isExecutable(path: string): boolean;
  /** Hex; undefined when unreadable or over `maxBytes`. */
  sha256(path: string, maxBytes: number): string | undefined;
}
