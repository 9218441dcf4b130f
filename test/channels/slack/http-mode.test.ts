import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { inEnglish } from "../../../src/core/words/phrase.ts";
import { signatureHeaders } from "../../emulators/slack/delivery.ts";
import { SlackEmulator } from "../../emulators/slack/slack-emulator.ts";
import { alice, approval, outbound, type Rig, rig, started, text } from "./support.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const emulator = new SlackEmulator({ delivery: { ackMs: 2800, retryMs: [20, 50, 100] } });
let made: Rig;
let server: Server;
let url: string;

beforeAll(() => emulator.start());
afterAll(() => emulator.stop());
beforeEach(async () => {
  emulator.reset();
  made = await started(rig(emulator, { mode: { kind: "http", signingSecret: SECRET } }));
  server = createServer(made.channel.requestListener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events`;
  emulator.delivery.target = { url, signingSecret: SECRET };
});
afterEach(async () => {
  await made.channel.stop();
  await new Promise((resolve) => server.close(resolve));
  emulator.delivery.target = undefined;
});

describe("HTTP mode", () => {
  test("events, commands, presses and dialogs arrive as in Socket Mode", async () => {
    await emulator.say("U0BRAMWIT", "C0GENERAL", "@openclaw exec ls");
    await emulator.slash("U0ALICENG", "C0OPSROOM", "/exec", "make");
    const sent = await made.channel.send(outbound(approval()));
    if (sent.kind !== "sent") throw new Error(sent.kind);
    await emulator.press("U0ALICENG", sent.ref.messageId, "Deny with reason…");
    await emulator.waitUntil(() => emulator.modalOf("U0ALICENG"));
    await emulator.submitModal("U0ALICENG", { "oc:reason": "no" });
    await expect.poll(() => new Set(made.events.map((event) => event.id)).size).toBe(3);
    expect(made.events.map((event) => event.kind)).toEqual(["message", "message", "command", "press"]);
    await made.channel.send(outbound(text(), { onlyFor: alice }));
    expect(emulator.violations).toEqual([]);
  });

  test("an event that could not be stored is answered with an error and comes again", async () => {
    let tries = 0;
    made.ingress = () => (++tries === 1 ? Promise.reject(new Error("store is down")) : Promise.resolve());
    await emulator.say("U0ALICENG", "D0ALICENG", "exec ls");
    await expect.poll(() => made.events).toHaveLength(1);
    expect(tries).toBe(2);
  });

  const now = (): number => Math.floor(emulator.clock.now() / 1000);
  const body = JSON.stringify({ type: "url_verification", challenge: "c" });
  const post = (headers: Record<string, string>, sent = body): Promise<Response> =>
    fetch(url, { method: "POST", body: sent, headers: { "content-type": "application/json", ...headers } });

  test.each([
    ["good", () => signatureHeaders(body, SECRET, now()), 200],
    ["299 s old", () => signatureHeaders(body, SECRET, now() - 299), 200],
    ["stale", () => signatureHeaders(body, SECRET, now() - 302), 401],
    ["from the future", () => signatureHeaders(body, SECRET, now() + 302), 401],
    ["of another secret", () => signatureHeaders(body, "other", now()), 401],
    ["over another body", () => signatureHeaders(`${body} `, SECRET, now()), 401],
    ["missing", () => ({}), 401],
    ["without a number", () => ({ ...signatureHeaders(body, SECRET, now()), "x-slack-request-timestamp": "NaN" }), 401],
    ["empty", () => ({ ...signatureHeaders(body, SECRET, now()), "x-slack-signature": "" }), 401],
  ])("a signature that is %s", async (_name, headers, status) => {
    const response = await post(headers());
    expect(response.status).toBe(status);
    if (status === 200) expect(await response.json()).toEqual({ challenge: "c" });
    expect(made.events).toEqual([]);
  });

  test("another path or method is not Slack's", async () => {
    expect((await fetch(url.replace("events", "other"), { method: "POST" })).status).toBe(404);
    expect((await fetch(url)).status).toBe(405);
  });

  test("a stopped channel answers 503, so that Slack tries again", async () => {
    await made.channel.stop();
    expect((await post(signatureHeaders(body, SECRET, now()))).status).toBe(503);
  });

  test("it can listen on a port of its own", async () => {
    const own = await started(
      rig(emulator, {
        mode: { kind: "http", signingSecret: SECRET, path: "/hook", listen: { host: "127.0.0.1", port: 0 } },
      }),
    );
    const port = /port (\d+)/.exec(inEnglish(own.channel.status().detail ?? ""))?.[1];
    emulator.delivery.target = { url: `http://127.0.0.1:${port}/hook`, signingSecret: SECRET };
    expect((await emulator.slash("U0ALICENG", "C0OPSROOM", "/exec", "ls")).kind).toBe("ack");
    await expect.poll(() => own.events).toHaveLength(1);
    await own.channel.stop();
  });
});
