/** Another bot in the same group: heard where Telegram and `allowBots` let it, never without end, and never the one who decides. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { BOT_MESSAGES } from "../../../src/core/access/bot-budget.ts";
import { TelegramEmulator } from "../../emulators/telegram/emulator.ts";
import type { StoredMessage } from "../../emulators/telegram/world.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway.ts";
import { eventually } from "../../support/state.ts";

const OWNER = "1001";
const OTHER_BOT = "7000000002";
const GROUP = "-1001234567890";
const OURS = "@ops_exec_bot";

let emulator: TelegramEmulator;
let gateway: TestGateway;

async function up({ modes = { ours: false, theirs: true }, allowBots = true } = {}): Promise<void> {
  emulator = new TelegramEmulator({ botToBot: modes.ours });
  await emulator.start();
  emulator.addPerson(Number(OWNER), "Olga", { username: "olga" });
  emulator.addPerson(Number(OTHER_BOT), "Deploys", { username: "deploy_bot", bot: true, botToBot: modes.theirs });
  emulator.addGroup(Number(GROUP), "Ops", [OWNER, OTHER_BOT]);
  gateway = await startTestGateway({
    config: {
      tools: { exec: { mode: "ask" } },
      commands: { ownerAllowFrom: [`telegram:${OWNER}`] },
      channels: {
        telegram: {
          botToken: emulator.token,
          apiRoot: emulator.url,
          allowFrom: [OWNER],
          groupAllowFrom: [OWNER, OTHER_BOT],
          groups: { [GROUP]: {} },
          allowBots,
          execApprovals: { enabled: true, target: "channel", approvers: [OWNER, OTHER_BOT] },
          sendRate: { chatPerSecond: 1_000, chatBurst: 100, groupPerMinute: 60_000, totalPerSecond: 1_000 },
        },
      },
    },
  });
}

afterEach(async () => {
  await gateway.stop();
  await emulator.stop();
  expect(emulator.violations).toEqual([]);
});

const ours = (): StoredMessage[] =>
  emulator.world.chat(Number(GROUP)).messages.filter((one) => one.from.id === emulator.world.bot.id);
const says = (text: string, replyTo?: string) =>
  emulator.say(OTHER_BOT, GROUP, text, replyTo === undefined ? {} : { replyTo });
/** Whatever was said before this has been worked on. */
async function settled(): Promise<void> {
  const before = ours().length;
  await emulator.say(OWNER, GROUP, `/whoami${OURS}`);
  await eventually(() => ours().length > before && ours().at(-1)?.text.includes(OWNER), 20_000);
}

describe("another bot on Telegram", () => {
  it.each([
    ["neither has the mode", { modes: { ours: false, theirs: false } }],
    ["allowBots is off", { modes: { ours: true, theirs: true }, allowBots: false }],
  ])(
    "is not answered: %s",
    async (_why, options) => {
      await up(options);
      await says(`/whoami${OURS}`);
      await settled();
      expect(ours()).toHaveLength(1);
    },
    40_000,
  );

  it.each([
    ["its own", { ours: false, theirs: true }],
    ["ours", { ours: true, theirs: false }],
  ])(
    "is answered by a command that names us and by a reply, with %s mode, and not by other words",
    async (_whose, modes) => {
      await up({ modes });
      await says("/whoami");
      await says(`${OURS} status`);
      await says(`/whoami${OURS}`);
      await eventually(() => ours().length === 1, 20_000);
      expect(ours()[0]?.text).toContain(OTHER_BOT);
      await says("/status", String(ours()[0]?.id));
      await eventually(() => ours().length === 2, 20_000);
      await settled();
      expect(ours()).toHaveLength(3);
    },
    40_000,
  );

  it("bot-loop-and-self: two bots that answer each other stop after the room's budget; a person gives them another", async () => {
    await up();
    /** What a careless bot does: it answers each answer. */
    let answered = 0;
    const loop = async (until: number): Promise<void> => {
      for (; answered < until; answered++) {
        const last = await eventually(() => ours()[answered], 20_000);
        await says(`/whoami${OURS}`, String(last.id));
      }
    };
    await says(`/whoami${OURS}`);
    await loop(BOT_MESSAGES);
    // The tenth answer was answered too, and that is where it ends.
    await eventually(() => emulator.updates.pendingCount() === 0, 20_000);
    await settled();
    expect(ours()).toHaveLength(BOT_MESSAGES + 1);
    await says(`/whoami${OURS}`);
    await eventually(() => ours().length === BOT_MESSAGES + 2, 20_000);
    expect(ours().at(-1)?.text).toContain(OTHER_BOT);
  }, 60_000);

  it("agent-approves-itself: can ask for a command, and can not decide about it although it is listed", async () => {
    await up();
    await says(`/exec${OURS} touch by-bot; echo done-$((1+1))`);
    const card = await emulator.waitForMessage((one) => one.text.startsWith("Approval needed"), 20_000);
    const slug = /ID: ([0-9a-f]{8})/.exec(card.text)?.[1] ?? "";
    expect(slug).toHaveLength(8);
    await says(`/approve${OURS} ${slug} allow-once`);
    await eventually(() => ours().length === 2, 20_000);
    expect(ours()[1]?.text).not.toContain("Allowed");
    await expect(readFile(join(gateway.stateDir, "workspace", "by-bot"))).rejects.toThrow("ENOENT");
    await emulator.press(OWNER, String(card.id), "Allow once", GROUP);
    await emulator.waitForMessage((one) => one.text.includes("done-2") && one.text.startsWith("Finished"), 20_000);
  }, 40_000);
});
