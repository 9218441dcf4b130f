/** When the bot takes a message in a room for its own: the configured rules, with the started gateway and a real client. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SlackEmulator } from "../emulators/slack/slack-emulator.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

const OWNER = "U0ALICENG";
const ROOM = "C0OPSROOM";
const SAM = "U0SAMROE1";
const QUIET = "C0GENERAL";
const ANSWER = "I run commands.";
const WAIT_MS = 12_000;

const emulator = new SlackEmulator();
let gateway: TestGateway;

beforeAll(async () => {
  await emulator.start();
  emulator.workspace.users.set(SAM, { id: SAM, name: "sam", realName: "Sam Roe", locale: "en-US", isBot: false });
  emulator.workspace.conversations.get(ROOM)?.members.add(SAM);
  emulator.workspace.userGroups.set("S0OPS", { handle: "ops", members: [OWNER, "U0OPENCLAW"] });
  gateway = await startTestGateway({
    env: { SLACK_BOT_TOKEN: emulator.tokens.bot, SLACK_APP_TOKEN: emulator.tokens.app },
    config: {
      tools: { exec: { mode: "full" } },
      commands: { ownerAllowFrom: [`slack:${OWNER}`] },
      messages: { groupChat: { mentionPatterns: ["\\bhey claw\\b"] } },
      channels: {
        slack: {
          apiRoot: emulator.apiUrl,
          channels: { [ROOM]: {}, [QUIET]: { ignoreOtherMentions: true, allowBots: true } },
        },
      },
    },
  });
}, 60_000);
afterAll(async () => {
  await gateway?.stop();
  await emulator.stop();
  expect(emulator.violations).toEqual([]);
});

const answers = (room: string) => emulator.screenText(OWNER, room).split(ANSWER).length - 1;
/** Says it, and then something that surely is answered: what came before has been judged by then. */
async function answered(room: string, text: string, options: { thread?: string } = {}): Promise<boolean> {
  const before = answers(room);
  await emulator.say(OWNER, room, text, options);
  await emulator.say(OWNER, room, "@openclaw are you there?");
  await emulator.waitUntil(() => (answers(room) > before ? true : undefined), WAIT_MS);
  const mark = `done-${Math.random().toString(36).slice(2, 8)}`;
  await emulator.say(OWNER, room, `@openclaw exec printf 'it is %s\\n' ${mark}`);
  await emulator.waitUntil(
    () => (emulator.screenText(OWNER, room).includes(`it is ${mark}`) ? true : undefined),
    WAIT_MS,
  );
  return answers(room) - before > 1;
}

describe("in a room", () => {
  it.each([
    ["nobody is addressed", "good morning", false],
    ["somebody else is", "@bram good morning", false],
    ["the bot is", "@openclaw good morning", true],
    ["a user group with the bot is", "@ops good morning", true],
    ["it is addressed by a pattern", "Hey Claw, good morning", true],
    ["a word only looks like the pattern", "hey clawdia", false],
  ])("%s: %j is answered: %s", async (_name, text, expected) => {
    expect(await answered(ROOM, text)).toBe(expected);
  });

  it("a command after the pattern runs", async () => {
    await emulator.say(OWNER, ROOM, "hey claw: exec printf 'by %s\\n' pattern");
    await emulator.waitForMessage((message) => JSON.stringify(message.blocks).includes("by pattern"), WAIT_MS);
  });

  it("ignoreOtherMentions leaves a thread to those who are mentioned in it", async () => {
    await emulator.say(OWNER, QUIET, "@openclaw hello");
    const root = await emulator.say(OWNER, QUIET, "the release");
    await emulator.say(OWNER, QUIET, "@openclaw exec true", { thread: root });
    await emulator.waitForMessage((message) => message.threadTs === root && message.user === "U0OPENCLAW", WAIT_MS);
    expect(await answered(QUIET, "@bram can you look?", { thread: root })).toBe(false);
    expect(await answered(QUIET, "and what now?", { thread: root })).toBe(true);
    expect(await answered(QUIET, "@bram and @openclaw, both of you", { thread: root })).toBe(true);
  });

  it("/activation is the owner's, and for this room", async () => {
    await emulator.say(SAM, ROOM, "@openclaw /activation always");
    await emulator.waitForMessage((message) => message.text.includes("You may not use /activation"), WAIT_MS);
    await emulator.say(OWNER, ROOM, "@openclaw /activation");
    await emulator.waitForMessage((message) => message.text.includes("follows the configuration"), WAIT_MS);
    await emulator.say(OWNER, ROOM, "@openclaw /activation mention");
    await emulator.waitForMessage((message) => message.text.includes("only when I am addressed"), WAIT_MS);
  });

  it("other bots are heard where one room allows them", async () => {
    const [there, here] = [answers(ROOM), answers(QUIET)];
    await emulator.sayAs("other-bot", ROOM, "<@U0OPENCLAW> status?");
    await emulator.sayAs("other-bot", QUIET, "<@U0OPENCLAW> status?");
    await emulator.waitUntil(() => (answers(QUIET) > here ? true : undefined), WAIT_MS);
    expect(answers(ROOM)).toBe(there);
    expect(await answered(ROOM, "good night")).toBe(false);
  });
});
