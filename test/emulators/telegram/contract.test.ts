/** The genuine client library, without any code of the product, against the emulator. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Bot, GrammyError, InputFile, webhookCallback } from "grammy";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { TelegramEmulator } from "./emulator.ts";

let emulator: TelegramEmulator;
const ALICE = "1001";
const GROUP = "-5001";
const FORUM = "-1002222222222";

function newBot(token = emulator.token): Bot {
  return new Bot(token, { client: { apiRoot: emulator.url } });
}

async function polling(bot: Bot): Promise<void> {
  bot.catch(() => undefined);
  const running = bot.start().catch(() => undefined);
  onTestFinished(async () => {
    await bot.stop().catch(() => undefined);
    await running;
  });
  await emulator.waitUntil(() => emulator.journal.calls("getUpdates")[0], 5000, "the first poll");
}

beforeEach(async () => {
  // A fresh port each time: the client keeps connections of the last one open.
  emulator = new TelegramEmulator();
  await emulator.start();
  emulator.addPerson(Number(ALICE), "Alice", { username: "alice", locale: "nl" });
  emulator.addGroup(Number(GROUP), "Ops", [ALICE]);
  emulator.addGroup(Number(FORUM), "Forum", [ALICE], { 77: "Deploys" });
});

afterEach(async () => {
  await emulator.stop();
});

describe("telegram emulator with raw grammY", () => {
  it("connects by a poll that is held open until something happens", async () => {
    const bot = newBot();
    const heard = new Promise<string>((resolve) => bot.on("message:text", (ctx) => resolve(ctx.message.text)));
    await polling(bot);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(emulator.updates.polls).toBe(1);
    await emulator.say(ALICE, ALICE, "hello");
    expect(await heard).toBe("hello");
    expect(emulator.violations).toEqual([]);
  });

  it("runs a command, a button and an edit that removes the keyboard", async () => {
    const bot = newBot();
    bot.command("exec", (ctx) =>
      ctx.reply(`<b>run</b> ${ctx.match}`, {
        parse_mode: "HTML",
        reply_markup: { inline_keyboard: [[{ text: "Allow", callback_data: "a:1" }]] },
      }),
    );
    bot.on("callback_query:data", async (ctx) => {
      await ctx.answerCallbackQuery("done");
      await ctx.editMessageText("allowed");
    });
    await polling(bot);
    await emulator.slash(ALICE, ALICE, "/exec", "ls");
    const card = await emulator.waitForMessage((one) => one.text === "run ls");
    expect(card.entities[0]).toMatchObject({ type: "bold", offset: 0, length: 3 });
    const query = await emulator.press(ALICE, String(card.id), "Allow");
    expect(query.answer?.text).toBe("done");
    const edited = await emulator.waitForMessage((one) => one.text === "allowed");
    expect(edited.id).toBe(card.id);
    expect(edited.keyboard).toBeUndefined();
    expect(edited.history).toEqual(["run ls"]);
    expect(emulator.violations).toEqual([]);
  });

  it("uploads a document and gives it back byte for byte", async () => {
    const bot = newBot();
    const sent = await bot.api.sendDocument(
      Number(ALICE),
      new InputFile(Buffer.from("line\n".repeat(5000)), "log.txt"),
      {
        caption: "log",
      },
    );
    const file = await bot.api.getFile(sent.document.file_id);
    const response = await fetch(`${emulator.url}/file/bot${emulator.token}/${file.file_path}`);
    expect(await response.text()).toBe("line\n".repeat(5000));
    expect(emulator.violations).toEqual([]);
  });

  it("resumes after the connection is cut and after a restart, without losing or repeating an update", async () => {
    const bot = newBot();
    const heard: string[] = [];
    bot.on("message:text", (ctx) => void heard.push(ctx.message.text));
    await polling(bot);
    emulator.drop();
    await emulator.say(ALICE, ALICE, "one");
    await expect.poll(() => heard, { timeout: 9000 }).toEqual(["one"]);
    await emulator.restart();
    await emulator.say(ALICE, ALICE, "two");
    await expect.poll(() => heard, { timeout: 9000 }).toEqual(["one", "two"]);
  });

  it("answers 429 with retry_after, 401 for a wrong token and 409 for a second poller", async () => {
    const bot = newBot();
    emulator.fail("sendMessage", { retryAfterS: 7 });
    const limited = await bot.api.sendMessage(Number(ALICE), "x").catch((error: unknown) => error);
    expect(limited).toBeInstanceOf(GrammyError);
    expect((limited as GrammyError).parameters.retry_after).toBe(7);
    await expect(newBot("7000000001:AAwrong").api.getMe()).rejects.toMatchObject({ error_code: 401 });
    await polling(bot);
    const second = newBot().api.getUpdates({ timeout: 30 });
    second.catch(() => undefined);
    const third = newBot().api.getUpdates({ timeout: 0 });
    await expect(second).rejects.toMatchObject({ error_code: 409 });
    await third;
  });

  it("limits how fast one chat and one group may be written to", async () => {
    const bot = newBot();
    emulator.methods.limits = { perChatPerSecond: 1, perGroupPerMinute: 2 };
    await bot.api.sendMessage(Number(ALICE), "1");
    await expect(bot.api.sendMessage(Number(ALICE), "2")).rejects.toMatchObject({ parameters: { retry_after: 1 } });
    await bot.api.sendMessage(Number(GROUP), "1");
    emulator.clock.advance(1100);
    await bot.api.sendMessage(Number(GROUP), "2");
    emulator.clock.advance(1100);
    await expect(bot.api.sendMessage(Number(GROUP), "3")).rejects.toMatchObject({ parameters: { retry_after: 58 } });
  });

  it("hands on what other bots say only as their modes allow, and never its own", async () => {
    const BOT = 7_000_000_002;
    const told = async (modes: { ours: boolean; theirs: boolean }, privacy = true): Promise<string[]> => {
      emulator.botToBot = modes.ours;
      emulator.privacy = privacy;
      emulator.addPerson(BOT, "Other", { username: "other_bot", bot: true, botToBot: modes.theirs });
      emulator.addGroup(Number(GROUP), "Ops", [ALICE, BOT]);
      const bot = newBot();
      const { message_id: own } = await bot.api.sendMessage(GROUP, "mine");
      for (const text of ["words", "/cmd", "/cmd@ops_exec_bot", "@ops_exec_bot hi"])
        await emulator.say(String(BOT), GROUP, text);
      await emulator.say(String(BOT), GROUP, "a reply", { replyTo: String(own) });
      const updates = await bot.api.getUpdates({ offset: -5 });
      await bot.api.getUpdates({ offset: (updates.at(-1)?.update_id ?? 0) + 1 });
      expect(updates.every((one) => one.message?.from?.is_bot)).toBe(true);
      return updates.map((one) => one.message?.text ?? "");
    };
    const named = ["/cmd@ops_exec_bot", "a reply"];
    expect(await told({ ours: false, theirs: false })).toEqual([]);
    expect(await told({ ours: false, theirs: true })).toEqual(named);
    expect(await told({ ours: true, theirs: false })).toEqual(named);
    expect(await told({ ours: false, theirs: true }, false)).toEqual(named);
    expect(await told({ ours: true, theirs: false }, false)).toHaveLength(5);
    expect(emulator.violations).toEqual([]);
  });

  it("posts each chat's messages in order, other chats and presses meanwhile, within the connections it may use", async () => {
    const bot = newBot();
    const waiting: (() => void)[] = [];
    const seen: string[] = [];
    let most = 0;
    bot.use(async (ctx) => {
      seen.push(ctx.callbackQuery?.data ?? ctx.msg?.text ?? "");
      const release = new Promise<void>((resolve) => waiting.push(resolve));
      most = Math.max(most, waiting.length);
      await release;
    });
    await bot.init();
    const server = createServer(webhookCallback(bot, "http"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    await bot.api.sendMessage(ALICE, "card", {
      reply_markup: { inline_keyboard: [[{ text: "A", callback_data: "a" }]] },
    });
    await bot.api.setWebhook(`http://127.0.0.1:${port}/`, { max_connections: 2 });
    expect(await bot.api.getWebhookInfo()).toMatchObject({ max_connections: 2 });
    await emulator.say(ALICE, ALICE, "one");
    await emulator.say(ALICE, ALICE, "two");
    void emulator.press(ALICE, "1", "A", ALICE).catch(() => undefined);
    await emulator.say(ALICE, GROUP, "/other");
    await expect.poll(() => seen).toEqual(["one", "a"]);
    waiting.shift()?.();
    await expect.poll(() => seen.length).toBe(3);
    waiting.splice(0).forEach((release) => void release());
    await expect.poll(() => seen.length).toBe(4);
    waiting.splice(0).forEach((release) => void release());
    expect(seen.indexOf("one")).toBeLessThan(seen.indexOf("two"));
    expect([...seen].sort()).toEqual(["/other", "a", "one", "two"]);
    expect(most).toBe(2);
    await expect.poll(() => emulator.updates.pendingCount()).toBe(0);
  });

  it("delivers to a webhook with its secret, again after anything but 2xx, and refuses to be polled meanwhile", async () => {
    const bot = newBot();
    const heard: string[] = [];
    bot.on("message:text", (ctx) => void heard.push(ctx.message.text));
    const answer = webhookCallback(bot, "http", { secretToken: "s3cret" });
    let failures = 1;
    const server = createServer((request, response) => {
      if (failures-- > 0) response.writeHead(503).end();
      else void answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    await bot.api.setWebhook(url, { secret_token: "s3cret" });
    await emulator.say(ALICE, ALICE, "by webhook");
    await expect.poll(() => heard).toEqual(["by webhook"]);
    await expect(newBot().api.getUpdates()).rejects.toMatchObject({ error_code: 409 });
    await bot.api.deleteWebhook();
    expect(await newBot().api.getUpdates()).toEqual([]);
  });

  it.each([
    ["markup left open", { text: "<b>x", parse_mode: "HTML" }, /can't parse entities/],
    ["an unknown tag", { text: "<h1>x</h1>", parse_mode: "HTML" }, /Unsupported start tag "h1"/],
    ["a reserved MarkdownV2 character", { text: "a.b", parse_mode: "MarkdownV2" }, /is reserved/],
    ["4097 characters", { text: "x".repeat(4097) }, /message is too long/],
    ["only blanks", { text: "  " }, /message text is empty/],
    [
      "65 bytes of callback data",
      { text: "x", reply_markup: { inline_keyboard: [[{ text: "b", callback_data: "é".repeat(33) }]] } },
      /BUTTON_DATA_INVALID/,
    ],
    [
      "a topic that does not exist",
      { chat_id: Number(FORUM), text: "x", message_thread_id: 99 },
      /message thread not found/,
    ],
    [
      "the General topic by its id",
      { chat_id: Number(FORUM), text: "x", message_thread_id: 1 },
      /message thread not found/,
    ],
    ["an unknown chat", { chat_id: 4711, text: "x" }, /chat not found/],
  ])("refuses a message with %s", async (_what, params, error) => {
    const call = newBot().api.raw.sendMessage({ chat_id: Number(ALICE), ...params } as never);
    await expect(call).rejects.toThrow(error);
  });

  it("counts a message's length after its entities are parsed", async () => {
    const sent = await newBot().api.sendMessage(Number(ALICE), `<b>${"&lt;".repeat(4096)}</b>`, { parse_mode: "HTML" });
    expect(sent.text).toBe("<".repeat(4096));
  });

  it("refuses an edit that changes nothing, a foreign message and an unknown one", async () => {
    const bot = newBot();
    const chat = Number(ALICE);
    const sent = await bot.api.sendMessage(chat, "same");
    await expect(bot.api.editMessageText(chat, sent.message_id, "same")).rejects.toThrow(/message is not modified/);
    const foreign = await emulator.say(ALICE, ALICE, "mine");
    await expect(bot.api.editMessageText(chat, Number(foreign), "x")).rejects.toThrow(/can't be edited/);
    await expect(bot.api.editMessageText(chat, 999, "x")).rejects.toThrow(/message to edit not found/);
  });

  it("takes one answer per press, in time", async () => {
    const bot = newBot();
    const sent = await bot.api.sendMessage(Number(ALICE), "x", {
      reply_markup: { inline_keyboard: [[{ text: "b", callback_data: "d" }]] },
    });
    const message = emulator.world.message(Number(ALICE), sent.message_id);
    if (!message) throw new Error("not stored");
    const query = emulator.pressRaw(Number(ALICE), message, "d");
    await bot.api.answerCallbackQuery(query.id);
    await expect(bot.api.answerCallbackQuery(query.id)).rejects.toThrow(/query is too old/);
    const late = emulator.pressRaw(Number(ALICE), message, "d");
    emulator.clock.advance(16_000);
    await expect(bot.api.answerCallbackQuery(late.id)).rejects.toThrow(/query is too old/);
    expect(emulator.violations).toEqual(["press d was not answered within 10 s"]);
  });

  it("shows groups only commands, mentions and replies while privacy mode is on", async () => {
    const bot = newBot();
    const heard: string[] = [];
    bot.on("message:text", (ctx) => void heard.push(ctx.message.text));
    const own = await bot.api.sendMessage(Number(GROUP), "question");
    await polling(bot);
    await emulator.say(ALICE, GROUP, "chatter");
    await emulator.say(ALICE, GROUP, "/exec@other_bot ls");
    await emulator.say(ALICE, GROUP, "hey @ops_exec_bot");
    await emulator.say(ALICE, GROUP, "answer", { replyTo: String(own.message_id) });
    await emulator.say(ALICE, GROUP, "/exec ls");
    await expect.poll(() => heard).toEqual(["hey @ops_exec_bot", "answer", "/exec ls"]);
  });

  it("marks topic messages as such, and reply chains outside forums not", async () => {
    const bot = newBot();
    const seen: unknown[] = [];
    bot.on("message", (ctx) => void seen.push([ctx.message.message_thread_id, ctx.message.is_topic_message]));
    await polling(bot);
    await emulator.say(ALICE, FORUM, "@ops_exec_bot a", { thread: "77" });
    await emulator.say(ALICE, GROUP, "@ops_exec_bot b", { thread: "111" });
    await expect
      .poll(() => seen)
      .toEqual([
        [77, true],
        [111, undefined],
      ]);
  });

  it("names the new id of a group that became a supergroup", async () => {
    const to = emulator.migrate(GROUP, -1009999999999);
    const failed = newBot().api.sendMessage(Number(GROUP), "x");
    await expect(failed).rejects.toMatchObject({ parameters: { migrate_to_chat_id: Number(to) } });
    expect((await newBot().api.sendMessage(Number(to), "x")).chat.type).toBe("supergroup");
  });

  it("keeps the command menu and checks its names", async () => {
    const bot = newBot();
    await bot.api.setMyCommands([{ command: "exec", description: "Run a command" }]);
    expect(await bot.api.getMyCommands()).toEqual([{ command: "exec", description: "Run a command" }]);
    await expect(bot.api.setMyCommands([{ command: "Exec-Now", description: "x" }])).rejects.toThrow(
      /BOT_COMMAND_INVALID/,
    );
  });

  it("hands out no more updates than asked for, of the kinds that were asked for, and forgets what an offset confirms", async () => {
    const bot = newBot();
    await bot.api.getUpdates({ timeout: 0, allowed_updates: ["message"] });
    const { message_id } = await bot.api.sendMessage(ALICE, "card", {
      reply_markup: { inline_keyboard: [[{ text: "A", callback_data: "a" }]] },
    });
    for (const text of ["one", "two", "three"]) await emulator.say(ALICE, ALICE, text);
    void emulator.press(ALICE, String(message_id), "A", ALICE).catch(() => undefined);
    const first = await bot.api.getUpdates({ limit: 2, timeout: 0 });
    expect(first.map((one) => one.message?.text)).toEqual(["one", "two"]);
    const rest = await bot.api.getUpdates({ offset: (first[1]?.update_id ?? 0) + 1, timeout: 0 });
    expect(rest.map((one) => one.message?.text)).toEqual(["three"]);
    expect(emulator.updates.pendingCount()).toBe(1);
  });

  it("deletes its own messages, shows that it types, and reacts; and refuses each for what is not there", async () => {
    const { api } = newBot();
    const { message_id } = await api.sendMessage(FORUM, "here", { message_thread_id: 77 });
    await api.sendChatAction(FORUM, "typing", { message_thread_id: 77 });
    expect(emulator.methods.actions).toMatchObject([{ chatId: Number(FORUM), action: "typing", threadId: 77 }]);
    await api.setMessageReaction(FORUM, message_id, [{ type: "emoji", emoji: "👍" }]);
    await api.deleteMessage(FORUM, message_id);
    expect(emulator.screenText(ALICE, FORUM)).toBe("");
    await expect(api.deleteMessage(FORUM, message_id)).rejects.toThrow(/message to delete not found/);
    await expect(api.setMessageReaction(FORUM, message_id, [])).rejects.toThrow(/message to react not found/);
    await expect(api.editMessageReplyMarkup(FORUM, 999)).rejects.toThrow(/message to edit not found/);
    await expect(api.sendChatAction("-1", "typing")).rejects.toThrow(/chat not found/);
  });

  it("calls what is unknown a violation", async () => {
    await fetch(`${emulator.url}/nowhere`);
    expect(emulator.violations).toEqual(["GET /nowhere: unknown route"]);
  });
});
