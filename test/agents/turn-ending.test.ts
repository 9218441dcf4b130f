import { describe, expect, it } from "vitest";
import type { TurnRecord } from "../../src/agents/transcript.ts";
import { answerOf } from "../../src/agents/turn-ending.ts";
import { inEnglish } from "../../src/core/words/phrase.ts";

const turn = (trigger: TurnRecord["trigger"]) => ({ trigger }) as TurnRecord;
const shown = (trigger: TurnRecord["trigger"], text: string) => {
  const answer = answerOf(turn(trigger), { kind: "answered", text }, 300);
  return answer === undefined ? undefined : inEnglish(answer);
};

describe("what people read of an answer", () => {
  it.each<[TurnRecord["trigger"], string, string | undefined]>([
    // A quiet heartbeat is an outcome, no empty answer: nothing is said and nothing is tried again (channels.md 10, row 25).
    ["heartbeat", "", undefined],
    ["heartbeat", "HEARTBEAT_OK", undefined],
    ["heartbeat", "NO_REPLY", undefined],
    ["heartbeat", "HEARTBEAT_OK All is quiet.", undefined],
    ["heartbeat", `HEARTBEAT_OK ${"x".repeat(300)}`, undefined],
    ["heartbeat", `HEARTBEAT_OK ${"x".repeat(301)}`, "x".repeat(301)],
    ["heartbeat", "The disk is full.", "The disk is full."],
    ["exec-event", "NO_REPLY", undefined],
    ["exec-event", "", undefined],
    ["cron", "HEARTBEAT_OK", undefined],
    // Outside heartbeats a stray token is taken off, and what is only a token is not sent; a person is never left without words.
    ["message", "HEARTBEAT_OK", undefined],
    ["message", "Done. HEARTBEAT_OK", "Done."],
    ["message", "I said HEARTBEAT_OK in the middle.", "I said HEARTBEAT_OK in the middle."],
  ])("%s, %j", (trigger, text, expected) => {
    expect(shown(trigger, text)).toBe(expected);
  });

  it("a person who gets no words is told so", () => {
    expect(shown("message", "  \n")).toMatch(/\w/);
  });
});
