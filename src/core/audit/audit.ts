/**
 * The audit trail: an append-only, hash-chained log of who asked, who decided, what ran and how it ended. One chain
 * per gateway, because a gateway is the only writer of its chain (the state lock sees to that).
 */
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import { makeEntry } from "./chain.ts";
import type { AuditEntry, AuditEvent, AuditHead, AuditPage } from "./events.ts";

/** Entries kept per gateway; the oldest go beyond it. About 300 MB at 600 bytes each. */
export const AUDIT_MAX_ENTRIES = 500_000;

/** Namespace of the last link of each chain, keyed by gateway id. */
const HEADS = "audit.heads";

export interface Audit {
  /** Resolves once the entry is durably written; rejects when it is not, so that a caller can fail closed. */
  record(event: AuditEvent): Promise<AuditEntry>;
  /** Oldest first: after the entry `after`, or the newest `limit`. */
  read(request: { readonly after?: number | undefined; readonly limit: number }): Promise<AuditPage>;
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
  let turn: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function write(event: AuditEvent): Promise<AuditEntry> {
    if (!headKnown) {
      head = await lastLink(store, stream);
      headKnown = true;
    }
    const entry = makeEntry(head, clock.now(), event);
    // Until the outcome is known the chain may or may not have grown: read it again next time.
    headKnown = false;
    const seq = await store.append(stream, entry, { maxLength: AUDIT_MAX_ENTRIES });
    if (seq !== entry.seq) {
      throw new ExecError(
        "internal",
        `The audit trail of gateway ${gatewayId} has a second writer: entry ${entry.seq} became ${seq}.`,
      );
    }
    head = { seq, hash: entry.hash };
    headKnown = true;
    // The next one in line writes a newer head; after a kill in between the log is only longer than the head says.
    if (waiting === 0) await store.put<AuditHead>(HEADS, gatewayId, head);
    return entry;
  }

  return {
    record(event) {
      const cleaned = redactEvent(event, redact);
      waiting++;
      const written = turn.then(() => {
        waiting--;
        return write(cleaned);
      });
      turn = written.catch(() => undefined);
      return written;
    },
    read: (request) => readAudit(store, gatewayId, request),
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
    case "patch-ended":
      return { ...plain, files: plain.files.map(redact) };
    case "access-refused":
      return { ...plain, reason: redact(plain.reason) };
    case "gateway-stopped":
      return { ...plain, reason: redact(plain.reason) };
    case "gateway-started":
    case "decision":
    case "approval-requested":
    case "run-ended":
    case "run-touched":
    case "config-changed":
    case "access-granted":
      return plain;
  }
}
