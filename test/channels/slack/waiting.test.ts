/** A thread on Slack while a request from it waits, through the whole product. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SlackEmulator } from "../../emulators/slack/slack-emulator.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway.ts";

const ALICE = "U0ALICENG";
const ROOM = "C0OPSROOM";
const WAITING = "Waiting for approval…";

let emulator: SlackEmulator;
let gateway: TestGateway;
let thread: string;

beforeEach(async () => {
  emulator = new SlackEmulator();
  await emulator.start();
  gateway = await startTestGateway({
    config: {
      tools: { exec: { mode: "ask" } },
      commands: { ownerAllowFrom: [`slack:${ALICE}`] },
      channels: {
        slack: {
          mode: "socket",
          botToken: emulator.tokens.bot,
          appToken: emulator.tokens.app,
          apiRoot: emulator.apiUrl,
          channels: { [ROOM]: { requireMention: true } },
          execApprovals: { enabled: true, target: "dm" },
        },
      },
    },
  });
  await expect.poll(() => emulator.openSockets, { timeout: 10_000 }).toBe(1);
  thread = await emulator.say(ALICE, ROOM, "who has a minute?");
});

afterEach(async () => {
  await gateway.stop();
  await emulator.stop();
  expect(emulator.violations).toEqual([]);
});

const status = () => [...emulator.workspace.statuses.values()];
const asks = async (command: string) => {
  await emulator.say(ALICE, ROOM, `@openclaw exec ${command}`, { thread });
  const card = await emulator.waitForMessage((one) => JSON.stringify(one.blocks ?? []).includes(command), 10_000);
  await expect.poll(status, { timeout: 10_000 }).toEqual([WAITING]);
  return card;
};

describe("the thread a request came from", () => {
  it("says that it waits although the card is elsewhere, then nothing once the command has ended", async () => {
    const card = await asks("touch made");
    expect(card.channel).not.toBe(ROOM);
    await emulator.press(ALICE, card.ts, "Allow once");
    await emulator.waitForMessage((one) => JSON.stringify(one.blocks ?? []).includes("exit code 0"), 20_000);
    await expect.poll(status, { timeout: 10_000 }).toEqual([]);
  }, 40_000);

  it("says nothing more after a denial, and says it again after a restart while it waits", async () => {
    const card = await asks("touch never");
    emulator.workspace.statuses.clear();
    await gateway.restart();
    await expect.poll(status, { timeout: 15_000 }).toEqual([WAITING]);
    await emulator.press(ALICE, card.ts, "Deny");
    await expect.poll(status, { timeout: 10_000 }).toEqual([]);
  }, 60_000);
});
