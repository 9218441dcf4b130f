/** The hash chain of the audit trail: pure, so that anybody can check a trail with what was printed. */
import { createHash } from "node:crypto";
import type { AuditEntry, AuditEvent, AuditHead } from "./events.ts";

export const FIRST_PREV_HASH = "0".repeat(64);

/** JSON with sorted keys and no white space, so that equal values have equal bytes (RFC 8785 for the values used here). */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value);
}

export function hashLink(link: Omit<AuditEntry, "hash">): string {
  const { seq, prevHash, atMs, event } = link;
  return createHash("sha256").update(canonicalJson({ seq, prevHash, atMs, event })).digest("hex");
}

export function makeEntry(previous: AuditHead | undefined, atMs: number, event: AuditEvent): AuditEntry {
  const link = { seq: (previous?.seq ?? 0) + 1, prevHash: previous?.hash ?? FIRST_PREV_HASH, atMs, event };
  return { ...link, hash: hashLink(link) };
}

/** Why a trail is not what was written. */
export type ChainFault =
  | { readonly kind: "changed"; readonly seq: number }
  | { readonly kind: "unlinked"; readonly seq: number }
  | { readonly kind: "missing"; readonly from: number; readonly to: number }
  /** The log ends before the last entry that is known to have been written. */
  | { readonly kind: "cut-short"; readonly lastSeq: number; readonly headSeq: number }
  | { readonly kind: "head-differs"; readonly seq: number };

export type ChainVerdict =
  | { readonly ok: true; readonly entries: number; readonly firstSeq: number; readonly head: AuditHead | undefined }
  | { readonly ok: false; readonly fault: ChainFault };

/** Checks a trail page by page; the first fault stays the answer. */
export class ChainVerifier {
  #fault: ChainFault | undefined;
  #last: AuditHead | undefined;
  #firstSeq = 0;
  #entries = 0;
  readonly #headAtStart: AuditHead | undefined;
  readonly #maxEntries: number;

  /** `head` is read before the first page; `maxEntries` is what the log keeps, older ones may be gone rightly. */
  constructor(head: AuditHead | undefined, maxEntries: number) {
    this.#headAtStart = head;
    this.#maxEntries = maxEntries;
  }

  add(entries: readonly AuditEntry[]): void {
    for (const entry of entries) {
      if (this.#fault) return;
      this.#fault = this.#check(entry);
      if (this.#entries === 0) this.#firstSeq = entry.seq;
      this.#entries += 1;
      this.#last = { seq: entry.seq, hash: entry.hash };
    }
  }

  #check(entry: AuditEntry): ChainFault | undefined {
    const expectedSeq = (this.#last?.seq ?? 0) + 1;
    // The log drops its oldest entries only when it is full, so a trail that starts late must reach that far.
    const startsLate = this.#entries === 0 && entry.seq > 1;
    const mayStartLate = startsLate && (this.#headAtStart?.seq ?? 0) > this.#maxEntries;
    if (entry.seq !== expectedSeq && !mayStartLate) {
      return entry.seq > expectedSeq
        ? { kind: "missing", from: expectedSeq, to: entry.seq - 1 }
        : { kind: "unlinked", seq: entry.seq };
    }
    if (!startsLate && entry.prevHash !== (this.#last?.hash ?? FIRST_PREV_HASH)) {
      return { kind: "unlinked", seq: entry.seq };
    }
    if (hashLink(entry) !== entry.hash) return { kind: "changed", seq: entry.seq };
    if (entry.seq === this.#headAtStart?.seq && entry.hash !== this.#headAtStart.hash) {
      return { kind: "head-differs", seq: entry.seq };
    }
    return undefined;
  }

  verdict(): ChainVerdict {
    const fault = this.#fault ?? this.#cutShort();
    if (fault) return { ok: false, fault };
    return { ok: true, entries: this.#entries, firstSeq: this.#firstSeq, head: this.#last };
  }

  #cutShort(): ChainFault | undefined {
    const headSeq = this.#headAtStart?.seq ?? 0;
    const lastSeq = this.#last?.seq ?? 0;
    return lastSeq < headSeq ? { kind: "cut-short", lastSeq, headSeq } : undefined;
  }
}

export function faultSentence(fault: ChainFault): string {
  switch (fault.kind) {
    case "changed":
      return `Entry ${fault.seq} was changed after it was written.`;
    case "unlinked":
      return `Entry ${fault.seq} does not follow the entry before it.`;
    case "missing":
      return fault.from === fault.to
        ? `Entry ${fault.from} is missing.`
        : `Entries ${fault.from} to ${fault.to} are missing.`;
    case "cut-short":
      return `The trail ends at entry ${fault.lastSeq}, but entry ${fault.headSeq} had been written.`;
    case "head-differs":
      return `Entry ${fault.seq} is not the one that was written.`;
  }
}
