/** The whole product on a real state directory, with the genuine client library, seen by people on Telegram. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import JSON5 from "json5";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TelegramEmulator } from "../../emulators/telegram/emulator.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway.ts";
import { productLives } from "../../support/product-lives.ts";

const OWNER = "1001";
const MEMBER = "1002";
const FORUM = "-1002222222222";

let emulator: TelegramEmulator;

beforeEach(async () => {
  emulator = new TelegramEmulator();
  await emulator.start();
  emulator.addPerson(Number(OWNER), "Olga", { username: "olga" });
  emulator.addPerson(Number(MEMBER), "Mia", { username: "mia" });
  emulator.addGroup(Number(FORUM), "Ops", [OWNER, MEMBER], { 77: "Deploys" });
});

afterEach(async () => {
  await emulator.stop();
  expect(emulator.violations).toEqual([]);
});

function configured(telegram: object = {}): object {
  return {
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
        ...telegram,
      },
    },
  };
}

describe("the product on Telegram", () => {
  let gateway: TestGateway;

  beforeEach(async () => {
    gateway = await startTestGateway({ config: configured() });
  });

  afterEach(() => gateway.stop());

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

  it("concurrent-allow-and-deny: twenty answers at once from buttons, typed words and the web chat are one decision and one run", async () => {
    await emulator.say(OWNER, FORUM, "/exec echo ran >> once.txt; echo done-$((40+2))", { thread: "77" });
    const card = await emulator.waitForMessage((one) => one.text.startsWith("Approval needed"), 10_000);
    const slug = /ID: ([0-9a-f]{8})/.exec(card.text)?.[1] ?? "";
    const operator = await gateway.person("elsewhere");
    const { approvals } = await operator.call("approvals.list", {});
    const id = approvals[0]?.id ?? "";
    const press = (label: string) => emulator.press(OWNER, String(card.id), label, FORUM).catch(() => undefined);
    await Promise.all([
      ...Array.from({ length: 6 }, (_, n) => press(n % 2 === 0 ? "Allow once" : "Deny")),
      ...Array.from({ length: 6 }, (_, n) =>
        emulator.say(OWNER, FORUM, `/approve ${slug} ${n % 2 === 0 ? "deny" : "allow-once"}`, { thread: "77" }),
      ),
      ...Array.from({ length: 8 }, (_, n) =>
        operator
          .call("approvals.resolve", { id, decision: n % 2 === 0 ? "allow-once" : "deny" })
          .catch(() => undefined),
      ),
    ]);
    await emulator.waitUntil(
      () => (/^(Allowed once|Denied)/.test(card.text) && !card.keyboard ? true : undefined),
      20_000,
    );
    await emulator.waitUntil(() => (emulator.updates.pendingCount() === 0 ? true : undefined), 20_000);
    const wasAllowed = card.text.startsWith("Allowed");
    const file = join(gateway.stateDir, "workspace", "once.txt");
    if (wasAllowed) {
      await emulator.waitForMessage((one) => one.text.includes("done-42") && one.text.startsWith("Finished"), 20_000);
      expect(await readFile(file, "utf8")).toBe("ran\n");
    }
    // Whatever comes after, the decision stays what it was.
    await emulator.say(OWNER, FORUM, `/approve ${slug} ${wasAllowed ? "deny" : "allow-once"}`, { thread: "77" });
    await emulator.waitForMessage(
      (one) => one.text.includes(wasAllowed ? "already allowed" : "already denied"),
      20_000,
    );
    expect(await readFile(file, "utf8").catch(() => "")).toBe(wasAllowed ? "ran\n" : "");
  }, 60_000);

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

describe("a Telegram group that becomes a supergroup", () => {
  const GROUP = "-4001";
  const SUPERGROUP = "-1004001";

  it("tg-supergroup-migration: stays allowed, keeps what was set for it, and gets the end of what runs", async () => {
    emulator.addGroup(Number(GROUP), "Small team", [OWNER, MEMBER]);
    const product = await productLives({ config: configured({ groups: { [GROUP]: { requireMention: false } } }) });
    try {
      await emulator.say(OWNER, GROUP, "/exec security=full ask=off");
      await emulator.waitForMessage((one) => one.text.includes("Set for this conversation"), 20_000);
      await emulator.say(MEMBER, GROUP, "/exec while [ ! -e moved ]; do sleep 0.1; done; echo after-$((40+2))");
      await emulator.waitForMessage((one) => one.text.includes("Running"), 20_000);
      emulator.migrate(GROUP, Number(SUPERGROUP));
      await emulator.say(MEMBER, SUPERGROUP, "/exec touch at-once");
      const config = async () => JSON5.parse(await readFile(join(product.stateDir, "openclaw.json"), "utf8"));
      await expect
        .poll(async () => Object.keys((await config()).channels.telegram.groups), { timeout: 10_000 })
        .toEqual([SUPERGROUP]);
      expect((await config()).channels.telegram.groups[SUPERGROUP]).toEqual({ requireMention: false });
      // Neither a restart nor a moment in which the group is a stranger; what was set for the conversation holds.
      await emulator.say(MEMBER, SUPERGROUP, "/exec touch moved");
      const ended = await emulator.waitForMessage(
        (one) => one.text.includes("after-42") && /exit code 0/.test(one.text),
        20_000,
      );
      expect(String(ended.chatId)).toBe(SUPERGROUP);
      expect(emulator.screenText(MEMBER, SUPERGROUP)).not.toMatch(/Approval needed|not authorized/);
    } finally {
      await product.terminate();
      await product.dispose();
    }
  }, 120_000);
});

describe("the product behind a Telegram webhook", () => {
  it("is told of updates with the secret, refuses them without, and brings the answer back", async () => {
    const port = await freePort();
    const secret = "hook-secret_0123456789";
    const gateway = await startTestGateway({
      config: configured({
        webhookUrl: `http://127.0.0.1:${port}/telegram-webhook`,
        webhookSecret: secret,
        webhookPort: port,
      }),
    });
    try {
      const address = `http://127.0.0.1:${port}/telegram-webhook`;
      const forged = {
        update_id: 1,
        message: {
          message_id: 1,
          date: 1,
          chat: { id: Number(OWNER), type: "private" },
          from: { id: Number(OWNER), is_bot: false, first_name: "Olga" },
          text: "/exec touch forged",
          entities: [{ type: "bot_command", offset: 0, length: 5 }],
        },
      };
      const post = (headers: Record<string, string>) =>
        fetch(address, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify(forged),
        }).then((response) => response.status);
      expect(await post({})).toBe(401);
      expect(await post({ "x-telegram-bot-api-secret-token": `${secret}x` })).toBe(401);
      await emulator.say(OWNER, OWNER, "/exec echo by webhook");
      const card = await emulator.waitForMessage((one) => one.text.startsWith("Approval needed"), 10_000);
      expect(card.text).toContain("echo by webhook");
      await emulator.press(OWNER, String(card.id), "Allow once", OWNER);
      const ended = await emulator.waitForMessage((one) => one.text.startsWith("Finished · exit code 0"), 10_000);
      expect(ended.text).toContain("by webhook");
      expect(emulator.screenText(OWNER, OWNER)).not.toContain("forged");
    } finally {
      await gateway.stop();
    }
  }, 60_000);
});

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
