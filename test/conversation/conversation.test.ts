/**
 * One conversation on every chat platform: the started gateway, the genuine client libraries, and emulators that refuse
 * what the platforms refuse. The web chat holds the same conversation in test/gateway/conversation.ts.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";
import { openDiscord, openSlack, openTelegram, type Place, type ShownMessage } from "./place.ts";

const WAIT_MS = 15_000;

describe.each([
  ["slack", openSlack],
  ["telegram", openTelegram],
  ["discord", openDiscord],
] as const)("a conversation on %s", (name, open) => {
  let place: Place;
  let gateway: TestGateway;
  let turn = 0;
  const fresh = (words: string) => `${words} ${name}${++turn}`;

  beforeAll(async () => {
    place = await open();
    gateway = await startTestGateway({
      env: place.env,
      config: { tools: { exec: { mode: "ask" } }, ...place.config },
    });
    await eventually(async () => {
      const person = await gateway.person("status");
      const { channels } = await person.call("channels.status", {});
      await person.leave();
      return channels.some((channel) => channel.channel === name && channel.state === "connected");
    }, WAIT_MS);
  }, 40_000);
  afterAll(async () => {
    await gateway?.stop();
    await place?.stop();
  });
  afterEach(() => {
    expect(place.violations()).toEqual([]);
  });

  /** The bot's message in this chat that says all of these, as soon as it does. */
  const shows = (
    chat: string,
    words: readonly (string | RegExp)[],
    more: (message: ShownMessage) => boolean = () => true,
    user = place.owner,
  ): Promise<ShownMessage> =>
    eventually(
      () =>
        place
          .posted(user, chat)
          .find(
            (message) =>
              words.every((word) =>
                typeof word === "string" ? message.text.includes(word) : word.test(message.text),
              ) && more(message),
          ),
      WAIT_MS,
    ).catch(() => {
      throw new Error(`Nothing shows ${words.join(" and ")}. The chat:\n${place.screen(user, chat)}`);
    });
  const request = (chat: string, command: string) => shows(chat, [command], (message) => message.buttons.length >= 2);
  const workspaceFile = (file: string) =>
    readFile(join(gateway.stateDir, "workspace", file), "utf8").catch(() => undefined);

  it("asks with a card, runs after Allow once, and brings the output back to the room", async () => {
    const mark = fresh("hi-from");
    await place.command(place.guest, place.room, `/exec echo ${mark}`);
    const card = await request(place.room, `echo ${mark}`);
    expect(card.buttons.length).toBeGreaterThanOrEqual(3);
    await place.press(place.owner, card, card.buttons[0] ?? "");
    await shows(place.room, [`echo ${mark}`, /exit|done|finished|completed/i], (message) => message.id !== card.id);
    const decided = await shows(
      place.room,
      [`echo ${mark}`],
      (message) => message.id === card.id && message.buttons.length === 0,
    );
    expect(decided.text).toMatch(/allow|toegestaan/i);
  });

  it("runs nothing after Deny", async () => {
    const file = fresh("denied").replace(" ", "-");
    await place.command(place.guest, place.room, `/exec touch ${file}`);
    const card = await request(place.room, file);
    // The labels are in the language of whoever asked; their order is the same everywhere.
    await place.press(place.owner, card, card.buttons[2] ?? "");
    const decided = await shows(
      place.room,
      [file],
      (message) => message.id === card.id && message.buttons.length === 0,
    );
    expect(decided.text).toMatch(/denied|geweigerd/i);
    expect(await workspaceFile(file)).toBeUndefined();
  });

  it("agent-approves-itself: a press by somebody who is no approver changes nothing and tells them alone", async () => {
    const file = fresh("foreign").replace(" ", "-");
    await place.command(place.guest, place.room, `/exec touch ${file}`);
    const card = await request(place.room, file);
    await place.press(place.guest, card, card.buttons[0] ?? "");
    const seen = () =>
      [place.room, place.direct(place.guest)].map((chat) => place.screen(place.guest, chat)).join("\n");
    await eventually(() => /not an approver/.test(seen()), WAIT_MS).catch(() => {
      throw new Error(seen());
    });
    expect(place.screen(place.owner, place.room)).not.toMatch(/not an approver/);
    expect(place.posted(place.owner, place.room).find((message) => message.id === card.id)?.buttons).toEqual(
      card.buttons,
    );
    expect(await workspaceFile(file)).toBeUndefined();
  });

  it("same-decision-twice-idempotent: a double press starts one run", async () => {
    const file = fresh("double").replace(" ", "-");
    await place.command(place.guest, place.room, `/exec echo ran >> ${file}`);
    const card = await request(place.room, file);
    const label = card.buttons[0] ?? "";
    await Promise.all([place.press(place.owner, card, label), place.press(place.owner, card, label)]);
    await shows(place.room, [file], (message) => message.id === card.id && message.buttons.length === 0);
    await eventually(async () => (await workspaceFile(file)) !== undefined, WAIT_MS);
    expect(await workspaceFile(file)).toBe("ran\n");
  });

  it("an event that is delivered twice runs its command once", async () => {
    const file = fresh("twice").replace(" ", "-");
    await place.say(place.guest, place.room, `@bot exec echo ran >> ${file}`);
    const card = await request(place.room, file);
    await place.duplicateLast();
    await place.press(place.owner, card, card.buttons[0] ?? "");
    await shows(place.room, [file], (message) => message.id === card.id && message.buttons.length === 0);
    await eventually(async () => (await workspaceFile(file)) !== undefined, WAIT_MS);
    expect(
      place.posted(place.owner, place.room).filter((message) => message.text.includes(file) && message.id !== card.id)
        .length,
    ).toBeLessThanOrEqual(1);
    expect(await workspaceFile(file)).toBe("ran\n");
  });

  it("shows a running command with Stop, and its end by itself", async () => {
    const mark = fresh("slow");
    await place.command(place.guest, place.room, `/exec sleep 30; echo ${mark}`);
    const card = await request(place.room, mark);
    await place.press(place.owner, card, card.buttons[0] ?? "");
    const running = await shows(place.room, [mark], (message) => message.buttons.some((label) => /stop/i.test(label)));
    await place.press(place.guest, running, running.buttons.find((label) => /stop/i.test(label)) ?? "");
    await shows(place.room, [mark, /stopped|killed/i], (message) => message.id === running.id);
  });

  it("gives the child who asked and where, and nothing else", async () => {
    const file = fresh("context").replace(" ", "-");
    await place.command(place.guest, place.room, `/exec printenv OPENCLAW_CHANNEL_CONTEXT OPENCLAW_SHELL > ${file}`);
    const card = await request(place.room, file);
    await place.press(place.owner, card, card.buttons[0] ?? "");
    await eventually(async () => (await workspaceFile(file))?.includes("exec"), WAIT_MS);
    const [context = "", shell] = (await workspaceFile(file))?.split("\n") ?? [];
    expect(JSON.parse(context)).toEqual({ sender: { id: place.guest }, chat: { id: place.room } });
    expect(shell).toBe("exec");
  });

  it("card-code-fence-breakout: nothing in a command or its output pings anybody", async () => {
    const mark = fresh("ping");
    const command = `echo '<!channel> @everyone <@${place.owner}> \`\`\` ${mark}'`;
    await place.command(place.guest, place.room, `/exec ${command}`);
    const card = await request(place.room, mark);
    await place.press(place.owner, card, card.buttons[0] ?? "");
    await shows(place.room, [mark, /exit|done|finished|completed/i], (message) => message.id !== card.id);
  });

  it("keeps what waits over a restart, and its buttons still work", async () => {
    const file = fresh("restart").replace(" ", "-");
    await place.command(place.guest, place.room, `/exec echo ran >> ${file}`);
    const card = await request(place.room, file);
    await gateway.restart();
    const after = await shows(
      place.room,
      [file, /restarted/i],
      (message) => message.id === card.id && message.buttons.length > 0,
    );
    await place.press(place.owner, after, after.buttons[0] ?? "");
    await eventually(async () => (await workspaceFile(file)) !== undefined, WAIT_MS);
    expect(await workspaceFile(file)).toBe("ran\n");
  });
});
