import { describe, expect, it } from "vitest";
import { process as command, parseProcessText, withoutShare } from "../../src/commands/process.ts";
import { PROCESS_ACTIONS } from "../../src/core/exec/process-tool.ts";
import { inEnglish } from "../../src/core/words/phrase.ts";

describe("/process as it is typed", () => {
  it.each<[string, object]>([
    ["", { action: "list" }],
    ["log quiet-otter offset=3 limit=5", { action: "log", sessionId: "quiet-otter", offset: 3, limit: 5 }],
    ["poll quiet-otter", { action: "poll", sessionId: "quiet-otter" }],
    ["write quiet-otter yes,  do it", { action: "write", sessionId: "quiet-otter", data: "yes,  do it\n" }],
    ["send-keys quiet-otter C-c  Enter", { action: "send-keys", sessionId: "quiet-otter", keys: ["C-c", "Enter"] }],
    ["resize quiet-otter 100x40", { action: "resize", sessionId: "quiet-otter", cols: 100, rows: 40 }],
    ["resize quiet-otter 100 40", { action: "resize", sessionId: "quiet-otter", cols: 100, rows: 40 }],
    ["kill quiet-otter", { action: "kill", sessionId: "quiet-otter" }],
  ])("%j", (text, call) => expect(parseProcessText(text)).toEqual({ call }));

  it.each([
    ["frobnicate x", "Unknown action"],
    ["resize quiet-otter", "Which size?"],
    ["resize quiet-otter 100", "Which size?"],
    ["resize quiet-otter big", "Which size?"],
    ["kill quiet-otter now", "takes a session and nothing else"],
  ])("%j is answered with %j", (text, part) => {
    const parsed = parseProcessText(text);
    expect("error" in parsed && inEnglish(parsed.error)).toContain(part);
  });

  it.each([
    ["share=true", "", true],
    ["list share:true", "list", true],
    ["log quiet-otter limit=5 share=true", "log quiet-otter limit=5", true],
    ["log quiet-otter", "log quiet-otter", false],
    // What is typed to a program stays as it is.
    ["write quiet-otter share=true", "write quiet-otter share=true", false],
    ["paste quiet-otter let us share=true", "paste quiet-otter let us share=true", false],
  ])("%j is shared or not", (args, text, isShared) => expect(withoutShare(args)).toEqual({ text, isShared }));

  it("has every action of the tool", () => {
    expect(command.options.find(({ name }) => name === "action")?.choices).toEqual(PROCESS_ACTIONS);
  });
});
