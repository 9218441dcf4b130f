import { TelegramEmulator } from "../../emulators/telegram/emulator.ts";
import { BESIDES, labelAmong } from "../labels.ts";
import type { OpenPlace, Place } from "../place.ts";

const BOT_ID = "7000000001";
const TOPIC = "7";
const LIFTED = { chatPerSecond: 1_000, chatBurst: 100, groupPerMinute: 60_000, totalPerSecond: 1_000 };

export const openTelegram: OpenPlace = async ({
  target = "channel",
  crowd: size = 0,
  rates = "lifted",
  speaks = {},
  twoOwners = false,
  nobodyDecides = false,
} = {}) => {
  const emulator = new TelegramEmulator();
  await emulator.start();
  const owner = emulator.addPerson(101, "Alice", {
    username: "alice",
    ...(speaks.owner === undefined ? {} : { locale: speaks.owner }),
  });
  const guest = emulator.addPerson(202, "Bram", {
    username: "bram",
    ...(speaks.guest === undefined ? {} : { locale: speaks.guest }),
  });
  const second = emulator.addPerson(303, "Linh", {
    username: "linh",
    ...(speaks.second === undefined ? {} : { locale: speaks.second }),
  });
  const stranger = emulator.addPerson(404, "Sam", {
    username: "sam",
    ...(speaks.stranger === undefined ? {} : { locale: speaks.stranger }),
  });
  const crowd = Array.from({ length: size }, (_, index) => emulator.addPerson(10_000 + index, `Crowd ${index}`));
  const people = [owner, guest, second, BOT_ID];
  const room = emulator.addGroup(-1_001_234_567_890, "Ops", people);
  const forum = emulator.addGroup(-1_001_234_567_891, "Releases", people, { [TOPIC]: "release 4" });
  const besides: Place["besides"] = async (user, message, what) => {
    await emulator.press(user, message.id, labelAmong(BESIDES[what], message.buttons), message.chat);
  };
  return {
    name: "telegram",
    owner,
    second,
    guest,
    stranger,
    crowd,
    room,
    env: { TELEGRAM_BOT_TOKEN: emulator.token },
    config: {
      channels: {
        telegram: {
          apiRoot: emulator.url,
          ...(rates === "lifted" ? { sendRate: LIFTED } : {}),
          allowFrom: [owner, guest, ...crowd],
          groupAllowFrom: [owner, guest, second],
          groups: { [room]: {}, [forum]: {} },
          execApprovals: { target, approvers: nobodyDecides ? [] : [owner, second] },
        },
      },
      commands: { ownerAllowFrom: [owner, ...(twoOwners ? [second] : [])].map((id) => `telegram:${id}`) },
    },
    typed: () => emulator.methods.actions.filter((one) => one.action === "typing").length,
    direct: (user) => user,
    attach: async () => {},
    stop: () => emulator.stop(),
    async command(user, chat, text) {
      await emulator.say(user, chat, text);
      return true;
    },
    say: (user, chat, text, thread) =>
      emulator.say(user, chat, text.replaceAll("@bot", "@ops_exec_bot"), thread === undefined ? {} : { thread }),
    async press(user, message, label) {
      await emulator.press(user, message.id, label, message.chat);
    },
    besides,
    async denyWithReason(user, message, reason) {
      await besides(user, message, "reason");
      const question = await emulator.waitForMessage((one) => one.forceReply && String(one.chatId) === message.chat);
      await emulator.say(user, message.chat, reason, { replyTo: String(question.id) });
    },
    openThread: async () => ({ chat: forum, thread: TOPIC, readIn: forum }),
    posted: (_user, chat, newest = Number.POSITIVE_INFINITY) =>
      emulator.world
        .chat(Number(chat))
        .messages.filter((message) => message.from.id === emulator.world.bot.id && !message.deleted)
        .slice(-newest)
        .map((message) => ({
          id: String(message.id),
          chat,
          text: message.text,
          buttons: message.keyboard?.inline_keyboard.flat().map((button) => button.text) ?? [],
          files: message.file ? [{ name: message.file.name, text: message.file.bytes.toString() }] : [],
          ...(message.threadId === undefined ? {} : { thread: String(message.threadId) }),
        })),
    screen: (user, chat) =>
      [
        emulator.screenText(user, chat),
        ...[...emulator.methods.queries.values()]
          .filter((query) => query.userId === Number(user) && query.answer?.text)
          .map((query) => `(alert) ${query.answer?.text}`),
      ].join("\n"),
    page: (user, chat) => `${emulator.url}/?${new URLSearchParams({ user, chat })}`,
    violations: () => emulator.violations,
    async duplicateLast() {
      emulator.duplicate();
    },
    passTime: (ms) => emulator.clock.advance(ms),
    enforceRates: () => {
      emulator.methods.limits = { perChatPerSecond: 1, chatBurst: 5, perGroupPerMinute: 20, overallPerSecond: 30 };
    },
    refusals: () => emulator.journal.entries.filter((entry) => entry.status === 429).length,
    refuseEdit: () => emulator.fail("editMessageText", { error: "Bad Request: CHAT_RESTRICTED" }),
    edits: () => emulator.journal.calls("editMessageText").length,
    slowSends: (ms) => emulator.delay(ms, "sendMessage"),
    holdUpload: (ms) => emulator.fail("sendDocument", { holdReplyMs: ms }),
  };
};
