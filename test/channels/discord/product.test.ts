/** The whole product on a real state directory, with the genuine client library, seen by people on Discord. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DiscordEmulator } from "../../emulators/discord/emulator.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway.ts";

let emulator: DiscordEmulator;
let gateway: TestGateway;
let owner: string;
let member: string;
let room: string;

beforeEach(async () => {
  emulator = new DiscordEmulator();
  await emulator.start();
  owner = emulator.addPerson("olga");
  member = emulator.addPerson("mia");
  const guild = emulator.addGuild("Ops", [owner, member]);
  room = emulator.addChannel(guild, "deploys");
  gateway = await startTestGateway({
    config: {
      tools: { exec: { mode: "ask" } },
      commands: { ownerAllowFrom: [`discord:${owner}`] },
      channels: {
        discord: {
          token: emulator.token,
          apiRoot: `${emulator.url}/api`,
          dmPolicy: "allowlist",
          allowFrom: [owner, member],
          guilds: { [guild]: { requireMention: false, users: [owner, member] } },
          execApprovals: { enabled: true, target: "channel" },
        },
      },
    },
  });
  await emulator.waitUntil(() => emulator.world.commands.get("global"), 10_000, "the commands");
});

afterEach(async () => {
  await gateway.stop();
  await emulator.stop();
  expect(emulator.violations).toEqual([]);
});

const says = (text: string) => emulator.waitForMessage((one) => emulator.textOf(one).includes(text), 10_000);

describe("the product on Discord", () => {
  it("asks in the thread, refuses a stranger's press privately, runs after the owner's, and brings the output back there", async () => {
    const thread = emulator.addThread(room, "release 4");
    await emulator.slashWith(member, thread, "/exec", { command: "echo from the thread" });
    const card = await says("Approval needed");
    expect(card.channelId).toBe(thread);
    await emulator.press(member, card.id, "Allow once");
    expect((await says("not an approver")).onlyForId).toBe(member);
    await emulator.press(owner, card.id, "Allow once");
    const ended = await says("Finished · exit code 0");
    expect(ended.channelId).toBe(thread);
    expect(emulator.textOf(ended)).toContain("from the thread");
    await says("Allowed once by olga");
    expect(emulator.screenText(owner, thread)).not.toContain("not an approver");
    expect(emulator.screenText(owner, thread)).not.toContain("thinking");
  }, 40_000);

  it("keeps the card through a restart, takes a denial with its reason, and runs nothing", async () => {
    const dm = emulator.dm(owner);
    await emulator.slashWith(owner, dm, "/exec", { command: "touch never" });
    const card = await says("Approval needed");
    await gateway.restart();
    await expect.poll(() => emulator.gateway.connected(), { timeout: 10_000 }).toBe(1);
    const menu = await emulator.press(owner, card.id, "More…");
    await emulator.press(owner, menu.original?.id ?? "", "Deny with reason…");
    await emulator.submitModal(owner, { reason: "not on a Friday" });
    await says("Reason: not on a Friday");
    expect(emulator.screenText(owner, dm)).not.toContain("Finished");
  }, 40_000);
});
