import { afterAll, describe, expect, it } from "vitest";
import { ShellFuzz } from "./shell-fuzz.ts";

describe("random shell text against bash", () => {
  const fuzz = new ShellFuzz();
  afterAll(() => fuzz.remove());

  it("runs nothing but the listed program, with the arguments that were judged", () => {
    const report = fuzz.fuzz(20261130, 12_000);
    expect(report.escapes).toEqual([]);
    // A generator whose strings are all refused would prove nothing.
    expect(report.run).toBeGreaterThan(300);
    expect(report.calls).toBeGreaterThan(300);
  }, 120_000);
});
