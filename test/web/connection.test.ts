import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { EventFrame } from "../../src/protocol/frames.ts";
import { Connection, type ConnectionState } from "../../src/web/connection.ts";
import { RequestError } from "../../src/web/request-error.ts";
import { ScriptedGateway, surroundingsOf } from "./scripted-gateway.ts";

const WAIT = { timeout: 5000, interval: 5 };
const CLIENT = { id: "browser", kind: "web", version: "test" } as const;

let gateway: ScriptedGateway;
let connection: Connection | undefined;
let states: ConnectionState[];
let events: EventFrame[];
let ready: number;

function connect(options: { token?: string; port?: () => number; limits?: object } = {}): Connection {
  connection = new Connection({
    client: CLIENT,
    token: options.token,
    locale: "en",
    surroundings: surroundingsOf(options.port ?? (() => gateway.port)),
    limits: { firstRetryMs: 10, maxRetryMs: 80, requestTimeoutMs: 200, openTimeoutMs: 300, ...options.limits },
    onState: (state) => states.push(state),
    onReady: () => ready++,
    onEvent: (event) => events.push(event),
  });
  connection.start();
  return connection;
}

const until = (kind: ConnectionState["kind"]) => vi.waitFor(() => expect(connection?.state.kind).toBe(kind), WAIT);

beforeEach(async () => {
  gateway = await ScriptedGateway.start();
  connection = undefined;
  states = [];
  events = [];
  ready = 0;
});
afterEach(async () => {
  connection?.stop();
  await gateway.stop();
});

describe("getting in", () => {
  test("the first frame is connect, with the token and who asks", async () => {
    gateway.token = "right";
    connect({ token: "right" });
    await until("connected");
    expect(gateway.requests[0]).toMatchObject({
      method: "connect",
      params: { protocol: 1, client: CLIENT, token: "right" },
    });
  });

  test.each([
    ["no token", undefined, false],
    ["a wrong token", "wrong", true],
  ])("%s leads to signing in and to no further tries", async (_, token, tokenGiven) => {
    gateway.token = "right";
    connect(token === undefined ? {} : { token });
    await until("signed-out");
    expect(connection?.state).toEqual({ kind: "signed-out", tokenGiven, message: "Wrong token." });
    await vi.waitFor(() => expect(gateway.closes).toHaveLength(1), WAIT);
    expect(gateway.asked("connect")).toHaveLength(1);
  });

  test("a token given later opens the connection", async () => {
    gateway.token = "right";
    connect({ token: "wrong" });
    await until("signed-out");
    connection?.signIn("right");
    await until("connected");
    expect(ready).toBe(1);
  });

  test.each([
    [4001, "signed-out"],
    [4002, "refused"],
    [1012, "waiting"],
  ] as const)("a close with code %i means %s", async (code, kind) => {
    connect();
    await until("connected");
    gateway.cut(code, "as the gateway says");
    await vi.waitFor(() => expect(states.map((state) => state.kind)).toContain(kind), WAIT);
    const told = states.find((state) => state.kind === kind);
    expect(JSON.stringify(told)).toContain("as the gateway says");
  });

  test("a gateway that does not know this page's protocol is not asked again", async () => {
    gateway.script = ({ method }) =>
      method === "connect" ? { error: { code: "invalid-argument", message: "protocol: expected 2" } } : undefined;
    connect();
    await until("refused");
    expect(gateway.asked("connect")).toHaveLength(1);
  });
});

describe("coming back", () => {
  test("a lost connection is opened again and told as ready each time", async () => {
    connect();
    await until("connected");
    gateway.cut();
    await vi.waitFor(() => expect(ready).toBe(2), WAIT);
    expect(states.map((state) => state.kind)).toEqual([
      "connecting",
      "connected",
      "waiting",
      "connecting",
      "connected",
    ]);
  });

  test("waits grow while nobody answers, up to the limit, and start small again after success", async () => {
    const { port } = gateway;
    await gateway.stop();
    const waits: number[] = [];
    connect({ port: () => port });
    await vi.waitFor(() => expect(states.filter((state) => state.kind === "waiting").length).toBeGreaterThan(5), WAIT);
    for (const state of states) if (state.kind === "waiting") waits.push(state.retryAtMs);
    const steps = waits.slice(1).map((at, index) => at - (waits[index] ?? 0));
    expect(steps.at(-1)).toBeGreaterThanOrEqual(60);
    expect(steps.at(-1)).toBeGreaterThan(steps[0] ?? Number.POSITIVE_INFINITY);

    gateway = await ScriptedGateway.start({ port });
    await until("connected");
    states.length = 0;
    gateway.cut();
    const before = Date.now();
    await vi.waitFor(() => expect(states[0]?.kind).toBe("waiting"), WAIT);
    const first = states[0];
    expect(first?.kind === "waiting" ? first.retryAtMs - before : 0).toBeLessThan(60);
  });

  test("a rate-limited client waits as long as it was told", async () => {
    let refused = false;
    gateway.script = ({ method }) => {
      if (method !== "connect" || refused) return undefined;
      refused = true;
      return { error: { code: "rate-limited", message: "Too many tries.", retryAfterMs: 150 } };
    };
    const before = Date.now();
    connect();
    await until("connected");
    expect(Date.now() - before).toBeGreaterThanOrEqual(145);
    expect(states).toContainEqual(expect.objectContaining({ kind: "waiting", why: "Too many tries." }));
  });

  async function tickingEvery(tickMs: number): Promise<void> {
    await gateway.stop();
    gateway = await ScriptedGateway.start({ tickMs });
  }

  test("two missed ticks close with 4000 and open a new connection", async () => {
    await tickingEvery(60);
    connect();
    await until("connected");
    gateway.ticking = false;
    await vi.waitFor(() => expect(ready).toBe(2), WAIT);
    expect(gateway.closes[0]?.code).toBe(4000);
  });

  test("a connection that ticks is left alone", async () => {
    // Longer than a busy machine stands still.
    await tickingEvery(500);
    connect();
    await until("connected");
    await vi.waitFor(() => expect(events.filter((event) => event.event === "tick").length).toBeGreaterThan(3), WAIT);
    expect(gateway.closes).toEqual([]);
    expect(ready).toBe(1);
  });

  test("trying now does not wait for the announced time", async () => {
    connect({ limits: { firstRetryMs: 60_000, maxRetryMs: 60_000 } });
    await until("connected");
    gateway.cut();
    await until("waiting");
    connection?.retryNow();
    await until("connected");
  });

  test("a gateway that takes the socket but never answers is given up", async () => {
    let silent = true;
    gateway.script = ({ method }) => (method === "connect" && silent ? "silence" : undefined);
    connect({ limits: { requestTimeoutMs: 100 } });
    await vi.waitFor(() => expect(states.some((state) => state.kind === "waiting")).toBe(true), WAIT);
    silent = false;
    await until("connected");
  });

  test("a stopped connection stays stopped", async () => {
    connect();
    await until("connected");
    connection?.stop();
    await vi.waitFor(() => expect(gateway.sockets).toHaveLength(0), WAIT);
    expect(connection?.state.kind).toBe("stopped");
  });
});

describe("asking", () => {
  test("answers go to who asked, in whatever order they come", async () => {
    connect();
    await until("connected");
    gateway.script = ({ method, params }) => (method === "chat.complete" ? { ok: { items: [params] } } : undefined);
    const answers = await Promise.all(["a", "b", "c"].map((text) => connection?.request("chat.complete", { text })));
    expect(answers.map((answer) => answer?.items[0])).toEqual([{ text: "a" }, { text: "b" }, { text: "c" }]);
  });

  test("a refusal carries the gateway's code and words", async () => {
    connect();
    await until("connected");
    gateway.script = () => ({ error: { code: "not-found", message: "No such run.", retryAfterMs: 5 } });
    const error = await connection?.request("run.log", { runId: "x" }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RequestError);
    expect(error).toMatchObject({ code: "not-found", message: "No such run.", retryAfterMs: 5 });
  });

  test("what was asked when the connection went is answered as lost", async () => {
    connect();
    await until("connected");
    gateway.script = ({ method }) => (method === "run.log" ? "cut" : undefined);
    await expect(connection?.request("run.log", { runId: "x" })).rejects.toMatchObject({ code: "connection-lost" });
  });

  test("an answer that never comes is given up, one that comes late changes nothing", async () => {
    connect();
    await until("connected");
    gateway.script = ({ method }) => (method === "run.log" ? "silence" : undefined);
    await expect(connection?.request("run.log", { runId: "x" })).rejects.toMatchObject({ code: "no-answer" });
    expect(connection?.state.kind).toBe("connected");
  });

  test("without a connection nothing is sent", async () => {
    gateway.token = "right";
    connect();
    await until("signed-out");
    await expect(connection?.request("run.log", { runId: "x" })).rejects.toMatchObject({ code: "connection-lost" });
    expect(gateway.asked("run.log")).toHaveLength(0);
  });
});
