import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Card } from "../../../src/core/cards.ts";
import { createSystemEvents, type SystemEvents } from "../../../src/core/events/system-events.ts";
import {
  type AgentTurn,
  createWakes,
  distanceMs,
  FLOOD_WINDOW_MS,
  MIN_SPACING_MS,
  type WakeOutcome,
  type Wakes,
} from "../../../src/core/events/wakes.ts";
import type { Route } from "../../../src/core/route.ts";
import { eventually, type ManualClock, manualClock, openTestState, type TestState } from "../../support/state.ts";

const chat = (chatId: string): Route => ({ channel: "slack", accountId: "default", chatType: "channel", chatId });
const TARGET = { agentId: "main", sessionKey: "agent:main:slack:channel:C9" };

let clock: ManualClock;
let state: TestState;
let events: SystemEvents;
let posted: { key: string; route: Route; card: Card }[];
let outcomes: WakeOutcome[];

beforeEach(async () => {
  clock = manualClock();
  state = await openTestState(clock);
  events = createSystemEvents(state.store);
  posted = [];
  outcomes = [];
});
afterEach(() => state.dispose());

function wakesWith(turn?: AgentTurn): Wakes {
  return createWakes({
    store: state.store,
    queue: state.queue,
    clock,
    newId: () => crypto.randomUUID(),
    events,
    turnFor: () => turn,
    ackMaxChars: () => 300,
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
  it("many requests at once become one turn that is told of every event", async () => {
    const turns: string[] = [];
    const wakes = wakesWith({
      run: async ({ prompt }) => {
        turns.push(prompt);
        return { text: "Two are done." };
      },
    });
    for (let n = 0; n < 10; n++) await add(n, chat("C9"));
    await Promise.all(Array.from({ length: 10 }, () => wakes.request(TARGET, "exec-event")));
    await wakes.start();
    await eventually(() => outcomes.length === 1);
    expect(turns).toHaveLength(1);
    for (let n = 0; n < 10; n++) expect(turns[0]).toContain(`RESULT-${n}`);
    expect(posted).toMatchObject([{ route: chat("C9"), card: { text: "Two are done." } }]);
    expect(await events.pending(TARGET.sessionKey)).toEqual([]);
  });

  it("a model that only acknowledges does not suppress a completion: it is delivered by code", async () => {
    const wakes = wakesWith({ run: async () => ({ text: "**HEARTBEAT_OK**" }) });
    await add(1, chat("C9"));
    await wakes.request(TARGET, "exec-event");
    await wakes.start();
    await eventually(() => outcomes.length === 1);
    expect(posted).toMatchObject([{ card: { text: expect.stringContaining("RESULT-1") } }]);
  });

  it("wake-failed-dropped: a turn that fails is tried again with its events", async () => {
    let calls = 0;
    const wakes = wakesWith({
      run: async ({ events: told }) => {
        if (calls++ === 0) throw new Error("502");
        return { text: `told of ${told.length}` };
      },
    });
    await add(1, chat("C9"));
    await wakes.request(TARGET, "manual");
    await wakes.start();
    await eventually(() => posted.length === 1, 8_000);
    expect(posted).toMatchObject([{ card: { text: "told of 1" } }]);
  });

  it("wake-flood-loop: a turn whose own command wakes again waits for the spacing, and nothing is lost", async () => {
    let turns = 0;
    const wakes: Wakes = wakesWith({
      run: async () => {
        turns++;
        if (turns > 3) return { text: "enough" };
        await add(turns + 1, chat("C9"));
        await wakes.request(TARGET, "exec-event");
        return { text: `turn ${turns}` };
      },
    });
    await add(1, chat("C9"));
    await wakes.request(TARGET, "exec-event");
    await wakes.start();
    await eventually(() => turns === 1);
    await eventually(async () => (await state.queue.counts("wake")).delayed === 1);
    expect(turns).toBe(1);
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
