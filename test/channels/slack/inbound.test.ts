import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  readCommand,
  readMessage,
  readPress,
  readReason,
  type SlackIdentity,
  userGroupsIn,
  writeReasonMetadata,
} from "../../../src/channels/slack/inbound.ts";
import { readSlackText } from "../../../src/channels/slack/markup.ts";
import { typedToMrkdwn } from "../../emulators/slack/markup.ts";

const self: SlackIdentity = { accountId: "default", teamId: "T1", botUserId: "U0BOT", botId: "B0BOT" };
const base = {
  type: "message",
  user: "U1",
  channel: "C1",
  ts: "1700000000.000100",
  text: "hi",
  channel_type: "channel",
};
const rules = (mode: "off" | "first" | "all", allowBots = false) => ({
  replyToMode: () => mode,
  allowBots: () => allowBots,
  commandNames: new Set(["exec", "approve"]),
});
const read = (over: object, threads: "off" | "first" | "all" = "all"): ReturnType<typeof readMessage> =>
  readMessage({ ...base, ...over }, self, rules(threads));

describe("readSlackText", () => {
  test.each([
    ["entities once", "a &amp;&amp; b &lt; c &gt; d &amp;lt;", "a && b < c > d &lt;"],
    ["link Slack found", "curl <http://x.io/?a=1&amp;b=2>", "curl http://x.io/?a=1&b=2"],
    ["link with label", "ping <http://example.com|example.com>", "ping example.com"],
    ["mail", "mail <mailto:a@b.co|a@b.co>", "mail a@b.co"],
    ["user with name", "<@U2|bob> and <@U3>", "@bob and @U3"],
    ["channel", "<#C2|general>", "#general"],
    ["broadcast", "<!here> <!subteam^S1|@ops> <!channel|@channel>", "@here @ops @channel"],
    ["code stays", "`ls <b>` ```x```", "`ls @b` ```x```".replace("@b", "b")],
  ])("%s", (_name, raw, typed) => {
    expect(readSlackText(raw)).toBe(typed);
  });

  test("gives back what a person typed, links and all", () => {
    const typed = fc
      .array(
        fc.oneof(
          fc.string(),
          fc.constantFrom("http://x.io/?a=1&b=2", "&amp;", "<tag>", "a@b.co", "example.com", "<@U1>", "|"),
        ),
        { maxLength: 8 },
      )
      .map((parts) => parts.join(" "));
    fc.assert(
      fc.property(typed, (text) => {
        expect(
          readSlackText(
            typedToMrkdwn(
              text,
              () => undefined,
              () => undefined,
            ),
          ),
        ).toBe(text);
      }),
    );
  });
});

describe("readMessage", () => {
  test.each([
    ["a bot", { bot_id: "B9" }],
    ["itself", { user: "U0BOT" }],
    ["Slackbot", { user: "USLACKBOT" }],
    ["an edit", { subtype: "message_changed" }],
    ["a deletion", { subtype: "message_deleted" }],
    ["a join", { subtype: "channel_join" }],
    ["a bot message", { subtype: "bot_message", user: undefined }],
    ["a malformed subtype", { subtype: 7 }],
    ["no text", { text: undefined }],
    ["a malformed ts", { ts: "now" }],
    ["another event", { type: "reaction_added" }],
  ])("ignores %s (bot-loop-and-self)", (_name, over) => {
    expect(read(over)).toBeUndefined();
  });

  test.each([
    ["channel root, all", {}, "all", "1700000000.000100"],
    ["channel root, off", {}, "off", undefined],
    ["in a thread", { thread_ts: "1600000000.000001" }, "off", "1600000000.000001"],
    ["a direct message", { channel: "D1", channel_type: "im" }, "all", undefined],
    [
      "a direct message in a thread",
      { channel: "D1", channel_type: "im", thread_ts: "1600000000.000001" },
      "all",
      "1600000000.000001",
    ],
    ["a malformed thread", { thread_ts: "x" }, "off", undefined],
  ] as const)(
    "answers to %s go to the right thread (slack-thread-missing-fails-closed)",
    (_name, over, threads, thread) => {
      expect(read(over, threads)?.route.threadId).toBe(thread);
    },
  );

  test.each([
    ["C1", "channel", "channel"],
    ["G1", "group", "channel"],
    ["G1", "mpim", "group"],
    ["C2", "mpim", "group"],
    ["D1", "im", "dm"],
    ["D1", undefined, "dm"],
    ["C1", undefined, "channel"],
  ])("%s of type %s is a %s", (channel, channel_type, expected) => {
    expect(read({ channel, channel_type })?.route.chatType).toBe(expected);
  });

  test.each([
    ["<@U0BOT> exec ls", "/exec ls", true],
    ["<@U0BOT> Approve 3f0c1a2b deny because it's unsafe", "/Approve 3f0c1a2b deny because it's unsafe", true],
    ["<@U0BOT> executive summary, please", "executive summary, please", true],
    ["exec ls", "exec ls", false],
    ["  <@U0BOT|openclaw>: /exec ls", "/exec ls", true],
    ["please <@U0BOT> exec ls", "please @U0BOT exec ls", true],
    ["<@U2> exec ls", "@U2 exec ls", false],
    ["<@U0BOTX> exec ls", "@U0BOTX exec ls", false],
    ["deny 3f0c because it's unsafe", "deny 3f0c because it's unsafe", false],
  ])("%j (slack-slash-in-thread, unbalanced-quote)", (raw, text, mentionsBot) => {
    expect(read({ text: raw })).toMatchObject({ text, mentionsBot });
  });

  test.each([
    ["<@U0BOT> exec ls", [], true, false],
    ["<@U2> exec ls", [], false, true],
    ["<@U2> and <@U0BOT>, exec ls", [], true, true],
    ["<!subteam^S1|@ops> exec ls", ["S1"], true, false],
    ["<!subteam^S1> exec ls", ["S1"], true, false],
    ["<!subteam^S1|@ops> exec ls", [], false, true],
    ["<!subteam^S2|@dev> exec ls", ["S1"], false, true],
    ["<!here> exec ls", [], false, false],
    ["&lt;@U2&gt; <#C1|general> exec ls", [], false, false],
  ])("%j with the bot in %j: of the bot %s, of others %s", (raw, groups, mentionsBot, mentionsOthers) => {
    const facts = readMessage({ ...base, text: raw }, self, rules("all"), new Set(groups));
    expect(facts).toMatchObject({ mentionsBot, mentionsOthers });
  });

  test("a user group with the bot is spoken to like the bot", () => {
    const event = { ...base, text: "<!subteam^S1|@ops>: exec echo <!subteam^S1|@ops>" };
    expect(userGroupsIn(event)).toEqual(["S1"]);
    expect(readMessage(event, self, rules("all"), new Set(["S1"]))?.text).toBe("/exec echo @ops");
    expect(readMessage(event, self, rules("all"))?.text).toBe("@ops: exec echo @ops");
  });

  test("other bots are agents where they are allowed; itself never", () => {
    const allowed = (over: object) => readMessage({ ...base, ...over }, self, rules("all", true));
    expect(allowed({ bot_id: "B9", user: "U9" })).toMatchObject({ userId: "U9", fromBot: true });
    expect(allowed({ bot_id: "B9", user: undefined, subtype: "bot_message" })).toMatchObject({
      userId: "B9",
      fromBot: true,
    });
    expect(allowed({ bot_id: "B0BOT", user: undefined, subtype: "bot_message" })).toBeUndefined();
    expect(allowed({ bot_id: "B0BOT", user: "U0BOT" })).toBeUndefined();
    expect(allowed({ user: "U1" })).toMatchObject({ fromBot: false });
  });

  test.each([
    ["<@U0BOT> exec `ls -la`", "/exec ls -la"],
    ["<@U0BOT> exec ```\nls &amp;&amp; pwd\necho x\n```", "/exec ls && pwd\necho x"],
    ["<@U0BOT> exec host=node timeout=5 -- `make`", "/exec host=node timeout=5 -- make"],
    [" /exec `ls`", "/exec ls"],
    ["<@U0BOT> exec echo `date`", "/exec echo `date`"],
    ["<@U0BOT> exec `a` `b`", "/exec `a` `b`"],
    ["<@U0BOT> look at `ls`", "look at `ls`"],
  ])("a command that is code as a whole loses the formatting: %j", (raw, text) => {
    expect(read({ text: raw })?.text).toBe(text);
  });

  test("a mention and its message have one id", () => {
    const { channel_type: _type, ...mention } = { ...base, type: "app_mention" };
    expect(readMessage(mention, self, rules("all"))?.id).toBe(read({})?.id);
  });

  test("no text takes long to read", () => {
    const started = performance.now();
    for (const unit of ["<", "<@U0BOT|", "&amp;", "<@U0BOT> exec ` ", " ", "<@U0BOT>:,"])
      read({ text: unit.repeat(40_000 / unit.length) });
    expect(performance.now() - started).toBeLessThan(2000);
  });

  test("nothing malformed throws", () => {
    fc.assert(fc.property(fc.anything(), (value) => void readMessage(value, self, rules("all"))));
    fc.assert(fc.property(fc.object(), (value) => void readMessage({ ...base, ...value }, self, rules("all"))));
  });
});

describe("readCommand", () => {
  const command = {
    command: "/exec",
    text: "ls &amp;&amp; echo &lt;",
    user_id: "U1",
    user_name: "bob",
    channel_id: "C1",
    trigger_id: "t.1",
    response_url: "https://hooks",
  };
  test("keeps the raw rest", () => {
    expect(readCommand(command, self, "openclaw")).toEqual({
      id: "command:t.1",
      userId: "U1",
      userName: "bob",
      wrapped: false,
      route: { channel: "slack", accountId: "default", chatType: "channel", chatId: "C1", scopeId: "T1" },
      name: "exec",
      args: "ls && echo <",
      responseUrl: "https://hooks",
    });
  });

  test("nothing malformed throws or becomes a command", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(readCommand(value, self, "openclaw")).toBeUndefined();
      }),
    );
  });
});

describe("readPress and readReason", () => {
  const press = {
    user: { id: "U1", username: "bob" },
    channel: { id: "C1" },
    container: { message_ts: "1700000000.000100", channel_id: "C1", thread_ts: "1600000000.000001" },
    trigger_id: "t.1",
    actions: [{ value: "ap1:r:PwwaKxERQiKDM0REVVVmZg", action_ts: "1700000001.000000" }],
  };

  test("the dialog brings everything back", () => {
    const facts = readPress(press, self);
    expect(facts?.action).toEqual({ kind: "deny-reason", approvalId: "3f0c1a2b-1111-4222-8333-444455556666" });
    if (facts === undefined) return;
    const view = {
      id: "V1",
      private_metadata: writeReasonMetadata(facts, "3f0c1a2b-1111-4222-8333-444455556666"),
      state: { values: { b: { i: { value: " no " } } } },
    };
    expect(readReason({ user: { id: "U1", username: "bob" }, view }, self, { block: "b", input: "i" })).toEqual({
      id: "view:V1:U1",
      userId: "U1",
      userName: "bob",
      route: facts.route,
      messageTs: "1700000000.000100",
      approvalId: "3f0c1a2b-1111-4222-8333-444455556666",
      comment: "no",
    });
  });

  test.each([
    ["no metadata", {}],
    ["not JSON", { private_metadata: "{" }],
    [
      "another action",
      {
        private_metadata: '{"action":"ui1:stop:PwwaKxERQiKDM0REVVVmZg","chatId":"C1","messageTs":"1700000000.000100"}',
      },
    ],
  ])("a dialog with %s is nothing", (_name, view) => {
    expect(
      readReason({ user: { id: "U1" }, view: { id: "V1", ...view } }, self, { block: "b", input: "i" }),
    ).toBeUndefined();
  });

  test("a button of another version keeps its place but has no action", () => {
    expect(readPress({ ...press, actions: [{ value: "/approve x" }] }, self)).toMatchObject({
      action: undefined,
      messageTs: "1700000000.000100",
    });
  });
});
