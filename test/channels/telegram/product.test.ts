/** The whole product on a real state directory, with the genuine client library, seen by people on Telegram. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TelegramEmulator } from "../../emulators/telegram/emulator.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway.ts";

const OWNER = "1001";
const MEMBER = "1002";
const FORUM = "-1002222222222";

let emulator: TelegramEmulator;
let gateway: TestGateway;

beforeEach(async () => {
  emulator = new TelegramEmulator();
  await emulator.start();
  emulator.addPerson(Number(OWNER), "Olga", { username: "olga" });
  emulator.addPerson(Number(MEMBER), "Mia", { username: "mia" });
  emulator.addGroup(Number(FORUM), "Ops", [OWNER, MEMBER], { 77: "Deploys" });
  gateway = await startTestGateway({
    config: {
      tools: { exec: { mode: "ask" } },
      commands: { ownerAllowFrom: [`telegram:${OWNER}`] },
      channels: {
        telegram: {
          botToken: emulator.token,
          apiRoot: emulator.url,
          dmPolicy: "allowlist",
          allowFrom: [OWNER, MEMBER],
          groups: { [FORUM]: { requireMention: false } },
          execApprovals: { enabled: true, target: "channel" },
        },
      },
    },
  });
});

afterEach(async () => {
  await gateway.stop();
  await emulator.stop();
  expect(emulator.violations).toEqual([]);
});

describe("the product on Telegram", () => {
  it("asks in the topic, refuses a stranger's press, runs after the owner's, and brings the output back there", async () => {
    await emulator.say(MEMBER, FORUM, "/exec echo from the topic", { thread: "77" });
    const card = await emulator.waitForMessage((one) => one.text.startsWith("Approval needed"), 10_000);
    expect([String(card.chatId), card.threadId]).toEqual([FORUM, 77]);
    const refused = await emulator.press(MEMBER, String(card.id), "Allow once", FORUM);
    expect(refused.answer).toMatchObject({ alert: true, text: expect.stringContaining("not an approver") });
    expect(card.keyboard).toBeDefined();

    const allowed = await emulator.press(OWNER, String(card.id), "Allow once", FORUM);
    expect(allowed.answer?.text).toBe("");
    const ended = await emulator.waitForMessage((one) => one.text.startsWith("Finished · exit code 0"), 10_000);
    expect(ended.threadId).toBe(77);
    expect(ended.text).toContain("from the topic");
    await emulator.waitUntil(() => (card.text.startsWith("Allowed once by olga") && !card.keyboard ? true : undefined));
  }, 40_000);

  it("keeps the card through a restart, takes a denial with its reason, and runs nothing", async () => {
    await emulator.slash(OWNER, OWNER, "/exec", "touch never");
    const card = await emulator.waitForMessage((one) => one.text.startsWith("Approval needed"), 10_000);
    await gateway.restart();
    await emulator.press(OWNER, String(card.id), "Deny with reason…", OWNER);
    const question = await emulator.waitForMessage((one) => one.forceReply, 10_000);
    await emulator.say(OWNER, OWNER, "not on a Friday", { replyTo: String(question.id) });
    await emulator.waitUntil(() => (card.text.startsWith("Denied by olga") ? true : undefined), 10_000);
    expect(card.text).toContain("Reason: not on a Friday");
    expect(emulator.screenText(OWNER, OWNER)).not.toContain("Finished");
  }, 40_000);
});
