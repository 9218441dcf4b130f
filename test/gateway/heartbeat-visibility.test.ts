/** `channels.<chat>.heartbeat`: what of a heartbeat a chat sees, with a real client and a provider of ours. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ModelEmulator } from "../emulators/model/model-emulator.ts";
import { SlackEmulator } from "../emulators/slack/slack-emulator.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

const ROOM = "C0OPSROOM";
const OWNER = "U0ALICENG";
const WAIT_MS = 20_000;

let emulator: SlackEmulator;
let model: ModelEmulator;
let gateway: TestGateway | undefined;

beforeEach(async () => {
  emulator = new SlackEmulator();
  await emulator.start();
  model = await ModelEmulator.start();
});
afterEach(async () => {
  await gateway?.stop();
  await emulator.stop();
  await model.stop();
  expect(emulator.violations).toEqual([]);
});

async function beat(heartbeat: object, answer: string, defaults: object = {}): Promise<string> {
  model.think(({ lastUser }) => ({ text: lastUser.includes("Heartbeat.") ? answer : "I am here." }));
  gateway = await startTestGateway({
    env: { ...model.env, SLACK_BOT_TOKEN: emulator.tokens.bot, SLACK_APP_TOKEN: emulator.tokens.app },
    config: {
      models: { providers: model.providers("openai-completions") },
      agents: { defaults: { model: "house/small", heartbeat: { every: "1s", target: "slack", to: ROOM } } },
      commands: { ownerAllowFrom: [`slack:${OWNER}`] },
      channels: {
        defaults: { heartbeat: defaults },
        slack: { apiRoot: emulator.apiUrl, channels: { [ROOM]: {} }, heartbeat },
      },
    },
  });
  await eventually(() => model.requests.some((one) => one.lastUser.includes("Heartbeat.")), WAIT_MS);
  // By the time a question after it is answered, what the heartbeat had to say has been said.
  await eventually(() => emulator.openSockets === 1, WAIT_MS);
  await emulator.say(OWNER, ROOM, "@openclaw are you there?");
  await eventually(() => emulator.screenText(OWNER, ROOM).includes("I am here."), WAIT_MS);
  return emulator.screenText(OWNER, ROOM);
}

describe("a heartbeat in a chat", () => {
  it.each<[string, object, string, string | undefined]>([
    ["that found nothing is silent", {}, "HEARTBEAT_OK", undefined],
    ["that found nothing is told with showOk", { showOk: true }, "HEARTBEAT_OK", "nothing to report"],
    ["that found something is told", {}, "The disk is full.", "The disk is full."],
    ["that found something is silent without showAlerts", { showAlerts: false }, "The disk is full.", undefined],
  ])(
    "%s",
    async (_name, heartbeat, answer, shown) => {
      const screen = await beat(heartbeat, answer);
      if (shown) expect(screen).toContain(shown);
      else expect(screen).not.toMatch(/nothing to report|disk is full|HEARTBEAT_OK/);
    },
    60_000,
  );

  it("channels.defaults holds where the chat says nothing itself", async () => {
    expect(await beat({}, "HEARTBEAT_OK", { showOk: true })).toContain("nothing to report");
  }, 60_000);
});
