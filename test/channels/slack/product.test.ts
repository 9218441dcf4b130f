/** The product in HTTP mode, as Slack and everybody else on the network reach its request URL. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { signatureHeaders } from "../../emulators/slack/delivery.ts";
import { SlackEmulator } from "../../emulators/slack/slack-emulator.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway.ts";
import { eventually } from "../../support/state.ts";

const SECRET = "9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4a";
const OWNER = "U0ALICENG";
const ROOM = "C0OPSROOM";
const MAX_BODY = 65_536;
const WAIT_MS = 15_000;

const emulator = new SlackEmulator({ delivery: { ackMs: 2500, retryMs: [20, 50, 100] } });
let gateway: TestGateway;
let url: string;

beforeAll(async () => {
  await emulator.start();
  gateway = await startTestGateway({
    env: { SLACK_BOT_TOKEN: emulator.tokens.bot, SLACK_SIGNING_SECRET: SECRET },
    config: {
      tools: { exec: { mode: "full" } },
      gateway: { maxBodyBytes: MAX_BODY },
      commands: { ownerAllowFrom: [`slack:${OWNER}`] },
      channels: {
        slack: { mode: "http", apiRoot: emulator.apiUrl, webhookPath: "/hooks/slack", channels: { [ROOM]: {} } },
      },
    },
  });
  url = `${gateway.url}/hooks/slack`;
  emulator.delivery.target = { url, signingSecret: SECRET };
}, 60_000);
afterAll(async () => {
  await gateway?.stop();
  await emulator.stop();
});
afterEach(() => {
  expect(emulator.violations).toEqual([]);
});

const now = () => Math.floor(Date.now() / 1000);
const JSON_TYPE = { "content-type": "application/json" };
const FORM_TYPE = { "content-type": "application/x-www-form-urlencoded" };
const post = (body: string, headers: Record<string, string>) => fetch(url, { method: "POST", body, headers });
const signed = (body: string, more: Record<string, string> = JSON_TYPE) =>
  post(body, { ...signatureHeaders(body, SECRET, now()), ...more });

/** How often the room shows the end of this command. */
const ends = (mark: string) =>
  emulator
    .screenText(OWNER, ROOM)
    .split("\n")
    .filter((line) => line.includes(`said ${mark}`)).length;
const ran = (mark: string) =>
  eventually(() => ends(mark) > 0, WAIT_MS).catch(() => {
    throw new Error(`${mark} did not run:\n${emulator.screenText(OWNER, ROOM)}`);
  });
const command = (mark: string) => `printf 'said %s\\n' ${mark}`;

function slash(mark: string, more: object = {}): string {
  return new URLSearchParams({
    command: "/exec",
    text: command(mark),
    user_id: OWNER,
    user_name: "alice",
    channel_id: ROOM,
    team_id: "T0ACMECORP",
    trigger_id: `T.${mark}`,
    ...more,
  }).toString();
}

describe("the request URL of the product in HTTP mode", () => {
  it("says in the status where Slack has to post", async () => {
    const person = await gateway.person("status");
    const { channels } = await person.call("channels.status", {});
    const slack = channels.find((channel) => channel.channel === "slack");
    expect(slack).toMatchObject({ state: "connected", detail: expect.stringContaining("listening on /hooks/slack") });
  });

  it("answers Slack's check of the URL, and the check of its certificate", async () => {
    const checked = await signed(JSON.stringify({ type: "url_verification", challenge: "3eZbrw1aB" }));
    expect([checked.status, await checked.json()]).toEqual([200, { challenge: "3eZbrw1aB" }]);
    // Slack does not sign this one; what is smuggled beside it is not read.
    const certificate = await post(`ssl_check=1&${slash("smuggled")}`, FORM_TYPE);
    expect(certificate.status).toBe(200);
  });

  it.each<[string, (body: string) => Record<string, string>]>([
    ["unsigned", () => ({})],
    ["signed with another secret", (body) => signatureHeaders(body, "another", now())],
    ["older than five minutes", (body) => signatureHeaders(body, SECRET, now() - 301)],
    ["from the future", (body) => signatureHeaders(body, SECRET, now() + 302)],
    ["signed over another text", (body) => signatureHeaders(`${body}&`, SECRET, now())],
  ])("refuses a command that is %s, and runs nothing", async (name, headers) => {
    const mark = `forged${name.length}`;
    const body = slash(mark);
    expect((await post(body, { ...FORM_TYPE, ...headers(body) })).status).toBe(401);
    const good = `after${name.length}`;
    expect((await signed(slash(good), FORM_TYPE)).status).toBe(200);
    await ran(good);
    expect(ends(mark) + ends("smuggled")).toBe(0);
  });

  it("refuses a body over gateway.maxBodyBytes, whoever signed it", async () => {
    const body = slash("large", { text: `echo ${"x".repeat(MAX_BODY)}` });
    expect((await signed(body, FORM_TYPE)).status).toBe(413);
  });

  it("refuses what is no JSON and no form, and lives on", async () => {
    expect((await signed("{")).status).toBe(400);
    expect((await signed("payload=%7B", FORM_TYPE)).status).toBe(400);
    expect((await signed(slash("alive"), FORM_TYPE)).status).toBe(200);
    await ran("alive");
  });

  it("leaves every other path to the gateway itself", async () => {
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${gateway.url}/slack/events`, { method: "POST" })).status).not.toBe(200);
    expect((await fetch(url)).status).toBe(405);
  });
});

describe("what Slack sends twice over HTTP runs once", () => {
  it("slack-ack-3s: an event that comes again with x-slack-retry-num", async () => {
    const text = `<@U0OPENCLAW> exec ${command("retried")}`;
    const ts = `${now()}.000100`;
    const event = { type: "app_mention", user: OWNER, channel: ROOM, text, ts, event_ts: ts };
    const body = JSON.stringify({ type: "event_callback", team_id: "T0ACMECORP", event_id: "Ev01", event });
    for (const retry of [
      {},
      { "x-slack-retry-num": "1", "x-slack-retry-reason": "http_timeout" },
      { "x-slack-retry-num": "2" },
    ]) {
      expect((await signed(body, { ...JSON_TYPE, ...retry })).status).toBe(200);
    }
    // The message event of the same mention.
    const twin = JSON.stringify({ ...JSON.parse(body), event_id: "Ev02", event: { ...event, type: "message" } });
    expect((await signed(twin)).status).toBe(200);
    await ran("retried");
    await emulator.slash(OWNER, ROOM, "/exec", command("afterwards"));
    await ran("afterwards");
    expect(ends("retried")).toBe(1);
  });

  it("row 33: an event that comes again without its text does not take the first one's away", async () => {
    const ts = `${now()}.000150`;
    const event = { type: "app_mention", user: OWNER, channel: ROOM, ts, event_ts: ts };
    const body = (id: string, text: string) =>
      JSON.stringify({ type: "event_callback", team_id: "T0ACMECORP", event_id: id, event: { ...event, text } });
    const text = `<@U0OPENCLAW> exec ${command("kept")}`;
    await Promise.all([
      signed(body("Ev11", text)),
      signed(body("Ev11", ""), { ...JSON_TYPE, "x-slack-retry-num": "1" }),
    ]);
    await ran("kept");
    await signed(body("Ev12", ""));
    await emulator.slash(OWNER, ROOM, "/exec", command("behind"));
    await ran("behind");
    expect(ends("kept")).toBe(1);
  });

  it("an event that only arrives as a retry is not thrown away", async () => {
    const ts = `${now()}.000200`;
    const event = {
      type: "app_mention",
      user: OWNER,
      channel: ROOM,
      text: `<@U0OPENCLAW> exec ${command("late")}`,
      ts,
    };
    const body = JSON.stringify({ type: "event_callback", team_id: "T0ACMECORP", event_id: "Ev03", event });
    await signed(body, { ...JSON_TYPE, "x-slack-retry-num": "3", "x-slack-retry-reason": "connection_failed" });
    await ran("late");
  });

  it("a slash command whose answer was lost", async () => {
    const body = slash("doubled");
    expect((await Promise.all([signed(body, FORM_TYPE), signed(body, FORM_TYPE)])).map((one) => one.status)).toEqual([
      200, 200,
    ]);
    await ran("doubled");
    await emulator.slash(OWNER, ROOM, "/exec", command("then"));
    await ran("then");
    expect(ends("doubled")).toBe(1);
  });
});
