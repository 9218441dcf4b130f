import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ApprovalCard, Card, TextCard } from "../../src/core/cards.ts";
import type { ChatEntry } from "../../src/protocol/frames.ts";
import { EMPTY, saidTexts, waiting, withEntries, withLive } from "../../src/web/conversation.ts";

const card = (text: string): Card => ({ kind: "text", tone: "info", text });
const actor = { kind: "person", channel: "web", accountId: "default", id: "operator" } as const;

/** A history as a gateway would write it: each change is a new message or a new form of an earlier one. */
const history = fc.array(fc.option(fc.nat(), { nil: undefined }), { maxLength: 40 }).map((changes) => {
  const entries: ChatEntry[] = [];
  for (const change of changes) {
    const seq = entries.length + 1;
    const earlier = change === undefined || seq === 1 ? undefined : entries[change % (seq - 1)];
    entries.push({
      seq,
      order: earlier?.order ?? seq,
      messageId: earlier?.messageId ?? `m${seq}`,
      atMs: seq,
      card: card(`form ${seq}`),
    });
  }
  return entries;
});

function newestForms(entries: readonly ChatEntry[]) {
  const newest = new Map<number, ChatEntry>();
  for (const entry of entries) if ((newest.get(entry.order)?.seq ?? 0) < entry.seq) newest.set(entry.order, entry);
  return [...newest.values()].sort((a, b) => a.order - b.order).map(({ order, seq }) => ({ order, seq }));
}

const shape = (conversation: ReturnType<typeof withEntries>) =>
  conversation.messages.map(({ order, seq }) => ({ order, seq }));

describe("taking in entries", () => {
  test("in any order and any pieces, repeated or not, gives the newest form of each message in its place", () => {
    fc.assert(
      fc.property(
        history.chain((entries) =>
          fc.tuple(fc.constant(entries), fc.shuffledSubarray([...entries, ...entries], { minLength: 0 }), fc.nat(10)),
        ),
        ([entries, mixed, cut]) => {
          const all = [...mixed, ...entries];
          const done = withEntries(withEntries(EMPTY, all.slice(0, cut)), all.slice(cut));
          expect(shape(done)).toEqual(newestForms(entries));
          expect(done.seq).toBe(entries.length);
        },
      ),
    );
  });

  test("messages that did not change are the same objects, so that they are not drawn again", () => {
    const first = withEntries(EMPTY, [
      { seq: 1, order: 1, messageId: "a", atMs: 1, card: card("a") },
      { seq: 2, order: 2, messageId: "b", atMs: 2, card: card("b") },
    ]);
    const second = withEntries(first, [{ seq: 3, order: 2, messageId: "b", atMs: 3, card: card("b2") }]);
    expect(second.messages[0]).toBe(first.messages[0]);
    expect(second.messages[1]).not.toBe(first.messages[1]);
    expect(second.messages[1]).toMatchObject({ atMs: 2, seq: 3 });
  });

  test("live output for a message that is not there changes nothing", () => {
    const conversation = withEntries(EMPTY, [{ seq: 1, order: 1, messageId: "a", atMs: 1, card: card("a") }]);
    expect(withLive(conversation, "b", card("x"))).toBe(conversation);
    expect(withLive(conversation, "a", card("x"))).toBe(conversation);
  });
});

test("what waits for an answer is found, what was answered is not", () => {
  const approval: ApprovalCard = {
    kind: "approval",
    state: "pending",
    approvalId: "1",
    slug: "1",
    command: "ls",
    cwd: "/",
    host: "gateway",
    agentId: "main",
    requester: actor,
    envKeys: [],
    reasons: [],
    warnings: [],
    highlights: [],
    always: [],
    offered: ["allow-once", "deny"],
    createdAtMs: 0,
    expiresAtMs: 1,
  };
  const question: TextCard = {
    kind: "text",
    tone: "warning",
    title: "Somebody asks to be let in",
    actions: [{ label: "Approve", style: "success", press: { kind: "pairing", requestId: "r", decision: "approve" } }],
  };
  const cards: readonly Card[] = [
    approval,
    { ...approval, approvalId: "2", state: "denied" },
    question,
    { ...question, actions: [] },
    { kind: "text", tone: "info", text: "hello" },
  ];
  const conversation = withEntries(
    EMPTY,
    cards.map((card, at) => ({ seq: at + 1, order: at + 1, messageId: `m${at}`, atMs: 1, card })),
  );
  expect(waiting(conversation).map(({ messageId }) => messageId)).toEqual(["m0", "m2"]);
});

test("what was said is recalled oldest first, repetitions once", () => {
  const said = ["a", "a", "b", "a"].map((text, at) => ({
    seq: at + 1,
    order: at + 1,
    messageId: `${at}`,
    atMs: at,
    card: { kind: "said", actor, text } as const,
  }));
  expect(saidTexts(withEntries(EMPTY, said))).toEqual(["a", "b", "a"]);
});
