import type { Message, Update } from "grammy/types";
import { describe, expect, it } from "vitest";
import { encodeAction } from "../../../src/channels/cards/action-codec.ts";
import { reasonLink, takeUpdate } from "../../../src/channels/telegram/inbound.ts";
import { APPROVAL_ID } from "../sample-cards.ts";

const self = { id: 42, username: "Ops_Bot" };
const context = {
  accountId: "default",
  self,
  nowMs: 5,
  commandNames: new Map([["exec_policy", "exec-policy"]]),
  allowBots: false,
  inlineButtons: "allowlist" as const,
};
const user = { id: 7, is_bot: false, first_name: "Ann", username: "ann", language_code: "pt-br" };
const dm = { id: 7, type: "private", first_name: "Ann" } as const;
const group = { id: -100, type: "supergroup", title: "G" } as const;

function message(text: string, over: Partial<Message> = {}): Update {
  const entities = [
    ...(text.startsWith("/")
      ? [{ type: "bot_command" as const, offset: 0, length: text.split(/\s/)[0]?.length ?? 0 }]
      : []),
    ...[...text.matchAll(/@\w+/g)]
      .filter(() => !text.startsWith("/"))
      .map((one) => ({ type: "mention" as const, offset: one.index, length: one[0].length })),
  ];
  return {
    update_id: 9,
    message: { message_id: 3, date: 1, chat: dm, from: user, text, entities, ...over } as Message,
  } as Update;
}

describe("telegram inbound", () => {
  it("reports a message in a private chat with its writer and their language", () => {
    expect(takeUpdate(message("hello"), context)).toEqual({
      kind: "event",
      event: {
        kind: "message",
        id: "u9",
        text: "hello",
        addressed: true,
        receivedAtMs: 5,
        route: { channel: "telegram", accountId: "default", chatType: "dm", chatId: "7" },
        actor: { kind: "person", channel: "telegram", accountId: "default", id: "7", display: "ann", locale: "pt-br" },
      },
    });
  });

  it("hears other bots only where that is allowed, as agents, and never itself (bot-loop-and-self)", () => {
    const other = { id: 99, is_bot: true, first_name: "CI", username: "ci_bot" };
    const said = (from: typeof other, over: Partial<Message> = {}) =>
      message("/exec@ops_bot ls", { chat: group, from, ...over } as Partial<Message>);
    const hearing = { ...context, allowBots: true };
    expect(takeUpdate(said(other), context)).toEqual({ kind: "ignored", why: "not-a-person" });
    expect(takeUpdate(said(other), hearing)).toMatchObject({
      event: { kind: "command", name: "exec", args: "ls", actor: { kind: "agent", id: "99", display: "ci_bot" } },
    });
    expect(takeUpdate(said({ ...other, id: self.id }), hearing)).toEqual({ kind: "ignored", why: "not-a-person" });
    expect(takeUpdate(said(other, { via_bot: other }), hearing)).toEqual({ kind: "ignored", why: "not-a-person" });
    const prompt = {
      message_id: 2,
      date: 1,
      chat: group,
      from: { id: self.id, is_bot: true, first_name: "Ops" },
      text: "why",
      entities: [
        {
          type: "text_link",
          offset: 0,
          length: 3,
          url: reasonLink({ kind: "deny-reason", approvalId: APPROVAL_ID }, self),
        },
      ],
    } as unknown as NonNullable<Message["reply_to_message"]>;
    const answer = message("because", { chat: group, from: other, reply_to_message: prompt } as Partial<Message>);
    expect(takeUpdate(answer, hearing)).toMatchObject({ event: { kind: "message" } });
  });

  it.each([
    ["/exec ls -la", "exec", "ls -la"],
    ["/exec: host=node ls", "exec", "host=node ls"],
    ["/exec@ops_bot  echo  a  b", "exec", "echo  a  b"],
    ["/EXEC@OPS_BOT ls", "exec", "ls"],
    ["/exec\nfor i in 1; do\n  ls\ndone", "exec", "for i in 1; do\n  ls\ndone"],
    ["/exec_policy show", "exec-policy", "show"],
    ["/exec echo it's fine", "exec", "echo it's fine"],
  ])("tg-command-with-botname, unbalanced-quote: %j is a command whose rest stays as typed", (typed, name, args) => {
    expect(takeUpdate(message(typed), context)).toMatchObject({ event: { kind: "command", name, args } });
  });

  it.each([
    ["just talk", undefined],
    ["@Ops_Bot look", undefined],
    ["@bram look", true],
    ["@bram and @ops_bot look", undefined],
  ])("%j leaves it to others: %s", (text, mentionsOthers) => {
    const taken = takeUpdate(message(text, { chat: group }), context);
    expect(taken.kind === "event" && taken.event.kind === "message" && taken.event.mentionsOthers).toBe(mentionsOthers);
  });

  it("tg-command-with-botname: another bot's command is not ours", () => {
    expect(takeUpdate(message("/exec@other_bot ls", { chat: group }), context)).toEqual({
      kind: "ignored",
      why: "other-bot",
    });
  });

  it("tg-command-with-botname: only the own name addresses the bot in a group", () => {
    expect(takeUpdate(message("/exec ls", { chat: group }), context)).toMatchObject({ event: { addressed: false } });
    expect(takeUpdate(message("/exec@Ops_Bot ls", { chat: group }), context)).toMatchObject({
      event: { addressed: true },
    });
  });

  it("says that a long message may be the first half of one that the person's app has split", () => {
    const taken = (length: number) => takeUpdate(message(`/exec ${"x".repeat(length)}`), context);
    expect(taken(1_000)).not.toHaveProperty("event.mayBeCut");
    expect(taken(2_100)).toMatchObject({ event: { kind: "command", mayBeCut: true } });
  });

  it("does not take a path for a command", () => {
    expect(takeUpdate(message("/usr/bin/ls"), context)).toMatchObject({
      event: { kind: "message", text: "/usr/bin/ls" },
    });
  });

  it.each([
    ["an edit", { update_id: 1, edited_message: message("/exec rm x").message } as Update, "edited"],
    [
      "a forward",
      message("/exec ls", { forward_origin: { type: "hidden_user", sender_user_name: "x", date: 1 } }),
      "forwarded",
    ],
    [
      "a channel post",
      { update_id: 1, channel_post: message("/exec ls").message } as unknown as Update,
      "channel-post",
    ],
    ["a caption", message("", { caption: "/exec ls" }), "no-text"],
  ])("tg-command-with-botname: %s never runs anything", (_what, update, why) => {
    const bare = update.message?.caption
      ? ({ ...update, message: { ...update.message, text: undefined } } as unknown as Update)
      : update;
    expect(takeUpdate(bare, context)).toEqual({ kind: "ignored", why });
  });

  it.each([
    ["another bot", { from: { ...user, is_bot: true } }],
    ["an inline bot", { via_bot: { id: 1, is_bot: true, first_name: "B" } }],
    ["an anonymous admin or a linked channel", { sender_chat: group }],
  ])("bot-loop-and-self: what %s wrote is not heard", (_who, over) => {
    expect(takeUpdate(message("/approve x allow-once", over as Partial<Message>), context)).toEqual({
      kind: "ignored",
      why: "not-a-person",
    });
  });

  it.each([
    ["hey @ops_bot look", true, "hey @ops_bot look"],
    ["@Ops_Bot: exec ls", true, "exec ls"],
    ["@other_bot exec ls", false, "@other_bot exec ls"],
    ["plain talk", false, "plain talk"],
  ])("in a group %j addresses the bot: %s", (typed, addressed, text) => {
    expect(takeUpdate(message(typed, { chat: group }), context)).toMatchObject({ event: { addressed, text } });
  });

  it("takes a reply to the bot as addressed, but not the reply every topic message carries", () => {
    const replied = (over: Partial<Message>) =>
      message("yes", { chat: group, reply_to_message: { from: { id: 42 }, ...over } as never });
    expect(takeUpdate(replied({}), context)).toMatchObject({ event: { addressed: true } });
    const opened = { forum_topic_created: { name: "T", icon_color: 1 } } as Partial<Message>;
    expect(takeUpdate(replied(opened), context)).toMatchObject({ event: { addressed: false } });
  });

  it.each([
    ["a topic", { message_thread_id: 77, is_topic_message: true }, "77"],
    ["a reply chain", { message_thread_id: 111 }, undefined],
    ["the General topic", {}, undefined],
  ])("tg-thread-not-found: %s gives the thread %s", (_what, over, threadId) => {
    const taken = takeUpdate(message("x", { chat: group, ...over } as Partial<Message>), context);
    expect(taken).toMatchObject({ kind: "event" });
    if (taken.kind === "event") expect(taken.event.route.threadId).toBe(threadId);
  });

  it("tg-supergroup-migration: both service messages tell old and new id", () => {
    const moved = { kind: "migrated", from: "-5", to: "-100" };
    const old = { id: -5, type: "group", title: "G" } as const;
    expect(takeUpdate(message("", { chat: old, migrate_to_chat_id: -100 } as never), context)).toEqual(moved);
    expect(takeUpdate(message("", { chat: group, migrate_from_chat_id: -5 } as never), context)).toEqual(moved);
  });

  const press = (data: string): Update =>
    ({
      update_id: 9,
      callback_query: {
        id: "q1",
        from: user,
        chat_instance: "c",
        data,
        message: { message_id: 3, date: 1, chat: group, message_thread_id: 77, is_topic_message: true },
      },
    }) as Update;

  it("reports a press with the message it was made on", () => {
    const action = { kind: "approval", approvalId: APPROVAL_ID, decision: "allow-once" } as const;
    expect(takeUpdate(press(encodeAction(action)), context)).toMatchObject({
      kind: "event",
      queryId: "q1",
      event: {
        kind: "press",
        action,
        ref: { channel: "telegram", accountId: "default", chatId: "-100", messageId: "3", threadId: "77" },
        route: { chatId: "-100", threadId: "77" },
      },
    });
  });

  it.each(["ap1:x:AAAAAAAAAAAAAAAAAAAAAA", "ap9", "ap1:o:short", "ui1:boom:AAAAAAAAAAAAAAAAAAAAAA"])(
    "answers a malformed button %j of ours as outdated or not at all, and never passes it on",
    (data) => {
      expect(["outdated-press", "ignored"]).toContain(takeUpdate(press(data), context).kind);
    },
  );

  it("asks for the reason of a denial and takes the reply as the denial", () => {
    const request = { kind: "deny-reason", approvalId: APPROVAL_ID } as const;
    expect(takeUpdate(press(encodeAction(request)), context)).toMatchObject({
      kind: "ask-reason",
      request,
      queryId: "q1",
    });
    const link = { type: "text_link", offset: 0, length: 1, url: reasonLink(request, self) } as const;
    const answer = (from: number) =>
      message("because it's unsafe; rm -rf", { reply_to_message: { from: { id: from }, entities: [link] } as never });
    expect(takeUpdate(answer(42), context)).toMatchObject({
      event: {
        kind: "press",
        action: { kind: "approval", approvalId: APPROVAL_ID, decision: "deny", comment: "because it's unsafe; rm -rf" },
      },
    });
    expect(takeUpdate(answer(43), context)).toMatchObject({ event: { kind: "message" } });
  });
});
