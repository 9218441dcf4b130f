/**
 * What Socket Mode does to a connection over the weeks: asked to leave, told off, cut, frozen, refused. The process lives
 * through all of it, comes back by itself, runs nothing twice and always says where it stands.
 */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { inEnglish } from "../../../src/core/words/phrase.ts";
import { SlackEmulator } from "../../emulators/slack/slack-emulator.ts";
import { ops, outbound, type Rig, rig, started, text } from "./support.ts";

const emulator = new SlackEmulator({ delivery: { ackMs: 400, retryMs: [20, 50, 100] } });
const BACK_MS = 10_000;
let it: Rig;
let rejections: unknown[];
const note = (reason: unknown): void => void rejections.push(reason);

beforeAll(() => emulator.start());
afterAll(() => emulator.stop());
beforeEach(async () => {
  rejections = [];
  process.on("unhandledRejection", note);
  emulator.reset();
  it = await started(rig(emulator));
});
afterEach(async () => {
  await it.channel.stop();
  await emulator.waitUntil(() => (emulator.openSockets === 0 ? true : undefined));
  process.off("unhandledRejection", note);
  expect(rejections).toEqual([]);
  expect(it.log.join("\n")).not.toMatch(/xox[bp]-\w|xapp-\w/);
});

const opens = (): number => emulator.journal.calls("apps.connections.open").length;
const status = () => it.channel.status();

async function isBack(): Promise<void> {
  await expect.poll(() => status().state, { timeout: BACK_MS }).toBe("connected");
  await emulator.say("U0ALICENG", "D0ALICENG", "still there?");
  await expect.poll(() => it.events.length, { timeout: BACK_MS }).toBe(1);
  expect(emulator.openSockets).toBe(1);
}

describe("Slack ends the connection", () => {
  test.each(["warning", "refresh_requested"])(
    "disconnect (%s): a new one at once, without complaint",
    async (reason) => {
      const before = opens();
      emulator.disconnect(reason);
      await expect.poll(() => opens(), { timeout: BACK_MS }).toBe(before + 1);
      await isBack();
      expect(it.log.join("\n")).not.toContain("not reachable");
    },
  );

  test("an app whose Socket Mode was switched off says so, and comes back when it is on again (link_disabled)", async () => {
    emulator.refuseSockets("link_disabled", 3);
    emulator.disconnect("link_disabled");
    await expect
      .poll(() => inEnglish(status().detail ?? ""), { timeout: BACK_MS })
      .toContain("Socket Mode is switched off");
    expect(status().state).toBe("connecting");
    await isBack();
    expect(it.log.join("\n")).toContain("Socket Mode is switched off");
  });

  test("too_many_websockets: the reason is told, attempts back off, and it comes back", async () => {
    const before = opens();
    emulator.refuseSockets("too_many_websockets", 3);
    emulator.drop();
    await expect
      .poll(() => inEnglish(status().detail ?? ""), { timeout: BACK_MS })
      .toContain("more connections open than Slack");
    await isBack();
    expect(opens() - before).toBe(4);
  });

  test("one whose other end never closes is cut, instead of half a minute of silence", async () => {
    emulator.delivery.freeze();
    emulator.disconnect("refresh_requested");
    await expect.poll(() => emulator.openSockets, { timeout: BACK_MS }).toBe(2);
    await expect.poll(() => status().state, { timeout: BACK_MS }).toBe("connected");
    emulator.drop();
    await isBack();
  });

  test("a frame of an unknown shape is left out; the process and the connection go on", async () => {
    for (const frame of ['{"type":"events_api","envelope_id":"e1"}', "null", "[]", "{", '{"type":"news"}', "\u0000"]) {
      emulator.delivery.sendFrame(frame);
    }
    await isBack();
    expect(it.log.join("\n")).toContain("can not be read");
  });
});

describe("apps.connections.open fails", () => {
  test("429: the next attempt waits as long as Slack said", async () => {
    const before = opens();
    emulator.fail("apps.connections.open", { retryAfterS: 1 });
    const at = performance.now();
    emulator.drop();
    await expect.poll(() => inEnglish(status().detail ?? ""), { timeout: BACK_MS }).toContain("next attempt in 1 s");
    await isBack();
    expect(performance.now() - at).toBeGreaterThan(950);
    expect(opens() - before).toBe(2);
  });

  test.each(["invalid_auth", "not_allowed_token_type", "account_inactive"])(
    "%s: given up, in the status and in the log, without a loop",
    async (error) => {
      const before = opens();
      emulator.fail("apps.connections.open", { times: 5, error });
      emulator.drop();
      await expect.poll(() => status().state, { timeout: BACK_MS }).toBe("failed");
      expect(inEnglish(status().detail ?? "")).toContain(error);
      expect(it.log.join("\n")).toContain("given up until a restart");
      expect(opens() - before).toBe(1);
    },
  );

  test.each([
    ["Slack's own fault", { error: "internal_error" }],
    ["a proxy's page", { status: 502 }],
    ["a cut", { cut: true }],
    ["an answer that never comes", { loseReply: true }],
  ])("%s: tried again until it works", async (_name, fault) => {
    emulator.fail("apps.connections.open", { times: 4, ...fault });
    emulator.drop();
    await expect.poll(() => inEnglish(status().detail ?? ""), { timeout: BACK_MS }).toContain("next attempt");
    await isBack();
  });
});

describe("start", () => {
  test.each([
    ["a 429 at auth.test", "auth.test", { retryAfterS: 1 }],
    ["Slack's own fault at auth.test", "auth.test", { error: "internal_error", times: 2 }],
    ["a 429 at apps.connections.open", "apps.connections.open", { retryAfterS: 1 }],
  ])("%s is no reason to give up", async (_name, method, fault) => {
    await it.channel.stop();
    emulator.fail(method, fault);
    await started(it);
    expect(status().state).toBe("connecting");
    expect(inEnglish(status().detail ?? "")).toMatch(/slow down|internal_error|rate/i);
    await isBack();
  });
});

describe("around an acknowledgement", () => {
  test("the socket drops between store and acknowledgement: the event comes again, with the same id", async () => {
    let store: (() => void) | undefined;
    it.ingress = () =>
      new Promise((resolve) => {
        store = resolve;
      });
    void emulator.say("U0ALICENG", "D0ALICENG", "exec ls");
    await expect.poll(() => store, { timeout: BACK_MS }).toBeDefined();
    emulator.drop();
    await expect.poll(() => emulator.openSockets, { timeout: BACK_MS }).toBe(1);
    it.ingress = () => Promise.resolve();
    store?.();
    await expect.poll(() => it.events.length, { timeout: BACK_MS }).toBe(2);
    expect(new Set(it.events.map((event) => event.id)).size).toBe(1);
  });

  test("an acknowledgement that is lost brings the same envelope again, not a second message", async () => {
    emulator.noAck(2);
    await emulator.say("U0ALICENG", "D0ALICENG", "exec ls");
    await expect.poll(() => it.events.length, { timeout: BACK_MS }).toBe(3);
    expect(new Set(it.events.map((event) => event.id)).size).toBe(1);
    expect(emulator.violations).toEqual([]);
  });
});

describe("row 44: a socket that delivers nothing (slack-socket-multi-conn)", () => {
  const SILENT_MS = 150;
  const A_WHILE_MS = 11_000;
  const delivery = { ...emulator.delivery.options };
  const asked = (): number => emulator.journal.calls("conversations.history").length;
  const texts = (): string[] => it.events.flatMap((event) => (event.kind === "message" ? [event.text] : []));

  beforeEach(async () => {
    await it.channel.stop();
    await emulator.waitUntil(() => (emulator.openSockets === 0 ? true : undefined));
    // What is not acknowledged comes again so late that nobody waits for it.
    emulator.delivery.options = { ackMs: 400, retryMs: [60_000] };
    it = await started(rig(emulator, { silentMs: SILENT_MS }));
    await emulator.say("U0ALICENG", "D0ALICENG", "hello");
    await expect.poll(texts).toEqual(["hello"]);
  });
  afterEach(() => {
    emulator.delivery.options = delivery;
  });

  test("an idle bot is left alone, also when its own answer stands last", async () => {
    await it.channel.send(
      outbound(text({ text: "an answer" }), { route: { ...ops, chatType: "dm", chatId: "D0ALICENG" } }),
    );
    emulator.clock.advance(A_WHILE_MS);
    const [before, connections] = [asked(), opens()];
    await expect.poll(asked, { timeout: BACK_MS }).toBeGreaterThanOrEqual(before + 3);
    expect(opens()).toBe(connections);
    expect(status().state).toBe("connected");
  });

  test("a deaf one is replaced, and what was said to it is heard", async () => {
    const connections = opens();
    emulator.delivery.deafen();
    await emulator.say("U0ALICENG", "D0ALICENG", "does anybody hear me?");
    const before = asked();
    await expect.poll(asked, { timeout: BACK_MS }).toBeGreaterThan(before);
    // So young a message may still be on its way.
    expect(opens()).toBe(connections);
    emulator.clock.advance(A_WHILE_MS);
    await expect.poll(texts, { timeout: BACK_MS }).toEqual(["hello", "does anybody hear me?"]);
    expect(opens()).toBe(connections + 1);
    await expect.poll(() => status().state, { timeout: BACK_MS }).toBe("connected");
    await emulator.say("U0ALICENG", "D0ALICENG", "good");
    await expect.poll(texts, { timeout: BACK_MS }).toEqual(["hello", "does anybody hear me?", "good"]);
    expect(emulator.openSockets).toBe(1);
    expect(it.log.join("\n")).toContain("looked open and delivered nothing");
  });

  test("what Slack sends again as well has the same id", async () => {
    emulator.delivery.options = { ackMs: 200, retryMs: [1_500, 60_000] };
    emulator.delivery.deafen();
    await emulator.say("U0ALICENG", "D0ALICENG", "twice?");
    emulator.clock.advance(A_WHILE_MS);
    await expect.poll(() => texts().length, { timeout: BACK_MS }).toBe(3);
    expect(new Set(it.events.map((event) => event.id)).size).toBe(2);
  });

  test("without the right to read the channel nothing is guessed", async () => {
    emulator.fail("conversations.history", { times: 3, error: "missing_scope" });
    const [before, connections] = [asked(), opens()];
    await expect.poll(asked, { timeout: BACK_MS }).toBeGreaterThanOrEqual(before + 3);
    expect(opens()).toBe(connections);
    expect(it.log.join("\n")).toContain("can not be asked");
  });

  test("one that is lost again and again is not opened at once for ever, and the status says so", async () => {
    await it.channel.stop();
    await emulator.waitUntil(() => (emulator.openSockets === 0 ? true : undefined));
    const limits = { windowMs: 3_600_000, free: 3, minMs: 60_000, maxMs: 60_000 };
    it = await started(rig(emulator, { reconnects: limits }));
    const connections = opens();
    for (let round = 1; round <= 3; round++) {
      emulator.drop();
      await expect.poll(opens, { timeout: BACK_MS }).toBe(connections + round);
      await expect.poll(() => status().state, { timeout: BACK_MS }).toBe("connected");
    }
    emulator.drop();
    await expect
      .poll(() => inEnglish(status().detail ?? ""), { timeout: BACK_MS })
      .toBe("the connection is lost again and again; next attempt in 60 s");
    expect(opens() - connections).toBe(3);
  });
});
