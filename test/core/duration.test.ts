import { describe, expect, test } from "vitest";
import { formatClock, formatDuration } from "../../src/core/duration.ts";

describe("formatDuration", () => {
  test.each([
    [0, "0ms"],
    [-5, "0ms"],
    [84, "84ms"],
    [999.6, "0.9s"],
    [1_450, "1.4s"],
    [12_340, "12.3s"],
    [59_949, "59.9s"],
    [59_999, "1m00s"],
    [72_000, "1m12s"],
    [3_599_600, "1h00m"],
    [10_920_000, "3h02m"],
    [187_200_000, "2d04h"],
    [Number.NaN, "0ms"],
  ])("%d ms", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe("formatClock", () => {
  test.each([
    [0, "00:00"],
    [42_900, "00:42"],
    [725_000, "12:05"],
    [3_723_000, "1:02:03"],
    [-1, "00:00"],
  ])("%d ms", (ms, text) => {
    expect(formatClock(ms)).toBe(text);
  });
});
