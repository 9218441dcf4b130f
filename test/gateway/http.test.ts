import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ExecError } from "../../src/core/errors.ts";
import { startServer } from "../../src/gateway/server.ts";
import type { ToolResult } from "../../src/gateway/server-deps.ts";
import { type TestServer, TOKEN, testServers } from "./test-server.ts";

const start = testServers();

interface Reply {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
  json(): { ok?: boolean; error?: { code: string; message: string; details?: Record<string, unknown> } } & Record<
    string,
    unknown
  >;
}

/** `fetch` sets Host and Origin itself; these tests need to choose them. */
function ask(
  { server }: TestServer,
  path: string,
  options: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        agent: false,
        host: server.host,
        port: server.port,
        path,
        method: options.method ?? "GET",
        headers: options.headers ?? {},
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const body = Buffer.concat(chunks);
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body,
            json: () => JSON.parse(body.toString()),
          });
        });
      },
    );
    sent.on("error", reject);
    sent.end(options.body);
  });
}

const bearer = (token = TOKEN) => ({ authorization: `Bearer ${token}` });
const invoke = (server: TestServer, body: string, headers: Record<string, string> = bearer()) =>
  ask(server, "/tools/invoke", { method: "POST", headers: { "content-type": "application/json", ...headers }, body });

describe("tools API", () => {
  test("runs a tool call and gives content and details", async () => {
    const server = await start();
    const reply = await invoke(server, JSON.stringify({ tool: "exec", args: { command: "ls" } }));
    expect(reply.status).toBe(200);
    expect(reply.json()).toEqual({
      ok: true,
      result: { content: [{ type: "text", text: "exec by api" }], details: { args: { command: "ls" } } },
    });
  });

  test("gives a tool's refusal as code and message with a fitting status", async () => {
    const server = await start({
      deps: {
        invokeTool: async () => {
          throw new ExecError("exec-denied", "Policy denies it.", { layer: "config" });
        },
      },
    });
    const reply = await invoke(server, JSON.stringify({ tool: "exec" }));
    expect(reply.status).toBe(403);
    expect(reply.json()).toEqual({
      ok: false,
      error: { code: "exec-denied", message: "Policy denies it.", details: { layer: "config" } },
    });
  });

  test("tells nothing of a fault of its own but a reference into the log", async () => {
    const server = await start({
      deps: {
        invokeTool: async () => {
          throw new Error("secret path /root/x");
        },
      },
    });
    const reply = await invoke(server, JSON.stringify({ tool: "exec" }));
    expect(reply.status).toBe(500);
    const { error } = reply.json();
    expect(error?.code).toBe("internal");
    expect(reply.body.toString()).not.toContain("secret path");
    expect(server.logged.join()).toContain(String(error?.details?.reference));
  });

  test.each([
    ["{", 1],
    ['{"tool":"exec",}', 15],
    ["[1,2", 4],
    ["", 0],
    ['{"tool":"a\nb"}', 10],
  ])("malformed JSON %j is refused with its position", async (body, position) => {
    const server = await start();
    const reply = await invoke(server, body);
    expect(reply.status).toBe(400);
    expect(reply.json().error).toMatchObject({ code: "malformed-json", details: { position } });
  });

  test("names the key that is wrong", async () => {
    const server = await start();
    const reply = await invoke(server, JSON.stringify({ tool: 7, arg: {} }));
    expect(reply.status).toBe(400);
    expect(reply.json().error?.code).toBe("invalid-argument");
    expect(reply.json().error?.message).toContain("tool: ");
    expect(reply.json().error?.message).toContain("unknown key arg");
  });

  test.each(["content-length", "chunked"])("a body over the limit is refused unread (%s)", async (framing) => {
    let calls = 0;
    const server = await start({
      limits: { maxBodyBytes: 1024 },
      deps: {
        invokeTool: async () => {
          calls += 1;
          return { content: [], details: null };
        },
      },
    });
    const body = JSON.stringify({ tool: "exec", args: { command: "x".repeat(2000) } });
    const reply = await invoke(server, body, {
      ...bearer(),
      ...(framing === "chunked" ? { "transfer-encoding": "chunked" } : {}),
    });
    expect(reply.status).toBe(413);
    expect(reply.json().error).toMatchObject({ code: "payload-too-large", details: { maxBytes: 1024 } });
    expect(calls).toBe(0);
  });

  test("describes the tools of one agent to who holds the token", async () => {
    const server = await start();
    const reply = await ask(server, "/tools/list?agentId=ops", { headers: bearer() });
    expect(reply.json()).toEqual({
      ok: true,
      tools: [{ name: "exec", description: "for ops", schema: { type: "object" } }],
    });
    expect((await ask(server, "/tools/list")).status).toBe(401);
  });

  test("says which method it wants", async () => {
    const server = await start();
    const reply = await ask(server, "/tools/invoke", { headers: bearer() });
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toBe("POST");
  });
});

describe("token", () => {
  test.each([
    ["no token", {}, "missing"],
    ["a wrong token", bearer("wrong"), "wrong"],
    ["a token with one letter less", bearer(TOKEN.slice(1)), "wrong"],
    ["another scheme", { authorization: `Basic ${TOKEN}` }, "missing"],
  ])("%s is refused, counted and written down", async (_name, headers, word) => {
    const server = await start();
    const reply = await invoke(server, "{", headers);
    expect(reply.status).toBe(401);
    expect(reply.headers["www-authenticate"]).toContain("Bearer");
    expect(reply.json().error?.code).toBe("unauthorized");
    expect(reply.json().error?.message).toContain(word);
    const { entries } = await server.deps.audit.read({ limit: 10 });
    expect(entries.map((entry) => entry.event)).toMatchObject([
      { type: "access-refused", surface: "http", reason: "unauthorized", address: "127.0.0.1" },
    ]);
  });

  test("nobody can push the audit trail out by knocking: refusals of one address are written down only so often", async () => {
    const server = await start();
    for (let attempt = 0; attempt < 25; attempt += 1) await invoke(server, "{}", {});
    const { entries } = await server.deps.audit.read({ limit: 100 });
    expect(entries).toHaveLength(10);
    const counted = await server.deps.metrics.registry.getSingleMetricAsString("openclaw_exec_access_refused_total");
    expect(counted).toContain('{surface="http",reason="unauthorized"} 25');
  });

  test("after too many wrong tokens the address has to wait and is told how long", async () => {
    const server = await start({ limits: { maxTokenFailures: 3, tokenLockoutSec: 60 } });
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect((await invoke(server, "{}", bearer("no"))).status).toBe(401);
    const reply = await invoke(server, "{}", bearer("no"));
    expect(reply.status).toBe(429);
    expect(Number(reply.headers["retry-after"])).toBeGreaterThan(50);
    expect(Number(reply.headers["retry-after"])).toBeLessThanOrEqual(60);
    expect(reply.json().error).toMatchObject({ code: "rate-limited" });
  });

  test("nobody can lock out the holder of a token that can not be guessed", async () => {
    const server = await start({ limits: { maxTokenFailures: 1 } });
    for (let attempt = 0; attempt < 3; attempt += 1) await invoke(server, "{}", bearer("no"));
    expect((await invoke(server, JSON.stringify({ tool: "exec" }))).status).toBe(200);
  });

  test("a short token waits with the guessers, or the answer would tell which guess was right", async () => {
    const server = await start({ auth: { token: "short" }, limits: { maxTokenFailures: 1 } });
    await invoke(server, "{}", bearer("no"));
    expect((await invoke(server, JSON.stringify({ tool: "exec" }), bearer("short"))).status).toBe(429);
  });

  test("without a token only programs on this machine get in", async () => {
    const server = await start({ auth: { token: undefined } });
    const body = JSON.stringify({ tool: "exec" });
    expect((await invoke(server, body, {})).status).toBe(200);
    for (const header of ["forwarded", "x-forwarded-for", "x-real-ip"]) {
      expect((await invoke(server, body, { [header]: "10.0.0.1" })).status).toBe(401);
    }
  });

  test("never appears in the log", async () => {
    const server = await start();
    await invoke(server, JSON.stringify({ tool: "exec" }));
    await invoke(server, "{", bearer("wrong-token-text"));
    expect(server.logged.length).toBeGreaterThan(0);
    expect(server.logged.join()).not.toContain(TOKEN);
    expect(server.logged.join()).not.toContain("wrong-token-text");
  });
});

describe("other pages", () => {
  test("a name that was rebound to this machine is not answered", async () => {
    const server = await start();
    for (const path of ["/", "/readyz", "/metrics"]) {
      const reply = await ask(server, path, { headers: { ...bearer(), host: `evil.example:${server.server.port}` } });
      expect(reply.status).toBe(403);
      expect(reply.json().error?.message).toContain("evil.example");
    }
  });

  test.each(["localhost", "127.0.0.1:1", "[::1]:8080", "192.168.1.7:18789", "LOCALHOST:8080", "chat.example.org"])(
    "answers under %s",
    async (host) => {
      const server = await start({ auth: { allowedHosts: ["chat.example.org"] } });
      expect((await ask(server, "/readyz", { headers: { host } })).status).toBe(200);
    },
  );

  test("a foreign page can not post even with the token", async () => {
    const server = await start({ auth: { allowedOrigins: ["https://ops.example.org"] } });
    const body = JSON.stringify({ tool: "exec" });
    const from = (origin: string) => invoke(server, body, { ...bearer(), origin });
    expect((await from("https://evil.example")).status).toBe(403);
    expect((await from("null")).status).toBe(403);
    expect((await from(`http://127.0.0.1:${server.server.port + 1}`)).status).toBe(403);
    expect((await from(`http://127.0.0.1:${server.server.port}`)).status).toBe(200);
    expect((await from("https://ops.example.org")).status).toBe(200);
  });
});

describe("health, readiness, metrics", () => {
  test("healthz answers under any name, without a token", async () => {
    const server = await start();
    const reply = await ask(server, "/healthz", { headers: { host: "probe.internal" } });
    expect([reply.status, reply.json()]).toEqual([200, { ok: true }]);
  });

  test("readyz tells the parts, their details to the token's holder only, and 503 when one is not ready", async () => {
    const server = await start({
      deps: {
        readiness: async () => ({ ready: false, checks: [{ name: "store", ok: false, detail: "/x/state.db" }] }),
      },
    });
    const open = await ask(server, "/readyz");
    expect(open.status).toBe(503);
    expect(open.json()).toMatchObject({ ready: false, checks: [{ name: "store", ok: false }] });
    expect(open.body.toString()).not.toContain("state.db");
    expect((await ask(server, "/readyz", { headers: bearer() })).body.toString()).toContain("state.db");
  });

  test("metrics need the token and count by route, not by whatever path was asked for", async () => {
    const server = await start();
    await ask(server, "/healthz");
    await ask(server, "/no/such/path-12345");
    expect((await ask(server, "/metrics")).status).toBe(401);
    const reply = await ask(server, "/metrics", { headers: bearer() });
    const text = reply.body.toString();
    expect(reply.headers["content-type"]).toContain("text/plain");
    expect(text).toContain('openclaw_exec_http_requests_total{method="GET",route="/healthz",status="200"} 1');
    expect(text).toContain('route="unknown",status="404"} 1');
    expect(text).not.toContain("path-12345");
    expect(text).toContain("process_resident_memory_bytes");
  });
});

describe("page", () => {
  let page: string;
  const script = `console.log(${JSON.stringify("x".repeat(5000))});`;

  async function startWithPage(): Promise<TestServer> {
    page = mkdtempSync(join(tmpdir(), "page-"));
    mkdirSync(join(page, "assets"));
    writeFileSync(join(page, "index.html"), "<!doctype html><title>chat</title>");
    writeFileSync(join(page, "assets", "main-BcD3f_g1.js"), script);
    writeFileSync(join(page, "icon.png"), Buffer.from([1, 2, 3]));
    const server = await start({ deps: { staticDir: page } });
    rmSync(page, { recursive: true });
    return server;
  }

  test("comes with headers that keep foreign script out", async () => {
    const server = await startWithPage();
    const { status, headers, body } = await ask(server, "/");
    expect(status).toBe(200);
    expect(body.toString()).toContain("<title>chat</title>");
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(headers["cache-control"]).toBe("no-cache");
    const csp = String(headers["content-security-policy"]);
    expect(csp).toContain("default-src 'none'");
    expect(csp).toContain("script-src 'self'");
    expect(csp).not.toContain("unsafe");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["x-frame-options"]).toBe("DENY");
    expect(headers["referrer-policy"]).toBe("no-referrer");
  });

  test.each([
    ["br", brotliDecompressSync],
    ["gzip", gunzipSync],
  ] as const)("hashed files are kept for ever and sent as %s", async (encoding, unpack) => {
    const server = await startWithPage();
    const reply = await ask(server, "/assets/main-BcD3f_g1.js", { headers: { "accept-encoding": encoding } });
    expect(reply.headers["cache-control"]).toContain("immutable");
    expect(reply.headers["content-encoding"]).toBe(encoding);
    expect(unpack(reply.body).toString()).toBe(script);
    expect(reply.body.length).toBeLessThan(500);
  });

  test("an unchanged file is not sent again", async () => {
    const server = await startWithPage();
    const first = await ask(server, "/");
    const again = await ask(server, "/", { headers: { "if-none-match": String(first.headers.etag) } });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  });

  test.each(["/../../etc/passwd", "/%2e%2e/package.json", "/assets/..%2findex.html", "/assets", "/nope"])(
    "%s is not found",
    async (path) => {
      const server = await startWithPage();
      expect((await ask(server, path)).status).toBe(404);
    },
  );

  test("a page that was not built says how to build it", async () => {
    const server = await start();
    const reply = await ask(server, "/");
    expect([reply.status, reply.body.toString()]).toEqual([503, "The web chat is not built. Run: npm run build\n"]);
  });
});

/** A tool call that ends when the test says so. */
function heldCall() {
  let begin = () => {};
  let release = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  return {
    begun,
    release,
    async invokeTool(): Promise<ToolResult> {
      begin();
      await held;
      return { content: [{ type: "text", text: "done" }], details: null };
    },
  };
}

describe("start and stop", () => {
  test.each(["0.0.0.0", "::"])("%s without a token is refused", async (host) => {
    await expect(start({ host, auth: { token: undefined } })).rejects.toMatchObject({ code: "bind-refused" });
  });

  test("another address with a token that can be guessed is refused", async () => {
    await expect(start({ host: "0.0.0.0", auth: { token: "hunter2" } })).rejects.toMatchObject({
      code: "bind-refused",
    });
  });

  test("every address with a good token is served, and shown as one that can be opened", async () => {
    const server = await start({ host: "0.0.0.0" });
    expect(server.server.url).toBe(`http://127.0.0.1:${server.server.port}`);
    expect((await fetch(`${server.server.url}/healthz`)).status).toBe(200);
  });

  test("a port in use is named together with the way out", async () => {
    const first = await start();
    const { port } = first.server;
    const second = startServer(first.deps, { host: "127.0.0.1", port });
    await expect(second).rejects.toMatchObject({ code: "address-in-use", details: { port } });
    await expect(second).rejects.toThrow(`--port ${port + 1}`);
  });

  test("an address this machine does not have is named", async () => {
    await expect(start({ host: "192.0.2.1" })).rejects.toMatchObject({ code: "bind-refused" });
  });

  test("a call at work is answered before the server goes; new ones are refused", async () => {
    const call = heldCall();
    const server = await start({ deps: { invokeTool: call.invokeTool } });
    const body = JSON.stringify({ tool: "exec" });
    const atWork = invoke(server, body);
    await call.begun;
    const closed = server.server.close({ drainMs: 10_000 });
    const late = await invoke(server, body);
    expect([late.status, late.json().error?.code]).toEqual([503, "draining"]);
    expect((await ask(server, "/readyz")).status).toBe(503);
    call.release();
    expect((await atWork).json()).toMatchObject({ ok: true, result: { content: [{ text: "done" }] } });
    await closed;
    await expect(invoke(server, body)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test("a call that does not end holds the server up no longer than the drain time", async () => {
    const call = heldCall();
    const server = await start({ deps: { invokeTool: call.invokeTool } });
    const atWork = invoke(server, JSON.stringify({ tool: "exec" })).catch((error: unknown) => error);
    await call.begun;
    const silent = connect(server.server.port, "127.0.0.1");
    const cut = new Promise((resolve) => silent.once("error", resolve).once("close", resolve));
    await new Promise((resolve) => silent.once("connect", resolve));
    const before = performance.now();
    await server.server.close({ drainMs: 50 });
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(await atWork).toBeInstanceOf(Error);
    await cut;
  });
});
