import { describe, expect, it } from "vitest";
import { beginsAnew } from "../../src/agents/session-reset.ts";

const at = (text: string) => new Date(text).getTime();
const daily = { mode: "daily", atHour: 4, idleMinutes: 60 } as const;

describe("a conversation begins anew by itself", () => {
  it.each([
    [{ ...daily, mode: "none" }, "2026-01-01T00:00", "2026-06-01T00:00", false],
    [{ ...daily, mode: "idle" }, "2026-06-01T10:00", "2026-06-01T10:59", false],
    [{ ...daily, mode: "idle" }, "2026-06-01T10:00", "2026-06-01T11:00", true],
    [daily, "2026-06-01T03:59", "2026-06-01T04:00", true],
    [daily, "2026-06-01T04:00", "2026-06-01T23:59", false],
    [daily, "2026-06-01T23:00", "2026-06-02T03:59", false],
    [daily, "2026-06-01T23:00", "2026-06-02T04:01", true],
    [daily, "2026-05-30T12:00", "2026-06-01T03:00", true],
  ] as const)("%j: last word %s, now %s: %s", (reset, last, now, expected) => {
    expect(beginsAnew(reset, at(last), at(now))).toBe(expected);
  });

  it("not before anybody has spoken", () => {
    expect(beginsAnew(daily, 0, at("2026-06-01T12:00"))).toBe(false);
  });
});
