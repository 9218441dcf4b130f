/** Connections to Discord that look well and are not, and those that are lost again and again. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Channel, Inbound } from "../../../src/channels/channel.ts";
import { createDiscordChannel, type DiscordAccount } from "../../../src/channels/discord/adapter.ts";
import { Reconnects } from "../../../src/channels/pacing/reconnects.ts";
import { createRedactor } from "../../../src/channels/text/redact.ts";
import { inEnglish } from "../../../src/core/words/phrase.ts";
import { DiscordEmulator } from "../../emulators/discord/emulator.ts";
import { memoryLog, outbound, textCard } from "../sample-cards.ts";

const SILENT_MS = 150;
/** Older than what may still be on its way. */
const A_WHILE_MS = 11_000;
const ASKED = "GET /channels/{channel_id}";
const BACK_MS = 15_000;

let emulator: DiscordEmulator;
let channel: Channel;
let events: Inbound[];
let log: ReturnType<typeof memoryLog>;
let alice: string;
let guild: string;
let room: string;

async function connected(over: Partial<DiscordAccount> = {}): Promise<void> {
  channel = createDiscordChannel(
    { accountId: "default", token: emulator.token, apiRoot: `${emulator.url}/api`, silentMs: SILENT_MS, ...over },
    { clock: emulator.clock, log, redactor: createRedactor([emulator.token]), commands: [] },
  );
  await channel.start(async (event) => void events.push(event));
  await emulator.say(alice, room, "hello");
  await expect.poll(texts).toEqual(["hello"]);
}

const texts = () => events.flatMap((one) => (one.kind === "message" ? [one.text] : []));
const asked = () => emulator.journal.calls(ASKED).length;
const detail = () => inEnglish(channel.status().detail ?? "");
/** Three times looked, and each time everything known was told. */
async function looks(times = 3): Promise<void> {
  const before = asked();
  await expect.poll(asked, { timeout: BACK_MS }).toBeGreaterThanOrEqual(before + times);
}

beforeEach(async () => {
  emulator = new DiscordEmulator();
  await emulator.start();
  alice = emulator.addPerson("alice");
  guild = emulator.addGuild("Ops", [alice]);
  room = emulator.addChannel(guild, "deploys");
  events = [];
  log = memoryLog();
});

afterEach(async () => {
  await channel.stop();
  await emulator.stop();
  expect(emulator.violations).toEqual([]);
});

describe("row 44: a connection that delivers nothing", () => {
  it("an idle bot is left alone, whatever stands last: words, its own answer, or something that was deleted", async () => {
    await connected();
    const { identifies, resumes } = emulator.gateway;
    await looks();
    await channel.send(
      outbound(textCard("an answer"), { channel: "discord", accountId: "default", chatType: "channel", chatId: room }),
    );
    emulator.clock.advance(A_WHILE_MS);
    await looks();
    const gone = await emulator.say(alice, room, "a slip");
    await expect.poll(() => texts().length).toBe(2);
    const stored = emulator.world.channel(room).messages.find((one) => one.id === gone);
    if (stored) stored.deleted = true;
    emulator.clock.advance(A_WHILE_MS);
    await looks();
    expect([emulator.gateway.identifies, emulator.gateway.resumes]).toEqual([identifies, resumes]);
    expect(channel.status().state).toBe("connected");
  }, 40_000);

  it("asks about the three places heard last, and no others", async () => {
    await connected();
    const rooms = [room];
    for (let i = 0; i < 6; i++) {
      const one = emulator.addChannel(guild, `room-${i}`);
      rooms.push(one);
      await emulator.say(alice, one, `word ${i}`);
    }
    await expect.poll(() => texts().length).toBe(7);
    // Asked about these Discord would answer that it knows none of them.
    for (const one of rooms.slice(0, 4)) emulator.world.channels.delete(one);
    await looks(9);
    expect(JSON.stringify(log.lines)).not.toContain("can not be asked");
    for (const one of rooms.slice(4)) emulator.world.channels.delete(one);
    await expect.poll(() => JSON.stringify(log.lines), { timeout: BACK_MS }).toContain("can not be asked");
  }, 30_000);

  it("a deaf socket is left and its session resumed; what was said is heard once", async () => {
    await connected();
    const { identifies, resumes } = emulator.gateway;
    emulator.gateway.deafen("socket");
    await emulator.say(alice, room, "does anybody hear me?");
    await looks(1);
    // So young a message may still be on its way.
    expect(emulator.gateway.resumes).toBe(resumes);
    emulator.clock.advance(A_WHILE_MS);
    await expect.poll(texts, { timeout: BACK_MS }).toEqual(["hello", "does anybody hear me?"]);
    await expect.poll(() => emulator.gateway.resumes, { timeout: BACK_MS }).toBe(resumes + 1);
    await expect.poll(() => channel.status().state, { timeout: BACK_MS }).toBe("connected");
    await emulator.say(alice, room, "good");
    await expect.poll(texts, { timeout: BACK_MS }).toEqual(["hello", "does anybody hear me?", "good"]);
    expect(emulator.gateway.identifies).toBe(identifies);
    expect(JSON.stringify(log.lines)).toContain("looked open and delivered nothing");
  }, 60_000);

  it("a session that stays deaf after a resume is given up for a new one", async () => {
    await connected();
    const { identifies, resumes } = emulator.gateway;
    emulator.gateway.deafen("session");
    await emulator.say(alice, room, "first");
    emulator.clock.advance(A_WHILE_MS);
    await expect.poll(() => emulator.gateway.resumes, { timeout: BACK_MS }).toBe(resumes + 1);
    await expect.poll(texts, { timeout: BACK_MS }).toEqual(["hello", "first"]);
    await emulator.say(alice, room, "second");
    emulator.clock.advance(A_WHILE_MS);
    await expect.poll(() => emulator.gateway.identifies, { timeout: BACK_MS }).toBe(identifies + 1);
    await expect.poll(texts, { timeout: BACK_MS }).toEqual(["hello", "first", "second"]);
    await emulator.say(alice, room, "third");
    await expect.poll(texts, { timeout: BACK_MS }).toEqual(["hello", "first", "second", "third"]);
  }, 60_000);

  it("a place that can not be asked proves nothing", async () => {
    await connected();
    const { resumes } = emulator.gateway;
    emulator.fail(ASKED, { times: 3, status: 503 });
    await looks(4);
    expect(emulator.gateway.resumes).toBe(resumes);
  }, 30_000);
});

describe("row 44: a connection that is lost again and again", () => {
  it.each([
    [4000, "resumed each time"],
    [4007, "a new session each time"],
  ])(
    "closed with %i, %s: the next ones wait, the status says so, and it comes back",
    async (code) => {
      await connected({ reconnects: { windowMs: 3_600_000, free: 3, minMs: 60_000, maxMs: 60_000 } });
      const before = emulator.gateway.connections;
      emulator.gateway.hangsUpWith = code;
      emulator.drop();
      await expect.poll(detail, { timeout: 30_000 }).toMatch(/lost again and again; next attempt in 60 s/);
      expect(channel.status().state).toBe("connecting");
      expect(emulator.gateway.connections - before).toBeLessThanOrEqual(4);
      await channel.stop();
      emulator.gateway.hangsUpWith = undefined;
      await channel.start(async (event) => void events.push(event));
      await expect.poll(() => channel.status().state, { timeout: BACK_MS }).toBe("connected");
    },
    60_000,
  );

  it("a session that never stands is given up after a while, the status says so, and the next one is heard", async () => {
    emulator.gateway.withholdsReady = true;
    channel = createDiscordChannel(
      { accountId: "default", token: emulator.token, apiRoot: `${emulator.url}/api`, readyMs: 400 },
      { clock: emulator.clock, log, redactor: createRedactor([emulator.token]), commands: [] },
    );
    await channel.start(async (event) => void events.push(event));
    expect(channel.status().state).toBe("connecting");
    expect(detail()).toContain("not ready within 0.4 s");
    emulator.gateway.withholdsReady = false;
    await expect.poll(() => channel.status().state, { timeout: BACK_MS }).toBe("connected");
    await emulator.say(alice, room, "there you are");
    await expect.poll(texts).toEqual(["there you are"]);
    expect(emulator.gateway.connected()).toBe(1);
  }, 40_000);

  it("the wait grows to its cap, and an hour of peace makes up for everything", () => {
    let nowMs = 0;
    const limits = { windowMs: 3_600_000, free: 10, minMs: 5_000, maxMs: 240_000 };
    const reconnects = new Reconnects(() => nowMs, limits);
    const waits = Array.from({ length: 18 }, () => reconnects.lost().waitMs / 1_000);
    expect(waits).toEqual([...Array(10).fill(0), 5, 10, 20, 40, 80, 160, 240, 240]);
    nowMs += limits.windowMs;
    expect(reconnects.lost()).toEqual({ count: 1, waitMs: 0 });
  });

  it("2,483 reconnects in a row can not be: a day of losses makes fewer sessions than Discord allows", () => {
    let nowMs = 0;
    const reconnects = new Reconnects(() => nowMs);
    let sessions = 0;
    while (nowMs < 24 * 3_600_000) {
      sessions += 1;
      nowMs += 1_000 + reconnects.lost().waitMs;
    }
    expect(sessions).toBeLessThan(1_000);
  });
});
