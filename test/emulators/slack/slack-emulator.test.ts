/** The emulator against the genuine @slack/bolt, without a line of the product. */
import { App, HTTPReceiver, LogLevel, SocketModeReceiver, webApi } from "@slack/bolt";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SlackEmulator } from "./slack-emulator.ts";

const emulator = new SlackEmulator({ delivery: { ackMs: 1000, retryMs: [20, 50] } });
beforeAll(() => emulator.start());
afterAll(() => emulator.stop());
afterEach(() => emulator.reset());

const clientOptions = (): { slackApiUrl: string; retryConfig: { retries: number } } => ({
  slackApiUrl: emulator.apiUrl,
  retryConfig: { retries: 0 },
});

async function connect(clientPingTimeout = 300): Promise<App> {
  const receiver = new SocketModeReceiver({
    appToken: emulator.tokens.app,
    clientPingTimeout,
    logLevel: LogLevel.ERROR,
    installerOptions: { clientOptions: clientOptions() },
  });
  const app = new App({
    token: emulator.tokens.bot,
    receiver,
    socketMode: true,
    deferInitialization: true,
    logLevel: LogLevel.ERROR,
    clientOptions: clientOptions(),
  });
  await app.init();
  await app.start();
  return app;
}

const button = (label: string, value: string): object => ({
  type: "actions",
  block_id: "b",
  elements: [{ type: "button", action_id: `a:${value}`, text: { type: "plain_text", text: label }, value }],
});

describe("raw bolt over Socket Mode", () => {
  let app: App;
  beforeEach(async () => {
    app = await connect();
  });
  afterEach(async () => {
    await app.stop();
    await emulator.waitUntil(() => (emulator.openSockets === 0 ? true : undefined));
  });

  test("receives a message and its mention, answers in the thread", async () => {
    app.event("app_mention", async ({ event, say }) => {
      await say({ text: `heard ${event.text}`, thread_ts: event.ts });
    });
    const ts = await emulator.say("U0ALICENG", "C0GENERAL", "@openclaw make a && b http://x.io");
    const answer = await emulator.waitForMessage((m) => m.user === "U0OPENCLAW");
    expect(answer.threadTs).toBe(ts);
    expect(answer.text).toBe("heard <@U0OPENCLAW> make a &amp;&amp; b <http://x.io>");
    expect(emulator.violations).toEqual([]);
  });

  test("runs a slash command; the acknowledgement's text is for one person", async () => {
    app.command("/exec", async ({ command, ack, respond }) => {
      await ack(`got ${command.text}`);
      await respond({ text: "later", response_type: "in_channel" });
    });
    const result = await emulator.slash("U0ALICENG", "C0OPSROOM", "/exec", "ls > x");
    expect(result.kind).toBe("ack");
    await emulator.waitForMessage((m) => m.text === "later" && m.onlyFor === undefined);
    expect(emulator.screenText("U0ALICENG", "C0OPSROOM")).toContain("openclaw (only you): got ls > x");
    expect(emulator.screenText("U0BRAMWIT", "C0OPSROOM")).not.toContain("got ls");
    expect(emulator.violations).toEqual([]);
  });

  test("a button press edits the card", async () => {
    app.action("a:yes", async ({ ack, body, client }) => {
      await ack();
      if (body.type !== "block_actions" || body.message === undefined || body.channel === undefined) return;
      await client.chat.update({ channel: body.channel.id, ts: body.message.ts, text: "done", blocks: [] });
    });
    const { ts } = await app.client.chat.postMessage({
      channel: "C0OPSROOM",
      text: "card",
      blocks: [{ type: "section", text: { type: "mrkdwn", text: "Run `ls`?" } }, button("Yes", "yes")] as never,
    });
    expect(await emulator.press("U0BRAMWIT", String(ts), "Yes")).toEqual({ outcome: "ok" });
    const card = await emulator.waitForMessage((m) => m.ts === ts && m.edited);
    expect(emulator.screenText("U0BRAMWIT", "C0OPSROOM")).toBe("openclaw: done");
    expect(card.history).toHaveLength(1);
    expect(emulator.violations).toEqual([]);
  });

  test("a modal opens by its trigger and comes back with values", async () => {
    const seen: unknown[] = [];
    app.command("/exec", async ({ ack, client, command }) => {
      await ack();
      await client.views.open({
        trigger_id: command.trigger_id,
        view: {
          type: "modal",
          callback_id: "why",
          title: { type: "plain_text", text: "Why" },
          submit: { type: "plain_text", text: "Send" },
          blocks: [
            {
              type: "input",
              block_id: "reason",
              label: { type: "plain_text", text: "Reason" },
              element: { type: "plain_text_input", action_id: "text" },
            },
          ],
        },
      });
    });
    app.view("why", async ({ ack, view }) => {
      await ack();
      seen.push(view.state.values.reason?.text?.value);
    });
    await emulator.slash("U0ALICENG", "C0OPSROOM", "/exec");
    await emulator.waitUntil(() => emulator.modalOf("U0ALICENG"));
    await emulator.submitModal("U0ALICENG", { reason: "too risky" });
    expect(seen).toEqual(["too risky"]);
    expect(emulator.modalOf("U0ALICENG")).toBeUndefined();
    expect(emulator.violations).toEqual([]);
  });

  test("a file is uploaded in three steps", async () => {
    await app.client.filesUploadV2({
      channel_id: "C0OPSROOM",
      filename: "log.txt",
      file: Buffer.from("hello"),
      initial_comment: "the log",
    });
    const message = await emulator.waitForMessage((m) => m.files.length === 1);
    expect(message.files[0]?.bytes?.toString()).toBe("hello");
    expect(emulator.violations).toEqual([]);
  });

  test.each([
    ["when Slack asks for it", () => emulator.disconnect()],
    ["after a cut connection", () => emulator.drop()],
  ])("reconnects %s and gets what was said meanwhile", async (_name, break_) => {
    const heard: string[] = [];
    app.message(async ({ message }) => {
      heard.push((message as { text: string }).text);
    });
    break_();
    await emulator.waitUntil(() => (emulator.openSockets === 0 ? true : undefined));
    await emulator.say("U0ALICENG", "C0GENERAL", "while you were away");
    await emulator.waitUntil(() => (emulator.openSockets === 1 ? true : undefined));
    await expect.poll(() => heard).toEqual(["while you were away"]);
  });

  test("an event without acknowledgement comes again, with the same event id", async () => {
    const ids: string[] = [];
    app.event("message", async ({ body }) => {
      ids.push(body.event_id);
    });
    emulator.noAck();
    await emulator.say("U0ALICENG", "C0GENERAL", "hello");
    await emulator.waitUntil(() => (emulator.journal.calls("ack").length === 2 ? true : undefined));
    await expect.poll(() => ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
    expect(emulator.violations).toEqual([]);
  });

  test("with two sockets each event goes to one of them", async () => {
    const second = await connect();
    const heard: string[][] = [[], []];
    for (const [i, one] of [app, second].entries()) {
      one.message(async ({ message }) => {
        heard[i]?.push((message as { text: string }).text);
      });
    }
    for (let i = 0; i < 10; i++) await emulator.say("U0ALICENG", "C0GENERAL", `m${i}`);
    await expect.poll(() => heard.flat().length).toBe(10);
    expect(heard.map((list) => list.length)).toEqual([5, 5]);
    await second.stop();
  });

  test("the home tab is an event", async () => {
    const tabs: string[] = [];
    app.event("app_home_opened", async ({ event }) => {
      tabs.push(String(event.tab));
    });
    await emulator.openHome("U0ALICENG");
    await expect.poll(() => tabs).toEqual(["messages"]);
  });

  test("a response URL takes five answers within half an hour, and can replace or delete the message", async () => {
    const urls: string[] = [];
    app.action("a:yes", async ({ ack, body }) => {
      await ack();
      if ("response_url" in body) urls.push(body.response_url);
    });
    const posted = await app.client.chat.postMessage({
      channel: "C0OPSROOM",
      text: "card",
      blocks: [button("Yes", "yes")] as never,
    });
    for (let i = 0; i < 3; i++) await emulator.press("U0ALICENG", String(posted.ts), "Yes");
    await expect.poll(() => urls).toHaveLength(3);
    const answer = async (url: string | undefined, body: object): Promise<number> =>
      (
        await fetch(String(url), {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        })
      ).status;
    for (let i = 0; i < 5; i++) expect(await answer(urls[0], { text: `answer ${i}` })).toBe(200);
    expect(await answer(urls[0], { text: "one too many" })).toBe(404);
    expect(emulator.screenText("U0BRAMWIT", "C0OPSROOM")).not.toContain("answer");
    expect(await answer(urls[1], { text: "replaced", blocks: [], replace_original: true })).toBe(200);
    expect(emulator.screenText("U0BRAMWIT", "C0OPSROOM")).toContain("replaced");
    expect(await answer(urls[1], { delete_original: true })).toBe(200);
    expect(emulator.screenText("U0BRAMWIT", "C0OPSROOM")).toBe("");
    emulator.clock.advance(30 * 60_000 + 1);
    expect(await answer(urls[2], { text: "late" })).toBe(404);
  });

  test("an unanswered command times out on the person's screen and is a violation", async () => {
    expect(await emulator.slash("U0ALICENG", "C0OPSROOM", "/approve", "x")).toEqual({ kind: "timeout" });
    expect(emulator.violations).toEqual(["/approve was not acknowledged within 1000 ms"]);
  });
});

describe("refusals", () => {
  const client = (token = emulator.tokens.bot): InstanceType<typeof webApi.WebClient> =>
    new webApi.WebClient(token, { ...clientOptions(), rejectRateLimitedCalls: true, logLevel: LogLevel.ERROR });
  const post = (args: object): Promise<unknown> =>
    client().chat.postMessage({ channel: "C0OPSROOM", text: "x", ...args } as never);
  const section = (text: string): object => ({ type: "section", text: { type: "mrkdwn", text } });

  test.each([
    ["unknown channel", { channel: "C0NOPE" }, "channel_not_found"],
    ["channel without the bot", { channel: "C0RANDOM1" }, "not_in_channel"],
    ["empty message", { text: "" }, "no_text"],
    ["51 blocks", { blocks: Array.from({ length: 51 }, () => section("x")) }, "invalid_blocks"],
    ["section of 3001", { blocks: [section("x".repeat(3001))] }, "invalid_blocks"],
    ["unknown block", { blocks: [{ type: "nope" }] }, "invalid_blocks"],
    ["button label of 76", { blocks: [button("x".repeat(76), "v")] }, "invalid_blocks"],
    ["value of 2001", { blocks: [button("ok", "v".repeat(2001))] }, "invalid_blocks"],
    [
      "too much text in all",
      { blocks: Array.from({ length: 5 }, () => section("x".repeat(2900))) },
      "msg_blocks_too_long",
    ],
    ["text of 40001", { text: "x".repeat(40_001) }, "msg_too_long"],
    ["thread that is not there", { thread_ts: "1700000000.000001" }, "thread_not_found"],
    ["malformed thread", { thread_ts: "yesterday" }, "invalid_thread_ts"],
  ])("%s", async (_name, args, error) => {
    await expect(post(args)).rejects.toMatchObject({ data: { error } });
  });

  test("tokens: missing, wrong, and of the wrong kind", async () => {
    await expect(client("").auth.test()).rejects.toMatchObject({ data: { error: "not_authed" } });
    await expect(client("xoxb-wrong").auth.test()).rejects.toMatchObject({ data: { error: "invalid_auth" } });
    await expect(client(emulator.tokens.app).auth.test()).rejects.toMatchObject({
      data: { error: "not_allowed_token_type" },
    });
    await expect(client().apps.connections.open({})).rejects.toMatchObject({
      data: { error: "not_allowed_token_type" },
    });
  });

  test("edits only what is its own and what is there", async () => {
    const ts = await emulator.say("U0ALICENG", "C0OPSROOM", "mine");
    const update = (args: object): Promise<unknown> =>
      client().chat.update({ channel: "C0OPSROOM", text: "x", ...args } as never);
    await expect(update({ ts })).rejects.toMatchObject({ data: { error: "cant_update_message" } });
    await expect(update({ ts: "1.000001" })).rejects.toMatchObject({ data: { error: "message_not_found" } });
  });

  test("a trigger works once and for three seconds", async () => {
    const view = { type: "modal", title: { type: "plain_text", text: "T" }, blocks: [section("x")] };
    const open = (trigger_id: string): Promise<unknown> => client().views.open({ trigger_id, view } as never);
    await expect(open("nope")).rejects.toMatchObject({ data: { error: "invalid_trigger_id" } });
    const app = await connect();
    const triggers: string[] = [];
    app.command("/exec", async ({ ack, command }) => {
      await ack();
      triggers.push(command.trigger_id);
    });
    await emulator.slash("U0ALICENG", "C0OPSROOM", "/exec");
    await emulator.slash("U0ALICENG", "C0OPSROOM", "/exec");
    await open(String(triggers[0]));
    await expect(open(String(triggers[0]))).rejects.toMatchObject({ data: { error: "invalid_trigger_id" } });
    emulator.clock.advance(3001);
    await expect(open(String(triggers[1]))).rejects.toMatchObject({ data: { error: "expired_trigger_id" } });
    await app.stop();
    await emulator.waitUntil(() => (emulator.openSockets === 0 ? true : undefined));
  });

  test("too fast in one channel is a 429 with Retry-After", async () => {
    emulator.api.perChannel = { count: 1, perMs: 1000 };
    await post({});
    await expect(post({})).rejects.toMatchObject({ code: "slack_webapi_rate_limited_error", retryAfter: 1 });
    await post({ channel: "C0GENERAL" });
    emulator.clock.advance(1000);
    await post({});
  });

  test("mentions that would notify people are seen in every form", async () => {
    await post({ text: "<!channel> &lt;!here&gt;" });
    await post({ blocks: [section("<@U0ALICENG>")] });
    await post({
      blocks: [
        {
          type: "rich_text",
          elements: [{ type: "rich_text_section", elements: [{ type: "broadcast", range: "here" }] }],
        },
      ],
    });
    expect(emulator.pings).toHaveLength(3);
  });
});

describe("raw bolt over HTTP", () => {
  test("signed events, commands and buttons arrive; a wrong secret does not", async () => {
    const receiver = new HTTPReceiver({ signingSecret: "s3cret", logLevel: LogLevel.ERROR });
    const app = new App({
      token: emulator.tokens.bot,
      receiver,
      deferInitialization: true,
      logLevel: LogLevel.ERROR,
      clientOptions: clientOptions(),
    });
    await app.init();
    const heard: string[] = [];
    app.message(async ({ message }) => {
      heard.push((message as { text: string }).text);
    });
    app.command("/exec", async ({ ack }) => ack("ok"));
    const server = await receiver.start(0);
    const address = server.address() as { port: number };
    emulator.delivery.target = { url: `http://127.0.0.1:${address.port}/slack/events`, signingSecret: "s3cret" };
    await emulator.say("U0ALICENG", "C0GENERAL", "over http");
    expect(await emulator.slash("U0ALICENG", "C0OPSROOM", "/exec")).toMatchObject({
      kind: "ack",
      payload: { text: "ok" },
    });
    emulator.delivery.target = { url: emulator.delivery.target.url, signingSecret: "wrong" };
    expect((await emulator.slash("U0ALICENG", "C0OPSROOM", "/exec")).kind).toBe("timeout");
    expect(heard).toEqual(["over http"]);
    emulator.delivery.target = undefined;
    await app.stop();
  });
});
