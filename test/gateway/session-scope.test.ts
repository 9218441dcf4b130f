/** What `/exec` sets belongs to one conversation: a thread, not its room, and not the same person's direct messages. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drawMessage } from "../emulators/slack/markup.ts";
import { SlackEmulator } from "../emulators/slack/slack-emulator.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

const [OWNER, ROOM, DIRECT] = ["U0ALICENG", "C0OPSROOM", "D0ALICENG"];
const WAIT_MS = 15_000;

const emulator = new SlackEmulator();
let gateway: TestGateway;

beforeAll(async () => {
  await emulator.start();
  gateway = await startTestGateway({
    env: { SLACK_BOT_TOKEN: emulator.tokens.bot, SLACK_APP_TOKEN: emulator.tokens.app },
    config: {
      tools: { exec: { mode: "full" } },
      commands: { ownerAllowFrom: [`slack:${OWNER}`] },
      channels: { slack: { apiRoot: emulator.apiUrl, channels: { [ROOM]: {} }, execApprovals: { target: "channel" } } },
    },
  });
  await eventually(() => emulator.openSockets === 1, WAIT_MS);
}, 60_000);
afterAll(async () => {
  await gateway?.stop();
  await emulator.stop();
  expect(emulator.violations).toEqual([]);
});

/** What became of a command: it asked, or it ran at once. */
function outcome(mark: string): Promise<"asked" | "ran"> {
  return eventually(() => {
    const shown = emulator.workspace.messages
      .filter((message) => message.user === "U0OPENCLAW")
      .map((message) => drawMessage(message.text, message.blocks, emulator.names).text)
      .filter((text) => text.includes(mark));
    if (shown.some((text) => text.includes("Approval needed"))) return "asked";
    return shown.some((text) => text.includes("exit code 0")) ? "ran" : undefined;
  }, WAIT_MS);
}

describe("exec-override-cross-session", () => {
  it("ask=always in a thread asks there, nowhere else, and still after a restart", async () => {
    const thread = await emulator.say(OWNER, ROOM, "release 7, carefully");
    const inThread = (text: string) => emulator.say(OWNER, ROOM, `@openclaw exec ${text}`, { thread });
    await inThread("ask=always");
    await eventually(() => emulator.screenText(OWNER, ROOM).includes("always"), WAIT_MS);

    await inThread("echo first-in-thread");
    expect(await outcome("first-in-thread")).toBe("asked");
    await emulator.say(OWNER, ROOM, "@openclaw exec echo in-the-room");
    expect(await outcome("in-the-room")).toBe("ran");
    const other = await emulator.say(OWNER, ROOM, "another thread");
    await emulator.say(OWNER, ROOM, "@openclaw exec echo in-another-thread", { thread: other });
    expect(await outcome("in-another-thread")).toBe("ran");
    await emulator.say(OWNER, DIRECT, "exec echo directly");
    expect(await outcome("directly")).toBe("ran");

    await gateway.restart();
    await eventually(() => emulator.openSockets === 1, WAIT_MS);
    await inThread("echo after-the-restart");
    expect(await outcome("after-the-restart")).toBe("asked");
    await emulator.say(OWNER, ROOM, "@openclaw exec echo in-the-room-again");
    expect(await outcome("in-the-room-again")).toBe("ran");
  }, 60_000);
});
