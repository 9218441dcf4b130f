import { describe, expect, test } from "vitest";
import { actorName, amount, countdown, dayName, duration, elapsed } from "../../src/web/format.ts";

test.each([
  [-5000, "00:00"],
  [42_900, "00:42"],
  [723_000, "12:03"],
  [3_723_000, "1:02:03"],
])("elapsed %i ms is %s", (ms, text) => {
  expect(elapsed(ms)).toBe(text);
});

test.each([
  [84.4, "84ms"],
  [999.4, "999ms"],
  [3210, "3.2s"],
  [9999, "9.9s"],
  [42_000, "42s"],
  [72_400, "1m12s"],
  [3_599_999, "59m59s"],
  [7_500_000, "2h05m"],
  [273_600_000, "3d04h"],
])("a duration of %d ms is %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test.each([
  [29 * 60_000, "29 min"],
  [10 * 60_000, "10 min"],
  [299_500, "5:00"],
  [42_000, "0:42"],
  [-1, "0:00"],
])("%i ms left is %s", (ms, text) => {
  expect(countdown(ms)).toBe(text);
});

test("amounts agree with their word", () => {
  expect([amount(1, "line"), amount(1240, "line")]).toEqual(["1 line", "1,240 lines"]);
});

test("a person of another channel is named with it", () => {
  const actor = { kind: "person", accountId: "default", id: "U1", display: "dana" } as const;
  expect(actorName({ ...actor, channel: "slack" })).toBe("dana (slack)");
  expect(actorName({ ...actor, channel: "web" })).toBe("dana");
});

describe("day separators", () => {
  const now = new Date(2026, 2, 1, 0, 30).getTime();
  test("go by the calendar, not by 24 hours", () => {
    expect(dayName(new Date(2026, 2, 1, 0, 1).getTime(), now)).toBe("Today");
    expect(dayName(new Date(2026, 1, 28, 23, 59).getTime(), now)).toBe("Yesterday");
  });
  test("older days are named, with the year when it is another one", () => {
    expect(dayName(new Date(2026, 1, 20).getTime(), now, "en-GB")).toBe("Friday 20 February");
    expect(dayName(new Date(2025, 11, 31).getTime(), now, "en-GB")).toContain("2025");
  });
});
