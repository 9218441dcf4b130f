import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { UnspokenCard } from "../../../src/core/cards.ts";
import { createSystemEvents, type SystemEvents } from "../../../src/core/events/system-events.ts";
import {
  type AgentTurns,
  BUSY_RETRY_MS,
  createWakes,
  distanceMs,
  FLOOD_WINDOW_MS,
  MAX_BUSY_MS,
  MIN_SPACING_MS,
  type WakeOutcome,
  type Wakes,
} from "../../../src/core/events/wakes.ts";
import type { Route } from "../../../src/core/route.ts";
import { phrase } from "../../../src/core/words/phrase.ts";
import { inLanguage } from "../../../src/core/words/say.ts";
import { eventually, type ManualClock, manualClock, openTestState, type TestState } from "../../support/state.ts";

const chat = (chatId: string): Route => ({ channel: "slack", accountId: "default", chatType: "channel", chatId });
const TARGET = { agentId: "main", sessionKey: "agent:main:slack:channel:C9" };

let clock: ManualClock;
let state: TestState;
let events: SystemEvents;
let posted: { key: string; route: Route; card: UnspokenCard }[];
let outcomes: WakeOutcome[];

beforeEach(async () => {
  clock = manualClock();
  state = await openTestState(clock);
  events = createSystemEvents(state.store);
  posted = [];
  outcomes = [];
});
afterEach(() => state.dispose());

function wakesWith(asked?: Pick<AgentTurns, "request"> & Partial<AgentTurns>): Wakes {
  const turns = asked && { isBusy: async () => false, ...asked };
  return createWakes({
    store: state.store,
    queue: state.queue,
    clock,
    newId: () => crypto.randomUUID(),
    events,
    turnsFor: () => turns,
    post: async (message) => {
      posted.push(message);
    },
    onOutcome: (_, outcome) => outcomes.push(outcome),
  });
}

const add = (n: number, route?: Route, more: { hasCard?: true } = {}) =>
  events.add(TARGET.sessionKey, {
    contextKey: `exec:${n}`,
    text: `Exec completed (s${n}, code 0) :: RESULT-${n}`,
    atMs: clock.now() + n,
    ...(route ? { route } : {}),
    ...more,
  });

describe("without a model", () => {
  it("people are told in words that become their language's", async () => {
    const wakes = wakesWith();
    await wakes.start();
    const said = phrase("event.completed", { session: "quiet-ot", how: phrase("session.how.code", { code: 0 }) });
    const told = { contextKey: "exec:1", text: said.text, said, atMs: clock.now(), route: chat("C9") };
    await events.add(TARGET.sessionKey, told);
    await wakes.request(TARGET, "exec-event");
    await eventually(() => posted.length === 1);
    expect(posted[0]?.card).toMatchObject({ kind: "text", text: { phrase: "event.completed" } });
    const words = posted[0]?.card.kind === "text" ? (posted[0].card.text ?? "") : "";
    expect(inLanguage(words, "nl")).toBe("Exec voltooid (quiet-ot, code 0)");
  });

  it("wake-wrong-session-key, wake-without-payload: the event's own words reach the chat it came from, once", async () => {
    const wakes = wakesWith();
    await wakes.start();
    await add(1, chat("C9"));
    await wakes.request(TARGET, "exec-event");
    await eventually(() => outcomes.length === 1);
    expect(posted).toHaveLength(1);
    expect(posted[0]).toMatchObject({ route: chat("C9"), card: { text: expect.stringContaining("RESULT-1") } });
    expect(await events.pending(TARGET.sessionKey)).toEqual([]);
    await wakes.request(TARGET, "exec-event");
    await eventually(() => outcomes.length === 2);
    expect(outcomes).toEqual(["delivered-by-code", "no-pending-event"]);
    expect(posted).toHaveLength(1);
  });

  it("each event goes to its own conversation, never to the one that spoke last", async () => {
    const wakes = wakesWith();
    await add(1, chat("C1"));
    await add(2, chat("C2"));
    await wakes.request(TARGET, "exec-event");
    await wakes.start();
    await eventually(() => posted.length === 2);
    expect(posted.map((one) => one.route.chatId)).toEqual(["C1", "C2"]);
  });

  it("what a card shows already is not said again, and what no chat waits for stays until somebody asks", async () => {
    const wakes = wakesWith();
    await add(1, chat("C1"), { hasCard: true });
    await add(2);
    await wakes.request(TARGET, "exec-event");
    await wakes.start();
    await eventually(() => outcomes.length === 1);
    expect(posted).toEqual([]);
    expect(await events.pending(TARGET.sessionKey)).toHaveLength(2);
  });
});

describe("with a model", () => {
  type Asked = Parameters<AgentTurns["request"]>[0];

  it("many requests at once become one turn, and every event is told by code and kept for it", async () => {
    const asked: Asked[] = [];
    const wakes = wakesWith({ request: async (turn) => void asked.push(turn) });
    for (let n = 0; n < 10; n++) await add(n, chat("C9"));
    await Promise.all(Array.from({ length: 10 }, () => wakes.request(TARGET, "exec-event")));
    await wakes.start();
    await eventually(() => outcomes.length === 1);
    expect(asked).toMatchObject([{ target: TARGET, reason: "exec-event" }]);
    for (let n = 0; n < 10; n++) {
      expect(posted).toContainEqual(
        expect.objectContaining({ card: expect.objectContaining({ text: expect.stringContaining(`RESULT-${n}`) }) }),
      );
    }
    const kept = await events.pending(TARGET.sessionKey);
    expect(kept).toHaveLength(10);
    expect(kept.every((event) => event.isTold)).toBe(true);
  });

  it("wake-failed-dropped: people are told although the turn can not be asked for, once, and it is asked for again", async () => {
    let calls = 0;
    const wakes = wakesWith({
      request: async () => {
        if (calls++ === 0) throw new Error("502");
      },
    });
    await add(1, chat("C9"));
    await wakes.request(TARGET, "manual");
    await wakes.start();
    await eventually(() => outcomes.length === 1, 8_000);
    expect(calls).toBe(2);
    expect(posted).toMatchObject([{ card: { text: expect.stringContaining("RESULT-1") } }]);
  });

  it("what merges into a wake that is being handed over is heeded as well", async () => {
    const asked: Asked[] = [];
    const wakes: Wakes = wakesWith({
      request: async (turn) => {
        asked.push(turn);
        if (asked.length === 1) await wakes.request(TARGET, "manual", "and this");
      },
    });
    await wakes.request(TARGET, "manual", "this");
    await wakes.start();
    await eventually(() => asked.length === 2);
    expect(asked.map((turn) => turn.prompt)).toEqual(["this", "this\n\nand this"]);
    expect(asked[0]?.id).not.toBe(asked[1]?.id);
  });

  it("wake-poll-consumes: while the agent is at work its poll may take the event back; then nobody is told", async () => {
    const wakes = wakesWith({ request: async () => {}, isBusy: async () => true });
    await add(1, chat("C9"));
    await wakes.request(TARGET, "exec-event");
    await wakes.start();
    await eventually(async () => (await state.queue.counts("wake")).delayed === 1);
    await events.remove(TARGET.sessionKey, "exec:1");
    clock.advance(BUSY_RETRY_MS);
    await eventually(() => outcomes.length === 1);
    expect(outcomes).toEqual(["no-pending-event"]);
    expect(posted).toEqual([]);
  });

  it.each([
    ["exec-event", 0],
    ["manual", 0],
    ["heartbeat", 250],
    ["cron", 250],
    ["approval", 250],
  ] as const)("a wake by %s waits %i ms for company", async (reason, waitMs) => {
    const asked: Asked[] = [];
    const wakes = wakesWith({ request: async (turn) => void asked.push(turn) });
    await wakes.request(TARGET, reason, "look");
    const job = await state.queue.counts("wake");
    expect([job.waiting, job.delayed]).toEqual(waitMs === 0 ? [1, 0] : [0, 1]);
    await wakes.start();
    if (waitMs > 0) {
      clock.advance(waitMs / 2);
      await state.queue.add({ name: "nudge", data: {} });
      expect((await state.queue.counts("wake")).delayed).toBe(1);
      expect(asked).toEqual([]);
      clock.advance(waitMs / 2);
      await state.queue.add({ name: "nudge", data: {} });
    }
    await eventually(() => asked.length === 1);
  });

  it("an agent that stays at work keeps nobody waiting: after a while people are told", async () => {
    const wakes = wakesWith({ request: async () => {}, isBusy: async () => true });
    await add(1, chat("C9"));
    clock.advance(MAX_BUSY_MS + 10);
    await wakes.request(TARGET, "exec-event");
    await wakes.start();
    await eventually(() => posted.length === 1);
  });

  it("two prompts that merge are both heard", async () => {
    const asked: Asked[] = [];
    const wakes = wakesWith({ request: async (turn) => void asked.push(turn) });
    await wakes.request(TARGET, "heartbeat", "look around");
    await wakes.request(TARGET, "cron", "water the plants");
    await wakes.start();
    await eventually(() => asked.length === 1);
    expect(asked[0]).toMatchObject({ reason: "cron", prompt: "look around\n\nwater the plants" });
  });

  it("a task is not told by code while there is a model that does it", async () => {
    const wakes = wakesWith({ request: async () => {} });
    await events.add(TARGET.sessionKey, {
      contextKey: "cron:1",
      text: "water the plants",
      atMs: clock.now(),
      route: chat("C9"),
      isTask: true,
    });
    await wakes.request(TARGET, "cron");
    await wakes.start();
    await eventually(() => outcomes.length === 1);
    expect(posted).toEqual([]);
    expect(await events.pending(TARGET.sessionKey)).toHaveLength(1);
  });

  it("wake-flood-loop: a turn whose own command wakes again waits for the spacing; people do not, and nothing is lost", async () => {
    let turns = 0;
    const wakes: Wakes = wakesWith({
      request: async () => {
        turns++;
      },
    });
    await add(1, chat("C9"));
    await wakes.request(TARGET, "exec-event");
    await wakes.start();
    await eventually(() => outcomes.length === 1);
    await events.remove(TARGET.sessionKey, "exec:1");
    await add(2, chat("C9"));
    await wakes.request(TARGET, "exec-event");
    await eventually(async () => (await state.queue.counts("wake")).delayed === 1);
    expect(turns).toBe(1);
    expect(posted).toHaveLength(2);
    expect((await events.pending(TARGET.sessionKey)).map((event) => event.contextKey)).toEqual(["exec:2"]);
  });

  it.each([
    [[], "exec-event", 0],
    [[-MIN_SPACING_MS], "exec-event", 0],
    [[-10_000], "exec-event", MIN_SPACING_MS - 10_000],
    [[-10_000], "manual", 0],
    [[-50_000, -49_000, -48_000, -47_000, -46_000], "manual", FLOOD_WINDOW_MS - 50_000],
    [[-70_000, -65_000, -64_000, -63_000, -62_000], "exec-event", 0],
  ] as const)("turns at %j: a wake by %s waits %i ms", (turnsAt, reason, expected) => {
    expect(distanceMs(turnsAt, 0, reason)).toBe(expected);
  });
});
