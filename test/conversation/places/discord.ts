import { DiscordEmulator } from "../../emulators/discord/emulator.ts";
import { BESIDES, labelAmong, MORE } from "../labels.ts";
import type { OpenPlace, Place } from "../place.ts";

const LIFTED = { channelPerFiveSeconds: 1_000, totalPerSecond: 1_000 };

export const openDiscord: OpenPlace = async ({
  target = "channel",
  crowd: size = 0,
  rates = "lifted",
  speaks = {},
  twoOwners = false,
  nobodyDecides = false,
} = {}) => {
  const emulator = new DiscordEmulator();
  await emulator.start();
  const owner = emulator.addPerson("alice", { locale: speaks.owner ?? "en-US" });
  const guest = emulator.addPerson("bram", { locale: speaks.guest ?? "en-US" });
  const second = emulator.addPerson("linh", { locale: speaks.second ?? "en-US" });
  const stranger = emulator.addPerson("sam", { locale: speaks.stranger ?? "en-US" });
  const crowd = Array.from({ length: size }, (_, index) => emulator.addPerson(`crowd${index}`));
  const guild = emulator.addGuild("Acme", [owner, guest, second, stranger]);
  const room = emulator.addChannel(guild, "ops");
  const besides: Place["besides"] = async (user, message, what) => {
    const opened = await emulator.press(user, message.id, labelAmong(MORE, message.buttons));
    const menu = opened.original;
    if (!menu) throw new Error("More… answered with no message.");
    await emulator.press(user, menu.id, labelAmong(BESIDES[what], buttonLabels(menu.components)));
  };
  return {
    name: "discord",
    owner,
    second,
    guest,
    stranger,
    crowd,
    room,
    env: { DISCORD_BOT_TOKEN: emulator.token },
    config: {
      channels: {
        discord: {
          apiRoot: `${emulator.url}/api`,
          ...(rates === "lifted" ? { sendRate: LIFTED } : {}),
          allowFrom: [owner, guest, ...crowd],
          guilds: { [guild]: { channels: { [room]: {} } } },
          execApprovals: { target, approvers: nobodyDecides ? [] : [owner, second] },
        },
      },
      commands: { ownerAllowFrom: [owner, ...(twoOwners ? [second] : [])].map((id) => `discord:${id}`) },
    },
    typed: () => emulator.rest.typing.length,
    direct: (user) => emulator.dm(user),
    attach: async () => {},
    stop: () => emulator.stop(),
    async command(user, chat, text) {
      const [name = "", ...rest] = text.split(" ");
      await emulator.waitUntil(() => emulator.world.commands.get("global"), 10_000, "registered commands");
      return !(await emulator.slash(user, chat, name, options(name, rest))).failed;
    },
    say: (user, chat, text, thread) => emulator.say(user, chat, text, thread === undefined ? {} : { thread }),
    async press(user, message, label) {
      await emulator.press(user, message.id, label);
    },
    besides,
    async denyWithReason(user, message, reason) {
      await besides(user, message, "reason");
      await emulator.submitModal(user, { reason });
    },
    async openThread() {
      const thread = emulator.addThread(room, "release 4");
      return { chat: room, thread, readIn: thread };
    },
    posted: (user, chat, newest = Number.POSITIVE_INFINITY) =>
      emulator.world
        .channel(chat)
        .messages.filter(
          (message) =>
            message.authorId === emulator.world.botId && !message.deleted && emulator.world.sees(message, user),
        )
        .slice(-newest)
        .map((message) => ({
          id: message.id,
          chat,
          text: emulator.textOf(message),
          buttons: buttonLabels(message.components),
          files: message.files.map((file) => ({ name: file.name, text: file.bytes.toString() })),
          ...(emulator.world.channel(chat).kind === "thread" ? { thread: chat } : {}),
        })),
    screen: (user, chat) => emulator.screenText(user, chat),
    page: (user, chat) => `${emulator.url}/?${new URLSearchParams({ user, chat })}`,
    violations: () => emulator.violations,
    async duplicateLast() {
      emulator.duplicate("MESSAGE_CREATE");
    },
    passTime: (ms) => emulator.clock.advance(ms),
    // It always does: Discord announces its buckets with every answer.
    enforceRates: () => {},
    refusals: () => emulator.journal.entries.filter((entry) => entry.status === 429).length,
    refuseEdit: () =>
      emulator.fail("PATCH /channels/{channel_id}/messages/{message_id}", { status: 403, error: "50005 Cannot edit" }),
    edits: () => emulator.journal.calls("PATCH /channels/{channel_id}/messages/{message_id}").length,
    slowSends: (ms) => emulator.delay(ms, "POST /channels/{channel_id}/messages"),
    holdUpload: (ms) => emulator.fail("POST /channels/{channel_id}/messages", { holdReplyMs: ms, uploadsOnly: true }),
  };
};

/** What a person fills into the command's fields. */
function options(name: string, words: readonly string[]): string {
  if (words.length === 0) return "";
  if (name === "/exec") return `command:${words.join(" ")}`;
  const fields = FIELDS[name] ?? ["action", "code"];
  return words.map((word, index) => `${fields[index]}:${word}`).join(" ");
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "/approve": ["id", "decision"],
  "/process": ["action", "session", "data"],
  "/activation": ["when"],
  "/cron": ["action", "job"],
};

interface Component {
  readonly type?: number;
  readonly label?: string;
  readonly disabled?: boolean;
  readonly components?: readonly Component[];
  readonly options?: readonly { readonly label: string }[];
}

function buttonLabels(components: readonly unknown[]): string[] {
  return (components as readonly Component[]).flatMap((component) =>
    component.options !== undefined
      ? component.options.map(({ label }) => label)
      : component.type === 2 && component.label !== undefined && component.disabled !== true
        ? [component.label]
        : buttonLabels(component.components ?? []),
  );
}
