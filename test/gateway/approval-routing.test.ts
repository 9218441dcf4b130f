/** One request, its cards in every chat that is configured for it, answered in one of them: all show it, one run, one origin. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drawMessage } from "../emulators/slack/markup.ts";
import { SlackEmulator } from "../emulators/slack/slack-emulator.ts";
import type { SlackMessage } from "../emulators/slack/workspace.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

const [OWNER, GUEST, ROOM, DUTY] = ["U0ALICENG", "U0SAMROE1", "C0OPSROOM", "C0GENERAL"];
const WAIT_MS = 15_000;

const emulator = new SlackEmulator();
let gateway: TestGateway;
let root: string;

beforeAll(async () => {
  await emulator.start();
  emulator.workspace.users.set(GUEST, { id: GUEST, name: "sam", realName: "Sam Roe", locale: "en-US", isBot: false });
  for (const chat of [ROOM, DUTY]) emulator.workspace.conversations.get(chat)?.members.add(GUEST);
  root = await emulator.say(OWNER, DUTY, "requests of today");
  gateway = await startTestGateway({
    env: { SLACK_BOT_TOKEN: emulator.tokens.bot, SLACK_APP_TOKEN: emulator.tokens.app },
    config: {
      tools: { exec: { mode: "ask" } },
      commands: { ownerAllowFrom: [`slack:${OWNER}`] },
      approvals: {
        exec: {
          enabled: true,
          mode: "both",
          targets: [
            { channel: "slack", to: DUTY, threadId: root },
            { channel: "web", to: "duty" },
          ],
        },
      },
      // The room for requests is no room to talk in: an approver answers there all the same.
      channels: { slack: { apiRoot: emulator.apiUrl, channels: { [ROOM]: {} }, execApprovals: { target: "dm" } } },
    },
  });
  await eventually(() => emulator.openSockets === 1, WAIT_MS);
}, 60_000);
afterAll(async () => {
  await gateway?.stop();
  await emulator.stop();
  expect(emulator.violations).toEqual([]);
});

const drawn = (message: SlackMessage) => drawMessage(message.text, message.blocks, emulator.names).text;
const cardsOf = (command: string) =>
  emulator.workspace.messages.filter(
    (message) => drawn(message).includes(command) && message.blocks.some((block) => block.block_id === "oc:title"),
  );

describe("a request with several audiences", () => {
  it("card-all-surfaces-updated: is shown to the chat that asked, the approver, and both targets, and answered once for all", async () => {
    await emulator.slash(GUEST, ROOM, "/exec", "echo once for all");
    const cards = await eventually(
      () => cardsOf("echo once for all").length === 3 && cardsOf("echo once for all"),
      WAIT_MS,
    );
    expect(cards.map((card) => [card.channel, card.threadTs]).sort()).toEqual(
      [
        [ROOM, undefined],
        ["D0ALICENG", undefined],
        [DUTY, root],
      ].sort(),
    );
    const operator = await gateway.person("duty");
    const there = await operator.request("echo once for all");

    const duty = cards.find((card) => card.channel === DUTY);
    await emulator.press(GUEST, duty?.ts ?? "", "Allow once");
    await emulator.waitForMessage(
      (message) => message.onlyFor === GUEST && drawn(message).includes("You are not authorized"),
      WAIT_MS,
    );
    await Promise.all([emulator.press(OWNER, duty?.ts ?? "", "Allow once"), operator.decide(there, "allow-once")]);

    await eventually(() => cardsOf("echo once for all").every((card) => emulator.buttons(card).length === 0), WAIT_MS);
    await operator.see("approval", (card) => card.approvalId === there.approvalId && card.state === "allowed");
    const ends = await eventually(() => {
      const found = emulator.workspace.messages.filter((message) => drawn(message).includes("Finished · exit code 0"));
      return found.length > 0 && found;
    }, WAIT_MS);
    expect(ends.map((message) => message.channel)).toEqual([ROOM]);
  });
});
