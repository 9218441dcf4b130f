import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstTickMs, nextTickMs } from "../../../src/core/events/cadence.ts";

const at = (text: string): number => new Date(text).getTime();
const iso = (ms: number | undefined): string | undefined => (ms === undefined ? ms : new Date(ms).toISOString());

describe("nextTickMs", () => {
  it("is the next multiple of the interval from its anchor, however many were missed", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 100_000 }),
        fc.nat({ max: 2_000_000 }),
        fc.integer({ min: -1000, max: 2_000_000 }),
        (everyMs, anchorMs, late) => {
          const afterMs = anchorMs + late;
          const next = nextTickMs({ everyMs }, afterMs, anchorMs) ?? Number.NaN;
          expect((next - anchorMs) % everyMs).toBe(0);
          expect(next).toBeGreaterThan(afterMs);
          expect(next - Math.max(afterMs, anchorMs)).toBeLessThanOrEqual(everyMs);
        },
      ),
    );
  });

  it("follows cron in its own time zone over a change of summer time", () => {
    const cadence = { cron: "30 9 * * *", timezone: "Europe/Berlin" };
    expect(iso(nextTickMs(cadence, at("2026-03-28T00:00:00Z"), 0))).toBe("2026-03-28T08:30:00.000Z");
    expect(iso(nextTickMs(cadence, at("2026-03-29T00:00:00Z"), 0))).toBe("2026-03-29T07:30:00.000Z");
  });

  it("takes six fields with seconds, names and nicknames", () => {
    const after = at("2026-11-30T12:00:00Z");
    expect(iso(nextTickMs({ cron: "*/15 * * * * *", timezone: "UTC" }, after, 0))).toBe("2026-11-30T12:00:15.000Z");
    expect(iso(nextTickMs({ cron: "0 8 * * MON", timezone: "UTC" }, after, 0))).toBe("2026-12-07T08:00:00.000Z");
    expect(iso(nextTickMs({ cron: "@daily", timezone: "UTC" }, after, 0))).toBe("2026-12-01T00:00:00.000Z");
  });

  it("has no tick after the last one, and a schedule that never comes due is refused", () => {
    const past = { cron: "0 0 0 1 1 * 2020", timezone: "UTC" };
    expect(nextTickMs(past, at("2026-01-01T00:00:00Z"), 0)).toBeUndefined();
    expect(() => firstTickMs(past, at("2026-01-01T00:00:00Z"))).toThrow(/never comes due/);
    expect(() => firstTickMs({ cron: "0 0 30 2 *" }, at("2026-01-01T00:00:00Z"))).toThrow(
      expect.objectContaining({ code: "invalid-argument" }),
    );
  });
});
