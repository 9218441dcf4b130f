/** A change of what may run or of who may decide about it: old and new, for the audit trail and for the owners. Pure. */
import type { Actor } from "../route.ts";

export type PolicySource =
  /** "Allow always" on a card, and its "Take back". */
  | "allow-always"
  | "/allowlist"
  | "/exec"
  /** Written by something else than the gateway: an editor, the command line, a program. */
  | "exec-approvals.json"
  | "openclaw.json";

export interface ChangedValue {
  /** `tools.exec.mode`, `agent main: rule`, the session's key. */
  readonly key: string;
  /** Absent: there was nothing. */
  readonly before?: string;
  /** Absent: there is nothing any more. */
  readonly after?: string;
}

export interface PolicyChange {
  /** Made from the event that changed it: telling twice is telling once. */
  readonly id: string;
  readonly source: PolicySource;
  readonly actor: Actor;
  readonly changes: readonly ChangedValue[];
}

/** `tools.exec.mode: ask → full` */
export function changeText({ key, before = "—", after = "—" }: ChangedValue): string {
  return `${key}: ${before} → ${after}`;
}

/** What differs between two readings of a policy, in the order of the keys. */
export function changesBetween(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): readonly ChangedValue[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key) => {
    const [old, now] = [before[key], after[key]];
    if (old === now) return [];
    return [{ key, ...(old === undefined ? {} : { before: old }), ...(now === undefined ? {} : { after: now }) }];
  });
}
