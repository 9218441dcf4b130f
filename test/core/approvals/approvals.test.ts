import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Approvals, createApprovals } from "../../../src/core/approvals/approvals.ts";
import { type ApprovalRecord, type ApprovalRequest, slugOf } from "../../../src/core/approvals/record.ts";
import { SNOOZE_MARGIN_MS, snoozeUntil } from "../../../src/core/approvals/snooze.ts";
import { type Audit, createAudit } from "../../../src/core/audit/audit.ts";
import { ExecError } from "../../../src/core/errors.ts";
import type { AllowlistEntry } from "../../../src/core/policy/types.ts";
import { type Actor, type Route, routeKey } from "../../../src/core/route.ts";
import { openState } from "../../../src/core/store/open-state.ts";
import { eventually, type ManualClock, manualClock, openTestState, type TestState } from "../../support/state.ts";

const alice: Actor = { kind: "person", channel: "slack", accountId: "default", id: "U1", display: "Alice" };
const bob: Actor = { kind: "person", channel: "web", accountId: "default", id: "operator" };
const agent: Actor = { kind: "agent", channel: "api", accountId: "default", id: "main" };
const stranger: Actor = { kind: "person", channel: "slack", accountId: "default", id: "U_GUEST" };

const request: ApprovalRequest = {
  command: "make deploy",
  cwd: "/srv",
  host: "gateway",
  env: {},
  plan: { kind: "verbatim", text: "make deploy" },
  binding: { hash: "h", cwd: { path: "/srv", dev: 1, ino: 1 }, files: [] },
  reasons: [{ code: "allowlist-miss", subject: "make" }],
  highlights: [],
  warnings: [],
  offered: ["allow-once", "allow-always", "deny"],
  alwaysStores: [],
  security: "allowlist",
  ask: "on-miss",
  agentId: "main",
  sessionKey: "agent:main:main",
  requester: alice,
  pty: false,
  stdin: "closed",
  notifyOnExit: true,
};

let clock: ManualClock;
let state: TestState;
let audit: Audit;
let approvals: Approvals;
let settled: ApprovalRecord[];
/** Rules that are stored, by agent and pattern; what the approvals file is in the product. */
let stored: AllowlistEntry[];
let redrawn: string[];
let reminders: { readonly id: string; readonly place: string; readonly token: string }[];

const SNOOZE_MS = 600_000;

function open(gatewayId = "aaaaaaaa"): Approvals {
  return createApprovals({
    ...state,
    clock,
    audit,
    gatewayId,
    mayDecide: async (actor) => (actor.id === stranger.id ? "You are not an approver here." : undefined),
    async takeBack(record) {
      const wanted = record.request.alwaysStores.map((rule) => rule.argPattern);
      const removed = stored.filter((rule) => wanted.includes(rule.argPattern));
      stored = stored.filter((rule) => !removed.includes(rule));
      return removed;
    },
    async onRevoked(record) {
      redrawn.push(record.id);
    },
    snoozeMs: () => SNOOZE_MS,
    async onSnoozed(record) {
      redrawn.push(record.id);
    },
    async onReminder(record, at, token) {
      reminders.push({ id: record.id, place: routeKey(at), token });
    },
  });
}

const ask = (more: Partial<ApprovalRequest> = {}, timeoutMs = 60_000) =>
  approvals.request({ ...request, ...more }, { id: crypto.randomUUID(), runId: crypto.randomUUID(), timeoutMs });

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ExecError) return error.code;
    throw error;
  }
  return "accepted";
}

beforeEach(async () => {
  clock = manualClock();
  state = await openTestState(clock);
  audit = createAudit({ store: state.store, clock, gatewayId: "aaaaaaaa" });
  settled = [];
  stored = [];
  redrawn = [];
  reminders = [];
  approvals = open();
  await approvals.start(async (record) => {
    settled.push(record);
  });
});

afterEach(() => state.dispose());

describe("deciding an approval", () => {
  it("moves a pending record to allowed once, and tells the gateway that asked", async () => {
    const record = await ask();
    const done = await approvals.resolve(slugOf(record.id), "allow-once", bob);
    expect(done).toMatchObject({
      applied: true,
      record: { status: "allowed", decision: "allow-once", decidedBy: bob },
    });
    await eventually(() => settled.length === 1);
    expect(settled[0]?.id).toBe(record.id);
    expect(await approvals.pending()).toEqual([]);
  });

  it("concurrent-allow-and-deny: 20 answers at once make one winner whose decision all others learn", async () => {
    const record = await ask();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        approvals.resolve(record.id, index % 2 === 0 ? "allow-once" : "deny", index % 3 === 0 ? alice : bob),
      ),
    );
    const applied = outcomes.flatMap((outcome) =>
      outcome.status === "fulfilled" && outcome.value.applied ? [outcome.value.record] : [],
    );
    expect(applied).toHaveLength(1);
    const winner = applied[0]?.decision;
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") expect(outcome.value.record.decision).toBe(winner);
      else expect((outcome.reason as ExecError).code).toBe("approval-already-decided");
    }
    await eventually(() => settled.length > 0);
    expect(settled).toHaveLength(1);
  });

  it("same-decision-twice-idempotent: a second press of the same button is quiet, another one names the winner", async () => {
    const record = await ask();
    await approvals.resolve(record.id, "allow-once", alice);
    expect(await approvals.resolve(record.id, "allow-once", bob)).toMatchObject({ applied: false });
    await expect(approvals.resolve(record.id, "deny", bob)).rejects.toThrow(/already allowed by Alice/);
  });

  it("agent-approves-itself: an agent never decides, whatever the rank of its token", async () => {
    const record = await ask();
    expect(await codeOf(approvals.resolve(record.id, "allow-once", agent))).toBe("not-authorized");
    expect((await approvals.get(record.id))?.status).toBe("pending");
    const { entries } = await audit.read({ limit: 10 });
    expect(entries.at(-1)?.event).toMatchObject({ type: "access-refused", actor: agent });
  });

  it("agent-approves-itself: a person who is no approver changes nothing and is written down", async () => {
    const record = await ask();
    expect(await codeOf(approvals.resolve(record.id, "allow-once", stranger))).toBe("not-authorized");
    expect((await approvals.get(record.id))?.status).toBe("pending");
    const { entries } = await audit.read({ limit: 10 });
    expect(entries.at(-1)?.event).toMatchObject({ type: "access-refused", actor: stranger });
  });

  it("ask-always-hides-durable: a decision that is not offered is refused and leaves it pending", async () => {
    const record = await ask({ offered: ["allow-once", "deny"] });
    expect(await codeOf(approvals.resolve(record.id, "allow-always", bob))).toBe("approval-not-offered");
    expect((await approvals.get(record.id))?.status).toBe("pending");
  });

  it("keeps the reason given with a denial", async () => {
    const record = await ask();
    const done = await approvals.resolve(record.id, "deny", bob, { comment: "not on a Friday" });
    expect(done.record.comment).toBe("not on a Friday");
  });
});

describe("finding an approval by what a person types", () => {
  it("short-id-shown-full-id-needed: a unique beginning is enough, an ambiguous one names both", async () => {
    const ids = ["a17b4920-0000-4000-8000-000000000001", "a17bffff-0000-4000-8000-000000000002"];
    for (const id of ids) await approvals.request(request, { id, runId: crypto.randomUUID(), timeoutMs: 60_000 });
    await expect(approvals.resolve("a17b", "deny", bob)).rejects.toThrow(new RegExp(ids.join(", ")));
    expect((await approvals.resolve("A17B4920", "deny", bob)).record.id).toBe(ids[0]);
    // Only one is left waiting, so the beginning is unique now.
    expect((await approvals.resolve("a17b", "deny", bob)).record.id).toBe(ids[1]);
  });

  it.each(["a17", "zzzz", "deadbeef", "../../x", ""])("says that %j is unknown", async (id) => {
    await ask();
    expect(await codeOf(approvals.resolve(id, "deny", bob))).toBe("approval-unknown");
  });
});

describe("expiry", () => {
  it("a record past its time is expired even before any timer has run", async () => {
    const record = await ask({}, 1_000);
    clock.advance(1_000);
    expect(await codeOf(approvals.resolve(record.id, "allow-once", bob))).toBe("approval-expired");
    expect((await approvals.get(record.id))?.status).toBe("expired");
    await eventually(() => settled.length === 1);
    expect(settled[0]?.status).toBe("expired");
  });

  it("expires by itself, once, and a late press says so", async () => {
    const record = await ask({}, 40);
    await eventually(() => settled.length === 1);
    expect(settled[0]?.status).toBe("expired");
    expect(await codeOf(approvals.resolve(record.id, "allow-once", bob))).toBe("approval-expired");
    expect(settled).toHaveLength(1);
  });
});

describe("surviving a kill", () => {
  it("asking again with the same ids gives the record that exists", async () => {
    const ids = { id: crypto.randomUUID(), runId: crypto.randomUUID(), timeoutMs: 60_000 };
    const first = await approvals.request(request, ids);
    await approvals.resolve(first.id, "deny", bob);
    expect((await approvals.request({ ...request, command: "other" }, ids)).status).toBe("denied");
  });

  it("a decision that was stored but not handed on is handed on at the next start", async () => {
    const record = await ask();
    // What a kill between the compare-and-set and the queue leaves behind.
    const found = await state.store.get<ApprovalRecord>("approval", record.id);
    await state.store.compareAndSet("approval", record.id, found?.version ?? 0, {
      ...record,
      status: "allowed",
      decision: "allow-once",
    });
    const after: ApprovalRecord[] = [];
    await state.queue.close({ drainMs: 100 });
    await state.store.close();
    const reopened = await openState({
      stateDir: state.stateDir,
      clock,
      newId: () => crypto.randomUUID(),
    });
    const revived = createApprovals({
      ...reopened,
      clock,
      audit: createAudit({ store: reopened.store, clock, gatewayId: "aaaaaaaa" }),
      gatewayId: "aaaaaaaa",
      mayDecide: async () => undefined,
      takeBack: async () => [],
      onRevoked: async () => {},
      snoozeMs: () => SNOOZE_MS,
      onSnoozed: async () => {},
      onReminder: async () => {},
    });
    await revived.start(async (settledRecord) => {
      after.push(settledRecord);
    });
    await eventually(() => after.length === 1);
    expect(after[0]).toMatchObject({ id: record.id, status: "allowed" });
    await reopened.close({ drainMs: 100 });
  });
});

describe("taking back what an always stored", () => {
  const rule = {
    pattern: "/usr/bin/make",
    argPattern: `sha256:cwd-argv:v1:${"0".repeat(64)}`,
    source: "allow-always",
  } as const;

  async function allowedAlways(): Promise<ApprovalRecord> {
    const { id } = await ask({ alwaysStores: [rule] });
    stored = [rule];
    return (await approvals.resolve(id, "allow-always", alice)).record;
  }

  it("removes the rule, marks the record, redraws the card and writes it down", async () => {
    const { id } = await allowedAlways();
    const { removed, elsewhere } = await approvals.revoke(slugOf(id), bob);
    expect(removed).toEqual([rule]);
    expect(elsewhere).toBe(false);
    expect(stored).toEqual([]);
    expect((await approvals.get(id))?.revoked).toMatchObject({ by: bob });
    expect(redrawn).toEqual([id]);
    const { entries } = await audit.read({ limit: 100 });
    expect(entries.map((entry) => entry.event)).toContainEqual(
      expect.objectContaining({
        type: "allowlist-changed",
        change: "removed",
        patterns: [rule.pattern],
        actor: bob,
        approvalId: id,
      }),
    );
  });

  it("works once: of many presses one removes, the others are told by whom", async () => {
    const { id } = await allowedAlways();
    const presses = await Promise.allSettled([1, 2, 3, 4].map(() => approvals.revoke(id, bob)));
    expect(presses.filter((press) => press.status === "fulfilled")).toHaveLength(1);
    expect(await codeOf(approvals.revoke(id, alice))).toBe("approval-already-decided");
  });

  it("is for approvers only, never for an agent", async () => {
    const { id } = await allowedAlways();
    expect(await codeOf(approvals.revoke(id, stranger))).toBe("not-authorized");
    expect(await codeOf(approvals.revoke(id, agent))).toBe("not-authorized");
    expect(stored).toEqual([rule]);
  });

  it("says so when nothing was stored, and when the rule is gone already", async () => {
    const once = await ask();
    await approvals.resolve(once.id, "allow-once", alice);
    expect(await codeOf(approvals.revoke(once.id, alice))).toBe("approval-not-offered");
    expect(await codeOf(approvals.revoke("deadbeef", alice))).toBe("approval-unknown");
    const { id } = await allowedAlways();
    stored = [];
    expect((await approvals.revoke(id, alice)).removed).toEqual([]);
  });

  it("is done by the gateway whose file holds the rule", async () => {
    const { id } = await allowedAlways();
    const other = open("bbbbbbbb");
    const result = await other.revoke(id, bob);
    expect(result.elsewhere).toBe(true);
    await eventually(async () => (await approvals.get(id))?.revoked !== undefined);
    expect(stored).toEqual([]);
  });
});

const room: Route = { channel: "slack", accountId: "default", chatType: "channel", chatId: "C1" };
const dmOf = (id: string): Route => ({ channel: "slack", accountId: "default", chatType: "dm", chatId: id });

/** A request that waits half an hour and is shown here. */
async function shownIn(...shownAt: readonly Route[]): Promise<ApprovalRecord> {
  const record = await ask({}, 1_800_000);
  await approvals.annotate(record.id, { shownAt });
  return record;
}

/** Time passes; the queue looks at the clock when there is something to do. */
async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await state.queue.add({ name: "look-at-the-clock", data: {} });
}

describe("putting a request off", () => {
  it("asks again in the same place after its time, once, though two pressed and one of them twice", async () => {
    const record = await shownIn(room);
    const pressed = await Promise.all(
      [alice, alice, bob].map((actor) => approvals.snooze(record.id, actor, { route: room })),
    );
    expect(pressed.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(pressed.map(({ snooze }) => snooze.untilMs)).size).toBe(1);
    expect((await approvals.get(record.id))?.snoozes).toHaveLength(1);
    expect(reminders).toEqual([]);
    await pass(SNOOZE_MS);
    await eventually(() => reminders.length > 0);
    expect(reminders).toMatchObject([{ id: record.id, place: routeKey(room) }]);
    expect((await approvals.get(record.id))?.snoozes).toMatchObject([{ over: true }]);
    // And may be put off again.
    const again = await approvals.snooze(record.id, alice, { route: room });
    expect(again.isNew).toBe(true);
    expect((await approvals.get(record.id))?.snoozes).toHaveLength(1);
  });

  it("is for the place where it was pressed: another approver's card keeps its own time", async () => {
    const record = await shownIn(dmOf("U1"), dmOf("U2"));
    const linh: Actor = { ...alice, id: "U2", display: "Linh" };
    // Slack names a direct message by its own id, the card was sent by the person's.
    await approvals.snooze(record.id, linh, { route: dmOf("D777") });
    expect((await approvals.get(record.id))?.snoozes).toMatchObject([{ by: { id: "U2" }, at: { chatId: "U2" } }]);
    await pass(SNOOZE_MS);
    await eventually(() => reminders.length > 0);
    expect(reminders.map(({ place }) => place)).toEqual([routeKey(dmOf("U2"))]);
  });

  it("is silent when somebody decided meanwhile", async () => {
    const record = await shownIn(room);
    await approvals.snooze(record.id, alice, { route: room });
    await approvals.resolve(record.id, "deny", bob);
    await pass(SNOOZE_MS);
    await eventually(async () => (await state.queue.counts("approval-remind")).delayed === 0);
    await eventually(async () => (await state.queue.counts("approval-remind")).completed === 1);
    expect(reminders).toEqual([]);
  });

  it("comes before the end: shortened to two minutes before it, and refused when that is now", async () => {
    const record = await ask({}, 300_000);
    await approvals.annotate(record.id, { shownAt: [room] });
    const { snooze, shortened } = await approvals.snooze(record.id, alice, { route: room });
    expect(shortened).toBe(true);
    expect(snooze.untilMs).toBe(record.expiresAtMs - SNOOZE_MARGIN_MS);
    const late = await ask({}, SNOOZE_MARGIN_MS);
    await approvals.annotate(late.id, { shownAt: [room] });
    expect(await codeOf(approvals.snooze(late.id, alice, { route: room }))).toBe("approval-not-offered");
    expect((await approvals.get(late.id))?.snoozes).toBeUndefined();
  });

  it("is for who may decide it, and for what still waits", async () => {
    const record = await shownIn(room);
    expect(await codeOf(approvals.snooze(record.id, stranger, { route: room }))).toBe("not-authorized");
    expect(await codeOf(approvals.snooze(record.id, agent, { route: room }))).toBe("not-authorized");
    expect((await approvals.get(record.id))?.snoozes).toBeUndefined();
    await approvals.resolve(record.id, "allow-once", bob);
    expect(await codeOf(approvals.snooze(record.id, alice))).toBe("approval-already-decided");
    const expired = await shownIn(room);
    clock.advance(1_800_000);
    expect(await codeOf(approvals.snooze(expired.id, alice))).toBe("approval-expired");
    expect(await codeOf(approvals.snooze("deadbeef", alice))).toBe("approval-unknown");
  });

  it("is made good at the next start when a kill came between the record and its reminder", async () => {
    const record = await shownIn(room);
    const found = await state.store.get<ApprovalRecord>("approval", record.id);
    const untilMs = clock.now() + SNOOZE_MS;
    await state.store.compareAndSet("approval", record.id, found?.version ?? 0, {
      ...found?.value,
      snoozes: [{ by: alice, untilMs, at: room }],
    });
    await state.queue.close({ drainMs: 100 });
    await state.store.close();
    clock.advance(SNOOZE_MS);
    const reopened = await openState({ stateDir: state.stateDir, clock, newId: () => crypto.randomUUID() });
    state = { ...state, ...reopened };
    approvals = open();
    await approvals.start(async () => {});
    await eventually(() => reminders.length === 1);
    expect(reminders).toEqual([{ id: record.id, place: routeKey(room), token: String(untilMs) }]);
  });

  it.each([
    ["in time", 600_000, 1_800_000, { untilMs: 600_000, shortened: false }],
    ["exactly two minutes before the end", 1_680_000, 1_800_000, { untilMs: 1_680_000, shortened: false }],
    ["too long", 1_680_001, 1_800_000, { untilMs: 1_680_000, shortened: true }],
    ["too late", 600_000, 120_000, undefined],
  ])("%s", (_name, snoozeMs, expiresAtMs, expected) => {
    expect(snoozeUntil({ nowMs: 0, snoozeMs, expiresAtMs })).toEqual(expected);
  });
});

describe("asking once more", () => {
  it("is marked once, by whoever was first, only where nobody decided", async () => {
    const record = await ask();
    expect(await approvals.markAskedAgain(record.id, alice, undefined)).toBe(false);
    await approvals.cancel(record.id, "Cancelled by /stop.");
    const newId = crypto.randomUUID();
    const marks = await Promise.all([alice, bob].map((actor) => approvals.markAskedAgain(record.id, actor, newId)));
    expect(marks.filter(Boolean)).toHaveLength(1);
    expect((await approvals.get(record.id))?.askedAgain).toMatchObject({ by: marks[0] ? alice : bob, id: newId });
    const denied = await ask();
    await approvals.resolve(denied.id, "deny", bob);
    expect(await approvals.markAskedAgain(denied.id, alice, newId)).toBe(false);
    const fell = await ask({ fallback: { plan: request.plan, binding: request.binding } });
    await pass(60_000);
    await eventually(async () => (await approvals.get(fell.id))?.status === "expired");
    expect(await approvals.markAskedAgain(fell.id, alice, newId)).toBe(false);
  });

  it("shows a request to who asked and to who may decide it, to nobody else", async () => {
    const record = await ask({ requester: stranger });
    expect((await approvals.examine(record.id, stranger)).as).toBe("requester");
    expect((await approvals.examine(record.id, bob)).as).toBe("approver");
    const other = await ask({ requester: alice });
    expect(await codeOf(approvals.examine(other.id, stranger))).toBe("not-authorized");
    expect(await codeOf(approvals.examine(other.id, { ...stranger, kind: "agent" }))).toBe("not-authorized");
    const byAgent = await ask({ requester: agent });
    expect(await codeOf(approvals.examine(byAgent.id, agent))).toBe("not-authorized");
  });
});
