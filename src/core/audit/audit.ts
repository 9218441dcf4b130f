/**
 * The audit trail: an append-only, hash-chained log of who asked, who decided, what ran and how it ended. One chain
 * per gateway, because a gateway is the only writer of its chain (the state lock sees to that).
 */
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import { makeEntry } from "./chain.ts";
import type { AuditEntry, AuditEvent, AuditHead, AuditPage } from "./events.ts";
import type { ChangedValue } from "./policy-change.ts";

/** Entries kept per gateway; the oldest go beyond it. About 300 MB at 600 bytes each. */
export const AUDIT_MAX_ENTRIES = 500_000;

/** How long the head may be behind the last entry. */
const HEAD_DELAY_MS = 100;

/** Namespace of the last link of each chain, keyed by gateway id. */
const HEADS = "audit.heads";

export interface Audit {
  /** Resolves once the entry is durably written; rejects when it is not, so that a caller can fail closed. */
  record(event: AuditEvent): Promise<AuditEntry>;
  /** Oldest first: after the entry `after`, or the newest `limit`. */
  read(request: { readonly after?: number | undefined; readonly limit: number }): Promise<AuditPage>;
  /** To be called after the last entry: resolves once the head names it. */
  settle(): Promise<void>;
}

interface Waiting {
  readonly event: AuditEvent;
  resolve(entry: AuditEntry): void;
  reject(error: unknown): void;
}

export interface AuditOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly gatewayId: string;
  /** Masks secrets in commands, comments and reasons. */
  readonly redact?: (text: string) => string;
}

export function createAudit(options: AuditOptions): Audit {
  const { store, clock, gatewayId } = options;
  const redact = options.redact ?? ((text: string) => text);
  const stream = streamOf(gatewayId);
  let head: AuditHead | undefined;
  let headKnown = false;
  let headWritten: AuditHead | undefined;
  let headTimer: NodeJS.Timeout | undefined;
  let waiting: Waiting[] = [];
  let writing = false;

  /**
   * The head follows behind: it names only entries that are there (else it would look like a cut trail), rides with the
   * next ones, and comes alone once nothing does. After a kill in between the log is only longer than the head says.
   */
  async function writeHead(): Promise<void> {
    if (head === undefined || head === headWritten) return;
    const next = head;
    await store.put<AuditHead>(HEADS, gatewayId, next);
    headWritten = next;
  }

  function headSoon(): void {
    headTimer ??= setTimeout(() => {
      headTimer = undefined;
      // What fails now is tried again with the next entry, which then fails too.
      writeHead().catch(() => {});
    }, HEAD_DELAY_MS).unref();
  }

  /** All that waits goes in one step; what comes meanwhile goes in the next. */
  async function writeAll(): Promise<void> {
    writing = true;
    // Whoever records two events one after the other has asked for both before this goes on.
    await Promise.resolve();
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      try {
        const entries = await write(group.map(({ event }) => event));
        for (const [index, { resolve }] of group.entries()) resolve(entries[index] as AuditEntry);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    writing = false;
    headSoon();
  }

  async function write(events: readonly AuditEvent[]): Promise<readonly AuditEntry[]> {
    if (!headKnown) {
      head = await lastLink(store, stream);
      headKnown = true;
    }
    const entries: AuditEntry[] = [];
    for (const event of events) {
      const before = entries.at(-1);
      entries.push(makeEntry(before ? { seq: before.seq, hash: before.hash } : head, clock.now(), event));
    }
    const last = entries.at(-1) as AuditEntry;
    const previousHead = writeHead();
    // Until the outcome is known the chain may or may not have grown: read it again next time.
    headKnown = false;
    const [seq] = await Promise.all([
      store.appendAll(stream, entries as [AuditEntry, ...AuditEntry[]], { maxLength: AUDIT_MAX_ENTRIES }),
      previousHead,
    ]);
    if (seq !== last.seq) {
      throw new ExecError(
        "internal",
        `The audit trail of gateway ${gatewayId} has a second writer: entry ${last.seq} became ${seq}.`,
      );
    }
    const isNew = head === undefined;
    head = { seq, hash: last.hash };
    headKnown = true;
    // By its head a trail is found.
    if (isNew) await writeHead();
    return entries;
  }

  return {
    record(event) {
      const cleaned = redactEvent(event, redact);
      return new Promise((resolve, reject) => {
        waiting.push({ event: cleaned, resolve, reject });
        if (!writing) void writeAll();
      });
    },
    read: (request) => readAudit(store, gatewayId, request),
    async settle() {
      clearTimeout(headTimer);
      await writeHead();
    },
  };
}

/** The ids of the gateways that have a trail in this store. */
export async function auditedGateways(store: Store): Promise<string[]> {
  return (await store.list<AuditHead>(HEADS)).map((record) => record.key);
}

export async function readAudit(
  store: Store,
  gatewayId: string,
  request: { readonly after?: number | undefined; readonly limit: number },
): Promise<AuditPage> {
  // The head first: what is appended while the entries are read only makes the log longer than the head says.
  const head = (await store.get<AuditHead>(HEADS, gatewayId))?.value;
  const { after, limit } = request;
  const stream = streamOf(gatewayId);
  const entries =
    after === undefined
      ? await store.tail<AuditEntry>(stream, limit)
      : await store.read<AuditEntry>(stream, { after, limit });
  // The place in the log is what counts, so that an entry put somewhere else is noticed.
  return { gatewayId, head, entries: entries.map(({ seq, value }) => ({ ...value, seq })) };
}

function streamOf(gatewayId: string): string {
  return `audit:${gatewayId}`;
}

async function lastLink(store: Store, stream: string): Promise<AuditHead | undefined> {
  const [last] = await store.tail<AuditEntry>(stream, 1);
  return last && { seq: last.seq, hash: last.value.hash };
}

function redactChange({ key, before, after }: ChangedValue, redact: (text: string) => string): ChangedValue {
  return {
    key,
    ...(before === undefined ? {} : { before: redact(before) }),
    ...(after === undefined ? {} : { after: redact(after) }),
  };
}

/**
 * Masks every text a person or program chose freely. The round trip through JSON makes the value equal to what the
 * store gives back (no `undefined`, no lone surrogates that change), so that the hash stays true.
 */
function redactEvent(event: AuditEvent, redact: (text: string) => string): AuditEvent {
  const plain = JSON.parse(JSON.stringify(event)) as AuditEvent;
  switch (plain.type) {
    case "request":
    case "run-started":
      return { ...plain, command: redact(plain.command) };
    case "approval-resolved":
      return plain.comment === undefined ? plain : { ...plain, comment: redact(plain.comment) };
    case "allowlist-changed":
      return { ...plain, patterns: plain.patterns.map(redact) };
    case "policy-changed":
      return { ...plain, changes: plain.changes.map((one) => redactChange(one, redact)) };
    case "patch-ended":
      return { ...plain, files: plain.files.map(redact) };
    case "access-refused":
      return { ...plain, reason: redact(plain.reason) };
    case "gateway-stopped":
      return { ...plain, reason: redact(plain.reason) };
    case "gateway-started":
    case "decision":
    case "approval-requested":
    case "approval-snoozed":
    case "approval-asked-again":
    case "run-ended":
    case "run-touched":
    case "node-changed":
    case "config-changed":
    case "access-granted":
    case "access-dismissed":
      return plain;
  }
}
