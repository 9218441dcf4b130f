/** One chat platform as the conversation suite uses it: people, a direct chat, a room, and what the bot has posted there. */
import { DiscordEmulator } from "../emulators/discord/emulator.ts";
import { drawMessage } from "../emulators/slack/markup.ts";
import { SlackEmulator } from "../emulators/slack/slack-emulator.ts";
import { TelegramEmulator } from "../emulators/telegram/emulator.ts";

export interface ShownMessage {
  readonly id: string;
  readonly chat: string;
  readonly text: string;
  readonly buttons: readonly string[];
  readonly files: readonly string[];
}

export interface Place {
  readonly name: "slack" | "discord" | "telegram";
  readonly config: object;
  readonly env: Readonly<Record<string, string>>;
  /** May approve. */
  readonly owner: string;
  /** May talk and run commands, not approve. */
  readonly guest: string;
  /** Where both are together with the bot. */
  readonly room: string;
  direct(user: string): string;
  stop(): Promise<void>;
  /** A command as this platform's people give it: `/exec ls`. */
  command(user: string, chat: string, text: string): Promise<void>;
  /** A command as plain words that address the bot. */
  say(user: string, chat: string, text: string, thread?: string): Promise<string>;
  press(user: string, message: ShownMessage, label: string): Promise<void>;
  /** Everything the bot shows now in this chat, thread replies too, as this person sees it. */
  posted(user: string, chat: string): readonly ShownMessage[];
  /** The chat as text, alerts of a press included. */
  screen(user: string, chat: string): string;
  violations(): readonly string[];
  duplicateLast(): Promise<void>;
}

export async function openSlack(): Promise<Place> {
  const emulator = new SlackEmulator({ commands: ["/exec", "/approve", "/openclaw", "/process", "/stop", "/whoami"] });
  await emulator.start();
  const [owner, guest, room] = ["U0ALICENG", "U0BRAMWIT", "C0OPSROOM"];
  const { workspace } = emulator;
  return {
    name: "slack",
    owner,
    guest,
    room,
    env: { SLACK_BOT_TOKEN: emulator.tokens.bot, SLACK_APP_TOKEN: emulator.tokens.app },
    config: {
      channels: {
        slack: {
          apiRoot: emulator.apiUrl,
          allowFrom: [owner, guest],
          channels: { [room]: {} },
          execApprovals: { target: "channel" },
        },
      },
      commands: { ownerAllowFrom: [`slack:${owner}`] },
    },
    direct: (user) => workspace.openIm(user).id,
    stop: () => emulator.stop(),
    async command(user, chat, text) {
      const [name = "", ...rest] = text.split(" ");
      await emulator.slash(user, chat, name, rest.join(" "));
    },
    say: (user, chat, text, thread) =>
      emulator.say(user, chat, text.replaceAll("@bot", "@openclaw"), thread === undefined ? {} : { thread }),
    async press(user, message, label) {
      await emulator.press(user, message.id, label);
    },
    posted: (user, chat) =>
      workspace
        .visibleTo(user, chat)
        .filter((message) => message.user === "U0OPENCLAW" && !message.deleted)
        .map((message) => ({
          id: message.ts,
          chat: message.channel,
          text: drawMessage(message.text, message.blocks, emulator.names).text,
          buttons: emulator.buttons(message),
          files: message.files.map((file) => file.name),
        })),
    screen: (user, chat) => emulator.screenText(user, chat),
    violations: () => emulator.violations,
    async duplicateLast() {
      await emulator.duplicate();
    },
  };
}

export async function openTelegram(): Promise<Place> {
  const emulator = new TelegramEmulator();
  await emulator.start();
  const owner = emulator.addPerson(101, "Alice", { username: "alice" });
  const guest = emulator.addPerson(202, "Bram", { username: "bram" });
  const room = emulator.addGroup(-1_001_234_567_890, "Ops", [owner, guest, "7000000001"]);
  return {
    name: "telegram",
    owner,
    guest,
    room,
    env: { TELEGRAM_BOT_TOKEN: emulator.token },
    config: {
      channels: {
        telegram: {
          apiRoot: emulator.url,
          allowFrom: [owner, guest],
          groups: { [room]: {} },
          execApprovals: { target: "channel" },
        },
      },
      commands: { ownerAllowFrom: [`telegram:${owner}`] },
    },
    direct: (user) => user,
    stop: () => emulator.stop(),
    async command(user, chat, text) {
      await emulator.say(user, chat, text);
    },
    say: (user, chat, text, thread) =>
      emulator.say(user, chat, text.replaceAll("@bot", "@ops_exec_bot"), thread === undefined ? {} : { thread }),
    async press(user, message, label) {
      await emulator.press(user, message.id, label, message.chat);
    },
    posted: (_user, chat) =>
      emulator.world
        .chat(Number(chat))
        .messages.filter((message) => message.from.id === emulator.world.bot.id && !message.deleted)
        .map((message) => ({
          id: String(message.id),
          chat,
          text: message.text,
          buttons: message.keyboard?.inline_keyboard.flat().map((button) => button.text) ?? [],
          files: message.file ? [message.file.name] : [],
        })),
    screen: (user, chat) =>
      [
        emulator.screenText(user, chat),
        ...[...emulator.methods.queries.values()]
          .filter((query) => query.userId === Number(user) && query.answer?.text)
          .map((query) => `(alert) ${query.answer?.text}`),
      ].join("\n"),
    violations: () => emulator.violations,
    async duplicateLast() {
      emulator.duplicate();
    },
  };
}

export async function openDiscord(): Promise<Place> {
  const emulator = new DiscordEmulator();
  await emulator.start();
  const owner = emulator.addPerson("alice");
  const guest = emulator.addPerson("bram");
  const guild = emulator.addGuild("Acme", [owner, guest]);
  const room = emulator.addChannel(guild, "ops");
  return {
    name: "discord",
    owner,
    guest,
    room,
    env: { DISCORD_BOT_TOKEN: emulator.token },
    config: {
      channels: {
        discord: {
          apiRoot: `${emulator.url}/api`,
          allowFrom: [owner, guest],
          guilds: { [guild]: { channels: { [room]: {} } } },
          execApprovals: { target: "channel" },
        },
      },
      commands: { ownerAllowFrom: [`discord:${owner}`] },
    },
    direct: (user) => emulator.dm(user),
    stop: () => emulator.stop(),
    async command(user, chat, text) {
      const [name = "", ...rest] = text.split(" ");
      await emulator.waitUntil(() => emulator.world.commands.get("global"), 5_000, "registered commands");
      const words = rest.join(" ");
      await emulator.slash(user, chat, name, name === "/exec" && words !== "" ? `command:${words}` : words);
    },
    say: (user, chat, text, thread) => emulator.say(user, chat, text, thread === undefined ? {} : { thread }),
    async press(user, message, label) {
      await emulator.press(user, message.id, label);
    },
    posted: (user, chat) =>
      emulator.world
        .channel(chat)
        .messages.filter(
          (message) =>
            message.authorId === emulator.world.botId && !message.deleted && emulator.world.sees(message, user),
        )
        .map((message) => ({
          id: message.id,
          chat,
          text: emulator.textOf(message),
          buttons: buttonLabels(message.components),
          files: message.files.map((file) => file.name),
        })),
    screen: (user, chat) => emulator.screenText(user, chat),
    violations: () => emulator.violations,
    async duplicateLast() {
      emulator.duplicate("MESSAGE_CREATE");
    },
  };
}

interface Component {
  readonly type?: number;
  readonly label?: string;
  readonly disabled?: boolean;
  readonly components?: readonly Component[];
}

function buttonLabels(components: readonly unknown[]): string[] {
  return (components as readonly Component[]).flatMap((component) =>
    component.type === 2 && component.label !== undefined && component.disabled !== true
      ? [component.label]
      : buttonLabels(component.components ?? []),
  );
}
