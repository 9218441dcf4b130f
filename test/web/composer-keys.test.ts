import { describe, expect, test } from "vitest";
import type { CompletionItem } from "../../src/protocol/frames.ts";
import { type CompletionList, enterItem, moveChoice, tabItem, wantsCompletion } from "../../src/web/completion.ts";
import { mayRecall, NOT_RECALLING, recall } from "../../src/web/recall.ts";

const item = (insert: string): CompletionItem => ({ insert, label: insert.trim(), detail: "" });
const list = (inserts: readonly string[], chosen = -1): CompletionList => ({
  forText: "",
  items: inserts.map(item),
  chosen,
});

describe("completions", () => {
  test("are asked for commands only", () => {
    expect(["/", "/ex", "/exec host="].every(wantsCompletion)).toBe(true);
    expect(["", "hello", " /exec", "/exec a\nb"].some(wantsCompletion)).toBe(false);
  });

  test("the choice goes round in both directions", () => {
    const three = list(["a", "b", "c"]);
    expect(moveChoice(three, 1).chosen).toBe(0);
    expect(moveChoice(three, -1).chosen).toBe(2);
    expect(moveChoice(list(["a", "b", "c"], 2), 1).chosen).toBe(0);
    expect(moveChoice(list([]), 1).chosen).toBe(-1);
  });

  test("Tab takes the first, or the chosen one", () => {
    expect(tabItem(list(["/exec ", "/events "]))?.insert).toBe("/exec ");
    expect(tabItem(list(["/exec ", "/events "], 1))?.insert).toBe("/events ");
  });

  test.each([
    ["a half-typed name is finished", "/ex", ["/exec "], -1, "/exec "],
    ["a whole name is sent", "/exec", ["/exec ", "/exec host="], -1, undefined],
    ["a whole name is sent although a longer one exists", "/help", ["/helpers ", "/help "], -1, undefined],
    ["arguments are sent as typed", "/exec ho", ["/exec host="], -1, undefined],
    ["a choice made on purpose is taken", "/exec ho", ["/exec host="], 0, "/exec host="],
    ["an item that does not continue what was typed is not forced on anybody", "/xyz", ["/exec "], -1, undefined],
  ])("Enter: %s", (_, text, inserts, chosen, expected) => {
    expect(enterItem(list(inserts, chosen), text)?.insert).toBe(expected);
  });
});

describe("walking through what was typed", () => {
  const said = ["first", "second", "third"];
  test("goes back to the first, stays there, and comes back to the draft", () => {
    let state = NOT_RECALLING;
    let text = "draft";
    const seen: string[] = [];
    for (const step of [1, 1, 1, 1, -1, -1, -1, -1] as const) {
      const next = recall(state, said, text, step);
      if (next !== undefined) {
        ({ state, text } = next);
      }
      seen.push(text);
    }
    expect(seen).toEqual(["third", "second", "first", "first", "second", "third", "draft", "draft"]);
  });

  test("happens at the edge of the text only", () => {
    expect(mayRecall("one\ntwo", 2, 2, 1)).toBe(true);
    expect(mayRecall("one\ntwo", 5, 5, 1)).toBe(false);
    expect(mayRecall("one\ntwo", 5, 5, -1)).toBe(true);
    expect(mayRecall("one\ntwo", 1, 1, -1)).toBe(false);
    expect(mayRecall("one", 0, 3, 1)).toBe(false);
  });
});
