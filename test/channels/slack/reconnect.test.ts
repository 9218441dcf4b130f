/**
 * What Socket Mode does to a connection over the weeks: asked to leave, told off, cut, frozen, refused. The process lives
 * through all of it, comes back by itself, runs nothing twice and always says where it stands.
 */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { inEnglish } from "../../../src/core/words/phrase.ts";
import { SlackEmulator } from "../../emulators/slack/slack-emulator.ts";
import { type Rig, rig, started } from "./support.ts";

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
