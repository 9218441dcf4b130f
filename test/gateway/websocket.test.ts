import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { TextCard } from "../../src/core/cards.ts";
import { CLOSE_CODES, MAX_FRAME_BYTES_BEFORE_AUTH } from "../../src/protocol/frames.ts";
import { type TestServer, TOKEN, testServers } from "./test-server.ts";
import { WsClient } from "./ws-client.ts";

const start = testServers();

const hello = (token: string | undefined = TOKEN) => ({
  protocol: 1 as const,
  client: { id: "test", kind: "web" as const, version: "0" },
  ...(token === undefined ? {} : { token }),
});
const text = (words: string): TextCard => ({ kind: "text", tone: "info", text: words });
const route = { channel: "web", accountId: "default", chatType: "dm", chatId: "main" } as const;

async function refusal(server: TestServer, headers: Record<string, string>, path?: string): Promise<number> {
  const error = await WsClient.open(server, headers, path).catch((reason: Error) => reason);
  return Number(/Unexpected server response: (\d+)/.exec((error as Error).message)?.[1]);
}

describe("opening", () => {
  test("a foreign page, a foreign name and another path get no socket", async () => {
    const server = await start({ auth: { allowedOrigins: ["https://ops.example.org"] } });
    expect(await refusal(server, { origin: "https://evil.example" })).toBe(403);
    expect(await refusal(server, { host: "evil.example" })).toBe(403);
    expect(await refusal(server, {}, "/other")).toBe(404);
    await WsClient.open(server, { origin: server.server.url });
    await WsClient.open(server, { origin: "https://ops.example.org" });
  });

  test("no more clients than the limit", async () => {
    const server = await start({ limits: { maxConnections: 2 } });
    const first = await WsClient.open(server);
    await WsClient.open(server);
    expect(await refusal(server, {})).toBe(429);
    first.socket.close();
    await first.closed;
    await WsClient.open(server);
  });

  test("connect tells who answers and what it allows", async () => {
    const server = await start();
    const client = await WsClient.open(server);
    expect(await client.ask("connect", hello())).toMatchObject({
      ok: true,
      payload: {
        protocol: 1,
        server: { version: "0.0.0-test", gatewayId: "gw-test" },
        policy: { tickMs: 15_000, maxFrameBytes: 1_048_576 },
      },
    });
  });

  test.each<[string, () => [string, unknown], string, number]>([
    ["a wrong token", () => ["connect", hello("wrong")], "unauthorized", CLOSE_CODES.unauthorized],
    ["no token", () => ["connect", { ...hello(), token: undefined }], "unauthorized", CLOSE_CODES.unauthorized],
    ["another method first", () => ["chat.open", { chatId: "main" }], "unauthorized", CLOSE_CODES.unauthorized],
    ["another protocol", () => ["connect", { ...hello(), protocol: 2 }], "invalid-argument", CLOSE_CODES.protocol],
  ])("%s is answered and the socket closed", async (_name, frame, code, closeCode) => {
    const server = await start();
    const client = await WsClient.open(server);
    const [method, params] = frame();
    const id = client.request(method, params);
    expect((await client.closed).code).toBe(closeCode);
    expect(client.responses(id)).toMatchObject([{ ok: false, error: { code } }]);
  });

  test("wrong tokens are counted together with those over HTTP", async () => {
    const server = await start({ limits: { maxTokenFailures: 2, tokenLockoutSec: 60 } });
    for (const surface of ["http", "websocket"]) {
      if (surface === "http") {
        await fetch(`${server.server.url}/metrics`, { headers: { authorization: "Bearer wrong" } });
      } else {
        const client = await WsClient.open(server);
        await client.ask("connect", hello("wrong"));
      }
    }
    const client = await WsClient.open(server);
    const answer = await client.ask("connect", hello("wrong"));
    expect(answer).toMatchObject({ ok: false, error: { code: "rate-limited" } });
    expect(!answer.ok && answer.error.retryAfterMs).toBeGreaterThan(50_000);
    expect((await client.closed).code).toBe(CLOSE_CODES.rateLimited);
  });

  test("a socket that does not connect in time is closed", async () => {
    const server = await start({ limits: { connectDeadlineMs: 30 } });
    const client = await WsClient.open(server);
    expect(await client.closed).toMatchObject({ code: CLOSE_CODES.connectTimeout });
  });

  test("a first frame that is too large is not even parsed", async () => {
    const server = await start();
    const client = await WsClient.open(server);
    client.send(
      JSON.stringify({ type: "req", id: "1", method: "connect", params: "x".repeat(MAX_FRAME_BYTES_BEFORE_AUTH) }),
    );
    expect((await client.closed).code).toBe(CLOSE_CODES.protocol);
    expect(client.frames).toEqual([]);
  });
});

describe("requests", () => {
  test.each([
    ["malformed JSON", '{"type":"req",', "position 14"],
    ["no id", '{"type":"req","method":"chat.open"}', "id"],
    ["another type", '{"type":"event","id":"1","method":"x"}', "type"],
  ])("%s closes the socket with the reason", async (_name, frame, words) => {
    const server = await start();
    const client = await WsClient.connected(server);
    client.send(frame);
    const { code, reason } = await client.closed;
    expect(code).toBe(CLOSE_CODES.protocol);
    expect(reason).toContain(words);
  });

  test("binary frames are refused", async () => {
    const server = await start();
    const client = await WsClient.connected(server);
    client.socket.send(Buffer.from("{}"), { binary: true });
    expect((await client.closed).code).toBe(CLOSE_CODES.protocol);
  });

  test("a frame over the limit closes the socket", async () => {
    const server = await start();
    const client = await WsClient.connected(server);
    client.send("x".repeat(1024 * 1024 + 1));
    expect((await client.closed).code).toBe(1009);
  });

  test("an unknown method names those there are, bad parameters name the key", async () => {
    const server = await start();
    const client = await WsClient.connected(server);
    const unknown = await client.ask("chat.opne", {});
    expect(unknown).toMatchObject({ ok: false, error: { code: "not-found" } });
    expect(!unknown.ok && unknown.error.message).toContain("chat.open");
    const bad = await client.ask("chat.open", { chatId: "../x", limit: 0, more: 1 });
    expect(bad).toMatchObject({ ok: false, error: { code: "invalid-argument" } });
    for (const key of ["chatId", "limit", "more"]) expect(!bad.ok && bad.error.message).toContain(key);
    expect(await client.ask("constructor", {})).toMatchObject({ ok: false, error: { code: "not-found" } });
  });

  test("each request is answered exactly once, also when many are at work", async () => {
    const server = await start();
    const client = await WsClient.connected(server);
    const ids = Array.from({ length: 50 }, (_, index) => client.request("chat.complete", { text: `/${index}` }));
    for (const id of ids) await client.answer(id);
    for (const [index, id] of ids.entries()) {
      expect(client.responses(id)).toMatchObject([{ ok: true, payload: { items: [{ insert: `/${index}!` }] } }]);
    }
  });

  test("an id that is still at work is a mistake nobody could answer", async () => {
    const server = await start({ deps: { complete: () => new Promise(() => undefined) } });
    const client = await WsClient.connected(server);
    client.send({ type: "req", id: "same", method: "chat.complete", params: { text: "" } });
    client.send({ type: "req", id: "same", method: "chat.complete", params: { text: "" } });
    expect(await client.closed).toMatchObject({ code: CLOSE_CODES.protocol, reason: expect.stringContaining("same") });
  });

  test("too many requests are refused with a time to wait, and run nothing", async () => {
    let calls = 0;
    const server = await start({
      limits: { requestsPer10s: 5 },
      deps: {
        complete: async () => {
          calls += 1;
          return [];
        },
      },
    });
    const client = await WsClient.connected(server);
    const ids = Array.from({ length: 8 }, () => client.request("chat.complete", { text: "" }));
    const answers = await Promise.all(ids.map((id) => client.answer(id)));
    expect(answers.map((answer) => answer.ok)).toEqual([true, true, true, true, true, false, false, false]);
    expect(answers.at(-1)).toMatchObject({ error: { code: "rate-limited", retryAfterMs: expect.any(Number) } });
    expect(calls).toBe(5);
  });

  test("a flood closes the socket", async () => {
    const server = await start({ limits: { requestsPer10s: 3 } });
    const client = await WsClient.connected(server);
    for (let index = 0; index < 20; index += 1) client.request("chat.complete", { text: "" });
    expect((await client.closed).code).toBe(CLOSE_CODES.rateLimited);
  });

  test.each([
    ["web", "web"],
    ["terminal", "cli"],
    ["cli", "cli"],
  ] as const)("a %s client acts as the operator on %s", async (kind, channel) => {
    const server = await start();
    const client = await WsClient.connected(server, kind);
    expect(await client.ask("tools.invoke", { tool: "exec", args: {} })).toMatchObject({
      payload: { content: [{ text: `exec by ${channel}` }] },
    });
  });
});

describe("conversation", () => {
  test("opening gives what is there, then what comes, and nothing overtakes the answer", async () => {
    const server = await start();
    await server.channel.send({ key: "k1", route, card: text("one") });
    const client = await WsClient.connected(server);
    const id = client.request("chat.open", { chatId: "main" });
    for (let index = 2; index < 12; index += 1) {
      await server.channel.send({ key: `k${index}`, route, card: text(String(index)) });
    }
    await client.answer(id);
    const answer = client.responses(id)[0];
    const { entries, seq } = (answer?.ok ? answer.payload : {}) as { entries: { card: TextCard }[]; seq: number };
    await client.until(() => entries.length + client.events("chat.entry").length === 11);
    expect(client.events("chat.entry").map((event) => event.payload.entry.seq)).toEqual(
      Array.from({ length: 11 - seq }, (_, index) => seq + 1 + index),
    );
    const answerAt = client.frames.findIndex((frame) => frame.type === "res" && frame.id === id);
    expect(client.frames.slice(0, answerAt).filter((frame) => frame.type === "event")).toEqual([]);
  });

  test("what is sent on one device appears on the other and reaches the gateway once", async () => {
    const server = await start();
    const phone = await WsClient.connected(server);
    const desk = await WsClient.connected(server, "terminal");
    await phone.ask("chat.open", { chatId: "main" });
    await desk.ask("chat.open", { chatId: "main" });
    const send = { chatId: "main", clientId: "c1", text: "/exec ls" };
    expect(await phone.ask("chat.send", send)).toMatchObject({ ok: true, payload: { accepted: true } });
    expect(await phone.ask("chat.send", send)).toMatchObject({ ok: true });
    await desk.until(() => desk.events("chat.entry").length > 0);
    expect(desk.events("chat.entry").map((event) => event.payload.entry.card)).toMatchObject([
      { kind: "said", text: "/exec ls" },
    ]);
    expect(new Set(server.taken.map((event) => event.id))).toEqual(new Set(["main/c1"]));
  });

  test("a press reaches the gateway as it was pressed", async () => {
    const server = await start();
    const client = await WsClient.connected(server);
    const action = { kind: "approval", approvalId: "a1", decision: "deny", comment: "not now" } as const;
    expect(await client.ask("chat.press", { chatId: "main", clientId: "p1", action })).toMatchObject({ ok: true });
    expect(server.taken).toMatchObject([{ kind: "press", action }]);
  });

  test("a chat that was closed or opened anew is told once or not at all", async () => {
    const server = await start();
    const client = await WsClient.connected(server);
    await client.ask("chat.open", { chatId: "main" });
    await client.ask("chat.open", { chatId: "main", afterSeq: 0 });
    await server.channel.send({ key: "k1", route, card: text("one") });
    await client.until(() => client.events("chat.entry").length > 0);
    await client.ask("chat.close", { chatId: "main" });
    await server.channel.send({ key: "k2", route, card: text("two") });
    await client.ask("chat.complete", { text: "" });
    expect(client.events("chat.entry").map((event) => (event.payload.entry.card as TextCard).text)).toEqual(["one"]);
  });

  test("one connection can not watch chats without end", async () => {
    const server = await start({ limits: { maxWatchedChats: 2 } });
    const client = await WsClient.connected(server);
    for (const chatId of ["a", "b", "a"]) expect((await client.ask("chat.open", { chatId })).ok).toBe(true);
    expect(await client.ask("chat.open", { chatId: "c" })).toMatchObject({ ok: false });
    await client.ask("chat.close", { chatId: "a" });
    expect((await client.ask("chat.open", { chatId: "c" })).ok).toBe(true);
  });

  test("the audit trail can be read", async () => {
    const server = await start();
    await server.deps.audit.record({ type: "gateway-started", version: "1", pid: 1 });
    const client = await WsClient.connected(server, "cli");
    expect(await client.ask("audit.read", { limit: 10 })).toMatchObject({
      payload: { gatewayId: "gw-test", head: { seq: 1 }, entries: [{ seq: 1, event: { type: "gateway-started" } }] },
    });
  });
});

describe("keeping company", () => {
  test("clients hear ticks; one that answers nothing is dropped", async () => {
    const server = await start({ limits: { tickMs: 40 } });
    const alive = await WsClient.connected(server);
    const dead = await WsClient.connected(server);
    // A network that swallows everything: the socket stays open, nothing is read or answered.
    dead.socket.pause();
    await alive.until(() => alive.events("tick").length >= 4);
    const metrics = await server.deps.metrics.registry.getSingleMetricAsString("openclaw_exec_ws_clients");
    expect(metrics).toContain('{kind="web"} 1');
    expect(alive.socket.readyState).toBe(WebSocket.OPEN);
    dead.socket.terminate();
  });

  test("a client that reads too slowly is closed, comes back and has missed nothing", async () => {
    const server = await start({ limits: { maxBufferedBytes: 64 * 1024, tickMs: 60_000 } });
    const slow = await WsClient.connected(server);
    await slow.ask("chat.open", { chatId: "main" });
    slow.socket.pause();
    const page = "x".repeat(100_000);
    let sent = 0;
    const closedSlow = async () => (await server.deps.metrics.ws.closedSlow.get()).values[0]?.value ?? 0;
    // The kernel's own buffers take the first megabytes.
    while ((await closedSlow()) === 0) {
      sent += 1;
      await server.channel.send({ key: `k${sent}`, route, card: text(`${sent} ${page}`) });
      await turn();
    }
    slow.socket.resume();
    expect((await slow.closed).code).toBe(CLOSE_CODES.tooSlow);

    const back = await WsClient.connected(server);
    const last = slow.events("chat.entry").at(-1)?.payload.entry.seq ?? 0;
    expect(last).toBeLessThan(sent);
    const answer = await back.ask("chat.open", { chatId: "main", afterSeq: last });
    expect(answer).toMatchObject({ ok: true, payload: { seq: sent } });
  });

  test("a stopping server says so, ends the sockets and refuses new ones", async () => {
    const server = await start();
    const client = await WsClient.connected(server);
    await server.server.close({ drainMs: 1000, reason: "Restarting for an update." });
    expect(client.events("shutdown").map((event) => event.payload.reason)).toEqual(["Restarting for an update."]);
    expect(await client.closed).toEqual({ code: CLOSE_CODES.restart, reason: "Restarting for an update." });
  });

  test("a request at work is answered before the sockets end", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await start({
      deps: {
        complete: async () => {
          await held;
          return [];
        },
      },
    });
    const client = await WsClient.connected(server);
    const id = client.request("chat.complete", { text: "" });
    // Answered in order: once this one is back, the first is at work.
    await client.ask("approvals.list", {});
    const closed = server.server.close({ drainMs: 10_000 });
    expect(await client.ask("approvals.list", {})).toMatchObject({ ok: false, error: { code: "draining" } });
    release();
    await closed;
    await client.closed;
    expect(client.responses(id)).toMatchObject([{ ok: true }]);
  });
});
