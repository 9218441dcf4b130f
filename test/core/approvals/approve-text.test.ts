import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseApprove } from "../../../src/core/approvals/approve-text.ts";

describe("/approve", () => {
  it.each([
    ["a17b4920 allow-once", "a17b4920", "allow-once"],
    ["a17b4920 ALLOW-ONCE", "a17b4920", "allow-once"],
    ["allow-once a17b4920", "a17b4920", "allow-once"],
    ["a17b4920 once", "a17b4920", "allow-once"],
    ["a17b4920 always", "a17b4920", "allow-always"],
    ["block a17b4920", "a17b4920", "deny"],
    ["revoke a17b4920", "a17b4920", "revoke"],
    ["a17b4920 forget", "a17b4920", "revoke"],
    ["`a17b4920` allow-once", "a17b4920", "allow-once"],
    ["  a17b4920   deny  ", "a17b4920", "deny"],
    ["3f0c2b1a-0000-4000-8000-000000000000 reject", "3f0c2b1a-0000-4000-8000-000000000000", "deny"],
  ])("approve-command-with-junk: reads %s", (text, id, decision) => {
    expect(parseApprove(text)).toEqual({ id, decision });
  });

  it.each([
    "",
    "npm run build",
    "a17b4920",
    "allow-once",
    "allow-once deny",
    "a17b4920 allow-once && rm -rf x",
    "a17b4920 maybe",
    "a17b4920 allow-once please",
  ])("approve-command-with-junk: gives usage for %j, never a decision of its own", (text) => {
    expect(parseApprove(text)).toBeUndefined();
  });

  it("never decides on more than two words", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("allow", "deny", "abcd1234", "x"), { minLength: 3 }), (words) => {
        expect(parseApprove(words.join(" "))).toBeUndefined();
      }),
    );
  });
});
