/** What Discord suggests while a command is typed: nobody is shown what they may not see or decide. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DiscordEmulator } from "../emulators/discord/emulator.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

describe("suggestions on Discord", () => {
  const emulator = new DiscordEmulator();
  let gateway: TestGateway;
  let [owner, guest, stranger, room] = ["", "", "", ""];

  beforeAll(async () => {
    await emulator.start();
    [owner, guest, stranger] = [emulator.addPerson("alice"), emulator.addPerson("bram"), emulator.addPerson("sam")];
    const guild = emulator.addGuild("Acme", [owner, guest, stranger]);
    room = emulator.addChannel(guild, "ops");
    gateway = await startTestGateway({
      env: { DISCORD_BOT_TOKEN: emulator.token },
      config: {
        tools: { exec: { mode: "ask" } },
        channels: {
          discord: {
            apiRoot: `${emulator.url}/api`,
            allowFrom: [owner, guest],
            guilds: { [guild]: { channels: { [room]: {} }, users: [owner, guest] } },
            execApprovals: { target: "channel", approvers: [owner] },
          },
        },
        commands: { ownerAllowFrom: [`discord:${owner}`] },
      },
    });
    await emulator.waitUntil(() => emulator.world.commands.get("global"), 10_000, "registered commands");
    await emulator.slash(owner, room, "/exec", "command:sleep 300");
    const card = await emulator.waitForMessage((one) => emulator.textOf(one).includes("sleep 300"));
    await emulator.press(owner, card.id, "Allow once");
    await eventually(async () => (await sessionsOf(owner)).length === 1, 12_000);
    await emulator.slash(guest, room, "/exec", "command:touch for-the-owner");
    await emulator.waitForMessage((one) => emulator.textOf(one).includes("for-the-owner"));
  }, 60_000);
  afterAll(async () => {
    await gateway?.stop();
    await emulator.stop();
  });

  async function suggested(user: string, command: string, option: string): Promise<readonly string[]> {
    const { choices = [] } = await emulator.autocomplete(user, room, command, option, "");
    return choices.map(({ name }) => name);
  }
  const sessionsOf = (user: string) => suggested(user, "/process", "session");

  it("a session is suggested to who may see it, never to somebody whom nobody let in", async () => {
    expect(await sessionsOf(guest)).toHaveLength(1);
    expect(await sessionsOf(stranger)).toEqual([]);
  });

  it("a request is suggested to who may decide it alone", async () => {
    expect(await suggested(owner, "/approve", "id")).toHaveLength(1);
    expect(await suggested(guest, "/approve", "id")).toEqual([]);
    expect(await suggested(stranger, "/approve", "id")).toEqual([]);
  });
});
