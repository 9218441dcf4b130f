/** What a chat does not take is told to somebody who can act on it, never to nobody. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import JSON5 from "json5";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { cliHome } from "../cli/run-cli.ts";
import { drawMessage } from "../emulators/slack/markup.ts";
import { SlackEmulator } from "../emulators/slack/slack-emulator.ts";
import type { SlackMessage } from "../emulators/slack/workspace.ts";
import { startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

const [OWNER, SECOND, GUEST, ROOM] = ["U0ALICENG", "U0BRAMWIT", "U0SAMROE1", "C0OPSROOM"];
const WAIT_MS = 15_000;

const emulator = new SlackEmulator();
let gateway: TestGateway;

beforeAll(() => emulator.start());
afterAll(() => emulator.stop());
beforeEach(async () => {
  emulator.reset();
  emulator.workspace.users.set(GUEST, { id: GUEST, name: "sam", realName: "Sam Roe", locale: "en-US", isBot: false });
  emulator.workspace.conversations.get(ROOM)?.members.add(GUEST);
  gateway = await startTestGateway({
    env: { SLACK_BOT_TOKEN: emulator.tokens.bot, SLACK_APP_TOKEN: emulator.tokens.app },
    config: {
      tools: { exec: { mode: "ask" } },
      commands: { ownerAllowFrom: [`slack:${OWNER}`] },
      channels: {
        slack: { apiRoot: emulator.apiUrl, channels: { [ROOM]: {} }, execApprovals: { approvers: [OWNER, SECOND] } },
      },
    },
  });
  await eventually(() => emulator.openSockets === 1, WAIT_MS);
}, 60_000);
afterEach(() => gateway?.stop());

const drawn = (message: SlackMessage) => drawMessage(message.text, message.blocks, emulator.names).text;
const screen = (chat: string = ROOM) => emulator.screenText(OWNER, chat);
const shows = (chat: string, ...words: string[]) =>
  eventually(() => words.every((word) => screen(chat).includes(word)), WAIT_MS).catch(() => {
    throw new Error(`Not all of ${words.join(", ")} in ${chat}:\n${screen(chat)}`);
  });

describe("manual-approve-hint-with-native-card, card-none-delivered", () => {
  it("a card that reached one approver of two: the room is told that it waits, and no words to type", async () => {
    emulator.fail("conversations.open", { error: "user_disabled" });
    await emulator.slash(GUEST, ROOM, "/exec", "echo seen by one");
    await shows(ROOM, "waits for an approver");
    const card = await emulator.waitForMessage(
      (message) => message.channel.startsWith("D") && emulator.buttons(message).length > 0,
      WAIT_MS,
    );
    await emulator.press(card.channel === "D0ALICENG" ? OWNER : SECOND, card.ts, emulator.buttons(card)[0] ?? "");
    await shows(ROOM, "was allowed by", "seen by one");
    expect(screen()).not.toContain("/approve");
  });

  it("one that reached nobody: the room gets the words that decide, the operator the card, and the answer counts", async () => {
    emulator.fail("conversations.open", { error: "user_disabled", times: 20 });
    await emulator.slash(GUEST, ROOM, "/exec", "echo seen by nobody");
    await shows(
      ROOM,
      "could not be shown to an approver",
      "user_disabled",
      "/approve ",
      " allow-once|allow-always|deny",
    );
    const operator = await gateway.person("main");
    const card = await operator.request("echo seen by nobody");
    const [, slug = ""] = /\/approve (\w{8}) /.exec(screen()) ?? [];
    expect(card.slug).toBe(slug);

    await emulator.slash(GUEST, ROOM, "/approve", `${slug} allow-once`);
    await emulator.waitForMessage(
      (message) => message.onlyFor === GUEST && drawn(message).includes("not an approver"),
      WAIT_MS,
    );
    await emulator.slash(OWNER, ROOM, "/approve", `${slug} allow-once`);
    await shows(ROOM, "exit code 0");
    await operator.see("approval", (one) => one.approvalId === card.approvalId && one.state === "allowed");
    expect(screen().split("could not be shown").length).toBe(2);
  });
});

describe("the end of a command", () => {
  it("whose room was archived meanwhile comes to the owner, with the room named", async () => {
    await emulator.slash(GUEST, ROOM, "/exec", "echo nowhere to go");
    const card = await emulator.waitForMessage(
      (message) => message.channel === "D0ALICENG" && emulator.buttons(message).length > 0,
      WAIT_MS,
    );
    const room = emulator.workspace.conversations.get(ROOM);
    if (room) room.archived = true;
    await emulator.press(OWNER, card.ts, "Allow once");
    await shows("D0ALICENG", "exit code 0", `could not be delivered to slack ${ROOM}: the channel is archived`);
    expect(screen("D0ALICENG").split("could not be delivered").length).toBe(2);
  });

  it("row 11: whose room was switched off meanwhile leaks nothing into it and comes to the owner", async () => {
    await emulator.slash(GUEST, ROOM, "/exec", "echo no''where to go");
    const card = await emulator.waitForMessage(
      (message) => message.channel === "D0ALICENG" && emulator.buttons(message).length > 0,
      WAIT_MS,
    );
    const path = join(gateway.stateDir, "openclaw.json");
    const config = JSON5.parse(await readFile(path, "utf8"));
    config.channels.slack.channels[ROOM] = { enabled: false };
    await writeFile(path, JSON5.stringify(config), { mode: 0o600 });
    await gateway.restart();
    await eventually(() => emulator.openSockets === 1, WAIT_MS);
    const inRoom = () => emulator.workspace.messages.filter((one) => one.channel === ROOM && !one.onlyFor).length;
    const before = inRoom();
    await emulator.press(OWNER, card.ts, "Allow once");
    await shows("D0ALICENG", "exit code 0", `could not be delivered to slack ${ROOM}: this room is switched off`);
    expect(inRoom()).toBe(before);
    expect(screen(ROOM)).not.toContain("\nnowhere to go");
  });

  it("that not even the owner can be told is at the operator's", async () => {
    await emulator.slash(GUEST, ROOM, "/exec", "echo last resort");
    const card = await emulator.waitForMessage(
      (message) => message.channel === "D0ALICENG" && emulator.buttons(message).length > 0,
      WAIT_MS,
    );
    emulator.fail("chat.postMessage", { error: "is_archived", times: 50 });
    await emulator.press(OWNER, card.ts, "Allow once");
    const operator = await gateway.person("main");
    const end = await operator.see("run", (one) => one.command === "echo last resort");
    expect(end.notes.join()).toContain(`could not be delivered to slack ${ROOM}`);
  });
});

describe("what could not be delivered", () => {
  const cli = (...args: string[]) =>
    cliHome().runWith(
      { env: { OPENCLAW_GATEWAY_URL: gateway.url, OPENCLAW_GATEWAY_TOKEN: TOKEN } },
      "deliveries",
      ...args,
    );
  const listed = async () => JSON.parse((await cli("list", "--json")).out) as { id: string; about: string }[];
  const archive = (archived: boolean) => {
    const room = emulator.workspace.conversations.get(ROOM);
    if (room) room.archived = archived;
  };
  const ofRoom = (mark: string) =>
    emulator.workspace.messages.filter((one) => one.channel === ROOM && !one.deleted && drawn(one).includes(mark));

  async function lostEnd(mark: string): Promise<void> {
    await emulator.slash(GUEST, ROOM, "/exec", `echo ${mark}`);
    const card = await emulator.waitForMessage(
      (message) =>
        message.channel === "D0ALICENG" && emulator.buttons(message).length > 0 && drawn(message).includes(mark),
      WAIT_MS,
    );
    archive(true);
    await emulator.press(OWNER, card.ts, "Allow once");
    await eventually(async () => (await listed()).some((one) => one.about === `echo ${mark}`), WAIT_MS);
  }

  it("is listed with its reason, comes once when it is retried, and is gone from the list then", async () => {
    expect((await cli()).out).toBe("Everything was delivered.");
    await lostEnd("retried later");
    const shown = (await cli()).out;
    expect(shown).toMatch(/^[0-9a-f]{8} {2}slack C0OPSROOM: echo retried later\n {2}the channel is archived/m);
    const lost = (await listed()).find((one) => one.about === "echo retried later");
    archive(false);
    const retried = await cli("retry", lost?.id.slice(0, 5) ?? "");
    expect(retried).toMatchObject({ code: 0, err: "" });
    expect(retried.out).toContain("Trying again: ");
    await eventually(() => ofRoom("retried later").some((one) => drawn(one).includes("exit code 0")), WAIT_MS);
    const again = await cli("retry", lost?.id ?? "");
    expect(again.code).toBe(1);
    expect(again.err).toContain(`has the id ${lost?.id}`);
    await cli("retry", "all");
    await eventually(async () => (await listed()).length === 0, WAIT_MS);
    expect(ofRoom("retried later").filter((one) => drawn(one).includes("exit code 0"))).toHaveLength(1);
  });

  it("is dropped for good by an owner in a chat; nobody else may", async () => {
    await lostEnd("dropped here");
    archive(false);
    await emulator.slash(GUEST, ROOM, "/openclaw", "deliveries drop all");
    await emulator.waitForMessage(
      (one) => one.onlyFor === GUEST && /owner|may not|not allowed/i.test(drawn(one)),
      WAIT_MS,
    );
    expect((await listed()).length).toBeGreaterThan(0);
    await emulator.slash(OWNER, ROOM, "/openclaw", "deliveries");
    await emulator.waitForMessage((one) => one.onlyFor === OWNER && drawn(one).includes("echo dropped here"), WAIT_MS);
    await emulator.slash(OWNER, ROOM, "/openclaw", "status");
    await emulator.waitForMessage((one) => one.onlyFor === OWNER && drawn(one).includes("/deliveries shows"), WAIT_MS);
    await emulator.slash(OWNER, ROOM, "/openclaw", "deliveries drop all");
    await emulator.waitForMessage((one) => one.onlyFor === OWNER && /dropped\./.test(drawn(one)), WAIT_MS);
    expect(await listed()).toEqual([]);
    expect(ofRoom("dropped here").filter((one) => drawn(one).includes("exit code 0"))).toEqual([]);
  });

  it("an approval's card comes as it is now, never with buttons for what has been decided", async () => {
    emulator.fail("conversations.open", { error: "user_disabled" });
    await emulator.slash(GUEST, ROOM, "/exec", "echo decided meanwhile");
    const card = await emulator.waitForMessage(
      (message) => message.channel.startsWith("D") && emulator.buttons(message).length > 0,
      WAIT_MS,
    );
    const [seer, other] = card.channel === "D0ALICENG" ? [OWNER, SECOND] : [SECOND, OWNER];
    await eventually(async () => (await listed()).length === 1, WAIT_MS);
    await emulator.press(seer, card.ts, emulator.buttons(card)[0] ?? "");
    await shows(ROOM, "was allowed by");
    expect((await cli("retry", "all")).code).toBe(0);
    const late = await emulator.waitForMessage(
      (one) => one.channel === emulator.workspace.openIm(other).id && drawn(one).includes("echo decided meanwhile"),
      WAIT_MS,
    );
    expect(emulator.buttons(late)).toEqual([]);
    expect(drawn(late)).toMatch(/allowed/i);
  });
});
