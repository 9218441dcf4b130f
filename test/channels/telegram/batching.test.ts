/** What people write to an agent on Telegram in several messages: one thing said is one turn of the model. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ModelEmulator } from "../../emulators/model/model-emulator.ts";
import { TelegramEmulator } from "../../emulators/telegram/emulator.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway.ts";
import { eventually } from "../../support/state.ts";

const OWNER = "1001";
const MEMBER = "1002";
const GROUP = "-1001234567890";
const BOT = "@ops_exec_bot";
/** As long as what an app cuts from a longer text. */
const PIECE = "word ".repeat(819);

let emulator: TelegramEmulator;
let model: ModelEmulator;
let gateway: TestGateway;

async function up(batching: object = {}, mode = "full"): Promise<void> {
  gateway = await startTestGateway({
    env: model.env,
    config: {
      tools: { exec: { mode } },
      models: { providers: model.providers("openai-completions") },
      agents: { defaults: { model: "house/small", heartbeat: { every: "0m" } } },
      commands: { ownerAllowFrom: [`telegram:${OWNER}`] },
      channels: {
        telegram: {
          botToken: emulator.token,
          apiRoot: emulator.url,
          dmPolicy: "allowlist",
          allowFrom: [OWNER, MEMBER],
          groups: { [GROUP]: {} },
          batching,
        },
      },
    },
  });
}

beforeEach(async () => {
  emulator = new TelegramEmulator({ privacy: false });
  await emulator.start();
  emulator.addPerson(Number(OWNER), "Olga", { username: "olga" });
  emulator.addPerson(Number(MEMBER), "Mia", { username: "mia" });
  emulator.addGroup(Number(GROUP), "Ops", [OWNER, MEMBER]);
  model = await ModelEmulator.start();
  model.think(({ lastUser }) => ({ text: `Heard ${lastUser.split("\n").length - 1} lines.` }));
});

afterEach(async () => {
  await gateway.stop();
  await emulator.stop();
  await model.stop();
  expect(emulator.violations).toEqual([]);
  expect(model.violations).toEqual([]);
});

const answered = (text: string) => emulator.waitForMessage((one) => one.from.is_bot && one.text.includes(text), 20_000);
const screen = (chat = OWNER) => emulator.screenText(OWNER, chat);

describe("words in several messages", () => {
  it("reach the agent as one, which answers once", async () => {
    await up();
    for (const text of ["please", "look after", "the tomatoes"]) await emulator.say(OWNER, OWNER, text);
    await answered("Heard 3 lines.");
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]?.lastUser).toMatch(/\]\nplease\nlook after\nthe tomatoes$/);
  });

  it("of two people in one room are each their own, and both are heard", async () => {
    await up({ quietMs: 1_000 });
    await emulator.say(OWNER, GROUP, `${BOT} one`);
    await emulator.say(MEMBER, GROUP, `${BOT} two`);
    await emulator.say(OWNER, GROUP, `${BOT} three`);
    await eventually(() => model.requests.some((one) => one.body.includes("three")), 20_000);
    const heard = model.requests.at(-1)?.messages.filter((one) => one.role === "user") ?? [];
    const words = heard.map((one) => one.text.split("\n").slice(1).join("+"));
    expect(words.sort()).toEqual(["one+three", "two"]);
  });

  it("are not waited for beyond the limits: the twelfth begins the turn, and the rest is heard too", async () => {
    await up({ quietMs: 60_000, maxWaitMs: 600_000, maxMessages: 3 });
    for (const text of ["a", "b", "c", "d"]) await emulator.say(OWNER, OWNER, text);
    await answered("Heard 3 lines.");
    expect(model.requests[0]?.lastUser).toMatch(/\]\na\nb\nc$/);
    await emulator.say(OWNER, OWNER, "e");
    await emulator.say(OWNER, OWNER, "f");
    await eventually(() => model.requests.some((one) => one.lastUser.endsWith("\nd\ne\nf")), 20_000);
  });

  it("each at once where nothing is gathered", async () => {
    await up({ quietMs: 0, cutQuietMs: 0 });
    await emulator.say(OWNER, OWNER, "only this");
    await answered("Heard 1 lines.");
    expect(model.requests[0]?.lastUser).toMatch(/\]\nonly this$/);
  });

  it("hold up no command, no press and no stop, which drops what waits", async () => {
    await up({ quietMs: 60_000, maxWaitMs: 600_000 }, "ask");
    await emulator.say(OWNER, OWNER, "this waits");
    await emulator.say(OWNER, OWNER, "/exec echo at-$((40+2))");
    const card = await answered("Approval needed");
    await emulator.press(OWNER, String(card.id), "Allow once", OWNER);
    await answered("at-42");
    await emulator.say(OWNER, OWNER, "/stop");
    await answered("Stopped");
    expect(model.requests).toHaveLength(0);
  }, 60_000);
});

describe("a text that the app has cut", () => {
  it("is addressed as its beginning was, and is one message", async () => {
    await up();
    await emulator.say(OWNER, GROUP, `${BOT} ${PIECE}`);
    await emulator.say(OWNER, GROUP, PIECE);
    await emulator.say(OWNER, GROUP, "and the end");
    await answered("Heard 3 lines.");
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]?.lastUser).toMatch(/and the end$/);
  });

  it("runs nothing that happens to stand at the start of its next piece", async () => {
    await up();
    for (const rest of ["/exec touch cut-run", "exec touch cut-run", "/status"]) {
      await emulator.say(OWNER, OWNER, PIECE);
      await emulator.say(OWNER, OWNER, rest);
      await eventually(() => model.requests.some((one) => one.lastUser.endsWith(`\n${rest}`)), 20_000);
    }
    await expect(readFile(join(gateway.stateDir, "workspace", "cut-run"))).rejects.toThrow("ENOENT");
    expect(screen()).not.toMatch(/Finished|Gateway/);
  }, 60_000);

  it("can be stopped in the middle", async () => {
    await up({ cutQuietMs: 30_000, maxWaitMs: 60_000 });
    await emulator.say(OWNER, OWNER, PIECE);
    await emulator.say(OWNER, OWNER, "stop");
    await answered("Stopped");
    expect(model.requests).toHaveLength(0);
  });

  it("is refused when it is a command, and its rest is told to nobody", async () => {
    await up();
    for (const [who, command] of [
      [OWNER, "/exec touch half-run; "],
      [MEMBER, "exec touch half-run; "],
    ] as const) {
      await emulator.say(who, who, command + PIECE);
      await emulator.say(who, who, "exec touch half-run");
      await eventually(() => emulator.screenText(who, who).includes("only the beginning of a command"), 20_000);
      await eventually(() => emulator.updates.pendingCount() === 0, 20_000);
    }
    await emulator.say(MEMBER, GROUP, "/whoami");
    await emulator.waitForMessage((one) => String(one.chatId) === GROUP && one.text.includes(MEMBER), 20_000);
    expect(model.requests).toHaveLength(0);
    await expect(readFile(join(gateway.stateDir, "workspace", "half-run"))).rejects.toThrow("ENOENT");
  });
});
