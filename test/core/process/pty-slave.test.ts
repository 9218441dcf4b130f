import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HeldSlave } from "../../../src/core/process/pty-slave.ts";

/** A file in place of the terminal: the mark that was written can be read there. */
function held(): { slave: HeldSlave; mark: () => Buffer } {
  const path = join(mkdtempSync(join(tmpdir(), "openclaw-slave-")), "slave");
  writeFileSync(path, "");
  return { slave: new HeldSlave(path), mark: () => readFileSync(path) };
}

describe("the mark behind the output of a terminal (pty-exit-before-data)", () => {
  it("is taken out at every cut, and tells that all before it has been read", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 60 }),
        fc.uint8Array({ maxLength: 20 }),
        fc.array(fc.nat(200), { maxLength: 8 }),
        fc.boolean(),
        (before, after, cuts, almost) => {
          const { slave, mark } = held();
          let drained = 0;
          expect(slave.finish(() => drained++)).toBe(true);
          // What looks like the beginning of the mark is output all the same.
          const output = Buffer.concat([before, almost ? mark().subarray(0, 9) : Buffer.alloc(0)]);
          const whole = Buffer.concat([output, mark(), after]);
          const places = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort((a, b) => a - b);
          const seen: Buffer[] = [];
          let from = 0;
          for (const place of [...places, whole.length]) {
            expect(drained === 1).toBe(from >= output.length + mark().length);
            seen.push(Buffer.from(slave.take(whole.subarray(from, place))));
            from = place;
          }
          expect(drained).toBe(1);
          expect(Buffer.concat(seen).equals(Buffer.concat([output, after]))).toBe(true);
          expect(slave.release()).toHaveLength(0);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("what only looked like it is handed out when the terminal closes without one", () => {
    const { slave, mark } = held();
    slave.finish(() => {});
    expect(slave.take(Buffer.concat([Buffer.from("end"), mark().subarray(0, 5)])).toString()).toBe("end");
    expect(slave.release()).toEqual(mark().subarray(0, 5));
  });

  it("is another one each time, and nothing is held or changed before the child is gone", () => {
    const [one, two] = [held(), held()];
    expect(one.slave.take(Buffer.from("\0")).toString()).toBe("\0");
    for (const { slave } of [one, two]) slave.finish(() => {});
    expect(one.mark().equals(two.mark())).toBe(false);
    for (const { slave } of [one, two]) slave.release();
  });

  it("is not there without a terminal to hold", () => {
    for (const slave of [new HeldSlave(undefined), new HeldSlave("/nonexistent/pts")]) {
      expect(slave.finish(() => {})).toBe(false);
      expect(slave.take(Buffer.from("text")).toString()).toBe("text");
      expect(slave.release()).toHaveLength(0);
    }
  });
});
