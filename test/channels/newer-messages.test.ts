import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NewerMessages } from "../../src/channels/newer-messages.ts";

describe("newer messages", () => {
  it("are counted up to what is asked, each once, in whatever order they are told", () => {
    const newer = new NewerMessages();
    for (const id of ["9", "10", "12", "11", "12", "10"]) newer.note("room", id);
    expect(newer.below("room", "9", 5)).toBe(3);
    expect(newer.below("room", "10", 5)).toBe(2);
    expect(newer.below("room", "12", 5)).toBe(0);
    expect(newer.below("room", "9", 2)).toBe(2);
  });

  it("of a message from before the watch are not known, until enough have been seen", () => {
    const newer = new NewerMessages();
    for (const id of ["10", "11", "12", "13"]) newer.note("room", id);
    expect(newer.below("room", "4", 5)).toBeUndefined();
    newer.note("room", "14");
    expect(newer.below("room", "4", 5)).toBe(5);
    newer.forget();
    newer.note("room", "15");
    // A late one does not make the watch older than it is.
    newer.note("room", "3");
    expect(newer.below("room", "4", 5)).toBeUndefined();
    expect(newer.below("elsewhere", "4", 5)).toBeUndefined();
  });

  it("are what a full list of the place would give, or not known", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 8 }),
        (ids, asked, atMost) => {
          const newer = new NewerMessages();
          for (const id of ids) newer.note("room", String(id));
          const truth = Math.min(atMost, new Set(ids.filter((id) => id > asked)).size);
          const told = newer.below("room", String(asked), atMost);
          if (told === undefined) expect(asked).toBeLessThan(ids[0] ?? 0);
          else expect(told).toBe(truth);
        },
      ),
    );
  });
});
