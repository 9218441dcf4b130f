import type { APIInteraction, GatewayMessageCreateDispatchData } from "discord.js";
import { describe, expect, it } from "vitest";
import { encodeAction } from "../../../src/channels/cards/action-codec.ts";
import { takeInteraction, takeMessage } from "../../../src/channels/discord/inbound.ts";
import { APPROVAL_ID } from "../sample-cards.ts";

const NOW = Date.UTC(2026, 0, 2);
const id = (offsetMs = 0): string => ((BigInt(NOW + offsetMs) - 1_420_070_400_000n) << 22n).toString();
const context = { accountId: "default", selfId: "42", nowMs: NOW, commands: [], allowBots: false };
const user = { id: "7", username: "ann", discriminator: "0", global_name: "Ann", avatar: null };

function message(content: string, over: Record<string, unknown> = {}): GatewayMessageCreateDispatchData {
  return {
    id: "900",
    channel_id: "500",
    guild_id: "1",
    type: 0,
    author: user,
    content,
    mentions: [...content.matchAll(/<@!?(\d+)>/g)].map((one) => ({ id: one[1] })),
    mention_roles: [...content.matchAll(/<@&(\d+)>/g)].map((one) => one[1]),
    ...over,
  } as unknown as GatewayMessageCreateDispatchData;
}

describe("discord messages", () => {
  it("are reported with writer, place and whether they address the bot", () => {
    expect(takeMessage(message("<@42>, exec ls"), { type: 0 }, context)).toEqual({
      kind: "event",
      event: {
        kind: "message",
        id: "m900",
        text: "exec ls",
        addressed: true,
        receivedAtMs: NOW,
        route: {
          channel: "discord",
          accountId: "default",
          chatType: "channel",
          chatId: "500",
          replyToId: "900",
          scopeId: "1",
        },
        actor: { kind: "person", channel: "discord", accountId: "default", id: "7", display: "Ann" },
      },
    });
    expect(takeMessage(message("just talk"), { type: 0 }, context)).toMatchObject({ event: { addressed: false } });
    expect(takeMessage(message("<@43> exec ls"), { type: 0 }, context)).toMatchObject({
      event: { addressed: false, text: "<@43> exec ls" },
    });
  });

  it("address the bot in direct messages and in replies to it", () => {
    expect(takeMessage(message("hi", { guild_id: undefined }), undefined, context)).toMatchObject({
      event: { addressed: true, route: { chatType: "dm" } },
    });
    const reply = message("yes", { type: 19, referenced_message: { author: { id: "42" } } });
    expect(takeMessage(reply, { type: 0 }, context)).toMatchObject({ event: { addressed: true } });
  });

  it.each([
    ["just talk", undefined],
    ["<@42> look", undefined],
    ["<@43> look", true],
    ["<@43> and <@42> look", undefined],
    ["<@&9> look", true],
  ])("%j leaves it to others: %s", (content, mentionsOthers) => {
    const taken = takeMessage(message(content), { type: 0 }, context);
    expect(taken.kind === "event" && taken.event.mentionsOthers).toBe(mentionsOthers);
  });

  it("in a thread carry the thread and its channel", () => {
    expect(takeMessage(message("x"), { type: 11, parentId: "400" }, context)).toMatchObject({
      event: { route: { chatId: "400", threadId: "500" } },
    });
  });

  it.each([
    ["own-message", { author: { ...user, id: "42", bot: true } }],
    ["bot", { author: { ...user, bot: true } }],
    ["webhook", { webhook_id: "5" }],
    ["system-message", { type: 7 }],
    ["forwarded", { message_reference: { type: 1 } }],
    ["no-text", { content: "" }],
  ])("bot-loop-and-self: %s is not heard", (why, over) => {
    expect(takeMessage(message("/approve x allow-once", over), { type: 0 }, context)).toEqual({ kind: "ignored", why });
  });

  it("bot-loop-and-self: another bot that is allowed is an agent, which can decide nothing", () => {
    const taken = takeMessage(
      message("/approve x", { author: { ...user, bot: true } }),
      { type: 0 },
      { ...context, allowBots: true },
    );
    expect(taken).toMatchObject({ event: { actor: { kind: "agent" } } });
  });
});

describe("discord interactions", () => {
  const base = {
    application_id: "9",
    token: "t",
    version: 1,
    channel: { id: "500", type: 11, parent_id: "400" },
    channel_id: "500",
    guild_id: "1",
    member: { user, nick: "annie" },
    locale: "nl",
  };
  const make = (over: Record<string, unknown>, offsetMs = 0): APIInteraction =>
    ({ id: id(offsetMs), ...base, ...over }) as unknown as APIInteraction;
  const press = (customId: string, offsetMs = 0) =>
    make({ type: 3, data: { custom_id: customId, component_type: 2 }, message: { id: "800" } }, offsetMs);

  it("give a command its text form, its asker's language, and a placeholder that says who sees the answer", () => {
    const command = {
      name: "status",
      summary: "s",
      options: [{ name: "q", description: "q" }],
      answersPrivately: () => true,
    };
    const taken = takeInteraction(
      make({ type: 2, data: { id: "1", name: "status", type: 1, options: [{ name: "q", type: 3, value: "all" }] } }),
      { ...context, commands: [command] },
    );
    expect(taken).toMatchObject({
      kind: "event",
      answer: { kind: "think", privately: true },
      event: {
        kind: "command",
        name: "status",
        args: "all",
        id: `i${id()}`,
        addressed: true,
        actor: { id: "7", display: "annie", locale: "nl", kind: "person" },
        route: { chatId: "400", threadId: "500", scopeId: "1", replyToId: id() },
      },
    });
  });

  it("report a press with its card, whose place can be edited later", () => {
    const action = { kind: "approval", approvalId: APPROVAL_ID, decision: "allow-once" } as const;
    expect(takeInteraction(press(encodeAction(action)), context)).toMatchObject({
      kind: "event",
      answer: { kind: "keep-card" },
      event: { kind: "press", action, ref: { chatId: "400", threadId: "500", messageId: "800" } },
    });
  });

  it("open a form for a reason, and take its text raw", () => {
    const request = { kind: "deny-reason", approvalId: APPROVAL_ID } as const;
    expect(takeInteraction(press(encodeAction(request)), context)).toMatchObject({
      answer: { kind: "ask-reason", request },
    });
    const form = make({
      type: 5,
      message: { id: "800" },
      data: {
        custom_id: encodeAction(request),
        components: [{ type: 18, component: { type: 4, custom_id: "reason", value: " it's unsafe; `rm` " } }],
      },
    });
    expect(takeInteraction(form, context)).toMatchObject({
      answer: { kind: "keep-card" },
      event: { action: { kind: "approval", approvalId: APPROVAL_ID, decision: "deny", comment: "it's unsafe; `rm`" } },
    });
  });

  it("say that a malformed button of ours is outdated, and leave other buttons alone", () => {
    expect(takeInteraction(press("ap1:x:AAAAAAAAAAAAAAAAAAAAAA"), context)).toMatchObject({
      kind: "answer-only",
      answer: { kind: "outdated" },
    });
    expect(takeInteraction(press("somebody-else"), context)).toEqual({ kind: "ignored", why: "foreign-button" });
  });

  it("are not taken when they are older than their token: a replay after a resume", () => {
    expect(takeInteraction(press("ap1:x", -16 * 60_000), context)).toEqual({ kind: "ignored", why: "replayed" });
  });
});
