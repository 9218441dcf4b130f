import { describe, expect, test } from "vitest";
import { actorName, dayName, timeLeft } from "../../src/web/format.ts";

test.each([
  [29 * 60_000, "in 29 minutes"],
  [120_001, "in 3 minutes"],
  [120_000, "in 120 seconds"],
  [41_200, "in 42 seconds"],
  [-1, "now"],
])("%i ms left is %s", (ms, text) => {
  expect(timeLeft(ms, "en")).toBe(text);
});

test("a person of another channel is named with it", () => {
  const actor = { kind: "person", accountId: "default", id: "U1", display: "dana" } as const;
  expect(actorName({ ...actor, channel: "slack" })).toBe("dana (slack)");
  expect(actorName({ ...actor, channel: "web" })).toBe("dana");
});

describe("day separators", () => {
  const now = new Date(2026, 2, 1, 0, 30).getTime();
  test("go by the calendar, not by 24 hours", () => {
    expect(dayName(new Date(2026, 2, 1, 0, 1).getTime(), now, "en")).toBe("Today");
    expect(dayName(new Date(2026, 1, 28, 23, 59).getTime(), now, "en")).toBe("Yesterday");
    expect(dayName(now, now, "nl")).toBe("Vandaag");
  });
  test("older days are named, with the year when it is another one", () => {
    expect(dayName(new Date(2026, 1, 20).getTime(), now, "en-GB")).toBe("Friday 20 February");
    expect(dayName(new Date(2025, 11, 31).getTime(), now, "en-GB")).toContain("2025");
  });
});
