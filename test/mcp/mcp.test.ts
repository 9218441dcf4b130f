/** The product's `mcp` command as a process, under the protocol's own client, against a real gateway. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";
import { ensureBuilt } from "../support/product.ts";

/** How long something may take to come about. */
const WAIT = { timeout: 20_000, interval: 50 };
const MAIN = join(fileURLToPath(new URL("../../", import.meta.url)), "dist/main.js");

interface Result {
  readonly text: string;
  readonly isError: boolean;
  readonly details: Readonly<Record<string, unknown>>;
}

interface Outside {
  readonly client: Client;
  /** What the process wrote to standard error. */
  readonly errors: () => string;
  call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<Result>;
}

async function outside(env: Record<string, string>, ...flags: string[]): Promise<Outside> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, "mcp", ...flags],
    env: { PATH: process.env.PATH ?? "", ...env },
    stderr: "pipe",
  });
  let errors = "";
  transport.stderr?.on("data", (chunk) => {
    errors += String(chunk);
  });
  const client = new Client({ name: "outside", version: "1.0.0" });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return {
    client,
    errors: () => errors,
    async call(name, args, signal) {
      const result = (await client.callTool(
        { name, arguments: args },
        undefined,
        signal ? { signal } : {},
      )) as CallToolResult;
      return {
        text: result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n"),
        isError: result.isError ?? false,
        details: result.structuredContent ?? {},
      };
    },
  };
}

beforeAll(ensureBuilt, 150_000);

describe("an outside agent over MCP", () => {
  let gateway: TestGateway;
  const here = () => ({ OPENCLAW_GATEWAY_URL: gateway.url, OPENCLAW_GATEWAY_TOKEN: TOKEN, HOME: gateway.stateDir });

  beforeAll(async () => {
    gateway = await startTestGateway({
      config: {
        tools: { exec: { mode: "ask" } },
        agents: {
          list: [
            { id: "main", default: true },
            { id: "open", tools: { exec: { mode: "full" } } },
            { id: "reader", tools: { deny: ["exec", "apply_patch"] } },
          ],
        },
      },
    });
  });
  afterAll(() => gateway.stop());

  test("is told of the tools with the arguments that the gateway takes, and of none that decides", async () => {
    const { client } = await outside(here());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["exec", "process", "apply_patch"]);
    const [exec] = tools;
    expect(exec?.inputSchema).toMatchObject({ type: "object", required: ["command"] });
    expect(Object.keys(exec?.inputSchema.properties ?? {})).toEqual(
      expect.arrayContaining(["command", "workdir", "env", "timeout", "background", "yieldMs", "pty", "host"]),
    );
    expect(client.getInstructions()).toContain("approval-pending");
  });

  test("is offered and given only what tool policy lets its agent have", async () => {
    const { client, call } = await outside(here(), "--agent", "reader");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["process"]);
    expect(await call("exec", { command: "true" })).toMatchObject({ isError: true, details: { code: "tool-denied" } });
  });

  test("asks a person, sees its command in the list once it was allowed, and reads its end by polling", async () => {
    const { call } = await outside(here());
    const person = await gateway.person();
    const command = "echo asked over mcp; until [ -e go-mcp ]; do sleep 0.05; done; echo ended over mcp";
    const asked = await call("exec", { command });
    expect(asked).toMatchObject({ isError: false, details: { status: "approval-pending", command } });
    expect(asked.text).toContain("process list shows its session");
    expect((await call("process", { action: "list" })).text).not.toContain("asked over mcp");

    await person.decide(await person.request(command), "allow-once");
    const sessionId = await vi.waitFor(async () => {
      const { details } = await call("process", { action: "list" });
      const sessions = details.sessions as { sessionId: string }[];
      const mine = sessions.find((one) => JSON.stringify(one).includes("asked over mcp"));
      expect(mine).toBeDefined();
      return mine?.sessionId ?? "";
    }, WAIT);
    expect((await call("exec", { command: "touch go-mcp" })).details.status).toBe("approval-pending");
    await person.decide(await person.request("touch go-mcp"), "allow-once");
    await vi.waitFor(async () => {
      const polled = await call("process", { action: "poll", sessionId, timeout: 1_000 });
      expect(polled.text).toContain("ended over mcp");
    }, WAIT);
  });

  test("what the policy refuses and what fails is for the model to read, not a fault of the protocol", async () => {
    const { call } = await outside(here(), "--agent", "open");
    expect(await call("exec", { command: "exit 3" })).toMatchObject({ details: { exitCode: 3 } });
    const refused = await call("exec", { command: "true", env: { LD_PRELOAD: "/tmp/x.so" } });
    expect(refused).toMatchObject({ isError: true, details: { code: "env-forbidden" } });
    expect(refused.text).toContain("LD_PRELOAD");
    expect(await call("exec", {})).toMatchObject({ isError: true, details: { code: "invalid-argument" } });
    expect(await call("approve", { id: "x" })).toMatchObject({ isError: true, details: { code: "tool-unknown" } });
  });

  test("a cancelled call ends its command", async () => {
    const { call } = await outside(here(), "--agent", "open");
    const gone = new AbortController();
    const waits = call("exec", { command: "echo $$ > mcp.pid; sleep 300", yieldMs: 60_000 }, gone.signal);
    const pid = await vi.waitFor(async () => {
      const { text } = await call("exec", { command: "cat mcp.pid" });
      expect(text.trim()).toMatch(/^\d+$/);
      return Number(text.trim());
    }, WAIT);
    expect(() => process.kill(pid, 0)).not.toThrow();
    gone.abort();
    await expect(waits).rejects.toThrow();
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), WAIT);
  });

  test("a client that goes away ends what was in the foreground, and the process with it", async () => {
    const { client, call } = await outside(here(), "--agent", "open");
    const left = call("exec", { command: "echo $$ > mcp-left.pid; sleep 300", yieldMs: 60_000 }).catch(() => undefined);
    const other = await outside(here(), "--agent", "open");
    const pid = await vi.waitFor(async () => {
      const { text } = await other.call("exec", { command: "cat mcp-left.pid" });
      expect(text.trim()).toMatch(/^\d+$/);
      return Number(text.trim());
    }, WAIT);
    await client.close();
    await left;
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), WAIT);
  });

  test("names the session that its calls belong to", async () => {
    const { call } = await outside(here(), "--agent", "open", "--session", "agent:open:mcp:editor");
    const { text } = await call("exec", { command: 'echo "shell=$OPENCLAW_SHELL"' });
    expect(text).toContain("shell=exec");
    const page = await (await gateway.person()).call("audit.read", { limit: 1000 });
    expect(JSON.stringify(page.entries)).toContain("agent:open:mcp:editor");
  });

  test("without a gateway, or with a wrong token, each answer says what to do", async () => {
    const nowhere = await outside({ HOME: gateway.stateDir, OPENCLAW_STATE_DIR: join(gateway.stateDir, "none") });
    const unreachable = await nowhere.call("exec", { command: "true" });
    expect(unreachable).toMatchObject({ isError: true, details: { code: "gateway-unreachable" } });
    expect(unreachable.text).toContain("openclaw-exec gateway");
    await expect(nowhere.client.listTools()).rejects.toThrow(/openclaw-exec gateway/);

    const gone = await startTestGateway({});
    await gone.stop();
    const stopped = await outside({ ...here(), OPENCLAW_GATEWAY_URL: gone.url });
    const { text } = await stopped.call("exec", { command: "true" });
    expect(text).toContain("Nothing was run");

    const stranger = await outside({ ...here(), OPENCLAW_GATEWAY_TOKEN: "not-the-token" });
    expect(await stranger.call("exec", { command: "true" })).toMatchObject({
      isError: true,
      details: { code: "unauthorized" },
    });
  });
});
