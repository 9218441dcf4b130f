import { SLACK_DELIVERY } from "../../emulators/slack/delivery.ts";
import { drawMessage } from "../../emulators/slack/markup.ts";
import { SlackEmulator } from "../../emulators/slack/slack-emulator.ts";
import { BESIDES, labelAmong } from "../labels.ts";
import type { OpenPlace, Place, PlaceOptions } from "../place.ts";

const [OWNER, GUEST, SECOND, STRANGER, ROOM] = ["U0ALICENG", "U0BRAMWIT", "U0LINHTRAN", "U0STRANGE", "C0OPSROOM"];
const BOT = "U0OPENCLAW";
const LIFTED = { channelPerSecond: 1_000, channelBurst: 100, editsPerMinute: 60_000, totalPerMinute: 60_000 };

const SIGNING_SECRET = "5f0c7d21a9b34e6f8d1c2b3a4e5f6071";

export const openSlack: OpenPlace = (options) => open("socket", options);

/** Slack posts to the gateway's own port instead of a socket that the gateway opened. */
export const openSlackHttp: OpenPlace = (options) => open("http", options);

async function open(
  mode: "socket" | "http",
  {
    target = "channel",
    crowd: size = 0,
    rates = "lifted",
    speaks = {},
    redeliverMs,
    twoOwners = false,
    nobodyDecides = false,
  }: PlaceOptions = {},
): Promise<Place> {
  const emulator = new SlackEmulator({
    ...(redeliverMs ? { delivery: { ...SLACK_DELIVERY, retryMs: redeliverMs } } : {}),
    commands: ["/exec", "/approve", "/openclaw", "/process", "/stop", "/whoami", "/pair"],
  });
  await emulator.start();
  const { workspace } = emulator;
  workspace.users.set(STRANGER, { id: STRANGER, name: "sam", realName: "Sam Roe", locale: "en-US", isBot: false });
  for (const [who, id] of Object.entries({ owner: OWNER, guest: GUEST, second: SECOND, stranger: STRANGER })) {
    const user = workspace.users.get(id);
    if (user) workspace.users.set(id, { ...user, locale: speaks[who as keyof typeof speaks] ?? "en-US" });
  }
  const crowd = Array.from({ length: size }, (_, index) => `U0CROWD${String(index).padStart(3, "0")}`);
  for (const id of crowd)
    workspace.users.set(id, { id, name: id.toLowerCase(), realName: id, locale: "en-US", isBot: false });
  for (const user of [OWNER, GUEST, SECOND, STRANGER, ...crowd]) workspace.openIm(user);
  const besides: Place["besides"] = async (user, message, what) => {
    const shown = workspace.messages.find((one) => one.ts === message.id);
    const choices = shown === undefined ? [] : emulator.choices(shown);
    await emulator.press(user, message.id, labelAmong(BESIDES[what], choices));
  };
  return {
    name: "slack",
    owner: OWNER,
    second: SECOND,
    guest: GUEST,
    stranger: STRANGER,
    crowd,
    room: ROOM,
    env: {
      SLACK_BOT_TOKEN: emulator.tokens.bot,
      ...(mode === "socket" ? { SLACK_APP_TOKEN: emulator.tokens.app } : { SLACK_SIGNING_SECRET: SIGNING_SECRET }),
    },
    config: {
      channels: {
        slack: {
          mode,
          apiRoot: emulator.apiUrl,
          ...(rates === "lifted" ? { sendRate: LIFTED } : {}),
          allowFrom: [OWNER, GUEST, ...crowd],
          channels: { [ROOM]: {} },
          execApprovals: { target, approvers: nobodyDecides ? [] : [OWNER, SECOND] },
        },
      },
      commands: { ownerAllowFrom: [OWNER, ...(twoOwners ? [SECOND] : [])].map((id) => `slack:${id}`) },
    },
    typed: () =>
      emulator.journal.calls("assistant.threads.setStatus").length + emulator.journal.calls("reactions.add").length,
    direct: (user) => workspace.openIm(user).id,
    async attach(gateway) {
      if (mode === "socket") return;
      emulator.delivery.target = { url: `${gateway.url}/slack/events`, signingSecret: SIGNING_SECRET };
    },
    stop: () => emulator.stop(),
    async command(user, chat, text) {
      const [name = "", ...rest] = text.split(" ");
      // Slack itself knows only the app's commands; the rest goes through the wrapper.
      const answer = emulator.commands.includes(name)
        ? await emulator.slash(user, chat, name, rest.join(" "))
        : await emulator.slash(user, chat, "/openclaw", text);
      return answer.kind === "ack";
    },
    say: (user, chat, text, thread) =>
      emulator.say(user, chat, text.replaceAll("@bot", "@openclaw"), thread === undefined ? {} : { thread }),
    async press(user, message, label) {
      await emulator.press(user, message.id, label);
    },
    besides,
    async denyWithReason(user, message, reason) {
      await besides(user, message, "reason");
      await emulator.waitUntil(() => emulator.modalOf(user), 10_000, "the dialog");
      await emulator.submitModal(user, { reason });
    },
    async openThread(user) {
      return { chat: ROOM, thread: await emulator.say(user, ROOM, "release 4, all of it here"), readIn: ROOM };
    },
    posted: (user, chat, newest = Number.POSITIVE_INFINITY) =>
      workspace
        .visibleTo(user, chat)
        .filter((message) => message.user === BOT && !message.deleted)
        .slice(-newest)
        .map((message) => ({
          id: message.ts,
          chat: message.channel,
          text: drawMessage(message.text, message.blocks, emulator.names).text,
          buttons: emulator.buttons(message),
          files: message.files.map((file) => ({ name: file.name, text: file.bytes?.toString() ?? "" })),
          ...(message.threadTs === undefined ? {} : { thread: message.threadTs }),
        })),
    screen: (user, chat) => emulator.screenText(user, chat),
    page: (user, chat) => `${emulator.url}/?${new URLSearchParams({ user, chat })}`,
    violations: () => [...emulator.violations, ...emulator.pings.map((ping) => `pinged ${ping}`)],
    async duplicateLast() {
      await emulator.duplicate();
    },
    passTime: (ms) => emulator.clock.advance(ms),
    enforceRates: () => {
      // One a second with short bursts; the rest by tier.
      emulator.api.perChannel = { count: 5, perMs: 5_000 };
      emulator.api.perMethod = {
        "chat.postMessage": { count: 300, perMs: 60_000 },
        "chat.update": { count: 50, perMs: 60_000 },
        "chat.postEphemeral": { count: 100, perMs: 60_000 },
        "files.getUploadURLExternal": { count: 100, perMs: 60_000 },
        "files.completeUploadExternal": { count: 100, perMs: 60_000 },
        "conversations.history": { count: 50, perMs: 60_000 },
        "conversations.replies": { count: 50, perMs: 60_000 },
        "conversations.open": { count: 50, perMs: 60_000 },
        "users.info": { count: 100, perMs: 60_000 },
        "reactions.add": { count: 50, perMs: 60_000 },
        "reactions.remove": { count: 50, perMs: 60_000 },
      };
    },
    refusals: () => emulator.journal.entries.filter((entry) => entry.status === 429).length,
    refuseEdit: () => emulator.fail("chat.update", { error: "cant_update_message" }),
    edits: () => emulator.journal.calls("chat.update").length,
    slowSends: (ms) => emulator.delay(ms, "chat.postMessage"),
    holdUpload: (ms) => emulator.fail("files.completeUploadExternal", { holdReplyMs: ms }),
  };
}
