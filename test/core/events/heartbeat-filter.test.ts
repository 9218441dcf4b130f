import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ACK_TOKENS, DEFAULT_ACK_MAX_CHARS, visibleAnswer } from "../../../src/core/events/heartbeat-filter.ts";
import { cpuMs } from "../../support/cpu.ts";

const rest = (chars: number) => "x".repeat(chars);

describe("what of an answer reaches a chat", () => {
  it.each([
    ["HEARTBEAT_OK"],
    ["NO_REPLY"],
    ["  HEARTBEAT_OK\n"],
    ["HEARTBEAT_OK."],
    ["**HEARTBEAT_OK**"],
    ["`HEARTBEAT_OK`"],
    ["_HEARTBEAT_OK_!"],
    ['"HEARTBEAT_OK"'],
    ["“HEARTBEAT_OK”."],
    ["<b>HEARTBEAT_OK</b>"],
    ["✅ HEARTBEAT_OK"],
    ["HEARTBEAT_OK 👍🏽"],
    ["> HEARTBEAT_OK"],
    ["# HEARTBEAT_OK"],
    ["HEARTBEAT_OK HEARTBEAT_OK"],
    ["HEARTBEAT_OK, all is quiet."],
    ["All is quiet.\n\nHEARTBEAT_OK"],
    [`HEARTBEAT_OK ${rest(DEFAULT_ACK_MAX_CHARS)}`],
    ["```\nHEARTBEAT_OK\n```"],
    [""],
    ["   \n"],
  ])("%j is an acknowledgement, or nothing: not sent", (text) => {
    expect(visibleAnswer(text)).toBeUndefined();
  });

  it.each([
    ["The disk is full.", "The disk is full."],
    // At a length that is more than an acknowledgement.
    [`HEARTBEAT_OK\n\n**${"x".repeat(301)}** is full`, `**${"x".repeat(301)}** is full`],
    [`HEARTBEAT_OK\n\`\`\`\n${"x".repeat(301)}\n\`\`\``, `\`\`\`\n${"x".repeat(301)}\n\`\`\``],
    [`HEARTBEAT_OK "${"x".repeat(301)}"`, `"${"x".repeat(301)}"`],
    [`HEARTBEAT_OK\n- ${"x".repeat(301)}`, `- ${"x".repeat(301)}`],
    [`**HEARTBEAT_OK**: ${"x".repeat(301)}`, "x".repeat(301)],
    [`${"x".repeat(301)}. HEARTBEAT_OK`, `${"x".repeat(301)}.`],
    [`Is it ${"x".repeat(301)}?\n\n> **HEARTBEAT_OK**.`, `Is it ${"x".repeat(301)}?`],
    [`\`\`\`\n${"x".repeat(301)}\n\`\`\`\nHEARTBEAT_OK`, `\`\`\`\n${"x".repeat(301)}\n\`\`\``],
    [`${"x".repeat(301)} — HEARTBEAT_OK`, "x".repeat(301)],
    ["I said HEARTBEAT_OK in the middle of it.", "I said HEARTBEAT_OK in the middle of it."],
    [`HEARTBEAT_OK ${rest(DEFAULT_ACK_MAX_CHARS + 1)}`, rest(DEFAULT_ACK_MAX_CHARS + 1)],
    [`${rest(DEFAULT_ACK_MAX_CHARS + 1)}\n**HEARTBEAT_OK**`, rest(DEFAULT_ACK_MAX_CHARS + 1)],
    ["MY_HEARTBEAT_OK_FLAG is set", "MY_HEARTBEAT_OK_FLAG is set"],
    ["HEARTBEAT_OKAY then", "HEARTBEAT_OKAY then"],
    ["heartbeat_ok", "heartbeat_ok"],
    ["  padded  ", "padded"],
  ])("%j is sent as %j", (text, sent) => {
    expect(visibleAnswer(text)).toBe(sent);
  });

  it("ackMaxChars 0 sends whatever stands beside the token", () => {
    expect(visibleAnswer("HEARTBEAT_OK the disk is full", 0)).toBe("the disk is full");
    expect(visibleAnswer("HEARTBEAT_OK", 0)).toBeUndefined();
  });

  it("property: what is sent is never blank, and text without a token is sent whole", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const sent = visibleAnswer(text);
        if (sent !== undefined) expect(sent.trim()).not.toBe("");
        if (!ACK_TOKENS.some((token) => text.includes(token)) && text.trim() !== "") expect(sent).toBe(text.trim());
      }),
    );
  });

  it("takes linear time for text that looks like dress all the way", () => {
    const hostile = `${"*".repeat(200_000)}x HEARTBEAT_O ${"*_ ".repeat(100_000)}`;
    expect(cpuMs(() => visibleAnswer(hostile))).toBeLessThan(1_000);
  });
});
