import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ButtonAction,
  decodeAction,
  encodeAction,
  isActionText,
} from "../../../src/channels/cards/action-codec.ts";
import { MAX_MENU_CHOICES } from "../../../src/core/cards.ts";
import { ExecError } from "../../../src/core/errors.ts";

/** core.telegram.org/bots/api#inlinekeyboardbutton */
const MAX_CALLBACK_DATA_BYTES = 64;

const action: fc.Arbitrary<ButtonAction> = fc.oneof(
  fc.record({
    kind: fc.constant("approval" as const),
    approvalId: fc.uuid(),
    decision: fc.constantFrom("allow-once" as const, "allow-always" as const, "deny" as const),
  }),
  fc.record({ kind: fc.constant("deny-reason" as const), approvalId: fc.uuid() }),
  fc.record({ kind: fc.constant("revoke" as const), approvalId: fc.uuid() }),
  fc.record({ kind: fc.constant("more" as const), approvalId: fc.uuid() }),
  fc.record({
    kind: fc.constant("approval-action" as const),
    action: fc.constantFrom("full-command" as const, "snooze" as const, "ask-again" as const),
    approvalId: fc.uuid(),
  }),
  fc.record({
    kind: fc.constant("pairing" as const),
    requestId: fc.uuid(),
    decision: fc.constantFrom("approve" as const, "dismiss" as const),
  }),
  fc.record({
    kind: fc.constant("menu" as const),
    menuId: fc.uuid(),
    choice: fc.nat({ max: MAX_MENU_CHOICES - 1 }),
  }),
  fc.record({
    kind: fc.constant("run" as const),
    action: fc.constantFrom("stop" as const, "full-log" as const, "run-again" as const),
    runId: fc.uuid(),
  }),
);

describe("button codec (tg-callback-data-64, discord-custom-id-100)", () => {
  test("every action comes back as it was and fits the smallest platform", () => {
    fc.assert(
      fc.property(action, (value) => {
        const text = encodeAction(value);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_CALLBACK_DATA_BYTES);
        expect(isActionText(text)).toBe(true);
        expect(decodeAction(text)).toEqual(value);
      }),
    );
  });

  test("only one spelling of a button is accepted", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          action.map(encodeAction).chain((text) => mutation(text)),
        ),
        (text) => {
          const decoded = decodeAction(text);
          if (decoded !== undefined) expect(encodeAction(decoded)).toBe(text);
        },
      ),
    );
  });

  test.each([
    "",
    "ap1:o:",
    "ap1:x:AAAAAAAAAAAAAAAAAAAAAA",
    "ap2:o:AAAAAAAAAAAAAAAAAAAAAA",
    "pr1:o:AAAAAAAAAAAAAAAAAAAAAA",
    "ap1:stop:AAAAAAAAAAAAAAAAAAAAAA",
    "ui1:o:AAAAAAAAAAAAAAAAAAAAAA",
    "ap1:o:AAAAAAAAAAAAAAAAAAAAAB",
    "ap1:o:AAAAAAAAAAAAAAAAAAAAAA\n",
    " ap1:o:AAAAAAAAAAAAAAAAAAAAAA",
    "/approve 3f0c1a2b allow-once",
    "ui1:constructor:AAAAAAAAAAAAAAAAAAAAAA",
    "mn1:pick:AAAAAAAAAAAAAAAAAAAAAA",
    "mn1:cw:AAAAAAAAAAAAAAAAAAAAAA",
  ])("%j decodes to nothing", (text) => {
    expect(decodeAction(text)).toBeUndefined();
  });

  test.each(["", "plugin:3f0c", "3F0C1A2B-1111-4222-8333-444455556666"])(
    "refuses to build a button for id %j",
    (id) => {
      expect(() => encodeAction({ kind: "approval", approvalId: id, decision: "deny" })).toThrow(ExecError);
    },
  );
});

function mutation(text: string): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(text.length - 1), fc.string({ maxLength: 2 }))
    .map(([at, insert]) => text.slice(0, at) + insert + text.slice(at + 1));
}
