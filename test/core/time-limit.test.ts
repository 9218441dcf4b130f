import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { timeLimit } from "../../src/core/time-limit.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

describe("a time limit", () => {
  it("aborts when the time is up, though the garbage is collected meanwhile", async () => {
    const reason = await new Promise<unknown>((resolve) => {
      const { signal } = timeLimit(200, new AbortController().signal);
      signal.addEventListener("abort", () => resolve(signal.reason));
      collect();
      setTimeout(collect, 50);
    });
    expect(reason).toMatchObject({ name: "TimeoutError" });
  });

  it("aborts with the other signal and its reason, also when that has aborted already", () => {
    const stopping = new AbortController();
    const limit = timeLimit(60_000, stopping.signal);
    stopping.abort("stopped");
    expect([limit.signal.aborted, limit.signal.reason]).toEqual([true, "stopped"]);
    expect(timeLimit(60_000, stopping.signal).signal.reason).toBe("stopped");
  });

  it("leaves nothing behind at the other signal once it is done", () => {
    const stopping = new AbortController();
    const limit = timeLimit(60_000, stopping.signal);
    limit.done();
    stopping.abort();
    expect(limit.signal.aborted).toBe(false);
  });
});
