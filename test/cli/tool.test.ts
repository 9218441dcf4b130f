import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseToolCall } from "../../src/cli/tool-call.ts";
import { startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";
import { type CliHome, type CliResult, cliHome } from "./run-cli.ts";

const answer = ({ out }: CliResult) =>
  JSON.parse(out) as {
    ok: boolean;
    result?: { content: { text: string }[]; details: Record<string, unknown> };
    error?: { code: string; message: string };
  };

describe("writing a call", () => {
  test.each([
    ['{ "tool": "exec", "command": "ls -la" }', { tool: "exec", args: { command: "ls -la" } }],
    [
      '{"tool":"exec","command":"npm run build","yieldMs":1000}',
      { tool: "exec", args: { command: "npm run build", yieldMs: 1000 } },
    ],
    [
      '{"tool":"process","action":"poll","sessionId":"x"}',
      { tool: "process", args: { action: "poll", sessionId: "x" } },
    ],
    [
      '{"tool":"process","action":"send-keys","sessionId":"","keys":["Up","Up","Enter"]}',
      { tool: "process", args: { action: "send-keys", sessionId: "", keys: ["Up", "Up", "Enter"] } },
    ],
    [
      '{"tool":"exec","args":{"command":"ls"},"agentId":"ops"}',
      { tool: "exec", args: { command: "ls" }, agentId: "ops" },
    ],
  ])("%s", (text, call) => expect(parseToolCall(text)).toEqual(call));

  test.each([
    ["[]", "invalid-argument"],
    ['"ls"', "invalid-argument"],
    ['{"command":"ls"}', "invalid-argument"],
    ['{"tool":"exec","args":{"command":"ls"},"command":"rm"}', "invalid-argument"],
    ['{"tool":"exec",}', "malformed-json"],
    ["", "malformed-json"],
  ])("%s is refused as %s", (text, code) => {
    expect(() => parseToolCall(text)).toThrowError(expect.objectContaining({ code }));
  });
});

describe("with a running gateway", () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startTestGateway({ config: { tools: { exec: { mode: "full" } } } });
  });

  afterAll(() => gateway.stop());

  const run = (...argv: string[]) =>
    cliHome().runWith({ env: { OPENCLAW_GATEWAY_URL: gateway.url, OPENCLAW_GATEWAY_TOKEN: TOKEN } }, "tool", ...argv);

  test("prints the same answer as POST /tools/invoke and says by its exit code how it went", async () => {
    const good = await run('{"tool":"exec","command":"echo hi"}');
    expect(answer(good)).toMatchObject({
      ok: true,
      result: { content: [{ text: expect.stringContaining("hi") }], details: { status: "completed", exitCode: 0 } },
    });
    expect(good.code).toBe(0);
    expect((await run('{"tool":"exec","command":"exit 3"}')).code).toBe(1);
  });

  test("the documented examples work one after the other: run in the background, look at it, end it", async () => {
    const started = answer(await run('{"tool":"exec","command":"sleep 30","background":true}'));
    const sessionId = String(started.result?.details.sessionId);
    expect(started.result?.details.status).toBe("running");
    const list = answer(await run('{"tool":"process","action":"list"}'));
    expect(JSON.stringify(list.result)).toContain(sessionId);
    expect((await run(JSON.stringify({ tool: "process", action: "kill", sessionId }))).code).toBe(0);
  });

  test("reads the call from standard input", async () => {
    const result = await cliHome().runWith(
      {
        stdin: '{"tool":"exec","command":"echo piped"}',
        env: { OPENCLAW_GATEWAY_URL: gateway.url, OPENCLAW_GATEWAY_TOKEN: TOKEN },
      },
      "tool",
    );
    expect(answer(result).result?.content[0]?.text).toContain("piped");
  });

  test("an unknown tool is a failed call with its reason in both places", async () => {
    const result = await run('{"tool":"exce","command":"ls"}');
    expect(result.code).toBe(1);
    expect(answer(result)).toMatchObject({ ok: false, error: { code: "tool-unknown" } });
    expect(result.err).toBe(answer(result).error?.message);
  });
});

describe("without a gateway", () => {
  async function withMode(mode: string): Promise<CliHome> {
    const home = cliHome();
    expect((await home.run("config", "set", "tools.exec.mode", mode)).code).toBe(0);
    return home;
  }

  test("an exec call runs here, to its end, and is in the audit trail", async () => {
    const home = await withMode("full");
    const result = await home.run("tool", '{"tool":"exec","command":"sleep 0.3; echo done","background":true}');
    expect(result.code).toBe(0);
    expect(answer(result).result?.details).toMatchObject({ status: "completed", exitCode: 0, aggregated: "done\n" });
    const trail = await home.run("audit");
    expect(trail.out).toMatch(/#1 request {2}operator \(cli\) for agent main: sleep 0\.3; echo done/);
    expect(trail.out).toMatch(/run-ended {2}\S+ completed, exit code 0/);
    expect((await home.run("audit", "--verify")).out).toMatch(/are as they were written, last hash [0-9a-f]{64}/);
  });

  test("on a fresh machine it asks first: nothing runs and the exit code says so", async () => {
    const home = cliHome();
    const result = await home.run("tool", '{"tool":"exec","command":"touch ran"}');
    expect(result.code).toBe(3);
    expect(answer(result).result?.details).toMatchObject({ status: "approval-pending" });
    expect(result.err).toContain('tools.exec.mode: "ask"');
    expect(result.err).toContain("openclaw-exec gateway");
  });

  test("a denied call is a failed one", async () => {
    const home = await withMode("deny");
    const result = await home.run("tool", '{"tool":"exec","command":"ls"}');
    expect(result.code).toBe(1);
  });

  test("what needs a gateway says so", async () => {
    const home = await withMode("full");
    const result = await home.run("tool", '{"tool":"process","action":"list"}');
    expect(result.code).toBe(1);
    expect(answer(result).error?.code).toBe("gateway-unreachable");
  });
});
