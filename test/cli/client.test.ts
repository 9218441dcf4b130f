import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { GatewayClient } from "../../src/cli/client.ts";
import { newOutput } from "../../src/cli/terminal-cards.ts";
import { startServer } from "../../src/gateway/server.ts";
import type { RunningServer } from "../../src/gateway/server-deps.ts";
import { startTestServer, type TestServer, TOKEN } from "../gateway/test-server.ts";

let server: TestServer | undefined;
let second: RunningServer | undefined;
let client: GatewayClient | undefined;

afterEach(async () => {
  client?.stop();
  await second?.close({ drainMs: 0 });
  await server?.stop();
  second = undefined;
});

function clientOf(
  { server: { url } }: TestServer,
  options: { token?: string; reconnect?: boolean } = {},
): GatewayClient {
  client = new GatewayClient({
    address: { url, token: options.token ?? TOKEN },
    kind: "terminal",
    reconnect: options.reconnect ?? true,
  });
  return client;
}

describe("the connection", () => {
  test("answers come to the request they belong to, errors with code and time to wait", async () => {
    server = await startTestServer({ limits: { requestsPer10s: 2 } });
    const connection = clientOf(server);
    await connection.start();
    const [a, b, c] = await Promise.allSettled([
      connection.request("chat.complete", { text: "/a" }),
      connection.request("chat.complete", { text: "/b" }),
      connection.request("chat.complete", { text: "/c" }),
    ]);
    expect(a).toMatchObject({ value: { items: [{ insert: "/a!" }] } });
    expect(b).toMatchObject({ value: { items: [{ insert: "/b!" }] } });
    expect(c).toMatchObject({ reason: { code: "rate-limited", details: { retryAfterMs: expect.any(Number) } } });
  });

  test("comes back by itself when the gateway does, and tells what it could not finish", async () => {
    server = await startTestServer({ deps: { complete: () => new Promise(() => undefined) } });
    const { port } = server.server;
    const connection = clientOf(server);
    await connection.start();
    const pending = connection.request("chat.complete", { text: "" });
    const failed = expect(pending).rejects.toMatchObject({ code: "gateway-unreachable" });
    const down = once(connection, "down");
    await server.server.close({ drainMs: 0 });
    await Promise.all([failed, down]);
    await expect(connection.request("approvals.list", {})).rejects.toMatchObject({ code: "gateway-unreachable" });

    const again = once(connection, "up");
    second = await startServer(server.deps, { host: "127.0.0.1", port });
    expect(await again).toEqual([{ again: true }]);
    expect(await connection.request("approvals.list", {})).toEqual({ approvals: [] });
  });

  test("a wrong token ends it for good", async () => {
    server = await startTestServer();
    await expect(clientOf(server, { token: "wrong" }).start()).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("one that shall not come back ends with the connection", async () => {
    server = await startTestServer();
    const connection = clientOf(server, { reconnect: false });
    await connection.start();
    const end = once(connection, "end");
    await server.server.close({ drainMs: 0 });
    expect(await end).toMatchObject([{ code: "gateway-unreachable" }]);
    await expect(connection.connected()).rejects.toMatchObject({ code: "gateway-unreachable" });
  });
});

test.each([
  ["", "a\n", "a\n", false],
  ["a\n", "a\nb\n", "b\n", false],
  ["a\nb\n", "a\nb\n", "", false],
  ["x".repeat(200), `${"x".repeat(150)}new`, "new", false],
  ["one\n", "far later\n", "far later\n", true],
])("of %j and then %j, %j is new", (shown, next, text, skipped) => {
  expect(newOutput(shown, next)).toEqual({ text, skipped });
});
