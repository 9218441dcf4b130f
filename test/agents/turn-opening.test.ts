import { describe, expect, it } from "vitest";
import type { Waiting } from "../../src/agents/inbox.ts";
import { gather, isBare, openingRecord, purposeOf } from "../../src/agents/turn-opening.ts";
import type { SystemEvent } from "../../src/core/events/system-events.ts";
import type { WakeReason } from "../../src/core/events/wakes.ts";
import type { Route } from "../../src/core/route.ts";

const KEY = "agent:main:slack:channel:C1";
const room: Route = { channel: "slack", accountId: "default", chatType: "channel", chatId: "C1" };
const thread: Route = { ...room, threadId: "5.1" };

const message = (id: string, route = room): Waiting => ({
  kind: "message",
  id,
  sessionKey: KEY,
  atMs: 0,
  text: `text of ${id}`,
  actor: { kind: "person", channel: "slack", accountId: "default", id: "U1" },
  route,
});
const wake = (id: string, reason: WakeReason, more: { prompt?: string; route?: Route } = {}): Waiting => ({
  kind: "wake",
  id,
  sessionKey: KEY,
  atMs: 0,
  reason,
  ...more,
});
const event = (contextKey: string, more: Partial<SystemEvent> = {}): SystemEvent => ({
  contextKey,
  text: `text of ${contextKey}`,
  atMs: 0,
  ...more,
});

function opened(waiting: readonly [Waiting, ...Waiting[]], events: readonly SystemEvent[] = []) {
  const gathered = gather(waiting[0], waiting, events, () => undefined);
  const turn = { sessionKey: KEY, seq: 1, epoch: 1, agentId: "main", startedAtMs: 0 };
  return { gathered, record: openingRecord(gathered, turn) };
}
const texts = (messages: readonly { readonly content: unknown }[]) => messages.map((one) => String(one.content));

describe("what one turn takes of all that waits", () => {
  it("what was said in the same conversation, each message for itself; another thread keeps waiting", () => {
    const { record } = opened([message("a"), message("b", thread), wake("w", "exec-event"), message("c")]);
    expect(record.took.items).toEqual(["a", "c"]);
    expect(texts(record.messages)).toEqual([
      expect.stringContaining("text of a"),
      expect.stringContaining("text of c"),
    ]);
    expect(record).toMatchObject({ trigger: "message", routes: [room], opening: 2, actor: { id: "U1" } });
  });

  it("all wakes together, named after what happened and not after a heartbeat", () => {
    const { record, gathered } = opened([wake("h", "heartbeat"), message("a"), wake("w", "exec-event")]);
    expect(record.took.items).toEqual(["h", "w"]);
    expect(record.trigger).toBe("exec-event");
    expect(record).not.toHaveProperty("actor");
    expect(purposeOf(gathered)).toBe("heartbeat");
  });

  it("news that people know of, before what they say; a task only with a wake", () => {
    const events = [
      event("card", { hasCard: true, route: room }),
      event("untold", { route: room }),
      event("task", { isTask: true, route: thread }),
    ];
    const said = opened([message("a")], events);
    expect(said.record.took.events).toEqual(["card"]);
    expect(texts(said.record.messages)[0]).toContain("text of card");
    const woken = opened([wake("w", "cron")], events);
    expect(woken.record.took.events).toEqual(["card", "task"]);
    expect(woken.record.tasks).toEqual([{ key: "task", text: "text of task", route: thread }]);
  });
});

describe("where the answer goes", () => {
  it("to each place that events came from, once; without any, where the wake says", () => {
    const told = { hasCard: true } as const;
    const events = [event("1", { ...told, route: room }), event("2", { ...told, route: thread })];
    const woken = wake("w", "exec-event", { route: { ...room, chatId: "C9" } });
    expect(opened([woken], [...events, event("3", { ...told, route: { ...room } })]).record.routes).toEqual([
      room,
      thread,
    ]);
    expect(opened([woken]).record.routes).toEqual([{ ...room, chatId: "C9" }]);
  });
});

describe("a wake with nothing to tell is no turn", () => {
  it.each([
    ["nothing happened", [wake("w", "exec-event")], [], true],
    ["something happened", [wake("w", "exec-event")], [event("1")], false],
    ["it brings a prompt", [wake("w", "heartbeat", { prompt: "Look." })], [], false],
    ["a person speaks", [message("a")], [], false],
  ] as [string, [Waiting], SystemEvent[], boolean][])("%s", (_, waiting, events, bare) => {
    expect(isBare(gather(waiting[0], waiting, events, () => undefined))).toBe(bare);
  });
});
