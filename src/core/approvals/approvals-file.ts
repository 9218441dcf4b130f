/**
 * exec-approvals.json on disk: the host's own word on what may run. Read when it changes, written whole or not at all,
 * by one writer at a time across processes; what can not be read closes the host and is never written over.
 */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock, NewId } from "../clock.ts";
import { withFileLock } from "../config/lock.ts";
import { distrust, isSymlink } from "../config/paths.ts";
import { replaceFile } from "../config/replace-file.ts";
import { ExecError } from "../errors.ts";
import type { HostPolicyLayer } from "../policy/resolve.ts";
import type { AllowlistEntry } from "../policy/types.ts";
import {
  type ApprovalsDocument,
  addRules,
  EMPTY_DOCUMENT,
  hostPolicyFor,
  printDocument,
  type RuleUse,
  readDocument,
  recordUses,
  removeRules,
} from "./approvals-document.ts";

export const APPROVALS_FILE = "exec-approvals.json";
/** The newest content that was readable, for a person to go back to (`doctor --fix`). */
export const LAST_GOOD_SUFFIX = ".last-good";

const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** Uses of rules are written together, this long after the first. */
const USAGE_FLUSH_MS = 10_000;

export interface ApprovalsFileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Told once per damage, so that an operator hears of it when it happens. */
  readonly onDamage?: (problem: string) => void;
  /** This process has written the file. `before` is what was there, whoever had written it. */
  readonly onWritten?: (before: ApprovalsDocument, after: ApprovalsDocument) => void;
}

export interface ApprovalsSnapshot {
  readonly path: string;
  readonly exists: boolean;
  /** SHA-256 of the text; what a compare-and-swap names. `"missing"` when there is no file. */
  readonly hash: string;
  readonly document: ApprovalsDocument;
}

export interface ApprovalsFile {
  readonly path: string;
  policyFor(agentId: string): HostPolicyLayer | "missing" | "damaged";
  /** What is wrong with the file, where, and what to do; undefined when it is fine or not there. */
  damage(): string | undefined;
  /** @throws ExecError `invalid-argument` when the file is damaged. */
  snapshot(): ApprovalsSnapshot;
  /**
   * One atomic read-change-write. Concurrent updates, also of other processes, are applied one after the other. The
   * same document back means nothing to write.
   * @throws ExecError `invalid-argument` when the file is damaged, or `expectedHash` is no longer what is there.
   */
  update(
    change: (document: ApprovalsDocument) => ApprovalsDocument,
    options?: { readonly expectedHash?: string },
  ): Promise<void>;
  /**
   * Moves a damaged file out of the way, for an operator who starts over or goes back; nothing of it is lost.
   * @returns where it is now, or undefined when it is not damaged.
   */
  setAside(): Promise<string | undefined>;
  /** What a person allowed always, for the requesting agent. */
  grant(agentId: string, rules: readonly AllowlistEntry[]): Promise<void>;
  /** Takes back grants or rules; resolves to those that were there. */
  revoke(agentId: string, matches: (rule: AllowlistEntry) => boolean): Promise<readonly AllowlistEntry[]>;
  /** Remembers that a rule was used. Returns at once; written in batches, never in the way of a command. */
  noteUse(use: Omit<RuleUse, "at">): void;
  /** Writes what is still unwritten. */
  close(): Promise<void>;
}

type State =
  | { readonly kind: "missing" }
  | { readonly kind: "ok"; readonly document: ApprovalsDocument; readonly hash: string }
  | { readonly kind: "damaged"; readonly problem: string };

export async function openApprovalsFile(options: ApprovalsFileOptions): Promise<ApprovalsFile> {
  return new DiskApprovalsFile(options);
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

class DiskApprovalsFile implements ApprovalsFile {
  readonly path: string;
  readonly #options: ApprovalsFileOptions;
  /** What the file looked like when `#state` was read. */
  #seen: string | undefined;
  #state: State = { kind: "missing" };
  #chain: Promise<unknown> = Promise.resolve();
  #uses: RuleUse[] = [];
  #flushTimer: NodeJS.Timeout | undefined;

  constructor(options: ApprovalsFileOptions) {
    this.path = options.path;
    this.#options = options;
    this.#look();
  }

  policyFor(agentId: string): HostPolicyLayer | "missing" | "damaged" {
    const state = this.#look();
    return state.kind === "ok" ? hostPolicyFor(state.document, agentId) : state.kind;
  }

  damage(): string | undefined {
    const state = this.#look();
    return state.kind === "damaged" ? this.#damageText(state.problem) : undefined;
  }

  snapshot(): ApprovalsSnapshot {
    const state = this.#look();
    if (state.kind === "damaged") throw new ExecError("invalid-argument", this.#damageText(state.problem));
    if (state.kind === "missing") return { path: this.path, exists: false, hash: "missing", document: EMPTY_DOCUMENT };
    return { path: this.path, exists: true, hash: state.hash, document: state.document };
  }

  update(
    change: (document: ApprovalsDocument) => ApprovalsDocument,
    options: { readonly expectedHash?: string } = {},
  ): Promise<void> {
    const turn = this.#chain.then(() =>
      withFileLock(this.path, () => {
        // The lock keeps other writers of ours out; a person with an editor is seen by reading again here.
        this.#seen = undefined;
        const before = this.snapshot();
        if (options.expectedHash !== undefined && options.expectedHash !== before.hash) {
          throw new ExecError(
            "invalid-argument",
            `${this.path} was changed meanwhile; look at it again and repeat. Nothing was written.`,
          );
        }
        const after = change(before.document);
        if (after === before.document) return;
        this.#write(printDocument(after));
        this.#options.onWritten?.(before.document, after);
      }),
    );
    this.#chain = turn.catch(() => undefined);
    return turn;
  }

  async setAside(): Promise<string | undefined> {
    return withFileLock(this.path, () => {
      this.#seen = undefined;
      if (this.#look().kind !== "damaged") return undefined;
      const aside = `${this.path}.damaged-${this.#options.clock.now()}`;
      renameSync(this.path, aside);
      this.#look();
      return aside;
    });
  }

  grant(agentId: string, rules: readonly AllowlistEntry[]): Promise<void> {
    const now = this.#options.clock.now();
    const stamped = rules.map((rule) => ({ ...rule, lastUsedAt: now }));
    return this.update((document) => addRules(document, agentId, stamped, this.#options.newId));
  }

  async revoke(agentId: string, matches: (rule: AllowlistEntry) => boolean): Promise<readonly AllowlistEntry[]> {
    let removed: readonly AllowlistEntry[] = [];
    await this.update((document) => {
      const result = removeRules(document, agentId, matches);
      removed = result.removed;
      return result.document;
    });
    return removed;
  }

  noteUse(use: Omit<RuleUse, "at">): void {
    this.#uses.push({ ...use, at: this.#options.clock.now() });
    if (this.#flushTimer) return;
    this.#flushTimer = setTimeout(() => {
      // Bookkeeping: a file that can not be written now gets the next batch.
      this.#flush().catch(() => undefined);
    }, USAGE_FLUSH_MS);
    this.#flushTimer.unref();
  }

  async close(): Promise<void> {
    await this.#flush().catch(() => undefined);
    await this.#chain;
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    const uses = this.#uses;
    this.#uses = [];
    if (uses.length === 0 || this.#look().kind !== "ok") return;
    await this.update((document) => recordUses(document, uses));
  }

  /** One stat per look; the text is read only when that differs. */
  #look(): State {
    const stamp = this.#stamp();
    if (stamp === this.#seen) return this.#state;
    const before = this.#state;
    this.#seen = stamp;
    this.#state = this.#read();
    if (this.#state.kind === "damaged" && !(before.kind === "damaged" && before.problem === this.#state.problem)) {
      this.#options.onDamage?.(this.#damageText(this.#state.problem));
    }
    return this.#state;
  }

  #stamp(): string {
    if (isSymlink(this.path) || isSymlink(dirname(this.path))) return "symlink";
    const stat = statSync(this.path, { throwIfNoEntry: false, bigint: true });
    return stat ? [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(":") : "missing";
  }

  #read(): State {
    if (isSymlink(this.path) || isSymlink(dirname(this.path))) {
      return { kind: "damaged", problem: "it, or the directory it lies in, is a symbolic link" };
    }
    let text: string;
    try {
      const stat = statSync(this.path, { throwIfNoEntry: false });
      if (!stat) return { kind: "missing" };
      const mistrust = distrust(this.path);
      if (mistrust !== undefined) return { kind: "damaged", problem: mistrust };
      if (stat.size > MAX_FILE_BYTES) return { kind: "damaged", problem: `it is larger than ${MAX_FILE_BYTES} bytes` };
      text = readFileSync(this.path, "utf8");
    } catch (error) {
      return { kind: "damaged", problem: `it can not be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})` };
    }
    const result = readDocument(text);
    if (!result.ok) return { kind: "damaged", problem: result.problem };
    this.#keepLastGood(text);
    return { kind: "ok", document: result.document, hash: sha256(text) };
  }

  #damageText(problem: string): string {
    return `${this.path} is damaged: ${problem}. Nothing runs on this host until it is repaired; it was left as it is. The last readable content is in ${this.path}${LAST_GOOD_SUFFIX}.`;
  }

  #write(text: string): void {
    this.#replace(this.path, text);
    this.#seen = undefined;
    this.#look();
  }

  #keepLastGood(text: string): void {
    const copy = `${this.path}${LAST_GOOD_SUFFIX}`;
    try {
      if (statSync(copy, { throwIfNoEntry: false }) && readFileSync(copy, "utf8") === text) return;
      this.#replace(copy, text);
    } catch {
      // A copy for comfort: a full or read-only disk must not close the host.
    }
  }

  #replace(path: string, text: string): void {
    replaceFile(path, text, { uniqueId: this.#options.newId() });
  }
}
