import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AUDIT_MAX_ENTRIES, auditedGateways, createAudit, readAudit } from "../../../src/core/audit/audit.ts";
import {
  ChainVerifier,
  canonicalJson,
  FIRST_PREV_HASH,
  faultSentence,
  hashLink,
  makeEntry,
} from "../../../src/core/audit/chain.ts";
import type { AuditEntry, AuditEvent, AuditHead } from "../../../src/core/audit/events.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { openSqliteStore } from "../../../src/core/store/sqlite-store.ts";
import type { Store } from "../../../src/core/store/store.ts";
import { eventually } from "../../support/state.ts";

let directory: string;
let store: Store;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "audit-"));
  store = openSqliteStore({ file: join(directory, "state.db"), clock: systemClock });
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

const event = (reason: string): AuditEvent => ({ type: "gateway-stopped", reason });
const request = (command: string): AuditEvent => ({
  type: "request",
  requestId: "r1",
  actor: { kind: "person", channel: "slack", accountId: "default", id: "U1" },
  agentId: "main",
  sessionKey: "agent:main:slack",
  tool: "exec",
  command,
});

function verdictOf(entries: readonly AuditEntry[], head?: AuditHead, maxEntries = AUDIT_MAX_ENTRIES) {
  const verifier = new ChainVerifier(head ?? lastOf(entries), maxEntries);
  verifier.add(entries);
  return verifier.verdict();
}

function lastOf(entries: readonly AuditEntry[]): AuditHead | undefined {
  const last = entries.at(-1);
  return last && { seq: last.seq, hash: last.hash };
}

function chainOf(length: number): AuditEntry[] {
  const entries: AuditEntry[] = [];
  for (let index = 0; index < length; index += 1) entries.push(makeEntry(lastOf(entries), index, event(`e${index}`)));
  return entries;
}

describe("recording", () => {
  test("calls made at the same time become one unbroken chain in the order they were made", async () => {
    const audit = createAudit({ store, clock: systemClock, gatewayId: "g" });
    await Promise.all(Array.from({ length: 50 }, (_, index) => audit.record(event(String(index)))));
    const { entries, head } = await audit.read({ limit: 100 });
    expect(entries.map((entry) => (entry.event as { reason: string }).reason)).toEqual(
      Array.from({ length: 50 }, (_, index) => String(index)),
    );
    expect(entries[0]?.prevHash).toBe(FIRST_PREV_HASH);
    expect(verdictOf(entries, head)).toMatchObject({ ok: true, entries: 50, head: { seq: 50 } });
  });

  test("the head never names an entry that is not there, and the last one soon after it was written", async () => {
    const audit = createAudit({ store, clock: systemClock, gatewayId: "g" });
    for (let index = 1; index <= 20; index += 1) {
      await Promise.all([audit.record(event(`a${index}`)), audit.record(event(`b${index}`))]);
      const { entries, head } = await audit.read({ limit: 100 });
      expect(entries).toHaveLength(2 * index);
      expect(verdictOf(entries, head).ok).toBe(true);
      expect(head?.seq ?? 0).toBeGreaterThanOrEqual(2 * (index - 1));
    }
    await eventually(async () => (await audit.read({ limit: 1 })).head?.seq === 40);
    await audit.record(event("last"));
    await audit.settle();
    const { entries, head } = await audit.read({ limit: 100 });
    expect(verdictOf(entries.slice(0, -1), head)).toMatchObject({
      ok: false,
      fault: { kind: "cut-short", headSeq: 41 },
    });
  });

  test("goes on with the same chain after a restart", async () => {
    await createAudit({ store, clock: systemClock, gatewayId: "g" }).record(event("one"));
    await createAudit({ store, clock: systemClock, gatewayId: "g" }).record(event("two"));
    const { entries, head } = await readAudit(store, "g", { limit: 10 });
    expect(verdictOf(entries, head)).toMatchObject({ ok: true, entries: 2 });
  });

  test("each gateway has a chain of its own", async () => {
    await createAudit({ store, clock: systemClock, gatewayId: "a" }).record(event("one"));
    await createAudit({ store, clock: systemClock, gatewayId: "b" }).record(event("two"));
    expect(await auditedGateways(store)).toEqual(["a", "b"]);
    expect((await readAudit(store, "b", { limit: 10 })).entries).toMatchObject([{ seq: 1, event: { reason: "two" } }]);
  });

  test("a second writer of one chain is noticed, and the first fails closed", async () => {
    const audit = createAudit({ store, clock: systemClock, gatewayId: "g" });
    await audit.record(event("one"));
    await store.append("audit:g", makeEntry(undefined, 0, event("foreign")));
    await expect(audit.record(event("two"))).rejects.toMatchObject({ code: "internal" });
    const { entries, head } = await audit.read({ limit: 10 });
    expect(verdictOf(entries, head)).toMatchObject({ ok: false, fault: { seq: 2 } });
  });

  test("secrets in commands, comments and reasons are masked before they are hashed", async () => {
    const redact = (text: string) => text.replaceAll("hunter2", "***");
    const audit = createAudit({ store, clock: systemClock, gatewayId: "g", redact });
    await audit.record(request("login --password hunter2"));
    await audit.record({
      type: "approval-resolved",
      approvalId: "a1",
      state: "denied",
      actor: { kind: "person", channel: "web", accountId: "default", id: "operator" },
      comment: "never paste hunter2",
    });
    const { entries, head } = await audit.read({ limit: 10 });
    expect(JSON.stringify(entries)).not.toContain("hunter2");
    expect(JSON.stringify(entries)).toContain("login --password ***");
    expect(verdictOf(entries, head).ok).toBe(true);
  });

  test("pages follow one another", async () => {
    const audit = createAudit({ store, clock: systemClock, gatewayId: "g" });
    for (let index = 1; index <= 5; index += 1) await audit.record(event(String(index)));
    const seqs = async (read: { after?: number; limit: number }) =>
      (await audit.read(read)).entries.map((entry) => entry.seq);
    expect(await seqs({ limit: 2 })).toEqual([4, 5]);
    expect(await seqs({ after: 0, limit: 2 })).toEqual([1, 2]);
    expect(await seqs({ after: 4, limit: 2 })).toEqual([5]);
  });
});

describe("verifying", () => {
  test("any change of any entry is found, and the first one is named", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.nat(),
        fc.constantFrom("event", "atMs", "hash", "prevHash"),
        (length, at, field) => {
          const entries = chainOf(length);
          const index = at % length;
          const original = entries[index] as AuditEntry;
          const changes = {
            event: { event: event("forged") },
            atMs: { atMs: original.atMs + 1 },
            hash: { hash: "f".repeat(64) },
            prevHash: { prevHash: "e".repeat(64) },
          };
          const head = lastOf(entries);
          entries[index] = { ...original, ...changes[field] };
          const verdict = verdictOf(entries, head);
          expect(verdict.ok).toBe(false);
          expect(!verdict.ok && "seq" in verdict.fault && verdict.fault.seq).toBe(original.seq);
        },
      ),
    );
  });

  test("a forged entry with a hash that fits breaks the one after it", () => {
    const entries = chainOf(5);
    const forged = { ...(entries[2] as AuditEntry), event: event("forged") };
    entries[2] = { ...forged, hash: hashLink(forged) };
    expect(verdictOf(entries)).toMatchObject({ ok: false, fault: { kind: "unlinked", seq: 4 } });
  });

  test("missing entries, a missing end and a forged end are told apart", () => {
    const entries = chainOf(6);
    const head = lastOf(entries);
    expect(verdictOf(entries.toSpliced(2, 2), head)).toMatchObject({ fault: { kind: "missing", from: 3, to: 4 } });
    expect(verdictOf(entries.slice(2), head)).toMatchObject({ fault: { kind: "missing", from: 1, to: 2 } });
    expect(verdictOf(entries.slice(0, 4), head)).toMatchObject({
      fault: { kind: "cut-short", lastSeq: 4, headSeq: 6 },
    });
    const forged = [...entries.slice(0, 5), makeEntry(lastOf(entries.slice(0, 5)), 9, event("other end"))];
    expect(verdictOf(forged, head)).toMatchObject({ fault: { kind: "head-differs", seq: 6 } });
  });

  test("a trail may start late only when it is longer than what is kept", () => {
    const entries = chainOf(6);
    expect(verdictOf(entries.slice(3), lastOf(entries), 3)).toMatchObject({ ok: true, entries: 3, firstSeq: 4 });
    expect(verdictOf(entries.slice(3), lastOf(entries), 6)).toMatchObject({ ok: false });
  });

  test("what is written while a trail is read does not matter", () => {
    const entries = chainOf(6);
    expect(verdictOf(entries, lastOf(entries.slice(0, 4)))).toMatchObject({ ok: true, entries: 6 });
  });

  test("every fault has a sentence that names the entry", () => {
    expect(faultSentence({ kind: "missing", from: 3, to: 3 })).toBe("Entry 3 is missing.");
    expect(faultSentence({ kind: "cut-short", lastSeq: 4, headSeq: 6 })).toContain("entry 6");
  });
});

test("canonical JSON does not depend on key order and survives the way through a store", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const stored = JSON.parse(JSON.stringify(value));
      expect(canonicalJson(reversed(stored))).toBe(canonicalJson(stored));
      expect(JSON.parse(canonicalJson(stored))).toEqual(stored);
    }),
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}
