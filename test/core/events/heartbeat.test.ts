import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createHeartbeats,
  type HeartbeatAgent,
  type HeartbeatSkip,
  isActive,
  isEffectivelyEmpty,
} from "../../../src/core/events/heartbeat.ts";
import { eventually, type ManualClock, manualClock, openTestState, type TestState } from "../../support/state.ts";

const AMSTERDAM = "Europe/Amsterdam";
const at = (iso: string) => Date.parse(iso);

describe("active hours", () => {
  it.each([
    ["08:00", "22:00", "2030-01-15T07:00:00Z", true],
    ["08:00", "22:00", "2030-01-15T06:59:59Z", false],
    ["08:00", "22:00", "2030-01-15T20:59:59Z", true],
    ["08:00", "22:00", "2030-01-15T21:00:00Z", false],
    ["08:00", "24:00", "2030-01-15T22:59:59Z", true],
    ["22:00", "06:00", "2030-01-15T22:00:00Z", true],
    ["22:00", "06:00", "2030-01-15T04:59:00Z", true],
    ["22:00", "06:00", "2030-01-15T12:00:00Z", false],
    ["09:00", "09:00", "2030-01-15T08:00:00Z", false],
    ["08:00", "22:00", "2030-07-15T06:00:00Z", true],
  ])("%s to %s in Amsterdam at %s: %s", (start, end, moment, expected) => {
    expect(isActive({ start, end, timezone: AMSTERDAM }, at(moment))).toBe(expected);
  });
});

it.each([
  ["", true],
  ["# Heartbeat\n\n- \n- [ ]\n<!-- what to look after\n goes here -->\n", true],
  ["# Heartbeat\n- check the disk", false],
  ["look", false],
])("HEARTBEAT.md %j is effectively empty: %s", (text, expected) => {
  expect(isEffectivelyEmpty(text)).toBe(expected);
});

describe("ticks", () => {
  let clock: ManualClock;
  let state: TestState;
  let wakes: string[];
  let skips: HeartbeatSkip[];
  const main: HeartbeatAgent = { agentId: "main", sessionKey: "agent:main:main", everyMs: 50 };

  beforeEach(async () => {
    clock = manualClock();
    state = await openTestState(clock);
    wakes = [];
    skips = [];
  });
  afterEach(() => state.dispose());

  const heartbeats = (
    agents: readonly HeartbeatAgent[],
    more: { readonly model?: boolean; readonly checklist?: string; readonly unseen?: boolean } = {},
  ) =>
    createHeartbeats({
      queue: state.queue,
      clock,
      wakes: { request: async (target, reason) => void wakes.push(`${target.sessionKey} ${reason}`) },
      agents: () => agents,
      hasModel: () => more.model ?? true,
      checklist: async () => more.checklist,
      routeFor: async () =>
        more.unseen ? { channel: "slack", accountId: "default", chatType: "dm", chatId: "D1" } : undefined,
      isSeenAt: () => !more.unseen,
      onSkip: (_, why) => skips.push(why),
    });

  it("wakes the agent's session again and again", async () => {
    await heartbeats([main]).start();
    await eventually(() => wakes.length >= 2);
    expect(new Set(wakes)).toEqual(new Set(["agent:main:main heartbeat"]));
  });

  it.each([
    ["no-model", main, { model: false }],
    ["quiet-hours", { ...main, activeHours: { start: "00:00", end: "00:00" } }, {}],
    ["empty-heartbeat-file", main, { checklist: "# Nothing yet\n" }],
    ["alerts-disabled", main, { unseen: true }],
  ] as const)("is skipped as %s, and wakes nobody", async (why, agent, more) => {
    await heartbeats([agent], more).start();
    await eventually(() => skips.length > 0);
    expect(new Set(skips)).toEqual(new Set([why]));
    expect(wakes).toEqual([]);
  });

  it("wake-interval-zero: 0m takes the schedule of an earlier configuration away", async () => {
    await state.queue.schedule("heartbeat/main", { everyMs: 60_000 }, { name: "heartbeat", data: { agentId: "main" } });
    await heartbeats([{ ...main, everyMs: 0 }]).start();
    expect(await state.queue.schedules()).toEqual([]);
  });
});
